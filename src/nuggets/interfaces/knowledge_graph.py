"""A memory file of the Model Context Protocol's reference server, as notes: one line an entity or
a relation. Reads only."""

import json
from collections.abc import Iterator
from typing import Any
from zlib import crc32

from nuggets.errors import InvalidInput

Json = dict[str, Any]


def notes_in(text: str, nugget: str, at: str) -> list[Json]:
    """Entities as notes in their documented JSON, linked as they are related; `at`: when that was.

    A name always gets the same id, so that reading a file again adds nothing twice.
    """
    notes: dict[str, Json] = {}
    relations: list[Json] = []
    for where, line in _lines(text):
        if line.get("type") == "relation":
            relations.append(line)
            continue
        name = _text(line, "name", where)
        said = [one for one in _observations(line, where) if one.strip()]
        known = notes.setdefault(name, _empty(name, nugget, at))
        known["content"] = "\n".join(filter(None, [known["content"], *said]))
        known["tags"] += filter(None, [str(line.get("entityType") or "")])
    for name, note in notes.items():
        note["content"] = note["content"] or name
    for relation in relations:
        ends = [notes.get(str(relation.get(end))) for end in ("from", "to")]
        if ends[0] and ends[1] and ends[0] is not ends[1]:
            reason = str(relation.get("relationType") or "").replace("_", " ")
            ends[0]["links"].append({"to": ends[1]["id"], "reason": reason, "createdAt": at})
    return list(notes.values())


def _lines(text: str) -> Iterator[tuple[str, Json]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            shape = json.loads(line)
        except (ValueError, RecursionError):
            shape = None
        if not isinstance(shape, dict) or shape.get("type") not in ("entity", "relation"):
            raise InvalidInput(
                f"{where} is no entity and no relation; what can be read is the memory file of the "
                "MCP reference server, which has one of them in each line"
            )
        yield where, shape


def _empty(name: str, nugget: str, at: str) -> Json:
    return {
        "id": f"note-{nugget}-{crc32(name.encode(errors='surrogatepass')):08x}",
        "nuggetName": nugget,
        "title": name,
        "content": "",
        "tags": [],
        "links": [],
        "source": "inferred",  # an agent wrote it, and nobody knows who told it
        "createdAt": at,
        "updatedAt": at,
    }


def _text(line: Json, field: str, where: str) -> str:
    value = line.get(field)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{where}: {field!r} is a text that is not empty")
    return value


def _observations(line: Json, where: str) -> list[str]:
    said = line.get("observations", [])
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise InvalidInput(f"{where}: 'observations' is a list of texts")
    return said
