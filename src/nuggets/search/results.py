"""From a question to the notes that answer it, best first."""

from math import exp
from typing import TYPE_CHECKING, NamedTuple

from nuggets.records import NoteFilterOptions, SearchNotesResult
from nuggets.search.note_analyzer import LABEL, to_storable
from nuggets.search.postings import BLOCK, BLOCK_BITS
from nuggets.search.query import QueryReader
from nuggets.search.ranking import LOOKED_AT, PHRASE, TEXT_SCALE, Extras, Ranking, Signal
from nuggets.text import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nuggets.records import MemoryNote
    from nuggets.search.accumulator import Offsets
    from nuggets.search.documents import Document
    from nuggets.search.query import Query
    from nuggets.search.snapshot import Snapshot

    Notes = Callable[[Sequence[str]], Mapping[str, MemoryNote]]

SHARING = 20  # results whose scores add up to 1, or as many as are asked for if that is more
TEMPERATURE = 0.35  # of the softmax, as documented
# Both without the boost, which says how far to trust a note and not what it is about. A note
# that has nothing to do with the question has 0.21, half the weight of the vector.
ANSWERS = 0.30  # the best note must have so much, or all words of the question,
AMOUNT = 5.0  # or so much rarity of them: two rare words of a small shelf, one of a large one
THRESHOLD = 0.25  # then so much is enough for a result
DIGITS = 9  # of a relevance; differences beyond are rounding, not ranking
LITERAL = 0.5  # text of a note with a sign that is no word, such as "=>"
MOST_READ = 5000  # notes that such a sign is looked for in, the newest


class Ranked(NamedTuple):
    """A note that may be shown."""

    note: str
    relevance: float
    vector: float
    text: float
    created: int


class Search:
    """Answers questions put to one snapshot."""

    def __init__(self, snapshot: "Snapshot", notes: "Notes") -> None:
        self._snapshot = snapshot
        self._notes = notes

    def results(
        self, text: str, limit: int, filters: NoteFilterOptions, project: str | None
    ) -> list[SearchNotesResult]:
        """The best notes that meet the filters, those of other projects after all others."""
        if not self._snapshot.stats.notes:
            return []
        query = self.understand(text)
        most, pool = max(LOOKED_AT, 2 * limit), max(limit, SHARING)
        eligible = self._eligible(filters)
        signals = self.signals(query, text, eligible, most)
        if not _is_answered(signals, query.mass):
            return []
        ranked = _rank(signals, pool)
        notes = self._notes([one.note for one in ranked[:limit]])
        if project is not None and any(_is_foreign(note, project) for note in notes.values()):
            ranked = self._rank_own_first(ranked, query, text, limit, eligible, project)
            notes = self._notes([one.note for one in ranked[:limit]])
        best = max(one.relevance for one in ranked)
        shares = [exp((one.relevance - best) / TEMPERATURE) for one in ranked]
        whole = sum(shares)
        return [
            SearchNotesResult(notes[one.note], share / whole, one.vector, one.text, one.relevance)
            for one, share in zip(ranked[:limit], shares, strict=False)
        ]

    def understand(self, text: str) -> "Query":
        known = self._snapshot.queries
        if text not in known:
            known[text] = QueryReader(self._snapshot).understand(text)
        return known[text]

    def signal_of(self, query: "Query", text: str, document: "Document") -> Signal | None:
        """What speaks for one note; None if nothing does."""
        if not query.slots:
            saying = self._notes_saying(text, [document.note])
            return _literal_signal(document) if saying else None
        signal = Ranking(query, self._snapshot).signal_of(document)
        return signal and self._with_wording(text, [signal])[0]

    def signals(
        self, query: "Query", text: str, eligible: "Offsets | None", most: int = LOOKED_AT
    ) -> list[Signal]:
        """What speaks for each eligible note, the wording included."""
        if not query.slots:
            return self._literal_matches(text, eligible)
        return self._with_wording(text, Ranking(query, self._snapshot).signals(eligible, most))

    def _with_wording(self, text: str, signals: list[Signal]) -> list[Signal]:
        """Notes in which the question stands word for word have more of it."""
        if text.strip().isalnum():
            return signals  # a single word that is there stands there word for word
        complete = [one.document.note for one in signals if one.complete]
        saying = self._notes_saying(text, complete)
        return [
            one._replace(text=min(1.0, one.text + PHRASE / TEXT_SCALE))
            if one.document.note in saying
            else one
            for one in signals
        ]

    def _rank_own_first(
        self,
        ranked: list[Ranked],
        query: "Query",
        text: str,
        limit: int,
        eligible: "Offsets | None",
        project: str,
    ) -> list[Ranked]:
        """Notes of the project and of no project before those of others."""
        notes = self._notes([one.note for one in ranked])
        foreign = [one for one in ranked if _is_foreign(notes[one.note], project)]
        own = self._documents_labelled([f"{LABEL}project={name}" for name in ("", project)])
        if eligible is not None:
            own = _intersection(own, eligible)
        most = max(LOOKED_AT, 2 * limit)
        best = _rank(self.signals(query, text, own, most), len(ranked))
        return [*best, *foreign][: max(limit, SHARING)]

    def _eligible(self, filters: NoteFilterOptions) -> "Offsets | None":
        """The notes that meet all that the filters name; None if those are all."""
        labels = [LABEL + to_storable(f"{name}={value}") for name, value in _given_filters(filters)]
        counts = self._snapshot.vocabulary.label_counts(labels)
        eligible: Offsets | None = None
        for label in labels:
            if counts.get(label) != self._snapshot.stats.notes:
                having = self._documents_labelled([label])
                eligible = having if eligible is None else _intersection(eligible, having)
        return eligible

    def _documents_labelled(self, labels: "Iterable[str]") -> dict[int, set[int]]:
        """The notes that have any of the labels."""
        found: dict[int, set[int]] = {}
        for label in labels:
            for block, docs, _ in self._snapshot.index.postings(label):
                found.setdefault(block, set()).update(docs)
        return found

    def _literal_matches(self, text: str, eligible: "Offsets | None") -> list[Signal]:
        """For signs that are no words: the notes in which they stand."""
        newest = [
            one
            for one in self._snapshot.documents.newest(MOST_READ)
            if eligible is None or one.doc & BLOCK - 1 in eligible.get(one.doc >> BLOCK_BITS, ())
        ]
        saying = self._notes_saying(text, [one.note for one in newest])
        return [_literal_signal(one) for one in newest if one.note in saying]

    def _notes_saying(self, text: str, ids: "Sequence[str]") -> set[str]:
        """Which of the notes have the text word for word."""
        if not ids:
            return set()
        asked = folded(text)
        whole = " ".join(asked.rstrip("?!.").split() or asked.split())
        return {
            note_id
            for note_id, note in self._notes(ids).items()
            if _says(note.content, whole) or _says(note.title, whole)
        }


def _literal_signal(document: "Document") -> Signal:
    return Signal(document, LITERAL, 0.5, 0.0, True, Extras(0.0, 0.0, 0.0, 0.0), None)


def _is_foreign(note: "MemoryNote", project: str) -> bool:
    return note.project not in ("", project)


def _given_filters(filters: NoteFilterOptions) -> list[tuple[str, str]]:
    given = {
        "subject": filters.subject,
        "scope": filters.scope,
        "type": filters.type,
        "kind": filters.kind,
        "nugget": None if filters.nugget is None else folded(filters.nugget),
        "tag": filters.tag,
    }
    return [(name, value) for name, value in given.items() if value is not None]


def _intersection(a: "Offsets", b: "Offsets") -> dict[int, set[int]]:
    return {block: a[block] & b[block] for block in a.keys() & b.keys()}


def _rank(signals: list[Signal], most: int) -> list[Ranked]:
    """Notes that are near enough, best first; of equals the newer, then by id."""
    ranked = [
        Ranked(
            one.document.note,
            round(min(one.evidence + one.document.boost, 1.0), DIGITS),
            one.vector,
            one.text,
            one.document.created,
        )
        for one in signals
        if one.evidence > THRESHOLD
    ]
    ranked.sort(key=lambda one: (-one.relevance, -one.created, one.note))
    return ranked[:most]


def _says(text: str, whole: str) -> bool:
    text = text.lower() if text.isascii() else folded(text)
    if whole in text:
        return True
    # Few texts have other blanks than single ones, and making them even takes longest.
    uneven = "\n" in text or "  " in text or "\t" in text
    return uneven and whole in " ".join(text.split())


def _is_answered(signals: list[Signal], mass: float) -> bool:
    """Whether the best of the notes is good enough for any of them to be shown."""
    return any(
        one.evidence > ANSWERS
        or (one.evidence > THRESHOLD and (one.complete or one.words * mass > AMOUNT))
        for one in signals
    )
