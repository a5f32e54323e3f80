"""Files of records: JSON and CSV, recognised by their fields, whatever the file is called.

Our own: a line of `nuggets export jsonl`, a graph.json, a <name>.nugget.json (also of the
TypeScript program), our CSV. Others: mem0, mcp-memory-service, the reference server of MCP, what
ChatGPT and Claude export, and any table that names a text and perhaps a title.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nuggets.domain.limits import CONTENT_BYTES
from nuggets.errors import InvalidInput
from nuggets.interfaces import pluralize
from nuggets.interfaces.importers import (
    CONTENTS,
    Json,
    Records,
    make_note,
    parse_json,
    read_memory,
)
from nuggets.interfaces.importers.past_sessions import (
    account_texts,
    add_conversation,
    is_account,
    is_conversation,
    is_project,
    project_texts,
)

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
    """A note of ours, or a memory of mcp-memory-service or mem0; None for any other record."""
    note: Json | None = record
    if isinstance(record.get("id"), str) and "nuggetName" in record:
        form = "notes of Nuggets"
    elif isinstance(record.get("content"), str) and "content_hash" in record:
        form = "memories of mcp-memory-service"
        note = read_memory(record, found.nugget, at, own_id=record["content_hash"])
    elif isinstance(record.get("memory"), str):
        form = "memories of mem0"
        note = read_memory(record, found.nugget, at, own_id=record.get("id"))
    else:
        return None
    found.form = found.form or form
    return note


# --- formats ------------------------------------------------------------------------------------


_HITS = {"hits": "hits", "lastHitSession": "last_hit_session"}  # as a note and a fact call them


def _fact_note(nugget: str, fact: Any, at: str) -> Any:
    """A fact of a nugget's file; anything else is refused later, by its place."""
    if not isinstance(fact, dict) or not str(fact.get("key", "")).strip() or "value" not in fact:
        return fact
    note = make_note(nugget, str(fact["key"]), str(fact["value"]), identity=str(fact["key"]), at=at)
    hits = {name: fact[other] for name, other in _HITS.items() if other in fact}
    return {**note, **hits, "id": note["id"].replace("note-", "fact-", 1), "kind": "fact"}


# --- the memory file of MCP's reference server ----------------------------------------------------
#
# A line is an entity or a relation. Variants call the fields `entityName`, `from_id`,
# `relation_type`.


def is_entity(line: Json) -> bool:
    return line.get("type") in ("entity", "relation")


def read_entities(lines: Iterable[tuple[str, Json]], at: str, found: Records) -> None:
    """Entities as notes, linked as they are related. A name always gets the same id."""
    found.form = "a memory file of the MCP reference server"
    notes: dict[str, Json] = {}
    relations: list[Json] = []
    for place, line in lines:
        name, told = line.get("name", line.get("entityName")), line.get("observations", [])
        if line.get("type") == "relation":
            relations.append(line)
        elif not isinstance(name, str) or not name.strip():
            found.problems.append(f"{place}: 'name' is a text that is not empty")
        elif not (isinstance(told, list) and all(isinstance(text, str) for text in told)):
            found.problems.append(f"{place}: 'observations' is a list of texts")
        else:
            if name not in notes:
                note = make_note(found.nugget, name, "", identity=f"entity {name}", at=at)
                notes[name] = found.add({**note, "content": ""}, place)
            _add_observations(notes[name], line)
    for name, note in notes.items():
        note["content"] = note["content"] or name
    found.left_out += sum(not _is_linked(notes, relation, at) for relation in relations)


def _add_observations(note: Json, line: Json) -> None:
    texts = [note["content"], *filter(str.strip, line.get("observations", []))]
    note["content"] = "\n".join(filter(None, texts))
    kind = str(line.get("entityType") or "").strip()
    note["tags"] += [kind] if kind and kind not in note["tags"] else []


def _is_linked(notes: Mapping[str, Json], relation: Json, at: str) -> bool:
    """Whether both ends are there; the link says which way it goes, since it is seen from both."""
    source = str(relation.get("from", relation.get("from_id")))
    target = str(relation.get("to", relation.get("to_id")))
    if source == target or source not in notes or target not in notes:
        return False
    kind = relation.get("relationType", relation.get("relation_type"))
    verb = str(kind or "").replace("_", " ") or "is related to"
    link = {"to": notes[target]["id"], "reason": f"{source} {verb} {target}", "createdAt": at}
    notes[source]["links"].append(link)
    return True


# --- tables in CSV --------------------------------------------------------------------------------


_TEXT_COLUMNS = (  # of our export: never JSON
    *("id", "nuggetName", "title", "content", "subject", "project", "sourceKey"),
    "lastHitSession",
)


def read_rows(text: str, name: str, at: str, found: Records) -> None:
    """A row, a note; a row that is no note is named by its line."""
    csv.field_size_limit(4 * CONTENT_BYTES)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = [column.strip() for column in next(rows, [])]
        is_own = {"id", "nuggetName", "content"} <= set(head)
        if not is_own and not set(CONTENTS) & set(map(str.lower, head)):
            raise InvalidInput(
                f"{name} has no form that is known here; as a table it would need a column called "
                f"{', '.join(CONTENTS[:-1])} or {CONTENTS[-1]}"
            )
        found.form = "a table of memories"
        for row in rows:
            place = f"{name}, line {rows.line_num}"
            cells = dict(zip(head, row, strict=False))
            note = _own_note(cells) if is_own else read_memory(cells, found.nugget, at)
            if len(row) != len(head) and row:
                values = pluralize(len(row), "value")
                found.problems.append(f"{place}: {values} for {len(head)} columns")
            elif note:
                found.add(note, place)
    except csv.Error as problem:
        raise InvalidInput(f"{name}, line {rows.line_num}: {problem}") from None


def _own_note(cells: Mapping[str, str]) -> Json:
    fields = {
        name: cell if name in _TEXT_COLUMNS else _json_or_text(cell)
        for name, cell in cells.items()
        if cell
    }
    unknown = fields.pop("extra", {})
    return {**(unknown if isinstance(unknown, dict) else {}), **fields}


def _json_or_text(cell: str) -> Any:
    value = parse_json(cell)
    return cell if value is None else value
