"""The project someone works in: a git repository, which its worktrees share, or a plain folder."""

import os
from typing import TYPE_CHECKING

from nuggets.errors import Ambiguous, NotFound
from nuggets.filesystem.atomic_files import read_beginning

if TYPE_CHECKING:
    from collections.abc import Iterable

ID_SEPARATOR = "//"  # in no path that the system resolves; see `distinct_id`
SHARED_FOLDER = os.path.join(".nuggets", "memories")  # of a checkout
_SHARED_FOLDERS = ("/", "/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp")
_CREATED_WITH_REPOSITORY = ("description", "config")  # the first is hardly ever written again
_LONGEST_LINE = 8192  # of git's own small files: twice the longest path
_BRANCH = "ref: refs/heads/"
_SUBMODULE_LEVELS = 16  # one in another; deeper ones are separate projects


def current_project(directory: str | None = None) -> str:
    """Where the project around a folder lies: the path of the repository's git directory, or the
    folder itself if it is in none. "" in the home directory and above it, which hold everything.
    """
    try:
        folder = os.path.realpath(directory or os.getcwd())
    except OSError:  # the current folder was removed
        return ""
    root = _find_checkout(folder)
    if root:
        return _common_directory(os.path.join(root, ".git"))
    return folder if _may_be_project(folder) else ""


def plain_folders(location: str) -> list[str]:
    """A plain folder and those around it that may be projects, from the inside out."""
    folders = []
    while _may_be_project(location):
        folders.append(location)
        location = os.path.dirname(location)
    return folders


def is_repository(location: str) -> bool:
    """Is it the git directory of a repository, not a plain folder?"""
    is_inside = os.path.isfile(os.path.join(location, "HEAD"))  # of a submodule, or bare
    return is_inside or os.path.basename(location) == ".git"


def repository_stamp(location: str) -> str:
    """Changes when another repository is made at the same path; "" for a plain folder."""
    for name in _CREATED_WITH_REPOSITORY:
        try:
            status = os.stat(os.path.join(location, name))
        except OSError:
            continue
        return f"{status.st_ino}-{status.st_mtime_ns}"
    return ""


def _may_be_project(folder: str) -> bool:
    home = os.path.realpath(os.path.expanduser("~"))
    holds_home = os.path.commonpath([folder, home]) == folder
    return os.path.isdir(folder) and not holds_home and folder not in _SHARED_FOLDERS


def require_folder(folder: str) -> str:
    """The folder, if it exists."""
    if not os.path.isdir(folder):
        raise NotFound(f"there is no folder {folder}; name the one that the repository is in")
    return folder


def checkout_root(folder: str) -> str:
    """The root of the checkout around a folder; the folder itself if there is none.

    A worktree has a root of its own, although it shares its project with the others.
    """
    path = os.path.realpath(folder)
    return _find_checkout(path) or path


def current_branch(folder: str) -> str:
    """The branch that is checked out around a folder; "" if there is none."""
    head = _read_first_line(os.path.join(git_directory(checkout_root(folder)), "HEAD"))
    return head.removeprefix(_BRANCH) if head.startswith(_BRANCH) else ""


def git_directory(root: str) -> str:
    """The git directory of a checkout, which in a worktree is its own one; "" if there is none, or
    if another repository's is named that does not know this checkout."""
    git = os.path.join(root, ".git")
    if os.path.isdir(git):
        return "" if os.path.islink(git) else git
    return _named_directory(git) if _common_directory(git) != git else ""


def has_shared_files(folder: str) -> bool:
    """Does the checkout around a folder carry memories of its own? Most carry none."""
    return os.path.isdir(os.path.join(checkout_root(folder), SHARED_FOLDER))


def root_of(project: str) -> str:
    """The folder whose repository a project is, as its id says; "" if the id is no path."""
    if not os.path.isabs(project):
        return ""
    path = project.partition(ID_SEPARATOR)[0]
    return os.path.dirname(path) if os.path.basename(path) == ".git" else path


def distinct_id(location: str, mark: str) -> str:
    """The id of a project whose location is the id of another one, which lay there before."""
    return f"{location}{ID_SEPARATOR}{mark[:12]}"


def name_of(project: str) -> str:
    """The name of a project's folder; "" for no project."""
    return os.path.basename(root_of(project)) or project


def distinguish_projects(first: str, second: str) -> tuple[str, str]:
    """The names of two projects, or their folders if both have the same name."""
    names = name_of(first), name_of(second)
    if names[0] != names[1]:
        return names
    return root_of(first) or first, root_of(second) or second


def find_project(name: str, projects: "Iterable[str]", destination: str = "") -> str:
    """The project that is named by its folder, or by the name of its folder.

    Where a project is moved, its `destination` comes last, and of several those that no longer
    exist come first.
    """
    candidates = list(projects)
    matches = _match_name(name, [project for project in candidates if project != destination])
    matches = matches or _match_name(name, candidates)
    if len(matches) > 1:
        matches = [project for project in matches if not os.path.exists(project)] or matches
    if not matches:
        names = ", ".join(sorted(candidates)) or "none"
        raise NotFound(f"no memory belongs to a project {name!r}; known are: {names}")
    if len(matches) > 1:
        raise Ambiguous(f"{name!r} may be {' or '.join(matches)}; name its folder")
    return matches[0]


def _match_name(name: str, projects: list[str]) -> list[str]:
    path = os.path.realpath(os.path.expanduser(name))
    paths = (name, path, os.path.join(path, ".git"))
    matches = [project for project in projects if project in paths]
    return matches or [project for project in projects if name_of(project) == name]


def _find_checkout(folder: str) -> str:
    """The nearest folder, from this one up, with a `.git` in it; "" if there is none.

    A home directory under git (dotfiles) does not count: everything would belong to it.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    while folder == home or not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _common_directory(git: str, levels: int = _SUBMODULE_LEVELS) -> str:
    """The git directory that all worktrees share; `git` itself if it names one that does not know
    this checkout: anybody can put pointers into an archive, and must not get at the memory of
    another project with them.

    In a worktree, `.git` is a file that names a directory, and that names the shared one. `levels`:
    how many outer repositories may be asked whether they know it.
    """
    if os.path.isdir(git):
        return git
    own = _named_directory(git)
    shared = _read_first_line(os.path.join(own, "commondir"))
    if not shared:
        return own if _is_submodule(own, git, levels) else git
    common = os.path.normpath(os.path.join(own, shared))
    registered = os.path.join(own, _read_first_line(os.path.join(own, "gitdir")))
    is_known = _is_same(os.path.dirname(own), os.path.join(common, "worktrees"))
    return common if is_known and _is_same(registered, git) else git


def _named_directory(git: str) -> str:
    """The directory that a `.git` file names."""
    target = _read_first_line(git).removeprefix("gitdir:").strip()
    return os.path.normpath(os.path.join(os.path.dirname(git), target))


def _is_submodule(own: str, git: str, levels: int) -> bool:
    """Does the directory lie within that of the outer repository, and name this checkout?"""
    checkout = os.path.dirname(git)
    outer = _find_checkout(os.path.dirname(checkout))
    if not outer or not levels:
        return False
    shared = _common_directory(os.path.join(outer, ".git"), levels - 1)
    is_inside = os.path.realpath(own).startswith(os.path.realpath(shared) + os.sep)
    return is_inside and _is_same(_configured_work_tree(own), checkout)


def _configured_work_tree(git_directory: str) -> str:
    """The checkout that a submodule's git directory names in its configuration; else ""."""
    for line in read_beginning(os.path.join(git_directory, "config"), 65536).splitlines():
        name, _, value = line.partition("=")
        if name.strip().lower() == "worktree":
            return os.path.join(git_directory, value.strip().strip('"'))
    return ""


def _is_same(first: str, second: str) -> bool:
    return bool(first and second) and os.path.realpath(first) == os.path.realpath(second)


def _read_first_line(path: str) -> str:
    """The first line of a plain file; "" for anything else, which might never end."""
    return read_beginning(path, _LONGEST_LINE).partition("\n")[0].strip()
