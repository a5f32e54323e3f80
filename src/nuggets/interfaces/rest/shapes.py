"""What the REST interface answers with: the documented shapes, described once."""

from collections.abc import Mapping
from typing import get_args

from nuggets.interfaces.answers import BRIEF
from nuggets.interfaces.rest.operation import (
    NUMBER,
    SHARE,
    TEXT,
    TRUTH,
    Schema,
    array,
    choice,
    named,
    or_null,
    shape,
    whole,
)
from nuggets.records import KINDS, SCOPES, SOURCES, STABILITIES, TYPES, MatchKind

COUNT = whole(0, 2**53)
STEPS = whole(1, 200, 20)  # of the history, in one answer

_LINK = shape({"to": TEXT, "reason": TEXT, "createdAt": TEXT})
_NOTE = shape(
    {
        "id": TEXT,
        "nuggetName": TEXT,
        "title": TEXT,
        "content": TEXT,
        "tags": array(TEXT),
        "links": array(_LINK),
        "vector": shape({"seed": COUNT, "basis": array(TEXT)}),
        "hidden": TRUTH,
        "kind": choice(KINDS),
        "sourceKey": TEXT,
        "hits": COUNT,
        "lastHitSession": TEXT,
        "hitSessions": array(TEXT),
        "createdAt": TEXT,
        "updatedAt": TEXT,
        "lastAccessedAt": TEXT,
        "lastRewrittenAt": TEXT,
        "archivedAt": TEXT,
        "lastInspectedAt": TEXT,
        "subject": TEXT,
        "scope": choice(SCOPES),
        "type": choice(TYPES),
        "source": choice(SOURCES),
        "confidence": SHARE,
        "stability": choice(STABILITIES),
        "project": TEXT,
    },
    "sourceKey",
    "lastRewrittenAt",
    "archivedAt",
    "lastInspectedAt",
)
_BRIEF = shape({name: _NOTE["properties"][name] for name in BRIEF})
_FACT = shape(
    {
        **_NOTE["properties"],
        "key": TEXT,
        "value": TEXT,
        "last_hit_session": TEXT,
    },
    *(_NOTE["properties"].keys() - set(_NOTE["required"])),
)
_NODE = shape(
    {
        "id": TEXT,
        "title": TEXT,
        "nugget": TEXT,
        "kind": choice(KINDS),
        "type": choice(TYPES),
        "tags": array(TEXT),
        "hits": COUNT,
        "hidden": TRUTH,
        "updatedAt": TEXT,
        "links": array(array(TEXT)),
    }
)
_STATUS = shape(
    {
        "name": TEXT,
        "fact_count": COUNT,
        "note_count": COUNT,
        "dimension": COUNT,
        "banks": COUNT,
        "ensembles": COUNT,
        "capacity": COUNT,
        "capacity_used_pct": NUMBER,
        "capacity_warning": TEXT,
        "max_facts": COUNT,
    }
)
_RECALL = shape(
    {
        "answer": TEXT,
        "confidence": SHARE,
        "margin": SHARE,
        "found": TRUTH,
        "key": TEXT,
        "nugget": TEXT,
        "match": or_null(choice(get_args(MatchKind))),
        "ratio": SHARE,
        "noteId": TEXT,
        "project": TEXT,
        "note": named("Brief"),
        "also": array(named("Brief")),
        "notes": array(named("SearchResult")),
    },
    "project",
    "note",
    "also",
    "notes",
)
_FOUND = shape(
    {
        "note": named("Note"),
        "score": SHARE,
        "vectorScore": SHARE,
        "textScore": SHARE,
        "relevance": SHARE,
        "foreign": TRUTH,
        "why": {"type": "object"},
    },
    "why",
)
_COMMIT = shape(
    {
        "revision": COUNT,
        "at": TEXT,
        "action": TEXT,
        "client": TEXT,
        "notes": array(
            shape(
                {
                    "id": TEXT,
                    "before": or_null(named("Note")),
                    "after": or_null(named("Note")),
                }
            )
        ),
        "noteCount": COUNT,
        "nuggets": array(TEXT),
        "removedNuggets": array(TEXT),
    }
)
_REFLECTION = shape(
    {
        "ranAt": TEXT,
        "inspected": COUNT,
        "rewritten": COUNT,
        "merged": COUNT,
        "hidden": COUNT,
        "tagged": COUNT,
        "linked": COUNT,
        "changes": array(shape({"type": TEXT, "nuggetName": TEXT, "noteId": TEXT, "detail": TEXT})),
    }
)
_ACTIVITY = shape(
    {
        "steps": array(
            shape(
                {
                    "revision": COUNT,
                    "at": TEXT,
                    "action": TEXT,
                    "client": TEXT,
                    "notes": COUNT,
                }
            )
        ),
        "recalls": array(shape({"at": TEXT, "session": TEXT, "noteId": TEXT})),
    }
)

COMPONENTS: Mapping[str, Schema] = {
    "Note": _NOTE,
    "Brief": _BRIEF,
    "Fact": _FACT,
    "Node": _NODE,
    "Status": _STATUS,
    "Recall": _RECALL,
    "SearchResult": _FOUND,
    "Commit": _COMMIT,
    "Reflection": _REFLECTION,
    "Activity": _ACTIVITY,
    "Error": shape({"error": shape({"code": TEXT, "message": TEXT})}),
}
