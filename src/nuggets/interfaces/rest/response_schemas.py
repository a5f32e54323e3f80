"""What the REST interface answers with: the documented JSON of records, and what goes with it."""

from collections.abc import Mapping

from nuggets.domain.limits import Share
from nuggets.domain.records import (
    MemoryNote,
    MemorySource,
    NoteVectorSpec,
    NuggetStatus,
    RecallResult,
    ReflectionChange,
    ReflectionResult,
    SearchNotesResult,
)
from nuggets.domain.type_check import fields_of
from nuggets.interfaces.json_responses import BRIEF
from nuggets.interfaces.json_schemas import (
    Schema,
    array,
    nullable,
    record_schema,
    reference,
    shape,
)
from nuggets.interfaces.rest.operation_definition import Count

_CAVEATS = {"caveats": array(str)}


def _more(schema: Schema, optional: Mapping[str, Schema], **required: object) -> Schema:
    """The schema of an object that has more."""
    known = schema["properties"]
    left_out = known.keys() - set(schema["required"])
    return shape({**known, **required, **optional}, *left_out, *optional)


_NOTE = _more(record_schema(MemoryNote, vector=NoteVectorSpec, confidence=Share), _CAVEATS)
_PROPERTIES = _NOTE["properties"]
_WRITTEN = _more(_NOTE, {"contradicts": array(reference("Brief"))})
_STEP = {"revision": Count, "at": str, "action": str, "client": str}
_CHANGE = {
    "id": str,
    "before": nullable(reference("Note")),
    "after": nullable(reference("Note")),
}
_NODE = ("id", "title", "kind", "type", "tags", "hits", "hidden", "scope", "project", "updatedAt")
_ALSO = {
    "note": reference("Brief"),
    "also": array(reference("Brief")),
    "notes": array(reference("SearchResult")),
    **_CAVEATS,
}

COMPONENTS: Mapping[str, Schema] = {
    "Note": _NOTE,
    "Written": _WRITTEN,
    "Brief": shape({name: _PROPERTIES[name] for name in BRIEF}),
    "Fact": _more(_NOTE, {}, key=str, value=str, last_hit_session=str),
    "Remembered": _more(_WRITTEN, {"before": shape({"content": str})}),
    "Node": shape(
        {
            **{name: _PROPERTIES[name] for name in _NODE},
            "nugget": str,
            "links": array(array(str)),
        }
    ),
    "Status": shape({name: field.kind for name, field in fields_of(NuggetStatus).items()}),
    "Recall": _more(record_schema(RecallResult), _ALSO),
    "SearchResult": _more(
        record_schema(SearchNotesResult, note=reference("Note")),
        {"why": {"type": "object"}, **_CAVEATS},
        foreign=bool,
    ),
    "Version": shape(
        {
            "title": str,
            "value": str,
            "validFrom": str,
            "validUntil": nullable(str),
            "noteId": str,
            "source": MemorySource,
        }
    ),
    "Commit": shape(
        {
            **_STEP,
            "notes": array(shape(_CHANGE)),
            "noteCount": Count,
            "nuggets": array(str),
            "removedNuggets": array(str),
        }
    ),
    "Reflection": record_schema(ReflectionResult, changes=array(ReflectionChange)),
    "Activity": shape(
        {
            "revision": Count,
            "steps": array(shape({**_STEP, "notes": Count})),
            "recalls": array(shape({"at": str, "session": str, "noteId": str})),
        }
    ),
    "Error": shape({"error": shape({"code": str, "message": str})}),
}
