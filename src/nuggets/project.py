"""Which project someone is working in: the git repository, shared by all of its worktrees."""

import os


def current_project(directory: str | None = None) -> str:
    """The path of the repository's git directory; "" outside of any.

    A home directory under git (dotfiles) is no project: everything would belong to it.
    """
    try:
        folder = os.path.realpath(directory or os.getcwd())
    except OSError:
        return ""
    home = os.path.realpath(os.path.expanduser("~"))
    while True:
        git = os.path.join(folder, ".git")
        if folder != home and os.path.lexists(git):
            return _common_directory(git)
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def root_of(project: str) -> str:
    """The folder that a project is the repository of; of one that is no path, nothing."""
    if not os.path.isabs(project):
        return ""
    return os.path.dirname(project) if os.path.basename(project) == ".git" else project


def name_of(project: str) -> str:
    """A project as people call it; "" for none."""
    return os.path.basename(root_of(project)) or project


def _common_directory(git: str) -> str:
    """A worktree's `.git` is a file that leads to its own directory, and that to the shared one."""
    if os.path.isdir(git):
        return git
    own = _line(git).removeprefix("gitdir:").strip()
    own = os.path.normpath(os.path.join(os.path.dirname(git), own))
    shared = _line(os.path.join(own, "commondir"))
    return os.path.normpath(os.path.join(own, shared)) if shared else own


def _line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""
