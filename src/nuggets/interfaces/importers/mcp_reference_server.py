"""The memory file of the Model Context Protocol's reference server: a line is an entity or a
relation. Variants call the fields `entityName`, `from_id`, `relation_type`."""

from collections.abc import Iterable, Mapping

from nuggets.interfaces.importers import Json, Records


def is_entity(line: Json) -> bool:
    return line.get("type") in ("entity", "relation")


def read_entities(lines: Iterable[tuple[str, Json]], at: str, found: Records) -> None:
    """Entities as notes, linked as they are related. A name always gets the same id."""
    found.form = "a memory file of the MCP reference server"
    notes: dict[str, Json] = {}
    relations: list[Json] = []
    for place, line in lines:
        name = line.get("name", line.get("entityName"))
        if line.get("type") == "relation":
            relations.append(line)
        elif not isinstance(name, str) or not name.strip():
            found.problems.append(f"{place}: 'name' is a text that is not empty")
        elif not _is_texts(line.get("observations", [])):
            found.problems.append(f"{place}: 'observations' is a list of texts")
        else:
            if name not in notes:
                notes[name] = found.add_memory(
                    place, name, "", identity=f"entity {name}", at=at, content=""
                )
            _add_observations(notes[name], line)
    for name, note in notes.items():
        note["content"] = note["content"] or name
    found.left_out += sum(not _is_linked(notes, relation, at) for relation in relations)


def _add_observations(note: Json, line: Json) -> None:
    texts = [note["content"], *filter(str.strip, line.get("observations", []))]
    note["content"] = "\n".join(filter(None, texts))
    kind = str(line.get("entityType") or "").strip()
    note["tags"] += [kind] if kind and kind not in note["tags"] else []


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


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
