"""A shelf in PostgreSQL: writes beside bare inserts of the same rows, searches, cost of a shelf.

    python -m benchmarks.postgresql [--quick] [--large]

A server of its own is started, with `fsync` on. Times are those of the clock, because much of the
work happens in the server.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "tests"))

from benchmarks.corpus import fill, questions, texts

Row = dict[str, Any]
WRITES, QUERIES, SHELVES, NOTES_OF_SHELF = 200, 200, 100, 20
OF_BARE = 0.4
SEARCH_MS = {1_000_000: 40}

Statement = tuple[str, Sequence[Any]]


class Recorder:
    """Records the statements that change rows, on their way to the server."""

    def __init__(self) -> None:
        from nuggets.stores.postgresql.database import Database

        self.statements: list[Statement] = []
        execute, executemany = Database.execute, Database.executemany

        def recorded(database: Any, sql: str, parameters: Sequence[Any] = ()) -> Any:
            if sql.startswith(("INSERT", "UPDATE", "DELETE")):
                self.statements.append((sql, parameters))
            return execute(database, sql, parameters)

        def all_recorded(database: Any, sql: str, rows: Any) -> None:
            listed = list(rows)
            self.statements += [(sql, row) for row in listed]
            executemany(database, sql, listed)

        Database.execute = recorded  # type: ignore[method-assign,assignment]
        Database.executemany = all_recorded  # type: ignore[method-assign,assignment]


def copy_rows(directory: str, url: str, notes: int) -> Iterator[Row]:
    """Fill a shelf in files, which is faster, and copy it into the database."""
    from nuggets.shelf import NuggetShelf

    fill(directory, notes)
    began = time.monotonic()
    with NuggetShelf(directory, project="") as source, NuggetShelf(url, project="") as target:
        copied = target.copy_from(source)
    seconds, count = time.monotonic() - began, sum(copied.rows.values())
    yield {
        "what": f"`nuggets copy` of {notes:,} notes, verified",
        "goal": "",
        "measured": f"{seconds:.1f} s, {count / seconds:,.0f} rows a second",
    }


def write_rows(server: Any, url: str, notes: int, writes: int) -> Iterator[Row]:
    """One write after the other, each followed by the same rows without the product."""
    import psycopg

    from nuggets.filesystem.shelf_location import DatabaseUrl
    from nuggets.shelf import NuggetShelf
    from nuggets.stores.postgresql.schema import statement
    from nuggets.stores.postgresql.store import PostgresqlStore

    empty = PostgresqlStore(DatabaseUrl(server.url(f"bare {notes}")))
    with empty.reading():
        number = empty._shelf
    empty.close()
    recorder, ours, bare = Recorder(), [], []
    with (
        NuggetShelf(url, project="") as shelf,
        psycopg.connect(
            DatabaseUrl(url).address, autocommit=True, cursor_factory=psycopg.RawCursor
        ) as connection,
    ):
        script: Any = f"SET search_path = nuggets_shelf, nuggets; SET nuggets.shelf = {number}"
        connection.execute(script)
        for text in islice(texts(seed=7), writes):
            recorder.statements.clear()
            began = time.perf_counter()
            shelf.create_note("bench", text.title, text.content, [text.tag])
            ours.append(time.perf_counter() - began)
            began = time.perf_counter()
            with connection.transaction():
                for sql, parameters in recorder.statements:
                    translated: Any = statement(sql)
                    connection.execute(translated, tuple(parameters))
            bare.append(time.perf_counter() - began)
    ratio = statistics.median(bare) / statistics.median(ours)
    yield {
        "what": f"writes with {notes:,} notes, beside the same rows inserted",
        "goal": f"≥ {OF_BARE} ×",
        "measured": f"{ratio:.2f} ×, p50 {statistics.median(ours) * 1e3:.1f} ms",
        "baseline": f"{statistics.median(bare) * 1e3:.1f} ms, one statement a row",
        "reached": ratio >= OF_BARE,
    }


def search_rows(directory: str, url: str, notes: int) -> Iterator[Row]:
    """The same questions to both shelves, one after the other."""
    from nuggets.shelf import NuggetShelf

    taken: dict[str, list[float]] = {directory: [], url: []}
    with NuggetShelf(directory, project="") as files, NuggetShelf(url, project="") as database:
        for query in questions(QUERIES + 20):
            for place, shelf in ((directory, files), (url, database)):
                began = time.perf_counter()
                shelf.search_notes(query)
                taken[place].append((time.perf_counter() - began) * 1e3)
    files_p50, p50 = (statistics.median(taken[place][20:]) for place in (directory, url))
    p99 = sorted(taken[url][20:])[int(QUERIES * 0.99) - 1]
    goal = SEARCH_MS.get(notes)
    yield {
        "what": f"search with {notes:,} notes, by the clock",
        "goal": f"p50 ≤ {goal} ms" if goal else "",
        "measured": f"p50 {p50:.1f} ms, p99 {p99:.1f} ms",
        "baseline": f"p50 {files_p50:.1f} ms in files",
        **({"reached": p50 <= goal} if goal else {}),
    }


def shelf_rows(server: Any, shelves: int) -> Iterator[Row]:
    """What one more shelf of a few notes takes."""
    import psycopg

    from nuggets.filesystem.shelf_location import DatabaseUrl
    from nuggets.shelf import NuggetShelf

    address = DatabaseUrl(server.url("x")).address

    def size() -> int:
        with psycopg.connect(address) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0

    before, began = size(), time.monotonic()
    for number in range(shelves):
        with NuggetShelf(server.url(f"small {number}"), project="") as shelf, shelf.batch():
            for text in islice(texts(), NOTES_OF_SHELF):
                shelf.create_note("bench", text.title, text.content, [text.tag])
    seconds = (time.monotonic() - began) / shelves
    yield {
        "what": f"a new shelf with {NOTES_OF_SHELF} notes, of {shelves}",
        "goal": "",
        "measured": f"{seconds * 1e3:.0f} ms, {(size() - before) / shelves / 1e3:.0f} kB",
    }


def rows(quick: bool, large: bool = False) -> Iterator[Row]:
    from postgresql_server import Server

    server = Server(relaxed=False, settings="-c shared_buffers=128MB")
    try:
        for notes in (1_000, *(() if quick else (10_000,)), *((100_000,) if large else ())):
            url = server.url(f"notes {notes}")
            with tempfile.TemporaryDirectory(prefix="nuggets-bench-") as directory:
                yield from copy_rows(directory, url, notes)
                yield from search_rows(directory, url, notes)
            yield from write_rows(server, url, notes, WRITES // 4 if quick else WRITES)
        yield from shelf_rows(server, SHELVES // 10 if quick else SHELVES)
    finally:
        server.remove()


def main(argv: list[str]) -> int:
    from benchmarks.__main__ import line

    parser = argparse.ArgumentParser(prog="python -m benchmarks.postgresql", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 notes only")
    parser.add_argument("--large", action="store_true", help="100,000 notes too")
    options = parser.parse_args(argv)
    measured = []
    for row in rows(options.quick, options.large):
        measured.append(row)
        print(line(row), flush=True)
    return 0 if all(row.get("reached", True) for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
