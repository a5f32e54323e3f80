"""The commands that start a Python process of ours; there is no other way.

Whoever works in a folder, or keeps a shelf that came from elsewhere, may have a `json.py` or a
`pip.py` in it. Python would import that first, so no process looks for modules in the folder that
it starts in, and `NEUTRAL_FOLDER` is where it starts: a `PYTHONPATH` may name relative folders.
"""

import sys

NEUTRAL_FOLDER = "/"


def module_command(module: str, *arguments: str) -> list[str]:
    """Run a module of this installation, also one that the user installed for themselves."""
    return [sys.executable, "-P", "-m", module, *arguments]


def isolated_command(program: str, *arguments: str) -> list[str]:
    """Run a program text with nothing but the standard library; it starts in half the time."""
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", program, *arguments]
