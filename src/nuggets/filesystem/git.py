"""Runs git on an untrusted repository: no program that the repository configures is started."""

import os

GIT_SECONDS = 2.0
MOST_OUTPUT = 4 * 1024 * 1024
_OPTIONS = (
    *("--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "protocol.allow=never", "-c", "log.showSignature=false"),
)


def run_git(folder: str, *arguments: str, seconds: float = GIT_SECONDS) -> str:
    """What git prints in a checkout or git directory; "" if it is missing, too slow or fails.

    Arguments are ours alone: no text of a memory is one of them.
    """
    import subprocess

    environment = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
    environment |= {
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    try:
        done = subprocess.run(
            ["git", *_OPTIONS, "-C", folder, *arguments],
            env=environment,
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
