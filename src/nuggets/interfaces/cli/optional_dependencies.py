"""Checks optional dependencies, and says how to install them."""

import os
import sys
from importlib.util import find_spec
from shlex import join

from nuggets.errors import MissingExtra
from nuggets.filesystem.python_process import module_command
from nuggets.interfaces.display_text import PACKAGE

_MODULES = {  # of each extra that pyproject.toml names
    "mcp": ("mcp", "mcp_types"),  # mcp_types exists from the required version on
    "web": ("mcp", "mcp_types", "starlette", "uvicorn"),
}
_FROM_THE_CHECKOUT = "pip install '.[{extra}]', in the directory you installed Nuggets from"


def check_extra(extra: str, what: str) -> None:
    """Raise `MissingExtra`, with the install command, if a module of an extra is missing."""
    if any(find_spec(module) is None for module in _MODULES[extra]):
        raise MissingExtra(
            f"{what} needs packages that are not installed; run: {install_line(extra)}"
        )


def install_line(extra: str) -> str:
    """The command that installs the packages of an extra into this installation.

    It names the packages, because Nuggets itself may not come from the package index.
    """
    packages = _packages(extra)
    if not packages:
        return _FROM_THE_CHECKOUT.format(extra=extra)
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return join(["pipx", "inject", PACKAGE, *packages])
    if find_spec("pip") is None:  # environments created by uv have no pip
        return join(["uv", "pip", "install", "--python", sys.executable, *packages])
    return join(module_command("pip", "install", *packages))


def _packages(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        needed = requires(PACKAGE) or []
    except PackageNotFoundError:
        return []
    split = (line.partition(";") for line in needed)
    markers = {f"extra == '{extra}'", f'extra == "{extra}"'}
    return [package.strip() for package, _, marker in split if marker.strip() in markers]
