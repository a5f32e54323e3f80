"""What is wrong with a database: damage that SQLite finds, and rows that do not agree."""

import sqlite3
from collections.abc import Iterator, Sequence

from nuggets.errors import StoreCorrupt, StoreError
from nuggets.stores.base import IndexKind
from nuggets.stores.defects import Defect
from nuggets.stores.sqlite import schema
from nuggets.stores.sqlite.database import Database, open_read_only
from nuggets.stores.sqlite.filling import build_indexes, put_links
from nuggets.stores.sqlite.state import SqliteState
from nuggets.stores.sqlite.writing import columns_of

DAMAGED, INDEX, DERIVED = "damaged database", "wrong index", "wrong columns"
_SHOWN = 3  # of many complaints
_COLUMNS = ("nugget", "kind", "type", "title", "project", "hidden")


def database_defects(path: str, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    """All that is wrong with the database of a shelf; nothing is changed."""
    try:
        database = open_read_only(path)
    except StoreCorrupt as problem:
        yield damaged(path, str(problem))
        return
    except StoreError as problem:
        yield Defect("unreadable database", path, str(problem), "", harmful=True)
        return
    try:
        schema.refuse_newer(database)
        complaint = _damage(database)
        if complaint:
            yield damaged(path, complaint)
        else:
            yield from _disagreements(database, kinds)
    except (sqlite3.Error, StoreCorrupt, ValueError, TypeError) as problem:
        yield damaged(path, str(problem))
    except StoreError as problem:
        yield Defect("newer database", path, str(problem), "", harmful=True)
    finally:
        database.close()


def damaged(path: str, problem: str) -> Defect:
    remedy = "set it aside, save all that can be read into a new one, complete it from the files"
    return Defect(DAMAGED, path, problem, remedy, harmful=True)


def _damage(database: Database) -> str:
    """The quick check finds most, the other one also looks at SQLite's own indexes."""
    for check in ("quick_check", "integrity_check"):
        found = [str(row[0]) for row in database.execute(f"PRAGMA {check}({_SHOWN})")]
        if found != ["ok"]:
            return "; ".join(" ".join(one.split()) for one in found)
    return ""


def _disagreements(database: Database, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    state, path = SqliteState(lambda: database), database.path
    wrong, links = 0, set[tuple[str, str]]()
    rows = database.execute(f"SELECT {', '.join(_COLUMNS)} FROM notes ORDER BY place")
    for row, note in zip(rows, state.notes.values(), strict=True):
        wrong += row != columns_of(note)[: len(_COLUMNS)]
        links.update((link.to, note.id) for link in note.links)
    if wrong or links != set(database.execute("SELECT target, source FROM links")):
        why = "what is kept beside the notes to find them does not agree with them"
        yield Defect(DERIVED, path, why, "derive it again from the notes", harmful=True)
    for kind in kinds:
        if not schema.is_current(database, kind):
            continue  # the next command builds it anyway
        for complaint in kind.make(database, state).check()[:_SHOWN]:
            yield Defect(f"{INDEX}: {kind.name}", path, complaint, "build it again", harmful=False)


def derive_again(database: Database, kinds: Sequence[IndexKind]) -> None:
    """Columns, links and indexes anew, as the notes have them; inside a transaction."""
    state = SqliteState(lambda: database)
    sql = f"UPDATE notes SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE place = ?"
    database.execute("DELETE FROM links")
    for place, note in state.notes.placed():
        database.execute(sql, (*columns_of(note)[: len(_COLUMNS)], place))
        put_links(database, note)
    build_indexes(database, kinds, lambda text: None)
