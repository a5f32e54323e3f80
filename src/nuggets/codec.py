"""Records to plain JSON and back, with the documented names. The one outside shape:
files, ``--json``, REST and MCP all show what is written here."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from sys import intern
from typing import Any

from nuggets.errors import InvalidInput
from nuggets.records import (
    KINDS,
    NO_EXTRA,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    Changes,
    Commit,
    DailyRun,
    MemoryNote,
    NoteLink,
    NuggetConfig,
    RecallResult,
    ReflectionChange,
    ReflectionResult,
    SearchNotesResult,
    Touch,
)

Json = dict[str, Any]

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def dumps(value: Any) -> str:
    """Compact JSON in one line; refuses what no JSON reader could take back."""
    return _encoder.encode(value)


def loads(text: str | bytes, where: str) -> Any:
    """JSON that means one thing: UTF-8, no NaN, no key twice, no bottomless nesting."""
    try:
        if isinstance(text, bytes):
            text = text.decode()  # left to itself json would let half characters through
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise InvalidInput(f"{where}: nested too deeply") from None
    except ValueError as problem:  # also UnicodeDecodeError and JSONDecodeError
        raise InvalidInput(f"{where}: {problem}") from None


def savable(shape: Any, where: str) -> None:
    """Refuse what could be read but never be written again: half characters, endless numbers,
    nesting to the very limit."""
    for _ in range(_SPARE_LEVELS):
        shape = [shape]
    try:
        dumps(shape).encode()
    except RecursionError:
        raise InvalidInput(f"{where}: nested too deeply") from None
    except ValueError as problem:  # also UnicodeEncodeError
        raise InvalidInput(f"{where}: {problem}") from None


_SPARE_LEVELS = 16  # the journal nests what it is given a little deeper


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


# --- notes ------------------------------------------------------------------------------------


def note_to_json(note: MemoryNote, *, vector: bool = True) -> Json:
    """The documented shape. `vector=False` leaves the recipe out where it would grow again."""
    shape: Json = {
        "id": note.id,
        "nuggetName": note.nugget_name,
        "title": note.title,
        "content": note.content,
        "tags": list(note.tags),
        "links": [{"to": to, "reason": why, "createdAt": at} for to, why, at in note.links],
    }
    for link in shape["links"] if _LINK_FIELDS in note.extra else ():
        link.update(note.extra[_LINK_FIELDS].get(_link_name(link), {}))
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
    shape.update(note.extra)
    shape.pop(_LINK_FIELDS, None)
    return shape


_LINK_FIELDS = "linkFields"  # where `extra` keeps what others wrote into links


def _link_name(link: Json) -> str:
    return f"{link['to']} {link['reason']}"


def note_from_json(shape: Json) -> MemoryNote:
    """Back again, from a shape that we wrote ourselves; it is used up."""
    take = shape.pop
    written = take("links")
    links = tuple(NoteLink(link["to"], link["reason"], link["createdAt"]) for link in written)
    unknown = {_link_name(link): link for link in written if len(link) > len(NoteLink._fields)}
    if unknown:
        known = ("to", "reason", "createdAt")
        shape[_LINK_FIELDS] = {
            name: {field: value for field, value in link.items() if field not in known}
            for name, link in unknown.items()
        }
    take("vector", None)
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
    )


def checked_note(shape: Any, where: str) -> Json:
    """A note that someone else may have written: every known field of its documented type.

    Fields that may be missing stay missing; whoever takes the note in fills them.
    """
    fields = _object(shape, where)
    for name in ("id", "nuggetName", "title", "content"):
        if name not in fields:
            raise InvalidInput(f"{where}: the field {name!r} is missing")
    for name, value in fields.items():
        check = _NOTE_FIELDS.get(name)
        if check is not None:
            check(value, f"{where}: {name!r}")
    if not fields["id"].strip():
        raise InvalidInput(f"{where}: 'id' is empty")
    return fields


def _object(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: an object is expected here, not {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    return _KIND_NAMES.get(type(value), "null")


_KIND_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def _text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{where} is a text, not {_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{where} holds half a character (a lone surrogate)") from None


def _whole(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise InvalidInput(f"{where} is a whole number from 0")


def _number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"{where} is a number, not {_kind(value)}")


def _truth(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"{where} is true or false, not {_kind(value)}")


def _texts(value: Any, where: str) -> None:
    if not isinstance(value, list):
        raise InvalidInput(f"{where} is a list, not {_kind(value)}")
    for item in value:
        _text(item, f"{where}: each item")


def _links(value: Any, where: str) -> None:
    if not isinstance(value, list):
        raise InvalidInput(f"{where} is a list, not {_kind(value)}")
    for item in value:
        link = _object(item, where)
        _text(link.get("to"), f"{where}: 'to'")
        _text(link.get("reason", ""), f"{where}: 'reason'")
        _text(link.get("createdAt", ""), f"{where}: 'createdAt'")


def _one_of(allowed: tuple[str, ...]) -> Callable[[Any, str], None]:
    def check(value: Any, where: str) -> None:
        if value not in allowed:
            raise InvalidInput(f"{where} is one of {', '.join(allowed)}; here stands {value!r}")

    return check


_NOTE_FIELDS: Mapping[str, Callable[[Any, str], None]] = {
    **dict.fromkeys(
        ("id", "nuggetName", "title", "content", "sourceKey", "lastHitSession", "createdAt"), _text
    ),
    **dict.fromkeys(
        ("updatedAt", "lastAccessedAt", "lastRewrittenAt", "archivedAt", "lastInspectedAt"), _text
    ),
    **dict.fromkeys(("subject", "project"), _text),
    **dict.fromkeys(("tags", "hitSessions"), _texts),
    "links": _links,
    "hidden": _truth,
    "hits": _whole,
    "confidence": _number,
    "kind": _one_of(KINDS),
    "scope": _one_of(SCOPES),
    "type": _one_of(TYPES),
    "source": _one_of(SOURCES),
    "stability": _one_of(STABILITIES),
}


# --- nuggets ----------------------------------------------------------------------------------

_CONFIG_FIELDS = {  # documented name -> field; those of `config` nest one level deeper
    "D": "dims",
    "banks": "banks",
    "ensembles": "ensembles",
    "max_facts": "max_facts",
}
_NESTED_FIELDS = {
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
        **{name: getattr(config, field) for name, field in _CONFIG_FIELDS.items()},
        "facts": [{**fact_to_json(fact), **fact.extra.get("fact", {})} for fact in facts],
        "config": {
            **{name: getattr(config, field) for name, field in _NESTED_FIELDS.items()},
            **unknown_nested,
        },
        **unknown,
    }


def nugget_from_json(shape: Any, where: str) -> tuple[NuggetConfig, list[Json]]:
    """Configuration and facts of a nugget's file, every known field checked."""
    fields = dict(_object(shape, where))
    for ours in ("version", "revision", "savedAt"):
        fields.pop(ours, None)
    name = fields.pop("name", None)
    _text(name, f"{where}: 'name'")
    facts = fields.pop("facts", [])
    if not isinstance(facts, list):
        raise InvalidInput(f"{where}: 'facts' is a list, not {_kind(facts)}")
    values: Json = {}
    for documented, field in _CONFIG_FIELDS.items():
        if documented in fields:
            values[field] = fields.pop(documented)
            _whole(values[field], f"{where}: {documented!r}")
    nested = dict(_object(fields.pop("config", {}), f"{where}: 'config'"))
    for documented, field in _NESTED_FIELDS.items():
        if documented in nested:
            values[field] = nested.pop(documented)
            _number(values[field], f"{where}: {documented!r}")
    if nested:
        fields["config"] = nested
    return (
        NuggetConfig(name=name, **values, extra=fields or NO_EXTRA),
        [checked_fact(fact, f"{where}: fact {number}") for number, fact in enumerate(facts, 1)],
    )


def checked_fact(shape: Any, where: str) -> Json:
    """A fact as someone else may have written it."""
    fact = _object(shape, where)
    _text(fact.get("key"), f"{where}: 'key'")
    _text(fact.get("value"), f"{where}: 'value'")
    _whole(fact.get("hits", 0), f"{where}: 'hits'")
    _text(fact.get("project", ""), f"{where}: 'project'")
    _text(str(fact.get("last_hit_session", "")), f"{where}: 'last_hit_session'")
    return fact


# --- changes, as the journal keeps them -------------------------------------------------------


def changes_to_json(changes: Changes) -> Json:
    """Only what is there: an empty part takes no room in the journal."""
    shape: Json = {
        "put": [note_to_json(note, vector=False) for note in changes.put],
        "drop": list(changes.drop),
        "nuggets": [config._asdict() for config in changes.put_nuggets],
        "dropNuggets": list(changes.drop_nuggets),
        "touches": [list(touch) for touch in changes.touches],
        "marks": dict(changes.marks),
        "action": changes.action,
        "client": changes.client,
    }
    return {name: part for name, part in shape.items() if part}


def changes_from_json(shape: Json) -> Changes:
    return Changes(
        put=tuple(map(note_from_json, shape.get("put", ()))),
        drop=tuple(shape.get("drop", ())),
        put_nuggets=tuple(NuggetConfig(**config) for config in shape.get("nuggets", ())),
        drop_nuggets=tuple(shape.get("dropNuggets", ())),
        touches=tuple(Touch(*touch) for touch in shape.get("touches", ())),
        marks=shape.get("marks", NO_EXTRA),
        action=shape.get("action", ""),
        client=shape.get("client", ""),
    )


# --- answers ----------------------------------------------------------------------------------


def recall_to_json(result: RecallResult) -> Json:
    """The documented shape; an answer that belongs to one project also says to which."""
    shape: Json = {
        "answer": result.answer,
        "confidence": result.confidence,
        "margin": result.margin,
        "found": result.found,
        "key": result.key,
        "nugget": result.nugget,
        "match": result.match,
        "ratio": result.ratio,
    }
    return {**shape, "project": result.project} if result.project else shape


def search_result_to_json(result: SearchNotesResult) -> Json:
    return {
        "note": note_to_json(result.note),
        "score": result.score,
        "vectorScore": result.vector_score,
        "textScore": result.text_score,
        "relevance": result.relevance,
    }


def fact_to_json(fact: MemoryNote) -> Json:
    """The documented shape; a fact that belongs to one project also says to which."""
    shape: Json = {
        "key": fact.title,
        "value": fact.content,
        "hits": fact.hits,
        "last_hit_session": fact.last_hit_session,
    }
    return {**shape, "project": fact.project} if fact.project else shape


def commit_to_json(commit: Commit) -> Json:
    """A step of the history, with each changed note as it was and as it became.

    Of a note that was purged there is neither.
    """
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
        "nuggets": [config.name for config in commit.changes.put_nuggets],
        "removedNuggets": list(commit.changes.drop_nuggets),
    }


def reflection_to_json(result: ReflectionResult) -> Json:
    return {
        "ranAt": result.ran_at,
        "inspected": result.inspected,
        "rewritten": result.rewritten,
        "merged": result.merged,
        "hidden": result.hidden,
        "tagged": result.tagged,
        "linked": result.linked,
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
    counts = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")
    numbers: dict[str, int] = {count: shape[count] for count in counts}
    return ReflectionResult(shape["ranAt"], **numbers, changes=changes)


def daily_to_json(run: DailyRun) -> Json:
    result = reflection_to_json(run.result)
    return {"date": run.date, "result": result, "promoted": run.promoted}


def daily_from_json(shape: Json) -> DailyRun:
    return DailyRun(shape["date"], reflection_from_json(shape["result"]), shape["promoted"])


def error_to_json(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}
