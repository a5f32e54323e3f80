"""What an operation of the REST interface is, how its query string is read, and the OpenAPI
document that is made of the same definitions."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Annotated, Any, get_args, get_origin

from nuggets import __version__
from nuggets.domain.codec import Json, json_name
from nuggets.domain.limits import CALLED, CONTENT_BYTES, Limit, Name, Share, wrong_type
from nuggets.domain.records import (
    MemoryNote,
    NoteVectorSpec,
    NuggetStatus,
    RecallResult,
    ReflectionChange,
    ReflectionResult,
    SearchNotesResult,
    WrittenNote,
)
from nuggets.domain.type_check import fields_of
from nuggets.errors import InvalidInput
from nuggets.interfaces.json_responses import BRIEF
from nuggets.interfaces.json_schemas import (
    Parameters,
    Schema,
    array,
    parameters_of,
    record_schema,
    reference,
    schema_of,
    shape,
)
from nuggets.named_tuple import NamedTuple

REVISION = "Nuggets-Revision"  # a header: the step of the history that a request made

Content = Annotated[str, Limit(0, CONTENT_BYTES)]
Count = Annotated[int, Limit(0, 2**53)]  # that every program which reads JSON counts exactly
Steps = Annotated[int, Limit(1, 200)]  # of the history, in one answer
Notes = Annotated[int, Limit(1, 1_000_000)]  # that a reflection inspects
Query = Annotated[str, Limit(1, 2000)]  # what the page lets people type

# Answers of several records, by their names in the document.
Fact = Annotated[Json, reference("Fact")]
Found = Annotated[Json, reference("SearchResult")]
Recall = Annotated[Any, reference("Recall")]
ShownNote = Annotated[Json, reference("Note")]
_RECORDS = {
    MemoryNote: reference("Note"),
    WrittenNote: reference("Written"),
    NuggetStatus: reference("Status"),
    ReflectionResult: reference("Reflection"),
}
_PATH_PART = re.compile(r"{(\w+)}")
_WITH_BODY = ("POST", "PATCH")


class Operation(NamedTuple):
    """One method of one path: parameters, response, and the function that runs it."""

    method: str
    path: str
    summary: str
    answer: Schema
    status: int
    run: Callable[..., Any]  # takes the shelf, and by name what the caller sent
    parameters: Parameters  # in the query or the body, as the method has it

    @property
    def name(self) -> str:
        """Its operationId."""
        return json_name(self.run.__name__.strip("_"))

    @property
    def has_body(self) -> bool:
        return self.method in _WITH_BODY


def operation(
    method: str,
    path: str,
    summary: str,
    *,
    status: int = 200,
) -> Callable[[Callable[..., Any]], Operation]:
    """Make a function an operation. Its first parameter is the shelf; the others, with their types
    and defaults, are what a caller may send. It answers with what it returns, as JSON."""

    def define(run: Callable[..., Any]) -> Operation:
        parameters = parameters_of(run, _PATH_PART.findall(path), tell_defaults=True)
        answer = _schema_of_answer(signature(run).return_annotation)
        return Operation(method, path, summary, answer, status, run, parameters)

    return define


def _schema_of_answer(kind: Any) -> Schema:
    if get_origin(kind) is Annotated:
        named: Schema = kind.__metadata__[0]
        return named
    if get_origin(kind) in (list, Sequence):
        return array(_schema_of_answer(get_args(kind)[0]))
    return _RECORDS.get(kind, {"type": "object"})


def parse_query(pairs: Iterable[tuple[str, str]], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a query string by name, flags and numbers as such."""
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name in values:
            raise InvalidInput(f"{name} is given twice")
        values[name] = _parse(text, kinds.get(name), name)
    return values


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


# --- the OpenAPI document -------------------------------------------------------------------------


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """Every operation with its parameters and responses."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nuggets",
            "description": "Facts and linked notes of one shelf. GET never changes anything; "
            "changes are announced at /api/events as server-sent events.",
            "version": __version__,
        },
        "paths": paths,
        "components": {"schemas": dict(COMPONENTS)},
    }


def _describe(operation: Operation) -> dict[str, Any]:
    done = {"description": "Done", "content": _json(operation.answer)}
    failed = {"description": "An error, by its code", "content": _json(reference("Error"))}
    sent, parts = operation.parameters, _PATH_PART.findall(operation.path)
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [_parameter(name, "path", Name, required=True) for name in parts],
        "responses": {str(operation.status): done, "default": failed},
    }
    if operation.has_body:
        return {**described, "requestBody": {"required": True, "content": _json(sent.schema)}}
    described["parameters"] += [
        _parameter(name, "query", kind, required=name in sent.required)
        for name, kind in sent.kinds.items()
    ]
    return described


def _parameter(name: str, where: str, kind: Any, *, required: bool) -> dict[str, Any]:
    return {"name": name, "in": where, "required": required, "schema": schema_of(kind)}


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


# --- answers that are records, and what goes with them; others say what they are in their names -


_CAVEATS = {"caveats": array(str)}


def _more(schema: Schema, optional: Mapping[str, Schema], **required: object) -> Schema:
    """The schema of an object that has more."""
    known = schema["properties"]
    left_out = known.keys() - set(schema["required"])
    return shape({**known, **required, **optional}, *left_out, *optional)


_NOTE = _more(record_schema(MemoryNote, vector=NoteVectorSpec, confidence=Share), _CAVEATS)
_WRITTEN = {"contradicts": array(reference("Brief")), "before": shape({"content": str})}
_ALSO = {
    "note": reference("Brief"),
    "also": array(reference("Brief")),
    "notes": array(reference("SearchResult")),
    **_CAVEATS,
}

COMPONENTS: Mapping[str, Schema] = {
    "Note": _NOTE,
    "Written": _more(_NOTE, _WRITTEN),
    "Brief": shape({name: _NOTE["properties"][name] for name in BRIEF}),
    "Fact": _more(_NOTE, {}, key=str, value=str, last_hit_session=str),
    "Status": shape({name: field.kind for name, field in fields_of(NuggetStatus).items()}),
    "Recall": _more(record_schema(RecallResult), _ALSO),
    "SearchResult": _more(
        record_schema(SearchNotesResult, note=reference("Note")),
        _CAVEATS,
        foreign=bool,
    ),
    "Reflection": record_schema(ReflectionResult, changes=array(ReflectionChange)),
    "Error": shape({"error": shape({"code": str, "message": str})}),
}
