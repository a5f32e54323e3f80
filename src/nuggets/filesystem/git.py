"""The one function that runs git, on a repository that nobody trusts.

No program that the repository configures is started, nothing is fetched, and no file is opened that
its configuration names outside of it.
"""

import os

from nuggets.filesystem.atomic_files import open_plain

GIT_SECONDS = 2.0
MOST_OUTPUT = 4 * 1024 * 1024
_CONFIG_BYTES = 256 * 1024
_NO_FILE = "/dev/null"
_OPTIONS = (  # they overrule what the repository configures
    "--no-pager",
    *("-c", f"core.hooksPath={_NO_FILE}", "-c", "core.fsmonitor=false"),
    *("-c", f"core.excludesFile={_NO_FILE}", "-c", f"core.attributesFile={_NO_FILE}"),
    *("-c", f"diff.orderFile={_NO_FILE}", "-c", f"mailmap.file={_NO_FILE}"),
    *("-c", "protocol.allow=never", "-c", "log.showSignature=false", "-c", "log.mailmap=false"),
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # no setting overrules it; older versions fetch what is missing
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
}


def run_git(
    git_directory: str, *arguments: str, work_tree: str = "", seconds: float = GIT_SECONDS
) -> str:
    """What git prints about a repository; "" if it is missing, too slow or fails.

    Arguments are ours alone: no text of a memory is one of them. Nothing is run in a git directory
    that leads elsewhere.
    """
    import subprocess

    if not git_directory or leads_elsewhere(git_directory):
        return ""
    environment = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
    folder = work_tree or git_directory
    # Both are named, so neither `core.worktree` nor a `.git` file leads git elsewhere.
    places = (f"--git-dir={git_directory}", f"--work-tree={folder}")
    try:
        done = subprocess.run(
            ["git", *_OPTIONS, *places, *arguments],
            cwd=folder,
            env=environment | _ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    if done.returncode != 0:
        return ""
    return done.stdout[:MOST_OUTPUT].decode(errors="replace")


def leads_elsewhere(git_directory: str) -> bool:
    """Is it a link, has it links, or does its configuration include other files, which could be
    any? In a work tree, the shared directory has the configuration."""
    shared = read_beginning(os.path.join(git_directory, "commondir"), 8192).strip()
    common = os.path.join(git_directory, shared) if shared else git_directory
    for folder in (git_directory, common):
        if os.path.islink(folder) or any(entry.is_symlink() for entry in _entries(folder)):
            return True
    files = (os.path.join(common, "config"), os.path.join(git_directory, "config.worktree"))
    return any(
        line.lstrip().lower().startswith("[include")
        for path in files
        for line in read_beginning(path, _CONFIG_BYTES).splitlines()
    )


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def read_beginning(path: str, most: int) -> str:
    """The beginning of a plain file of a repository; "" if there is none, or a link."""
    try:
        with open(path, encoding="utf-8", errors="replace", opener=_open_no_link) as file:
            return file.read(most)
    except (OSError, ValueError):
        return ""


def _open_no_link(path: str, flags: int) -> int:
    return open_plain(path, flags | os.O_NOFOLLOW)
