"""Stores and notes for the tests of the storage, with counted ids instead of chance."""

import json
import os
from collections.abc import Callable
from itertools import count
from operator import itemgetter
from typing import Any

from nuggets.domain import codec, times
from nuggets.domain.records import Changes, ExternalEdit, MemoryNote, NuggetConfig, Touch
from nuggets.domain.state import MemoryState, State, everything
from nuggets.operations.external_edits import ImportedEdit, import_edit
from nuggets.stores.sql.store import Store
from nuggets.stores.sqlite.store import SqliteStore

NOW = "2026-01-31T09:00:00.000Z"


def note(number: int = 1, **fields: Any) -> MemoryNote:
    """A fact of the nugget `learnings` unless the fields say otherwise."""
    kind = fields.get("kind", "fact")
    nugget = fields.get("nugget_name", "learnings")
    title = fields.get("title", f"key {number}")
    made = MemoryNote(
        id=f"{kind}-{nugget}-{number:08x}",
        nugget_name=nugget,
        title=title,
        content=f"value {number}",
        kind=kind,
        subject="user:primary",
        scope="user",
        type=kind,
        source="explicit_user",
        confidence=0.9,
        stability="durable",
        created_at=NOW,
        updated_at=NOW,
        last_accessed_at=NOW,
        tags=(nugget, "scope:user", f"type:{kind}"),
        source_key=title if kind == "fact" else None,
    )
    return made._replace(**fields)


def open_directory(
    directory: str | os.PathLike[str],
    *,
    short_lived: bool = True,
    clock: Callable[[], str] = times.now,
) -> SqliteStore:
    """A store as a command opens it, unless asked otherwise."""
    numbers = count(0xA000)

    def adopt(state: State, base: State | None, edit: ExternalEdit, now: str) -> ImportedEdit:
        return import_edit(lambda: f"{next(numbers):08x}", state, base, edit, now)

    return SqliteStore(os.fspath(directory), (), adopt, short_lived=short_lived, clock=clock)


def put(store: Store, *notes: MemoryNote) -> int:
    """Write notes with the nuggets they need, and the documented files, as a command does."""
    with store.exclusive():
        known = {config.name for config in store.state.nuggets.values()}
        new = dict.fromkeys(n.nugget_name for n in notes if n.nugget_name not in known)
        changes = Changes(put=notes, put_nuggets=tuple(map(NuggetConfig, new)), action="put")
        revision = store.write(changes)
    store.follow_exports()
    return revision


def drop(store: Store, *ids: str) -> int:
    revision = store.write(Changes(drop=ids, action="drop"))
    store.follow_exports()
    return revision


def state_of(store: Store) -> MemoryState:
    """All that a store says, recalls included; edited files are imported, and written again."""
    state = MemoryState()
    with store.reading():
        state.apply(everything(store.state))
    store.follow_exports()
    return state


def contents(store: Store) -> dict[str, str]:
    """The facts and notes in sight, by title."""
    notes = state_of(store).notes.values()
    return {n.title: n.content for n in notes if not n.hidden}


def revision_of(store: Store) -> int:
    with store.reading():
        return store.position[0]


def history_of(store: Store) -> list[str]:
    """What was done, oldest first."""
    with store.reading():
        return [commit.changes.action for commit in store.history.commits()]


def shape_of(path: str | os.PathLike[str]) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path: str | os.PathLike[str], shape: Any, **options: Any) -> None:
    """As an editor or another program would: in another form."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(shape, file, **options)


def files_of(directory: str | os.PathLike[str]) -> dict[str, bytes]:
    """Every file below a directory, by relative path; for telling that none was touched."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


def exports_agree(directory: str | os.PathLike[str], access_times: bool = True) -> bool:
    """Do the documented files say what the database says, also when notes were last looked at?"""
    store = SqliteStore(os.fspath(directory))
    state, revision = state_of(store), revision_of(store)
    store.close()
    graph = shape_of(os.path.join(directory, "graph", "graph.json"))
    # a note that was dropped and put again in one batch keeps its line, so the order may differ
    expected = sorted((codec.note_to_json(n) for n in state.notes.values()), key=itemgetter("id"))
    shown = sorted(graph["notes"], key=itemgetter("id"))
    if not access_times:
        for fields in (*expected, *shown):
            del fields["lastAccessedAt"]
    if shown != expected or graph["revision"] != revision:
        return False
    for config in state.nuggets.values():
        file = shape_of(os.path.join(directory, f"{config.name}.nugget.json"))
        facts = {n.title: n.content for n in state.notes.values() if _is_fact_of(n, config.name)}
        if {fact["key"]: fact["value"] for fact in file["facts"]} != facts:
            return False
    names = {n for n in os.listdir(directory) if n.endswith(".nugget.json")}
    return names == {f"{config.name}.nugget.json" for config in state.nuggets.values()}


def _is_fact_of(n: MemoryNote, nugget: str) -> bool:
    return n.kind == "fact" and not n.hidden and n.nugget_name == nugget


def touch(store: Store, note_id: str, session: str, at: str = NOW) -> None:
    store.touch([Touch(note_id, session, at)])
