"""What an operation of the REST interface is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from nuggets.domain.limits import CONTENT_BYTES, Limit
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
