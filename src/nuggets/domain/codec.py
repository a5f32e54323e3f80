"""Records to plain JSON and back, with the documented names.

Files, ``--json``, REST and MCP all use this one format. Only JSON that Nuggets wrote is read here;
`stores/json_validation.py` checks JSON from elsewhere.
"""

import json
from collections.abc import Iterable
from sys import intern
from typing import Any

from nuggets.domain.records import (
    NO_EXTRA,
    Anchor,
    Commit,
    DailyRun,
    MemoryNote,
    MemoryVersion,
    NoteLink,
    NuggetConfig,
    RecallResult,
    ReflectionChange,
    ReflectionResult,
    SearchNotesResult,
)
from nuggets.errors import InvalidInput

Json = dict[str, Any]

_encoder = json.JSONEncoder(  # what is encoded is a tree; to check that takes a fifth of the time
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
)


def dumps(value: Any) -> str:
    """Compact JSON in one line; refuses values that no JSON parser could read back."""
    return _encoder.encode(value)


def loads(text: str | bytes, where: str) -> Any:
    """Parse strict JSON: UTF-8, no NaN, no repeated key, no bottomless nesting."""
    try:
        if isinstance(text, bytes):
            text = text.decode()  # left to itself json would let half characters through
        return json.loads(
            text, parse_constant=_no_constant, object_pairs_hook=_refuse_repeated_keys
        )
    except RecursionError:
        raise InvalidInput(f"{where}: nested too deeply") from None
    except ValueError as problem:  # also UnicodeDecodeError and JSONDecodeError
        raise InvalidInput(f"{where}: {problem}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> Json:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        earlier: set[str] = set()
        repeated = next(key for key, _ in pairs if key in earlier or earlier.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {repeated!r} occurs twice in one object")
    return fields


# --- notes ------------------------------------------------------------------------------------


def note_to_json(note: MemoryNote, *, vector: bool = True) -> Json:
    """The documented shape. `vector=False` leaves out the vector recipe, which can be derived
    again."""
    shape: Json = {
        "id": note.id,
        "nuggetName": note.nugget_name,
        "title": note.title,
        "content": note.content,
        "tags": list(note.tags),
        "links": [{"to": to, "reason": why, "createdAt": at} for to, why, at in note.links],
    }
    for link in shape["links"] if LINK_FIELDS in note.extra else ():
        link.update(note.extra[LINK_FIELDS].get(_link_name(link), {}))
    if vector:
        spec = note.vector
        shape["vector"] = {"seed": spec.seed, "basis": list(spec.basis)}
    shape["hidden"] = note.hidden
    shape["kind"] = note.kind
    if note.source_key is not None:
        shape["sourceKey"] = note.source_key
    shape["hits"] = note.hits
    shape["lastHitSession"] = note.last_hit_session
    shape["hitSessions"] = list(note.hit_sessions)
    shape["createdAt"] = note.created_at
    shape["updatedAt"] = note.updated_at
    shape["lastAccessedAt"] = note.last_accessed_at
    if note.last_rewritten_at is not None:
        shape["lastRewrittenAt"] = note.last_rewritten_at
    if note.archived_at is not None:
        shape["archivedAt"] = note.archived_at
    if note.last_inspected_at is not None:
        shape["lastInspectedAt"] = note.last_inspected_at
    shape["subject"] = note.subject
    shape["scope"] = note.scope
    shape["type"] = note.type
    shape["source"] = note.source
    shape["confidence"] = note.confidence
    shape["stability"] = note.stability
    shape["project"] = note.project
    _add_validity(shape, note)
    if note.supersedes:
        shape["supersedes"] = list(note.supersedes)
    if note.anchors:
        shape["anchors"] = [anchor_to_json(anchor) for anchor in note.anchors]
    if note.stability_given:
        shape["stabilityGiven"] = True
    shape.update(note.extra)
    shape.pop(LINK_FIELDS, None)
    return shape


def anchor_to_json(anchor: Anchor) -> Json:
    """A place in a repository; what is not known is left out."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in anchor._asdict().items()
        if value or name == "path"
    }


def anchor_from_json(shape: Json) -> Anchor:
    """The anchor of a JSON object; unknown fields are dropped."""
    fields: Json = {name: shape[name] for name in Anchor._fields if name in shape}
    for name in ("lines", "symbols"):
        fields[name] = tuple(fields.get(name, ()))
    return Anchor(**fields)


def _add_validity(shape: Json, memory: MemoryNote | RecallResult) -> None:
    """Add since when and until when the memory is true, if that is known."""
    if memory.valid_from is not None:
        shape["validFrom"] = memory.valid_from
    if memory.valid_until is not None:
        shape["validUntil"] = memory.valid_until


LINK_FIELDS = "linkFields"  # where `extra` keeps what others wrote into links


def _link_name(link: Json) -> str:
    return f"{link['to']} {link['reason']}"


def note_from_json(shape: Json) -> MemoryNote:
    """The note of a JSON object that we wrote ourselves; the object is consumed."""
    take = shape.pop
    link_shapes = take("links")
    links = tuple(NoteLink(link["to"], link["reason"], link["createdAt"]) for link in link_shapes)
    unknown = {_link_name(link): link for link in link_shapes if len(link) > len(NoteLink._fields)}
    if unknown:
        documented = ("to", "reason", "createdAt")
        shape[LINK_FIELDS] = {
            name: {field: value for field, value in link.items() if field not in documented}
            for name, link in unknown.items()
        }
    take("vector", None)
    validity = take("validFrom", None), take("validUntil", None), tuple(take("supersedes", ()))
    anchors = tuple(map(anchor_from_json, take("anchors", ())))
    stability_given = take("stabilityGiven", False)
    return MemoryNote(
        take("id"),
        intern(take("nuggetName")),
        take("title"),
        take("content"),
        intern(take("kind")),  # type: ignore[arg-type]
        intern(take("subject")),
        intern(take("scope")),  # type: ignore[arg-type]
        intern(take("type")),  # type: ignore[arg-type]
        intern(take("source")),  # type: ignore[arg-type]
        take("confidence"),
        intern(take("stability")),  # type: ignore[arg-type]
        take("createdAt"),
        take("updatedAt"),
        take("lastAccessedAt"),
        tuple(map(intern, take("tags"))),
        links,
        take("hidden"),
        take("sourceKey", None),
        take("hits"),
        take("lastHitSession"),
        tuple(take("hitSessions")),
        take("lastRewrittenAt", None),
        take("archivedAt", None),
        take("lastInspectedAt", None),
        intern(take("project")),
        shape or NO_EXTRA,
        *validity,
        anchors,
        stability_given,
    )


# --- nuggets ----------------------------------------------------------------------------------

# Documented name -> field. The nested ones stand one level deeper, in `config`.
CONFIG_FIELDS = {
    "D": "dims",
    "banks": "banks",
    "ensembles": "ensembles",
    "max_facts": "max_facts",
}
NESTED_FIELDS = {
    "sharpen_p": "sharpen_p",
    "corvacs_a": "corvacs_a",
    "temp_T": "temperature",
    "orth_iters": "ortho_iters",
    "fuzzy_threshold": "fuzzy_threshold",
}


def nugget_to_json(config: NuggetConfig, facts: Iterable[MemoryNote] = ()) -> Json:
    """A nugget's file: its configuration and its facts."""
    unknown = dict(config.extra)
    unknown_nested = unknown.pop("config", {})
    return {
        "name": config.name,
        **{name: getattr(config, field) for name, field in CONFIG_FIELDS.items()},
        "facts": [{**fact_to_json(fact), **fact.extra.get("fact", {})} for fact in facts],
        "config": {
            **{name: getattr(config, field) for name, field in NESTED_FIELDS.items()},
            **unknown_nested,
        },
        **unknown,
    }


# --- answers ----------------------------------------------------------------------------------


def recall_to_json(result: RecallResult) -> Json:
    """The documented shape; an answer that belongs to one project also says to which. `missing`:
    the words of the query that the key does not have."""
    shape: Json = {
        "answer": result.answer,
        "probability": result.probability,
        "confidence": result.confidence,
        "margin": result.margin,
        "found": result.found,
        "key": result.key,
        "nugget": result.nugget,
        "match": result.match,
        "ratio": result.ratio,
    }
    _add_validity(shape, result)
    if result.missing:
        shape["missing"] = list(result.missing)
    return {**shape, "project": result.project} if result.project else shape


def search_result_to_json(result: SearchNotesResult) -> Json:
    """The documented shape; `meaning` only if a sentence encoder adds to the relevance, what is
    known of the question only if that is little."""
    shape: Json = {
        "note": note_to_json(result.note),
        "score": result.score,
        "vectorScore": result.vector_score,
        "textScore": result.text_score,
        "relevance": result.relevance,
        "clearAnswer": result.clear_answer,
    }
    if result.meaning:
        shape["meaning"] = result.meaning
    if result.little_found:
        shape["littleFound"] = True
        shape["knownWords"] = list(result.known_words)
        shape["unknownWords"] = list(result.unknown_words)
    return shape


def fact_to_json(fact: MemoryNote) -> Json:
    """The documented shape; a fact that belongs to one project also says to which."""
    shape: Json = {
        "key": fact.title,
        "value": fact.content,
        "hits": fact.hits,
        "last_hit_session": fact.last_hit_session,
    }
    return {**shape, "project": fact.project} if fact.project else shape


def version_to_json(version: MemoryVersion) -> Json:
    """What a memory said for a time; an end of null means until now."""
    return {
        "title": version.note.title,
        "value": version.note.content,
        "validFrom": version.valid_from,
        "validUntil": version.valid_until,
        "noteId": version.note.id,
        "source": version.note.source,
    }


def commit_to_json(commit: Commit) -> Json:
    """A commit of the history, with each changed note before and after. Of a purged note there is
    neither."""
    before = {note.id: note for note in commit.before.put}
    after = {note.id: note for note in commit.changes.put}
    return {
        "revision": commit.revision,
        "at": commit.at,
        "action": commit.changes.action,
        "client": commit.changes.client,
        "notes": [
            {
                "id": note_id,
                "before": note_to_json(before[note_id]) if note_id in before else None,
                "after": note_to_json(after[note_id]) if note_id in after else None,
            }
            for note_id in (*after, *filter(before.__contains__, commit.changes.drop))
        ],
        "noteCount": len(after) + len(commit.changes.drop),
        "nuggets": [config.name for config in commit.changes.put_nuggets],
        "removedNuggets": list(commit.changes.drop_nuggets),
    }


_COUNTS = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")


def reflection_to_json(result: ReflectionResult) -> Json:
    return {
        "ranAt": result.ran_at,
        **{count: getattr(result, count) for count in _COUNTS},
        "changes": [
            {
                "type": change.type,
                "nuggetName": change.nugget_name,
                "noteId": change.note_id,
                "detail": change.detail,
            }
            for change in result.changes
        ],
    }


def reflection_from_json(shape: Json) -> ReflectionResult:
    changes = tuple(
        ReflectionChange(c["type"], c["nuggetName"], c["noteId"], c["detail"])
        for c in shape["changes"]
    )
    numbers: dict[str, int] = {count: shape[count] for count in _COUNTS}
    return ReflectionResult(shape["ranAt"], **numbers, changes=changes)


def daily_to_json(run: DailyRun) -> Json:
    result = reflection_to_json(run.result)
    return {"date": run.date, "result": result, "promoted": run.promoted}


def daily_from_json(shape: Json) -> DailyRun:
    return DailyRun(shape["date"], reflection_from_json(shape["result"]), shape["promoted"])


def error_to_json(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}
