"""What the REST interface answers with: the documented shapes, described once."""

from collections.abc import Mapping
from typing import get_args

from nuggets.domain.records import KINDS, SCOPES, SOURCES, STABILITIES, TYPES, MatchKind
from nuggets.interfaces.json_responses import BRIEF
from nuggets.interfaces.rest.operation_definition import (
    NUMBER,
    SHARE,
    TEXT,
    TRUTH,
    Schema,
    array,
    choice,
    integer,
    nullable,
    reference,
    shape,
)

COUNT = integer(0, 2**53)
STEPS = integer(1, 200, 20)  # of the history, in one answer

_LINK = shape({"to": TEXT, "reason": TEXT, "createdAt": TEXT})
_ANCHOR = shape(
    {
        "path": TEXT,
        "line": COUNT,
        "lines": array(TEXT),
        "symbols": array(TEXT),
        "size": COUNT,
        "modified": integer(0, 2**63),
        "commit": TEXT,
        "branch": TEXT,
    },
    *("line", "lines", "symbols", "size", "modified", "commit", "branch"),
)
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
        "validFrom": TEXT,
        "validUntil": TEXT,
        "supersedes": array(TEXT),
        "anchors": array(_ANCHOR),
        "stabilityGiven": TRUTH,
        "caveats": array(TEXT),
    },
    "anchors",
    "stabilityGiven",
    "caveats",
    "sourceKey",
    "lastRewrittenAt",
    "archivedAt",
    "lastInspectedAt",
    "validFrom",
    "validUntil",
    "supersedes",
)
_VERSION = shape(
    {
        "title": TEXT,
        "value": TEXT,
        "validFrom": TEXT,
        "validUntil": nullable(TEXT),
        "noteId": TEXT,
        "source": choice(SOURCES),
    }
)
_WRITTEN = shape(
    {**_NOTE["properties"], "contradicts": array(reference("Brief"))},
    *(_NOTE["properties"].keys() - set(_NOTE["required"])),
    "contradicts",
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
_REMEMBERED = shape(
    {**_WRITTEN["properties"], "before": shape({"content": TEXT})},
    *(_WRITTEN["properties"].keys() - set(_WRITTEN["required"])),
    "before",
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
        "scope": choice(SCOPES),
        "project": TEXT,
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
        "probability": SHARE,
        "confidence": SHARE,
        "margin": SHARE,
        "found": TRUTH,
        "key": TEXT,
        "nugget": TEXT,
        "match": nullable(choice(get_args(MatchKind))),
        "ratio": SHARE,
        "missing": array(TEXT),
        "noteId": TEXT,
        "project": TEXT,
        "note": reference("Brief"),
        "also": array(reference("Brief")),
        "notes": array(reference("SearchResult")),
        "validFrom": TEXT,
        "validUntil": TEXT,
        "caveats": array(TEXT),
    },
    "missing",
    "caveats",
    "project",
    "note",
    "also",
    "notes",
    "validFrom",
    "validUntil",
)
_FOUND = shape(
    {
        "note": reference("Note"),
        "score": SHARE,
        "vectorScore": SHARE,
        "textScore": SHARE,
        "relevance": SHARE,
        "clearAnswer": TRUTH,
        "foreign": TRUTH,
        "why": {"type": "object"},
        "caveats": array(TEXT),
    },
    "why",
    "caveats",
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
                    "before": nullable(reference("Note")),
                    "after": nullable(reference("Note")),
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
        "revision": COUNT,
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
    "Written": _WRITTEN,
    "Brief": _BRIEF,
    "Fact": _FACT,
    "Remembered": _REMEMBERED,
    "Node": _NODE,
    "Status": _STATUS,
    "Recall": _RECALL,
    "SearchResult": _FOUND,
    "Version": _VERSION,
    "Commit": _COMMIT,
    "Reflection": _REFLECTION,
    "Activity": _ACTIVITY,
    "Error": shape({"error": shape({"code": TEXT, "message": TEXT})}),
}
