"""An index as bytes and back, so that a cold process need not read every note again.

Each row carries a fingerprint of its note. Whoever takes an index up gives the notes that there
are now: rows whose note is gone or different are left out, and the index reads what is new. So
a kept index may be old, and never says what is no longer so.
"""

import json
import marshal
import zlib
from typing import TYPE_CHECKING, Any

from nuggets.search.collection import Collection
from nuggets.search.postings import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from nuggets.records import MemoryNote

FORMAT = "nuggets search index 3"  # raise it whenever notes are read in another way
BETWEEN = "\n"  # names that hold one are not kept, nor is the index with them
_VOCABULARY = ("spans", "token_words", "word_terms", "word_marks", "word_languages", "word_counts")
_NAMES = ("tokens", "words", "terms")


def fingerprint(note: "MemoryNote") -> int:
    """The same for notes that an index treats alike; another one otherwise."""
    read = marshal.dumps(
        (
            note.title,
            note.content,
            note.tags,
            note.nugget_name,
            note.kind,
            note.subject,
            note.scope,
            note.type,
            note.created_at,
            note.confidence,
            note.stability,
            [link.to for link in note.links],
        ),
        2,  # a version that writes equal things equally
    )
    return zlib.crc32(read) << 32 | zlib.adler32(read)


def to_parts(collection: Collection) -> "list[bytes | memoryview] | None":
    """The whole index, to be written one after another; nothing in it of notes that are gone.

    None if it cannot be written down.
    """
    import numpy as np

    if collection.remembers_more:
        collection = collection.afresh()
    run = collection.prune()
    vocabulary, table = collection.vocabulary, collection.table
    names = {name: list(getattr(vocabulary, name)) for name in _NAMES}
    names |= {"groups": list(table.group_numbers), "ids": list(table.rows)}
    arrays: dict[str, NDArray[Any]] = {
        **{name: getattr(vocabulary, name).all for name in _VOCABULARY},
        **{f"table {place}": column.all for place, column in enumerate(table.columns)},
        **{f"run {name}": column for name, column in run._asdict().items()},
        "fingerprints": np.array([fingerprint(note) for note in table.notes], np.uint64),
    }
    for name, listed in names.items():
        joined = BETWEEN.join(listed)
        if joined.count(BETWEEN) != max(len(listed) - 1, 0):
            return None
        arrays[name] = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    head = json.dumps(
        {
            "arrays": [[name, one.dtype.str, one.shape] for name, one in arrays.items()],
            "awaited": {target: sorted(sources) for target, sources in table.awaited.items()},
        }
    )
    views: list[Any] = [one.reshape(-1).view(np.uint8).data for one in arrays.values()]
    parts: list[bytes | memoryview] = [head.encode(), b"\n", *views]
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return [b"%s %08x\n" % (FORMAT.encode(), checksum), *parts]


def from_bytes(content: bytes, notes: "Mapping[str, MemoryNote]") -> Collection | None:
    """The rows whose notes are as they were; None if the bytes are no index of this kind."""
    import numpy as np

    title, _, body = content.partition(b"\n")
    if title != b"%s %08x" % (FORMAT.encode(), zlib.crc32(body)):
        return None
    head = body[: body.index(b"\n")]
    told = json.loads(head)
    arrays = dict(_arrays(told["arrays"], body, len(head) + 1))
    names = {name: _listed(arrays.pop(name)) for name in (*_NAMES, "groups", "ids")}
    rows = [notes.get(note_id) for note_id in names["ids"]]
    alike = [
        note is not None and fingerprint(note) == kept
        for note, kept in zip(rows, arrays.pop("fingerprints").tolist(), strict=True)
    ]
    made = Collection()
    made.vocabulary.take_up(names, {name: arrays[name] for name in _VOCABULARY})
    made.table.take_up(
        [arrays[f"table {place}"] for place in range(len(made.table.columns))],
        names["groups"],
        {target: set(sources) for target, sources in told["awaited"].items()},
        rows,
        np.array(alike, bool),
    )
    # Copied, so that the bytes need not be kept for them.
    made.postings.runs = [Run(*(arrays[f"run {name}"].copy() for name in Run._fields))]
    made.count_terms(made.settled())
    made.remembers_more = not all(alike)
    return made


def _arrays(
    layout: list[tuple[str, str, list[int]]], body: bytes, start: int
) -> "Iterator[tuple[str, NDArray[Any]]]":
    import numpy as np

    for name, kind, shape in layout:
        count = int(np.prod(shape))
        yield name, np.frombuffer(body, kind, count, start).reshape(shape)
        start += count * np.dtype(kind).itemsize


def _listed(blob: "NDArray[Any]") -> list[str]:
    text = blob.tobytes().decode("utf-8", "surrogatepass")
    return text.split(BETWEEN) if text else []
