"""Where someone is working: the git repository, which worktrees share, and their own checkout."""

import os
from typing import TYPE_CHECKING

from nuggets.errors import InvalidInput, NotFound

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


def meant_by(told: str, known: "Iterable[str]") -> str:
    """The known project that someone names by its folder, or just by the folder's name."""
    projects = list(known)
    path = os.path.realpath(os.path.expanduser(told))
    wanted = (told, path, os.path.join(path, ".git"))
    found = [one for one in projects if one in wanted]
    found = found or [one for one in projects if name_of(one) == told]
    if not found:
        names = ", ".join(sorted(projects)) or "none"
        raise NotFound(f"no memory belongs to a project {told!r}; known are: {names}")
    if len(found) > 1:
        raise InvalidInput(f"{told!r} may be {' or '.join(found)}; name its folder")
    return found[0]


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
