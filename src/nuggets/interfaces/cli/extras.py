"""What is missing for a part that not everybody needs, and the command that brings it."""

import os
import sys
from importlib.util import find_spec
from shlex import join

from nuggets.errors import MissingExtra
from nuggets.interfaces.words import PACKAGE

_MODULES = {  # of each extra that pyproject.toml names
    "mcp": ("mcp", "mcp_types"),  # the second is there from the version we need
    "web": ("mcp", "mcp_types", "starlette", "uvicorn"),
}
_FROM_THE_CHECKOUT = "pip install '.[{extra}]', in the directory you installed Nuggets from"


def check_extra(extra: str, what: str) -> None:
    """`MissingExtra` says how to get it, if a module of an extra is not there."""
    if any(find_spec(module) is None for module in _MODULES[extra]):
        raise MissingExtra(f"{what} needs more than is installed; type: {install_line(extra)}")


def install_line(extra: str) -> str:
    """What to type so that this very installation gets the packages of an extra.

    It names the packages, not the extra: those are on the index, whatever Nuggets came from.
    """
    packages = _packages(extra)
    if not packages:
        return _FROM_THE_CHECKOUT.format(extra=extra)
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return join(["pipx", "inject", PACKAGE, *packages])
    if find_spec("pip") is None:  # environments that uv makes have none
        return join(["uv", "pip", "install", "--python", sys.executable, *packages])
    return join([sys.executable, "-m", "pip", "install", *packages])


def _packages(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        needed = requires(PACKAGE) or []
    except PackageNotFoundError:
        return []
    split = (line.partition(";") for line in needed)
    told = {f"extra == '{extra}'", f'extra == "{extra}"'}
    return [package.strip() for package, _, marker in split if marker.strip() in told]
