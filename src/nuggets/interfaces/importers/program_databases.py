"""Databases of other programs: which one wrote it, by its tables, and what is read of it.

They are opened for reading, only plain tables, and columns by name, because versions differ in what
they have.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import quote

from nuggets.domain.limits import CONTENT_BYTES
from nuggets.errors import InvalidInput
from nuggets.filesystem.hook_files import purge_time
from nuggets.interfaces.hooks.transcript_formats import objects_of, texts_of
from nuggets.interfaces.hooks.transcript_reader import read_sent_transcript
from nuggets.interfaces.importers import Json, Records, moment, parse_json, read_memory
from nuggets.interfaces.importers.past_sessions import add_record, add_session
from nuggets.named_tuple import NamedTuple
from nuggets.operations.session_note_text import title_of
from nuggets.operations.session_notes import SessionRecord

Row = Mapping[str, Any]


class Program(NamedTuple):
    """A program whose memories or sessions are read from its database."""

    name: str
    table: str  # that has a row for each of them,
    needed: frozenset[str]  # and these columns
    read: Callable[["Tables", str, Records], None]  # `str`: when the file was changed


class Tables:
    """The tables of a database that a stranger wrote: no views, no triggers, no functions with
    effects."""

    def __init__(self, path: str) -> None:
        self.problems: list[str] = []  # rows that cannot be read
        try:
            self._database = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
            self._database.execute("PRAGMA trusted_schema = OFF")
            self._database.execute("PRAGMA query_only = ON")
            self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 8 * CONTENT_BYTES)
            self._database.row_factory = sqlite3.Row
            self._database.text_factory = _text
        except sqlite3.Error as problem:
            raise InvalidInput(f"{path} cannot be read as a database: {problem}") from None

    def close(self) -> None:
        self._database.close()

    def columns(self, table: str) -> set[str]:
        """The columns of a plain table; none if there is no such table."""
        try:
            sql = self._database.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
            ).fetchone()
            if sql is None or str(sql[0]).upper().startswith("CREATE VIRTUAL"):
                return set()
            columns = self._database.execute(f"PRAGMA table_info({table})")
            return {str(row["name"]) for row in columns}
        except sqlite3.Error:
            return set()

    def count(self, table: str) -> int:
        return int(self._database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])

    def rows(
        self,
        table: str,
        order: Collection[str] = ("id",),
        *,
        texts: Iterable[str] = (),
        **where: object,
    ) -> Iterator[Row]:
        """The rows of a table; none if it lacks a column by which they are chosen or put in order.

        `texts`: columns without whose text a row, which then needs an id, cannot be read.
        """
        if not {*order, *where} <= self.columns(table):
            return
        chosen = " AND ".join(f"{name} = ?" for name in where)
        query = f"SELECT * FROM {table} {f'WHERE {chosen}' if chosen else ''}"
        ordered = f"{query} ORDER BY {', '.join(order)}"
        for row in self._database.execute(ordered, tuple(where.values())):
            fields = dict(row)
            unreadable = [name for name in texts if isinstance(fields.get(name), bytes)]
            if unreadable:
                place = f"{table} {fields['id']}"
                self.problems.append(f"{place}: no text in {', '.join(unreadable)}")
            else:
                yield fields


def _text(value: bytes) -> str | bytes:
    """A text; what is none stays as it is, so that the other rows are read."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def json_list(text: object) -> list[Any]:
    value = parse_json(text)
    return value if isinstance(value, list) else []


# --- claude-mem: observations become notes, summaries of sessions notes of sessions ---------------


_TEXTS = ("subtitle", "narrative", "text")
_TOLD = {  # what a summary tells, and as what
    "request": "Goal",
    "investigated": "Looked at",
    "learned": "Learned",
    "completed": "Done",
    "next_steps": "Open",
    "notes": "Notes",
}


def _read_claude_mem(tables: Tables, at: str, found: Records) -> None:
    for row in tables.rows("observations", texts=("title", *_TEXTS)):
        texts = [str(row[name]) for name in _TEXTS if row.get(name)]
        texts += [f"- {item}" for item in json_list(row.get("facts"))]
        named = {"content": "\n".join(texts), "category": row.get("project")}
        named["tags"] = [row.get("type") or "", *json_list(row.get("concepts"))]
        _add_memory({**row, **named}, f"claude-mem {row['id']} {row.get('created_at')}", at, found)
    for row in tables.rows("session_summaries", texts=_TOLD):
        _add_summary(row, at, found)


def _add_summary(row: Row, at: str, found: Records) -> None:
    told = [(heading, str(row[name])) for name, heading in _TOLD.items() if row.get(name)]
    ended = moment(row.get("created_at"), at)
    record = None
    if told:
        session = f"claude-mem {row.get('memory_session_id')} {row['id']}"
        text = "\n".join(f"{heading}: {said}" for heading, said in told)
        title = title_of(told[0][1], ended[:10])
        record = SessionRecord(session, "claude-mem", "", title, text, ended, ended)
    add_record(record, f"summary {row['id']}", found)


CLAUDE_MEM = Program("claude-mem", "observations", frozenset(("id", "title")), _read_claude_mem)


# --- hippo and mcp-memory-service: a table of memories without titles -----------------------------


def _read_hippo(tables: Tables, at: str, found: Records) -> None:
    """Memories of hippo; what another one took the place of is archived."""
    for row in tables.rows("memories", texts=("content",)):
        named = {"tags": json_list(row.get("tags_json")), "category": row.get("layer")}
        note = _add_memory({**row, **named}, f"hippo {row['id']}", at, found)
        if note and row.get("superseded_by"):
            note |= {"hidden": True, "archivedAt": note["updatedAt"]}


def _read_service(tables: Tables, at: str, found: Records) -> None:
    """Memories of mcp-memory-service; one that was deleted is kept there for a while."""
    for row in tables.rows("memories", texts=("content",)):
        if not row.get("deleted_at"):
            _add_memory(row, row["content_hash"], at, found)


def _add_memory(row: Row, own_id: object, at: str, found: Records) -> Json | None:
    note = read_memory(row, found.nugget, at, own_id=own_id)
    if note is None:
        found.problems.append(f"memory {row['id']}: it has no text")
        return None
    return found.add(note, f"memory {row['id']}")


HIPPO = Program(
    "hippo", "memories", frozenset(("id", "content", "layer", "tags_json")), _read_hippo
)
MCP_MEMORY_SERVICE = Program(
    "mcp-memory-service", "memories", frozenset(("id", "content", "content_hash")), _read_service
)


# --- opencode: its sessions become notes of sessions, by the rules of live ones -------------------


# Up to version 1 a session has messages, and these have parts; from version 2 on a message has all,
# and what version 1 left stays beside that. Sessions that the agent began itself, for a part of its
# work, are no sessions of a person.


def _read_opencode(tables: Tables, at: str, found: Records) -> None:
    since = purge_time(found.directory)  # nothing that was erased may come back
    every = {row["id"]: (row, _messages) for row in tables.rows("session")}
    every |= {row["id"]: (row, _messages_2) for row in tables.rows("session_v2")}
    for row, messages in every.values():
        if row.get("parent_id"):
            continue
        session = str(row["id"])
        try:
            told = messages(tables, session)  # each with its time
            sent = [entry for time, entry in told if not since or _time(time, "") > since]
        except sqlite3.Error as problem:
            found.problems.append(f"session {session}: {problem}")
            continue
        started = _time(row.get("time_created"), at)
        add_session(
            found,
            f"session {session}",
            read_sent_transcript("opencode", sent).steps,
            session=session,
            host="opencode",
            started=started,
            ended=_time(row.get("time_updated"), started),
            folder=str(row.get("directory") or ""),
        )


def _time(milliseconds: Any, default: str) -> str:
    is_number = isinstance(milliseconds, int | float)
    return moment(milliseconds / 1000, default) if is_number else default


def _messages(tables: Tables, session: str) -> Iterator[tuple[Any, Json]]:
    """The messages of version 1, as its plugins see them."""
    for row in tables.rows("message", ("time_created", "id"), session_id=session):
        parts = tables.rows("part", message_id=row["id"])
        info = parse_json(row["data"])
        yield row["time_created"], {"info": info, "parts": [parse_json(p["data"]) for p in parts]}


def _messages_2(tables: Tables, session: str) -> Iterator[tuple[Any, Json]]:
    """The messages of version 2, in the form of version 1."""
    for row in tables.rows("session_message", ("seq",), session_id=session):
        message = parse_json(row["data"])
        if isinstance(message, dict):
            entry = {"info": {"role": row["type"]}, "parts": [*_parts(row, message)]}
            yield row["time_created"], entry


def _parts(row: Row, message: Json) -> Iterator[Json]:
    if row["type"] == "user":
        yield {"type": "text", "text": message.get("text")}
    elif row["type"] == "shell":  # the person's own command
        given = {"command": message.get("command")}
        state = {"status": "completed", "input": given, "output": message.get("output")}
        yield {"type": "tool", "tool": "bash", "state": state}
    for part in objects_of(message.get("content")):
        if isinstance(part.get("state"), dict):
            told = {**part["state"], "output": texts_of(part["state"].get("content"), "text")}
            yield {"type": "tool", "tool": part.get("name"), "state": told}
        else:
            yield {**part}


_OF_SESSION = frozenset(("id", "directory", "time_created"))
OPENCODE = Program("opencode", "session", _OF_SESSION, _read_opencode)
OPENCODE_2 = Program("opencode", "session_v2", _OF_SESSION, _read_opencode)


# --- which program wrote a database ---------------------------------------------------------------


PROGRAMS = (CLAUDE_MEM, HIPPO, MCP_MEMORY_SERVICE, OPENCODE_2, OPENCODE)


def read_database(path: str, at: str, found: Records) -> None:
    """The memories of a database, by the program whose tables it has."""
    try:
        with closing(Tables(path)) as tables:
            program = _program_of(tables)
            if program is None:
                known = ", ".join(dict.fromkeys(program.name for program in PROGRAMS))
                raise InvalidInput(
                    f"{path} is the database of another program; databases of {known} are known"
                )
            found.form = f"the database of {program.name}"
            program.read(tables, at, found)
            found.problems += tables.problems
    except sqlite3.Error as problem:
        name = os.path.basename(path)
        raise InvalidInput(f"{name} cannot be read as a database: {problem}") from None


def count_memories(path: str) -> int:
    """How many memories or sessions a database has; 0 if it is of no known program, or cannot be
    read."""
    try:
        with closing(Tables(path)) as tables:
            program = _program_of(tables)
            return 0 if program is None else tables.count(program.table)
    except (sqlite3.Error, InvalidInput):
        return 0


def _program_of(tables: Tables) -> Program | None:
    fitting = (p for p in PROGRAMS if tables.columns(p.table) >= p.needed)
    return next(fitting, None)
