"""Real repositories for tests, made by git itself."""

import os
import subprocess
from pathlib import Path


def git(folder: Path | str, *words: str) -> str:
    """Run git in a folder as nobody in particular; what it prints."""
    environment = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
    environment |= {
        **{"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@localhost"},
        **{"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@localhost"},
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    done = subprocess.run(
        ["git", "-C", str(folder), "-c", "protocol.file.allow=always", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def new_repository(folder: Path, remote: str = "", commits: int = 2) -> Path:
    """A repository with commits of its own."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for number in range(commits):
        git(folder, "commit", "-q", "--allow-empty", "-m", f"{remote or folder.name} {number}")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def clone(source: Path, target: Path, remote: str, *options: str) -> Path:
    """Another clone, which says that it came from this remote."""
    git(source, "clone", "-q", *options, f"file://{source}", str(target))
    git(target, "remote", "set-url", "origin", remote)
    return target
