"""Copy all rows of a shelf into an empty one, in whatever SQL databases the two are.

Rows are copied in the order of their keys, a chunk a transaction, so that an interrupted copy goes
on where it was. The commits come last: before them the new shelf is at revision 0. At the end both
sides are counted and their checksums compared.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import Any

from nuggets.domain.codec import dumps
from nuggets.errors import Conflict, StoreError
from nuggets.named_tuple import NamedTuple
from nuggets.stores.base import IndexKind
from nuggets.stores.sql.create_statements import Table, parse_table
from nuggets.stores.sql.database_interface import Database
from nuggets.stores.sql.schema import TABLES

_CHUNK = 2000  # rows of a transaction
_LEFT_OUT = ("meta", "exports")  # of the shelf itself, and of the files in its directory
_LAST_TABLE = "commits"
_UNFINISHED = "unfinished copy"  # the row in `meta`: which state of which shelf

Report = Callable[[str], None]


class Copied(NamedTuple):
    """What was copied, or would be."""

    revision: int
    rows: dict[str, int]  # by table
    resumed: bool


def tables_to_copy(kinds: Sequence[IndexKind]) -> list[Table]:
    """The tables of notes and history, then those of the indexes, and the commits at last."""
    statements = [*TABLES, *(sql for kind in kinds if not kind.optional for sql in kind.tables)]
    tables = [table for table in map(parse_table, statements) if table is not None]
    copied = [table for table in tables if table.name not in _LEFT_OUT]
    return sorted(copied, key=lambda table: table.name == _LAST_TABLE)


def count_rows(database: Database, tables: Sequence[Table]) -> dict[str, int]:
    return {
        table.name: int(database.value(f"SELECT count(*) FROM {table.name}")) for table in tables
    }


class Copy:
    """A copy from one database to another. The caller reads one snapshot, and locks the target."""

    def __init__(
        self,
        source: Database,
        target: Database,
        transaction: Callable[..., AbstractContextManager[None]],
        kinds: Sequence[IndexKind],
    ) -> None:
        self._source = source
        self._target = target
        self._transaction = transaction
        self._tables = tables_to_copy(kinds)

    def run(self, report: Report, *, dry_run: bool) -> Copied:
        revision = int(self._source.value("SELECT coalesce(max(revision), 0) FROM commits"))
        rows = count_rows(self._source, self._tables)
        resumed = self._find_unfinished(revision)
        if not dry_run:
            if not resumed:
                self._begin(revision)
            for table in self._tables:
                self._copy_table(table, rows[table.name], report)
            self._verify(report)
            with self._transaction():
                self._target.execute("DELETE FROM meta WHERE name = ?", (_UNFINISHED,))
        return Copied(revision, rows, resumed)

    def _state_of_source(self, revision: int) -> str:
        shelf = self._source.value("SELECT at FROM commits ORDER BY revision LIMIT 1")
        touches = self._source.value("SELECT max(number) FROM touches")
        return dumps([shelf, revision, touches])

    def _find_unfinished(self, revision: int) -> bool:
        """Is there an unfinished copy of this state? Anything else in the target is refused."""
        sql = "SELECT value FROM meta WHERE name = ?"
        unfinished = self._target.value(sql, (_UNFINISHED,))
        if unfinished is not None:
            return bool(unfinished == self._state_of_source(revision))
        if any(count_rows(self._target, self._tables[:1] + self._tables[-1:]).values()):
            raise Conflict(
                f"{self._target.path} is not empty. Nothing was changed; name a new shelf, or use "
                "`nuggets import` to add memories to one"
            )
        return False

    def _begin(self, revision: int) -> None:
        """Empty what an unfinished copy of another state left, and say what is copied now."""
        with self._transaction():
            for table in self._tables:
                self._target.execute(f"DELETE FROM {table.name}")
            self._target.execute(
                "INSERT INTO meta (name, value) VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (_UNFINISHED, self._state_of_source(revision)),
            )

    def _copy_table(self, table: Table, total: int, report: Report) -> None:
        key = ", ".join(table.key)
        backwards = ", ".join(f"{name} DESC" for name in table.key)
        last = self._target.execute(
            f"SELECT {key} FROM {table.name} ORDER BY {backwards} LIMIT 1"
        ).fetchone()
        done = int(self._target.value(f"SELECT count(*) FROM {table.name}"))
        values = ", ".join("?" * len(table.columns))
        sql = f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({values})"
        for chunk in _chunks(self._source, table, last):
            with self._transaction(durable=False):
                self._target.executemany(sql, chunk)
            done += len(chunk)
            report(f"{table.name}: {done} of {total}")

    def _verify(self, report: Report) -> None:
        for table in self._tables:
            report(f"checking {table.name}")
            if _checksum(self._source, table) != _checksum(self._target, table):
                raise StoreError(
                    f"{self._target.path} does not hold the same {table.name} as "
                    f"{self._source.path}. The source is unchanged; do not use the copy"
                )


def _chunks(
    database: Database, table: Table, last: Sequence[Any] | None = None
) -> Iterator[list[Any]]:
    """The rows after a key, in the order of their keys."""
    key = ", ".join(table.key)
    positions = [list(table.columns).index(name) for name in table.key]
    select = f"SELECT {', '.join(table.columns)} FROM {table.name}"
    while True:
        after = f" WHERE ({key}) > ({', '.join('?' * len(table.key))})" if last else ""
        rows = database.execute(f"{select}{after} ORDER BY {key} LIMIT {_CHUNK}", last or ())
        chunk = rows.fetchall()
        if not chunk:
            return
        yield chunk
        last = [chunk[-1][position] for position in positions]


def _checksum(database: Database, table: Table) -> tuple[int, str]:
    """How many rows there are, and what they hold."""
    count, digest = 0, sha256()
    for chunk in _chunks(database, table):
        count += len(chunk)
        digest.update(repr([tuple(row) for row in chunk]).encode("utf-8", "surrogatepass"))
    return count, digest.hexdigest()
