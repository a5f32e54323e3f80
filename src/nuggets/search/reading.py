"""Notes turned into postings: what a note says, field by field, as numbers."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.postings import TF_UNIT, Run, run_of
from nuggets.search.vocabulary import LABEL, STOP, TIME, Vocabulary
from nuggets.text import folded, plain, tokens, without_contraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nuggets.records import MemoryNote

TITLE, CONTENT, TAG, _STOPPED = 0, 1, 2, 3
FIELDS = ("title", "content", "tag")
# A title says what a note is about, so its words count double; a tag says it once more.
FIELD_WEIGHTS = (2.0, 1.0, 1.0, 1.0)
# How a query is spread over the fields' role keys: most words are asked of the content.
# The squares add up to 1, so the query's vector keeps its length.
QUERY_FIELDS = (0.5, 0.8, 0.33166)
CHUNK = 1024  # notes read at a time: bounds the memory for their tokens
_BETWEEN = " \0 "  # separates fields in a joined text; a token of its own


class Reading(NamedTuple):
    """What was read from some notes, each at its place from 0 on."""

    run: Run  # slots counted from 0
    lengths: "NDArray[Any]"  # significant words
    timed: "NDArray[Any]"  # whether it says when
    words: "NDArray[Any]"  # how often each word stands there, by its number


_folded_name = lru_cache(maxsize=64)(folded)


@lru_cache(maxsize=64)
def _nugget_tag(nugget: str) -> str:
    return "-".join(folded(nugget).split())


def own_tags(note: "MemoryNote") -> list[str]:
    """Without those that every note has by rule: they say nothing about its topic."""
    system = _nugget_tag(note.nugget_name)
    return [tag for tag in note.tags if tag != system and not tag.startswith(("scope:", "type:"))]


def title_key(title: str) -> str:
    """How a title is recognised inside a question."""
    return " ".join(plain(word) for token in tokens(title) for word in without_contraction(token))


def labels(note: "MemoryNote") -> list[str]:
    """What is compared exactly: the filters, the title as a whole, words of the metadata."""
    return [
        LABEL + "subject=" + note.subject,
        LABEL + "scope=" + note.scope,
        LABEL + "type=" + note.type,
        LABEL + "nugget=" + _folded_name(note.nugget_name),
        LABEL + "kind=" + note.kind,
        LABEL + "title=" + title_key(note.title),
        *{LABEL + "tag=" + tag for tag in note.tags},
        *{LABEL + "meta=" + word for word in (note.scope, note.type, *note.subject.split(":"))},
    ]


def read(notes: "Sequence[MemoryNote]", vocabulary: Vocabulary) -> Reading:
    """Postings of all the notes, and what else their words tell."""
    import numpy as np

    words, slots, fields = _word_stream(notes, vocabulary)
    marks = vocabulary.word_marks.all[words]
    stopped = (marks & STOP) > 0
    count = len(notes)
    lengths = np.bincount(slots[~stopped], minlength=count).astype(np.float32)
    timed = np.bincount(slots[(marks & TIME) > 0], minlength=count) > 0
    fields[stopped] = _STOPPED
    run = _run(vocabulary.word_terms.all[words], slots, fields, count)
    run = _with_labels(run, notes, vocabulary)
    return Reading(run, lengths, timed, np.bincount(words, minlength=len(vocabulary.words)))


def _word_stream(
    notes: "Sequence[MemoryNote]", vocabulary: Vocabulary
) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    """Every word of every note: its number, its note's place, its field."""
    import numpy as np

    plain_ones: list[int] = []  # read apart, because ASCII is read much faster
    others: list[int] = []
    for place, note in enumerate(notes):
        ascii_only = note.content.isascii() and note.title.isascii()
        (plain_ones if ascii_only else others).append(place)
    found = [
        _chunk(notes, places[start : start + CHUNK], vocabulary)
        for places in (plain_ones, others)
        for start in range(0, len(places), CHUNK)
    ]
    words, slots, fields = (np.concatenate(column) for column in zip(*found, strict=True))
    return words, slots, fields


def _chunk(
    notes: "Sequence[MemoryNote]", places: list[int], vocabulary: Vocabulary
) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    """Many notes read as one text, with marks between the fields."""
    import numpy as np

    texts: list[str] = []
    for place in places:
        note = notes[place]
        texts += (note.title, note.content, " ".join(own_tags(note)))
    joined = _BETWEEN.join(texts)
    if joined.count(_BETWEEN[1]) != len(texts) - 1:
        joined = _BETWEEN.join(text.replace(_BETWEEN[1], " ") for text in texts)
    numbers = vocabulary.numbers(tokens(joined))
    between = numbers == vocabulary.tokens[_BETWEEN[1]]
    sections = np.cumsum(between, dtype=np.int32)[~between]
    words, origins = vocabulary.words_of(numbers[~between])
    sections = sections[origins]
    slots = np.array(places, np.int32)[sections // 3]
    return words, slots, (sections % 3).astype(np.uint8)


def _run(terms: "NDArray[Any]", slots: "NDArray[Any]", fields: "NDArray[Any]", count: int) -> Run:
    import numpy as np

    keys = ((terms.astype(np.int64) * count + slots) << 2) | fields
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    times = np.diff(np.append(first, len(keys))).astype(np.float32)
    keys = keys[first]
    fields = (keys & 3).astype(np.uint8)
    keys >>= 2
    weights = np.where(fields == _STOPPED, 0.0, 1.0 + np.log(times)).astype(np.float32)
    norms = np.sqrt(np.bincount(keys % count, weights * weights, minlength=count))
    impacts = weights * np.array((*QUERY_FIELDS, 0.0), np.float32)[fields]
    frequencies = times * np.array(FIELD_WEIGHTS, np.float32)[fields]
    one = np.flatnonzero(np.diff(keys, prepend=-1))  # fields of one (term, note) become one
    keys = keys[one]
    if len(one):
        impacts = np.add.reduceat(impacts, one)
        frequencies = np.add.reduceat(frequencies, one)
    slots = (keys % count).astype(np.int32)
    impacts = (impacts / np.maximum(norms, 1e-6)[slots]).astype(np.float16)
    quarters = np.minimum(frequencies * TF_UNIT, 255).astype(np.uint8)
    return run_of((keys // count).astype(np.int32), slots, quarters, impacts)


def _with_labels(run: Run, notes: "Sequence[MemoryNote]", vocabulary: Vocabulary) -> Run:
    """Labels are terms as well; their numbers are interleaved with those of the words."""
    import numpy as np

    numbers: list[int] = []
    counts: list[int] = []
    for note in notes:
        named = labels(note)
        numbers += map(vocabulary.term, named)
        counts.append(len(named))
    vocabulary.term_counts.grow(len(vocabulary.terms))
    slots = np.repeat(np.arange(len(notes), dtype=np.int32), counts)
    terms = np.concatenate([np.repeat(run.terms, np.diff(run.starts)), np.array(numbers, np.int32)])
    order = np.argsort(terms, kind="stable")
    return run_of(
        terms[order],
        np.concatenate([run.slots, slots])[order],
        np.concatenate([run.frequencies, np.full(len(slots), TF_UNIT, np.uint8)])[order],
        np.concatenate([run.impacts, np.zeros(len(slots), np.float16)])[order],
    )
