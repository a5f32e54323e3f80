"""Segments of similar size become one, a slice of keys at a time.

A question unites the rows of all segments, so keys may move from several segments to the one that
replaces them in any number of transactions: every state between gives the same answers.
"""

from itertools import groupby
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.segments import (
    GROUP_BITS,
    group_key,
    join,
    new_segment,
    split,
    unite_lists,
)
from nuggets.sql import chunks, placeholders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nuggets.search.segments import Row
    from nuggets.sql import Database

FAN_IN = 8  # segments of one size that are merged
SMALLEST = 64  # notes of a segment of the lowest level
SLICE = 48  # rows taken from each segment by one write
LARGE_SLICE = 2048  # the same where many notes are written at once


class Segment(NamedTuple):
    """A segment that could be merged, or is being merged into `target`."""

    segment: int
    space: int
    block: int
    notes: int
    target: int


def merge_all(database: "Database") -> None:
    """Finish every merge that is due: for whoever has just written many notes at once."""
    while merge_slice(database, LARGE_SLICE):
        pass


def merge_slice(database: "Database", rows: int = SLICE) -> bool:
    """Move one slice of the smallest merge that is under way or due; False if there is none."""
    segments = [
        Segment(*row)
        for row in database.execute(
            "SELECT segment, space, block, notes, target FROM search_segments"
        )
    ]
    merges = [*_merges_under_way(segments), *_merges_due(segments)]
    if not merges:
        return False
    sources = min(merges, key=lambda some: (sum(one.notes for one in some), some))
    target = sources[0].target or _begin(database, sources)
    _move_slice(database, target, [one.segment for one in sources], rows)
    return True


def _merges_under_way(segments: list[Segment]) -> "Iterator[list[Segment]]":
    for target in {one.target for one in segments} - {0}:
        yield [one for one in segments if one.target == target]


def _merges_due(segments: list[Segment]) -> "Iterator[list[Segment]]":
    """Segments of one space, block and size, if there are enough of them."""
    targets = {one.target for one in segments}
    found: dict[tuple[int, int, int], list[Segment]] = {}
    for one in segments:
        if not one.target and one.segment not in targets:
            level = int(log(max(one.notes / SMALLEST, 1), FAN_IN) + 1e-9)
            found.setdefault((one.space, one.block, level), []).append(one)
    return (some for some in found.values() if len(some) >= FAN_IN)


def _begin(database: "Database", sources: list[Segment]) -> int:
    notes = sum(one.notes for one in sources)
    target = new_segment(database, sources[0].space, sources[0].block, notes)
    numbers = [one.segment for one in sources]
    database.execute(
        f"UPDATE search_segments SET target = ? WHERE segment IN ({placeholders(numbers)})",
        (target, *numbers),
    )
    return target


def _move_slice(database: "Database", target: int, sources: list[int], most: int) -> None:
    (position,) = database.execute(
        "SELECT position FROM search_segments WHERE segment = ?", (target,)
    ).fetchone()
    last = _end_of_slice(database, sources, position, most)
    upper = " AND term <= ?" if last else ""
    bounds = (position, last) if last else (position,)
    rows = [
        row
        for segment in sources
        for row in database.execute(
            "SELECT term, segment, part, docs, gone, groups FROM search_postings"
            f" WHERE segment = ? AND term > ?{upper}",
            (segment, *bounds),
        )
    ]
    for segment in sources:
        database.execute(
            f"DELETE FROM search_postings WHERE segment = ? AND term > ?{upper}",
            (segment, *bounds),
        )
    rows.sort(key=lambda row: row[:3])
    _insert_rows(database, target, _unite_rows(rows))
    if last:
        database.execute(
            "UPDATE search_segments SET position = ? WHERE segment = ?", (last, target)
        )
        return
    database.execute("DELETE FROM search_segments WHERE target = ?", (target,))
    database.execute("UPDATE search_segments SET position = '' WHERE segment = ?", (target,))


def _end_of_slice(database: "Database", sources: list[int], position: str, most: int) -> str:
    """The last key of the next slice; "" if all that is left fits into one."""
    ends = []
    for segment in sources:
        row = database.execute(
            "SELECT term FROM search_postings WHERE segment = ? AND term > ?"
            " ORDER BY term, part LIMIT 1 OFFSET ?",
            (segment, position, most),
        ).fetchone()
        if row is not None:
            ends.append(row[0])
    return min(ends, default="")


def _unite_rows(rows: "Iterable[tuple[Any, ...]]") -> "Iterator[Row]":
    """One list for each key, cut into rows; `rows` are ordered by key, segment and part."""
    for key, rows_of_key in groupby(rows, key=lambda row: row[0]):
        lists = [
            join(key, [row[3:6] for row in parts])
            for _, parts in groupby(rows_of_key, key=lambda row: row[1])
        ]
        together = unite_lists(key, lists)
        if any(together):
            yield from split(key, together)


def _insert_rows(database: "Database", segment: int, rows: "Iterable[Row]") -> None:
    database.executemany(
        "INSERT INTO search_postings VALUES (?, ?, ?, ?, ?, ?)", [(segment, *row) for row in rows]
    )


def remove_traces(database: "Database") -> None:
    """Take out at once what is gone, with the keys that no note uses any more."""
    terms = [
        term
        for (term,) in database.execute(
            "SELECT DISTINCT term FROM search_postings WHERE length(gone) > 0"
        )
    ]
    (groups,) = database.execute("SELECT max(number) FROM search_groups").fetchone()
    blocks = range(1, ((groups or 0) >> GROUP_BITS) + 1)
    keys = [*terms, *(group_key(term, block) for term in terms for block in blocks)]
    for some in chunks(keys):
        rows = database.execute(
            "SELECT term, segment, part, docs, gone, groups, space, block"
            " FROM search_segments JOIN search_postings USING (segment)"
            f" WHERE term IN ({placeholders(some)})",
            some,
        ).fetchall()
        _gather_groups(rows)
        rows.sort(key=lambda row: (row[6:], row[:3]))
        for _, of_block in groupby(rows, key=lambda row: row[6:]):
            for _, of_key in groupby(of_block, key=lambda row: row[0]):
                _replace_rows(database, list(of_key))


def _gather_groups(rows: "list[tuple[Any, ...]]") -> None:
    """Give what each space says of the groups of a term to one row: counts that add up to zero
    may stand in rows of several blocks."""
    lists: dict[tuple[str, int], list[int]] = {}
    for place, row in enumerate(rows):
        if row[5]:
            lists.setdefault((row[0], row[6]), []).append(place)
    for (key, _), places in lists.items():
        _, _, groups = unite_lists(key, [(b"", b"", rows[place][5]) for place in places])
        for place in places:
            rows[place] = (*rows[place][:5], groups, *rows[place][6:])
            groups = b""


def _replace_rows(database: "Database", rows: "list[tuple[Any, ...]]") -> None:
    """The rows of one key and block become rows of the first segment that had some."""
    key, segment = rows[0][:2]
    database.executemany(
        "DELETE FROM search_postings WHERE segment = ? AND term = ?",
        [(one, key) for one in {row[1] for row in rows}],
    )
    _insert_rows(database, segment, _unite_rows(rows))
