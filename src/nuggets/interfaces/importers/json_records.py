"""JSON, recognised by its fields, whatever the file is called.

Our own: a line of `nuggets export jsonl`, a graph.json, a <name>.nugget.json (also of the
TypeScript program). Others: mem0, mcp-memory-service, the reference server of MCP, and what ChatGPT
and Claude export.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from nuggets.errors import InvalidInput
from nuggets.interfaces.importers import Json, Records, make_note, moment
from nuggets.interfaces.importers.chat_exports import (
    account_texts,
    add_conversation,
    is_account,
    is_conversation,
    is_project,
    project_texts,
)
from nuggets.interfaces.importers.mcp_reference_server import is_entity, read_entities

Located = tuple[str, Json]  # where it was read, and what


def read_json(text: str, name: str, at: str, found: Records) -> None:
    """The notes of a whole JSON text, or of lines of JSON."""
    try:
        value = json.loads(text)
        records = list(_records(value, name, at, found))
    except RecursionError:
        raise InvalidInput(f"{name}: nested too deeply") from None
    except ValueError:  # then it has a value in each line
        records = list(_lines(text, name, found))
    if any(is_entity(record) for _, record in records):
        entities = [(place, record) for place, record in records if is_entity(record)]
        read_entities(entities, at, found)
        records = [(place, record) for place, record in records if not is_entity(record)]
    for place, record in records:
        if is_conversation(record):
            add_conversation(record, place, at, found)
            continue
        note = _read_record(record, at, found)
        if note is None:
            found.problems.append(f"{place}: no memory of any program that is known here")
        else:
            found.add(note, place)


def _lines(text: str, name: str, found: Records) -> Iterator[Located]:
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{name}, line {number}"
        try:
            record = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            found.problems.append(f"{place}: not valid JSON")
            continue
        if isinstance(record, dict):
            yield place, record
        elif record is not None:
            found.problems.append(f"{place}: no JSON object")


def _records(value: Any, name: str, at: str, found: Records) -> Iterator[Located]:
    """The records of a whole text: a list of them, or an object that has such a list."""
    if isinstance(value, dict):
        if isinstance(value.get("facts"), list) and isinstance(value.get("name"), str):
            value = [_fact_note(value["name"], fact, at) for fact in value["facts"]]
        else:
            lists = (value.get(field) for field in ("notes", "memories", "results"))
            value = next((records for records in lists if isinstance(records, list)), [value])
    for number, record in enumerate(value if isinstance(value, list) else [value], 1):
        place = f"{name}, record {number}"
        if not isinstance(record, dict):
            found.problems.append(f"{place}: no JSON object")
        elif is_account(record) or is_project(record):
            found.form = found.form or "memories of Claude"
            texts = account_texts(record) if is_account(record) else project_texts(record)
            yield from ((f"{place}, {field}", memory) for field, memory in texts)
        else:
            yield place, record


def _read_record(record: Json, at: str, found: Records) -> Json | None:
    for form, fits, read in FORMATS:
        if fits(record):
            found.form = found.form or form
            return read(record, found.nugget, at)
    return None


# --- formats ------------------------------------------------------------------------------------


def _is_own(record: Json) -> bool:
    return isinstance(record.get("id"), str) and "nuggetName" in record


def _read_own(record: Json, nugget: str, at: str) -> Json:
    return record


_HITS = {"hits": "hits", "lastHitSession": "last_hit_session"}  # as a note and a fact call them


def _fact_note(nugget: str, fact: Any, at: str) -> Any:
    """A fact of a nugget's file; anything else is refused later, by its place."""
    if not isinstance(fact, dict) or not str(fact.get("key", "")).strip() or "value" not in fact:
        return fact
    note = make_note(nugget, str(fact["key"]), str(fact["value"]), identity=str(fact["key"]), at=at)
    hits = {name: fact[other] for name, other in _HITS.items() if other in fact}
    return {**note, **hits, "id": note["id"].replace("note-", "fact-", 1), "kind": "fact"}


def _is_service(record: Json) -> bool:
    return isinstance(record.get("content"), str) and "content_hash" in record


def _read_service(record: Json, nugget: str, at: str) -> Json:
    """A memory of mcp-memory-service: no title, times in seconds."""
    changed = moment(record.get("updated_at"), at)
    tags = record.get("tags")
    kind = record.get("memory_type")
    return make_note(
        nugget,
        "",
        record["content"],
        identity=f"memory {record['content_hash']}",
        at=changed,
        created=moment(record.get("created_at"), changed),
        tags=[*(tags if isinstance(tags, list) else str(tags or "").split(",")), kind or ""],
    )


def _is_mem0(record: Json) -> bool:
    return isinstance(record.get("memory"), str)


def _read_mem0(record: Json, nugget: str, at: str) -> Json:
    """A memory of mem0, or any object with a text called `memory`."""
    changed = moment(record.get("updated_at"), at)
    categories = record.get("categories")
    return make_note(
        nugget,
        str(record.get("title") or ""),
        record["memory"],
        identity=f"memory {record.get('id') or record['memory']}",
        at=changed,
        created=moment(record.get("created_at"), changed),
        tags=categories if isinstance(categories, list) else (),
    )


FORMATS: tuple[tuple[str, Callable[[Json], bool], Callable[[Json, str, str], Json]], ...] = (
    ("notes of Nuggets", _is_own, _read_own),
    ("memories of mcp-memory-service", _is_service, _read_service),
    ("memories of mem0", _is_mem0, _read_mem0),
)
