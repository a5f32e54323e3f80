"""Reads what stands in a path and a query string, which are texts, as what an operation takes."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from nuggets.domain.limits import CALLED, wrong_type
from nuggets.domain.type_check import read
from nuggets.errors import InvalidInput
from nuggets.interfaces.json_schemas import Default
from nuggets.interfaces.rest.operation_definition import Arguments


def validate_query(
    pairs: Iterable[tuple[str, str]], kinds: Mapping[str, Any], required: Iterable[str]
) -> Arguments:
    """The parameters of a query string by name, parsed by their type; defaults for the rest."""
    arguments: Arguments = {}
    for name, text in pairs:
        if name not in kinds:
            names = ", ".join(kinds) or "none"
            raise InvalidInput(f"there is no parameter {name!r:.80}; there are: {names}")
        if name in arguments:
            raise InvalidInput(f"{name} is given twice")
        arguments[name] = read(_parse(text, kinds[name], name), kinds[name], name)
    for name in required:
        if name not in arguments:
            raise InvalidInput(f"{name} is missing")
    defaults = {
        name: mark.value
        for name, kind in kinds.items()
        for mark in get_args(kind)[1:]
        if isinstance(mark, Default)
    }
    return {**defaults, **arguments}


def _parse(text: str, kind: Any, where: str) -> Any:
    plain = (get_args(kind) or (kind,))[0]
    if plain is bool and text in ("true", "false"):
        return text == "true"
    digits = text.removeprefix("-")
    if plain is int and digits.isascii() and digits.isdigit() and len(digits) < 20:
        return int(text)
    if plain in (bool, int):
        raise wrong_type(text, CALLED[plain], where)
    return text
