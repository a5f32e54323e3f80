"""Compute the vectors of notes that wait for the encoder, a few at a time."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from nuggets.engine.shelf_encoder import INDEX
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.engine.transactions import Transactions
    from nuggets.meaning.encoder import Encoder
    from nuggets.meaning.vector_index import VectorIndex

SECONDS_PER_MINUTE = 10.0  # for waiting notes, in a process that lives long
SECONDS_PER_DAY = 120.0  # in the daily pass
NOTES_PER_WRITE = 16  # notes between two writes: about a second

Report = Callable[[str], None]


class MeaningStatus(NamedTuple):
    """Whether search uses an encoder, and for how many notes."""

    installed: bool
    encoder: str  # its name; "" if none is installed
    problem: str  # why it cannot be used
    encoded: int
    waiting: int


def update_vectors(
    transactions: "Transactions", encoder: "Encoder", seconds: float | None, report: Report
) -> None:
    """Encode waiting notes, newest first, until none waits or the time is over.

    Every few vectors are saved, so whoever goes on later has less to do.
    """
    from nuggets.meaning.similarity import encode_note

    store = transactions.store
    store.enable_index(INDEX)
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        with transactions.reading():
            index: VectorIndex = store.indexes[INDEX]
            rows, counts = index.pending(NOTES_PER_WRITE), index.counts
        if not rows:
            return
        report(f"Encoded {counts.encoded} of {counts.encoded + counts.waiting} notes")
        vectors = [encode_note(encoder, text) for _, _, text in rows]
        with store.exclusive():
            store.indexes[INDEX].add(encoder.name, rows, vectors)
            store.touch(())


def meaning_status(transactions: "Transactions", name: str, problem: str) -> MeaningStatus:
    """`name`: of the encoder; "" if none can be used."""
    store = transactions.store
    with transactions.reading():
        if not store.has_index(INDEX):
            return MeaningStatus(bool(name), name, problem, 0, 0)
        counts = store.indexes[INDEX].counts
    return MeaningStatus(bool(name), name, problem, *counts)
