"""CSV: our own export, or a table that names a text and perhaps a title."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from nuggets.domain.limits import CONTENT_BYTES
from nuggets.errors import InvalidInput
from nuggets.interfaces import pluralize
from nuggets.interfaces.importers import Json, Records, make_note, moment

_TEXT_COLUMNS = (  # of our export: never JSON
    *("id", "nuggetName", "title", "content", "subject", "project", "sourceKey"),
    "lastHitSession",
)
_TITLES = ("title", "key", "name", "subject")
_CONTENTS = ("content", "value", "text", "memory", "note", "body")
_TAGS = ("tags", "tag", "category", "categories")
_TIMES = ("updated", "updated_at", "modified", "created", "created_at", "date")


def read_rows(text: str, name: str, at: str, found: Records) -> None:
    """A row, a note; a row that is no note is named by its line."""
    csv.field_size_limit(4 * CONTENT_BYTES)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = [column.strip() for column in next(rows, [])]
        is_own = {"id", "nuggetName", "content"} <= set(head)
        if not is_own and not _first(_CONTENTS, _by_name(head, head)):
            raise InvalidInput(
                f"{name} has no form that is known here; as a table it would need a column called "
                f"{', '.join(_CONTENTS[:-1])} or {_CONTENTS[-1]}"
            )
        found.form = "a table of memories"
        for row in rows:
            place = f"{name}, line {rows.line_num}"
            note = _own_note(head, row) if is_own else _other_note(head, row, found.nugget, at)
            if len(row) != len(head) and row:
                values = pluralize(len(row), "value")
                found.problems.append(f"{place}: {values} for {len(head)} columns")
            elif note:
                found.add(note, place)
    except csv.Error as problem:
        raise InvalidInput(f"{name}, line {rows.line_num}: {problem}") from None


def _own_note(head: Sequence[str], row: Sequence[str]) -> Json:
    fields = {
        name: cell if name in _TEXT_COLUMNS else _json_or_text(cell)
        for name, cell in zip(head, row, strict=False)
        if cell
    }
    unknown = fields.pop("extra", {})
    return {**(unknown if isinstance(unknown, dict) else {}), **fields}


def _json_or_text(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _other_note(head: Sequence[str], row: Sequence[str], nugget: str, at: str) -> Json | None:
    cells = _by_name(head, row)
    title, content = _first(_TITLES, cells), _first(_CONTENTS, cells)
    if not title and not content:
        return None
    changed = moment(_first(_TIMES, cells), at)
    identity = f"row {title} {content}"
    tags = _first(_TAGS, cells).replace(";", ",").split(",")
    return make_note(nugget, title, content, identity=identity, at=changed, tags=tags)


def _by_name(head: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    return {name.lower(): cell for name, cell in zip(head, row, strict=False)}


def _first(names: Sequence[str], cells: Mapping[str, str]) -> str:
    return next((cells[name] for name in names if cells.get(name, "").strip()), "")
