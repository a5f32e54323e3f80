"""A memory file of the Model Context Protocol's reference server, as notes: one line an entity or
a relation. Reads only."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from zlib import crc32

from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

Json = dict[str, Any]


class Entities(NamedTuple):
    """What such a file says."""

    notes: list[Json]  # in their documented JSON
    left_out: int  # relations to what the file does not tell of


def read(text: str, nugget: str, at: str) -> Entities:
    """Entities as notes, linked as they are related; `at`: when that was.

    A name always gets the same id, so that reading a file again adds nothing twice.
    """
    notes: dict[str, Json] = {}
    following: dict[int, int] = {}
    observations: dict[str, list[str]] = {}
    relations: list[Json] = []
    for where, record in _lines(text):
        if record.get("type") == "relation":
            relations.append(record)
            continue
        name = _text(record, "name", where)
        if name not in notes:
            notes[name] = _empty(name, nugget, at, following)
        observations.setdefault(name, []).extend(_observations(record, where))
        notes[name]["tags"] += filter(None, [str(record.get("entityType") or "")])
    for name, note in notes.items():
        note["content"] = "\n".join(filter(str.strip, observations[name])) or name
    left_out = sum(not _is_linked(notes, relation, at) for relation in relations)
    return Entities(list(notes.values()), left_out)


def _is_linked(notes: Mapping[str, Json], relation: Json, at: str) -> bool:
    """Whether both ends are there; the link says which way it goes, since it is seen from both."""
    source, target = (str(relation.get(end)) for end in ("from", "to"))
    if source == target or source not in notes or target not in notes:
        return False
    verb = str(relation.get("relationType") or "").replace("_", " ") or "is related to"
    link = {"to": notes[target]["id"], "reason": f"{source} {verb} {target}", "createdAt": at}
    notes[source]["links"].append(link)
    return True


def _lines(text: str) -> Iterator[tuple[str, Json]]:
    for number, line in enumerate(text.split("\n"), 1):
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


def _empty(name: str, nugget: str, at: str, following: dict[int, int]) -> Json:
    number = _free_number(crc32(name.encode(errors="surrogatepass")), following)
    return {
        "id": f"note-{nugget}-{number:08x}",
        "nuggetName": nugget,
        "title": name,
        "content": "",
        "tags": [],
        "links": [],
        "source": "inferred",  # an agent wrote it, and nobody knows who told it
        "createdAt": at,
        "updatedAt": at,
    }


def _free_number(number: int, following: dict[int, int]) -> int:
    """The first number from this one on that is not taken; it is taken then.

    `following` leads from each number that is taken to a later one, so that many names with one
    checksum, which are easily made, are not compared with each other.
    """
    passed = []
    while number in following:
        passed.append(number)
        number = following[number]
    after = (number + 1) % (1 << 32)
    following.update(dict.fromkeys((*passed, number), after))
    return number


def _text(line: Json, field: str, where: str) -> str:
    value = line.get(field)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{where}: {field!r} is a text that is not empty")
    return value


def _observations(line: Json, where: str) -> list[str]:
    observations = line.get("observations", [])
    if not isinstance(observations, list) or not all(
        isinstance(text, str) for text in observations
    ):
        raise InvalidInput(f"{where}: 'observations' is a list of texts")
    return observations
