"""How the postings of some notes are packed into rows, and united. Knows no ranking.

A row holds documents that have a term (`docs`), documents of other rows that have it no longer
(`gone`), and how often the notes of each group have it (`groups`, to be added up). A document
number is never used twice, so the order of rows does not matter. Long lists are kept in parts, so
that a row fits into a page of the database beside others.
"""

from array import array
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from nuggets.search.index.note_analyzer import DATE, LABEL, META
from nuggets.search.index.postings import BLOCK_BITS, UNWEIGHTED, frequencies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nuggets.domain.sql_interface import Database

LAST_LETTER = chr(0x10FFFF)  # after every key that begins alike
GROUP = "#"  # begins the key of groups whose numbers are too large for the row of the term
MOST_TIMES = 32767  # that are counted of one term in one group
POSTING, OFFSET = 4, 2  # bytes
PART = 480  # bytes of a list in one row
GROUP_BITS = 16  # so many low bits of a group's number are kept in a row, the others in its key

Lists = tuple[bytes, bytes, bytes]  # docs, gone, groups
Row = tuple[str, int, bytes, bytes, bytes]  # term, part, and the lists


def has_marks(key: str) -> bool:
    """Whether the postings of a key tell fields and lengths; those of labels need not."""
    return not key.startswith(LABEL) or key.startswith((DATE, META))


def pack(docs: "array[int]", marks: "array[int]") -> bytes:
    """Offsets, then marks."""
    return docs.tobytes() + marks.tobytes()


def unpack(blob: bytes) -> "tuple[memoryview[int], memoryview[int]]":
    """Offsets and marks."""
    both = memoryview(blob).cast("H")
    middle = len(both) // 2
    return both[:middle], both[middle:]


def group_key(term: str, block: int) -> str:
    """Where the groups are kept whose numbers have the same high bits."""
    return f"{GROUP}{block} {term}" if block else term


def pack_groups(counts: "Iterable[tuple[int, int]]") -> bytes:
    """Low bits of the numbers of groups, then how often their notes have the term."""
    ordered = sorted([pair for pair in counts if pair[1]])
    numbers = array("H", [number for number, _ in ordered])
    limited = [count for _, count in ordered]
    if limited and (max(limited) > MOST_TIMES or min(limited) < -MOST_TIMES):
        limited = [max(-MOST_TIMES, min(count, MOST_TIMES)) for count in limited]
    return numbers.tobytes() + array("h", limited).tobytes()


def unpack_groups(blob: bytes) -> "Iterator[tuple[int, int]]":
    middle = len(blob) // 2
    view = memoryview(blob)
    return zip(view[:middle].cast("H"), view[middle:].cast("h"), strict=True)


def is_one_row(lists: Lists) -> bool:
    """Whether the lists of a key fit into one row."""
    return len(lists[0]) <= PART and len(lists[2]) <= PART


def split(key: str, lists: Lists) -> "Iterator[Row]":
    """The rows of one key."""
    docs, gone, groups = lists
    if is_one_row(lists):
        yield key, 0, docs, gone, groups
        return
    marked = has_marks(key)
    for part in range(-(-max(len(docs), len(groups)) // PART)):
        yield (
            key,
            part,
            _slice(docs, part) if marked else docs[part * PART : (part + 1) * PART],
            b"" if part else gone,
            _slice(groups, part),
        )


def _slice(columns: bytes, part: int) -> bytes:
    """A part of two columns, one behind the other."""
    middle, size = len(columns) // 2, PART // 2
    start, end = min(part * size, middle), min((part + 1) * size, middle)
    return columns[start:end] + columns[middle + start : middle + end]


def join(key: str, parts: "Sequence[Lists]") -> Lists:
    """The opposite of `split`."""
    if len(parts) == 1:
        return parts[0]
    docs, gone, groups = zip(*parts, strict=True)
    return (
        join_columns(docs) if has_marks(key) else b"".join(docs),
        b"".join(gone),
        join_columns(groups),
    )


def join_columns(parts: "Sequence[bytes]") -> bytes:
    if len(parts) == 1:
        return parts[0]
    columns = [part[: len(part) // 2] for part in parts]
    columns += [part[len(part) // 2 :] for part in parts]
    return b"".join(columns)


@cache
def group_frequencies() -> tuple[int, ...]:
    """By field code, what a term counts for a group; stop words count nothing."""
    return tuple(0 if code == UNWEIGHTED else n for code, n in enumerate(frequencies()))


def block_of(doc: int) -> int:
    return doc >> BLOCK_BITS


def new_segment(database: "Database", space: int, block: int, notes: int) -> int:
    """The number of a segment without rows yet."""
    (last,) = database.execute("SELECT max(segment) FROM search_segments").fetchone()
    segment: int = (last or 0) + 1
    database.execute(
        "INSERT INTO search_segments VALUES (?, ?, ?, ?, 0, '')", (segment, space, block, notes)
    )
    return segment


def unite_lists(key: str, lists: "Sequence[Lists]") -> Lists:
    """The lists of one key and block as one. Removed documents cancel with their postings."""
    gone = {offset for _, blob, _ in lists if blob for offset in memoryview(blob).cast("H")}
    documents = [docs for docs, *_ in lists if docs]
    unite = _unite_postings if has_marks(key) else _unite_offsets
    docs, left = unite(documents, gone)
    return docs, array("H", sorted(left)).tobytes(), _unite_groups([row[2] for row in lists])


def _unite_offsets(blobs: "Sequence[bytes]", gone: set[int]) -> tuple[bytes, set[int]]:
    offsets = sorted(offset for docs in blobs for offset in memoryview(docs).cast("H"))
    remaining = array("H", [offset for offset in offsets if offset not in gone])
    return remaining.tobytes(), gone.difference(offsets)


def _unite_postings(blobs: "Sequence[bytes]", gone: set[int]) -> tuple[bytes, set[int]]:
    pieces = sorted(map(unpack, blobs), key=lambda piece: piece[0][0])
    if not gone and all(a[0][-1] < b[0][0] for a, b in pairwise(pieces)):
        return b"".join([*(docs for docs, _ in pieces), *(marks for _, marks in pieces)]), gone
    marks_by_offset = dict(sorted(pair for piece in pieces for pair in zip(*piece, strict=True)))
    left = gone.difference(marks_by_offset)
    for offset in gone - left:
        del marks_by_offset[offset]
    return pack(array("H", marks_by_offset), array("H", marks_by_offset.values())), left


def _unite_groups(blobs: "Sequence[bytes]") -> bytes:
    filled = [blob for blob in blobs if blob]
    if len(filled) < 2:
        return b"".join(filled)
    pieces = sorted(map(unpack, filled), key=lambda piece: piece[0][0])
    if all(a[0][-1] < b[0][0] for a, b in pairwise(pieces)):  # no group is in two of them
        return b"".join([*(groups for groups, _ in pieces), *(counts for _, counts in pieces)])
    sums: dict[int, int] = {}
    for blob in filled:
        for group, count in unpack_groups(blob):
            sums[group] = sums.get(group, 0) + count
    return pack_groups(sums.items())
