"""The only ways to start git and Python: neither may run what a folder has brought along."""

import os
import sys

from nuggets.filesystem.atomic_files import read_beginning

# --- git --------------------------------------------------------------------------------------

# It runs on a repository that nobody trusts: no program that the repository configures is started,
# nothing is fetched, and no file is opened that its configuration names outside of it.
GIT_SECONDS = 2.0  # then the question stays open: nobody waits for a slow disk
MOST_OUTPUT = 4 * 1024 * 1024  # bytes that are read of an answer: a repository may be of any size
CONFIG_BYTES = 256 * 1024  # that are read of a configuration: a file of any size may stand there
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
        for line in read_beginning(path, CONFIG_BYTES).splitlines()
    )


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


# --- Python -----------------------------------------------------------------------------------

# Whoever works in a folder, or keeps a shelf that came from elsewhere, may have a `json.py` or a
# `pip.py` in it. Python would import that first, so no process looks for modules in the folder that
# it starts in, and `NEUTRAL_FOLDER` is where it starts: a `PYTHONPATH` may name relative folders.
NEUTRAL_FOLDER = "/"


def module_command(module: str, *arguments: str) -> list[str]:
    """Run a module of this installation, also one that the user installed for themselves."""
    return [sys.executable, "-P", "-m", module, *arguments]


def isolated_command(program: str, *arguments: str) -> list[str]:
    """Run a program text with nothing but the standard library; it starts in half the time."""
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", program, *arguments]
