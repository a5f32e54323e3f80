"""What an operation of the REST interface is, and how its query string is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, get_args

from nuggets.domain.limits import CALLED, CONTENT_BYTES, Limit, wrong_type
from nuggets.domain.type_check import read
from nuggets.errors import InvalidInput
from nuggets.interfaces.json_schemas import Default, Parameters, Schema
from nuggets.named_tuple import NamedTuple
from nuggets.shelf import NuggetShelf

Arguments = dict[str, Any]
"""What a caller sent, validated: parts of the path, the query and the body, by name."""

NOTHING: Mapping[str, Any] = {}
REVISION = "Nuggets-Revision"  # a header: the step of the history that a request made

Content = Annotated[str, Limit(0, CONTENT_BYTES)]
Count = Annotated[int, Limit(0, 2**53)]  # that every program which reads JSON counts exactly
Steps = Annotated[int, Limit(1, 200), Default(20)]  # of the history, in one answer


class Operation(NamedTuple):
    """One method of one path: parameters, response, and the function that runs it."""

    method: str
    path: str
    name: str  # its operationId
    summary: str
    run: Callable[[NuggetShelf, Arguments], Any]
    answer: Schema
    query: Mapping[str, Any] = NOTHING  # types by name
    required: Sequence[str] = ()  # of the query
    body: Parameters | None = None
    status: int = 200
    is_quiet: bool = False  # it adds no step to the history, though it is no GET

    @property
    def writes(self) -> bool:
        """Does it add a step to the history, unless there is nothing to change?"""
        return self.method != "GET" and not self.is_quiet


# --- a query string, read as what an operation takes -------------------------------------------


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
