"""Erase notes from the backups in a shelf's own directory: each is written again without them."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress

from nuggets.domain.records import MemoryNote
from nuggets.errors import NuggetsError
from nuggets.filesystem.atomic_files import sync_directory, temporary_path
from nuggets.stores.backup import append_checksum, unpack
from nuggets.stores.set_aside_files import list_backups
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_reader import commits
from nuggets.stores.sql.erasure import drop_and_erase
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.bulk_insert import build_indexes
from nuggets.stores.sqlite.database import Database, ExplainErrors


def erase_from_backups(
    directory: str,
    note_ids: Collection[str],
    may_quote: Callable[[MemoryNote], bool],
    kinds: Sequence[IndexKind],
) -> tuple[list[str], list[str]]:
    """Erase the notes, and others that may quote them, from all backups: the paths of those that
    are without them now, and of those that cannot be read or written."""
    done: list[str] = []
    unreached: list[str] = []
    for path in list_backups(directory):
        try:
            with ExplainErrors(path):
                _erase_from_backup(path, note_ids, may_quote, kinds)
        except (NuggetsError, OSError):
            unreached.append(path)
        else:
            done.append(path)
    return done, unreached


def _erase_from_backup(
    path: str,
    note_ids: Collection[str],
    may_quote: Callable[[MemoryNote], bool],
    kinds: Sequence[IndexKind],
) -> None:
    """Also what the backup holds in unused parts of pages goes: it is rewritten in any case."""
    temporary = temporary_path(path)
    try:
        unpack(path, temporary)
        database = Database(temporary)
        try:
            meta = schema.read_meta(database)
            schema.refuse_newer(meta)
            schema.migrate(database, meta)
            database.begin(writing=True)
            quoting = (note.id for note in _all_versions(database) if may_quote(note))
            drop_and_erase(database, {*note_ids, *quoting})
            build_indexes(database, kinds)
            database.commit()
            database.execute("VACUUM")
            database.execute("PRAGMA journal_mode = DELETE")  # one file, without a log
        finally:
            database.close()
        append_checksum(temporary)
        os.replace(temporary, path)
        sync_directory(os.path.dirname(path))
    finally:
        for leftover in (temporary, f"{temporary}-wal", f"{temporary}-shm"):
            with suppress(OSError):
                os.unlink(leftover)


def _all_versions(database: Database) -> Iterator[MemoryNote]:
    yield from SqlState(lambda: database).notes.values()
    for commit in commits(database, 0):
        yield from commit.before.put
