"""Compute the vectors of notes that wait for the encoder, a few at a time."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets.errors import NotFound, NuggetsError
from nuggets.named_tuple import NamedTuple
from nuggets.operations.shelf_encoder import INDEX

if TYPE_CHECKING:
    from nuggets.encoder.text_encoder import Encoder
    from nuggets.encoder.vector_index import VectorIndex
    from nuggets.operations.shelf_encoder import ShelfEncoder
    from nuggets.operations.transactions import Transactions

SECONDS_PER_MINUTE = 10.0  # for waiting notes, in a process that lives long
SECONDS_PER_DAY = 120.0  # in the daily pass
NOTES_PER_WRITE = 16  # notes between two writes: about a second

Report = Callable[[str], None]


class EncoderStatus(NamedTuple):
    """Whether search uses an encoder, and for how many notes."""

    installed: bool
    encoder: str  # its name; "" if none is installed
    problem: str  # why it cannot be used
    encoded: int
    waiting: int


def update_encoder(
    transactions: "Transactions", encoder: "ShelfEncoder", seconds: float | None, report: Report
) -> None:
    """Encode notes that have no vector yet, for at most so many seconds."""
    loaded = encoder.load()
    if loaded is None:
        raise NotFound("no encoder is installed; run `nuggets encoder install` first")
    transactions.settle()
    _update_vectors(transactions, loaded, seconds, report)


def encode_waiting(transactions: "Transactions", encoder: "ShelfEncoder", seconds: float) -> None:
    """The same in the background, if a note waits; the status shows what went wrong."""
    with suppress(NuggetsError, OSError):
        store = transactions.store
        with transactions.reading():
            waits = not store.has_index(INDEX) or store.indexes[INDEX].counts.waiting
        if waits:
            update_encoder(transactions, encoder, seconds, lambda text: None)
        with transactions.reading_indexes() as view:
            view.indexes[INDEX].keep_sketches()


def remove_vectors(transactions: "Transactions") -> bool:
    """Remove all vectors; False if there were none."""
    store = transactions.store
    with transactions.reading():
        has_vectors = store.has_index(INDEX)
    if has_vectors:
        store.disable_index(INDEX)
    return has_vectors


def _update_vectors(
    transactions: "Transactions", encoder: "Encoder", seconds: float | None, report: Report
) -> None:
    """Encode waiting notes, newest first, until none waits or the time is over.

    Every few vectors are saved, so whoever goes on later has less to do.
    """
    from nuggets.encoder.similarity import encode_note

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


def encoder_status(transactions: "Transactions", encoder: "ShelfEncoder") -> EncoderStatus:
    """Whether an encoder is installed, and how many notes have a vector."""
    store = transactions.store
    name = problem = ""
    try:
        loaded = encoder.load()
        name = "" if loaded is None else loaded.name
    except NuggetsError as error:
        problem = str(error)
    with transactions.reading():
        if not store.has_index(INDEX):
            return EncoderStatus(bool(name), name, problem, 0, 0)
        counts = store.indexes[INDEX].counts
    return EncoderStatus(bool(name), name, problem, *counts)
