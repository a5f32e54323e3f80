"""Merge segments of similar size, a slice of keys at a time.

A question reads the rows of all segments, so a merge may take any number of transactions: every
state in between gives the same answers.
"""

from itertools import groupby
from math import log
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from nuggets.domain.sql_interface import chunks, placeholders
from nuggets.named_tuple import NamedTuple
from nuggets.search.index.segments import (
    GROUP_BITS,
    group_key,
    join,
    new_segment,
    split,
    unite_lists,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nuggets.domain.sql_interface import Database
    from nuggets.search.index.segments import Row

FAN_IN = 8  # segments of one size that are merged
SMALLEST = 64  # notes of a segment of the lowest level
SLICE = 48  # rows taken from each segment by one write
LARGE_SLICE = 2048  # the same where many notes are written at once
_KEY, _SEGMENT, _GONE = itemgetter(0), itemgetter(1), 4  # of rows that are read to be merged


class Segment(NamedTuple):
    """A segment that could be merged, or is being merged into `target`."""

    segment: int
    space: int
    block: int
    notes: int
    target: int


def merge_all(database: "Database") -> None:
    """Finish every merge that is due, after many notes were written at once."""
    begin_merges(database)
    while merge_slice(database, LARGE_SLICE):
        pass


def begin_merges(database: "Database") -> None:
    """Decide which segments are merged next, after a segment was written."""
    sql = "SELECT segment, space, block, notes, target FROM search_segments"
    for sources in _merges_due([Segment(*row) for row in database.execute(sql)]):
        _begin(database, sources)


def merge_slice(database: "Database", rows: int = SLICE) -> bool:
    """Move one slice of the smallest merge that was begun; False if there is none."""
    merge = database.execute(
        "SELECT target FROM search_segments WHERE target <> 0"
        " GROUP BY target ORDER BY sum(notes), target LIMIT 1"
    ).fetchone()
    if merge is None:
        return False
    (target,) = merge
    _move_slice(database, target, rows)
    return True


def _merges_due(segments: list[Segment]) -> "Iterator[list[Segment]]":
    """Segments of one space, block and size, if there are enough of them."""
    targets = {segment.target for segment in segments}
    by_size: dict[tuple[int, int, int], list[Segment]] = {}
    for segment in segments:
        if not segment.target and segment.segment not in targets:
            level = int(log(max(segment.notes / SMALLEST, 1), FAN_IN) + 1e-9)
            by_size.setdefault((segment.space, segment.block, level), []).append(segment)
    return (same_size for same_size in by_size.values() if len(same_size) >= FAN_IN)


def _begin(database: "Database", sources: list[Segment]) -> None:
    notes = sum(segment.notes for segment in sources)
    target = new_segment(database, sources[0].space, sources[0].block, notes)
    numbers = [segment.segment for segment in sources]
    database.execute(
        f"UPDATE search_segments SET target = ? WHERE segment IN ({placeholders(numbers)})",
        (target, *numbers),
    )


def _move_slice(database: "Database", target: int, most: int) -> None:
    sources = [
        segment
        for (segment,) in database.execute(
            "SELECT segment FROM search_segments WHERE target = ? ORDER BY segment", (target,)
        )
    ]
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
    rows.sort()  # no two have the same key, segment and part
    _insert_rows(database, target, _unite_rows(rows))
    if last:
        database.execute(
            "UPDATE search_segments SET position = ? WHERE segment = ?", (last, target)
        )
        return
    database.execute("DELETE FROM search_segments WHERE target = ?", (target,))
    database.execute("UPDATE search_segments SET position = '' WHERE segment = ?", (target,))
    begin_merges(database)


def _end_of_slice(database: "Database", sources: list[int], position: str, most: int) -> str:
    """The last key of the next slice; "" if all remaining keys fit into it."""
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
    for key, rows_of_key in groupby(rows, key=_KEY):
        first, *others = rows_of_key
        if not others and not first[_GONE]:  # most keys: one note has them
            if any(first[3:6]):
                yield key, *first[2:6]
            continue
        lists = [
            join(key, [row[3:6] for row in parts])
            for _, parts in groupby((first, *others), key=_SEGMENT)
        ]
        together = unite_lists(key, lists)
        if any(together):
            yield from split(key, together)


def _insert_rows(database: "Database", segment: int, rows: "Iterable[Row]") -> None:
    database.executemany(
        "INSERT INTO search_postings VALUES (?, ?, ?, ?, ?, ?)", [(segment, *row) for row in rows]
    )


def remove_traces(database: "Database") -> None:
    """Remove deleted documents from all rows, and keys that no note uses any more."""
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
    """Add up the group counts of each term and space in one row: counts that add up to zero may be
    in rows of several blocks."""
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
        [(segment, key) for segment in {row[1] for row in rows}],
    )
    _insert_rows(database, segment, _unite_rows(rows))
