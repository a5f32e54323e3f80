"""Where someone is working: the git repository, which worktrees share, and their own checkout."""

import os
from typing import TYPE_CHECKING

from nuggets.errors import Ambiguous, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_LINE = 8192  # of git's own small files: twice the longest path


def current_project(directory: str | None = None) -> str:
    """The path of the repository's git directory; "" outside of any."""
    try:
        root = _checkout_around(os.path.realpath(directory or os.getcwd()))
    except OSError:  # the folder we are in was taken away
        return ""
    return _common_directory(os.path.join(root, ".git")) if root else ""


def checkout_root(folder: str) -> str:
    """The root of the checkout around a folder; the folder itself if there is none.

    A worktree has a root of its own, although it shares its project with the others.
    """
    here = os.path.realpath(folder)
    return _checkout_around(here) or here


def root_of(project: str) -> str:
    """The folder that a project is the repository of; of one that is no path, nothing."""
    if not os.path.isabs(project):
        return ""
    return os.path.dirname(project) if os.path.basename(project) == ".git" else project


def name_of(project: str) -> str:
    """A project as people call it; "" for none."""
    return os.path.basename(root_of(project)) or project


def told_apart(one: str, other: str) -> tuple[str, str]:
    """Two projects as people call them, or where they are if they are called the same."""
    names = name_of(one), name_of(other)
    return names if names[0] != names[1] else (root_of(one) or one, root_of(other) or other)


def meant_by(told: str, known: "Iterable[str]", destination: str = "") -> str:
    """The known project that someone names by its folder, or just by the folder's name.

    Whoever moves one does not mean its `destination`, and of several rather what is gone.
    """
    projects = list(known)
    found = _called(told, [one for one in projects if one != destination])
    found = found or _called(told, projects)
    if len(found) > 1:
        found = [one for one in found if not os.path.exists(one)] or found
    if not found:
        names = ", ".join(sorted(projects)) or "none"
        raise NotFound(f"no memory belongs to a project {told!r}; known are: {names}")
    if len(found) > 1:
        raise Ambiguous(f"{told!r} may be {' or '.join(found)}; name its folder")
    return found[0]


def _called(told: str, projects: list[str]) -> list[str]:
    path = os.path.realpath(os.path.expanduser(told))
    wanted = (told, path, os.path.join(path, ".git"))
    found = [one for one in projects if one in wanted]
    return found or [one for one in projects if name_of(one) == told]


def _checkout_around(folder: str) -> str:
    """The nearest folder from here up with a `.git` in it; "" if there is none.

    A home directory under git (dotfiles) does not count: everything would belong to it.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    while folder == home or not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _common_directory(git: str) -> str:
    """A worktree's `.git` is a file that leads to its own directory, and that to the shared one."""
    if os.path.isdir(git):
        return git
    own = _line(git).removeprefix("gitdir:").strip()
    own = os.path.normpath(os.path.join(os.path.dirname(git), own))
    if not _knows(own, git):
        return git
    shared = _line(os.path.join(own, "commondir"))
    return os.path.normpath(os.path.join(own, shared)) if shared else own


def _knows(own: str, git: str) -> bool:
    """Does the repository know of this checkout? A `.git` file may have come with an archive from
    anybody, and another project's memory is not theirs to open."""
    back = _line(os.path.join(own, "gitdir"))
    if back:
        return os.path.realpath(os.path.join(own, back)) == os.path.realpath(git)
    around = _checkout_around(os.path.dirname(os.path.dirname(git)))
    # A submodule's lies within that of the repository around it.
    return bool(around) and own.startswith(_common_directory(os.path.join(around, ".git")) + os.sep)


def _line(path: str) -> str:
    """The first line of a plain file; of anything else, which might never end, nothing."""
    try:
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.readline(_LONGEST_LINE).strip()
    except OSError:
        pass
    return ""
