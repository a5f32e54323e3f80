"""The database of opencode: its sessions become notes of sessions, by the rules of live ones.

Up to version 1 a session has messages, and these have parts; from version 2 on a message has all.
Sessions that the agent began itself, for a part of its work, are no sessions of a person.
"""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from nuggets.filesystem.hook_files import purge_time
from nuggets.interfaces.hooks.transcript_formats import texts_of
from nuggets.interfaces.hooks.transcript_reader import read_sent_transcript
from nuggets.interfaces.importers import Json, Records, moment
from nuggets.interfaces.importers.past_sessions import add_session
from nuggets.interfaces.importers.program_tables import Program, Row, Tables, parse_json

_SESSION = ("id", "parent_id", "directory", "time_created", "time_updated")
_MESSAGE = ("id", "type", "time_created", "data")

ReadMessages = Callable[[Tables, str], Iterator[tuple[Any, Json]]]  # each with its time


def _read_sessions(
    tables: Tables, table: str, messages: ReadMessages, at: str, found: Records
) -> None:
    since = purge_time(found.directory)  # nothing that was erased may come back
    for row in tables.rows(table, _SESSION):
        if row.get("parent_id"):
            continue
        session = str(row["id"])
        try:
            every = messages(tables, session)
            sent = [entry for time, entry in every if not since or _time(time, "") > since]
        except sqlite3.Error as problem:
            found.problems.append(f"session {session}: {problem}")
            continue
        started = _time(row.get("time_created"), at)
        add_session(
            found,
            session=session,
            host="opencode",
            steps=read_sent_transcript("opencode", sent).steps,
            started=started,
            ended=_time(row.get("time_updated"), started),
            place=f"session {session}",
            folder=str(row.get("directory") or ""),
        )


def _time(milliseconds: Any, default: str) -> str:
    is_number = isinstance(milliseconds, int | float)
    return moment(milliseconds / 1000, default) if is_number else default


def _messages(tables: Tables, session: str) -> Iterator[tuple[Any, Json]]:
    """The messages of version 1, as its plugins see them."""
    for row in tables.rows("message", _MESSAGE, ("time_created", "id"), session_id=session):
        parts = tables.rows("part", ("id", "data"), message_id=row["id"])
        info = parse_json(row["data"])
        yield row["time_created"], {"info": info, "parts": [parse_json(p["data"]) for p in parts]}


def _messages_2(tables: Tables, session: str) -> Iterator[tuple[Any, Json]]:
    """The messages of version 2, in the form of version 1."""
    for row in tables.rows("session_message", _MESSAGE, ("seq",), session_id=session):
        message = parse_json(row["data"])
        if isinstance(message, dict):
            entry = {"info": {"role": row["type"]}, "parts": [*_parts(row, message)]}
            yield row["time_created"], entry


def _parts(row: Row, message: Json) -> Iterator[Json]:
    content = message.get("content")
    if row["type"] == "user":
        yield {"type": "text", "text": message.get("text")}
    elif row["type"] == "shell":  # the person's own command
        given = {"command": message.get("command")}
        state = {"status": "completed", "input": given, "output": message.get("output")}
        yield {"type": "tool", "tool": "bash", "state": state}
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(part.get("state"), dict):
            told = {**part["state"], "output": texts_of(part["state"].get("content"), "text")}
            yield {"type": "tool", "tool": part.get("name"), "state": told}
        elif isinstance(part, dict):
            yield part


OPENCODE = Program(
    "opencode",
    "session",
    frozenset(("id", "directory", "time_created")),
    lambda tables, at, found: _read_sessions(tables, "session", _messages, at, found),
)
OPENCODE_2 = Program(
    "opencode",
    "session_v2",
    frozenset(("id", "directory", "time_created")),
    lambda tables, at, found: _read_sessions(tables, "session_v2", _messages_2, at, found),
)
