"""From a question to the notes that answer it, best first."""

from math import exp
from typing import TYPE_CHECKING

from nuggets.domain.records import NoteFilterOptions, SearchNotesResult
from nuggets.domain.visibility import is_foreign, visible_projects
from nuggets.language.text import fold_case, tokens
from nuggets.named_tuple import NamedTuple
from nuggets.search.index.note_analyzer import LABEL, to_storable
from nuggets.search.index.postings import BLOCK, BLOCK_BITS
from nuggets.search.query.query import QueryReader
from nuggets.search.scoring.posting_sums import is_numpy_worthwhile
from nuggets.search.scoring.question_coverage import stated_shares, topical_slots
from nuggets.search.scoring.ranking import (
    EXACT_CANDIDATES,
    ExplainedSignal,
    Extras,
    Ranking,
    Signal,
    combine,
)
from nuggets.search.scoring.relevance_threshold import (
    THRESHOLD,
    is_answered,
    least_evidence,
)
from nuggets.search.scoring.weights import PHRASE, TEXT_SCALE, TEXT_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nuggets.domain.records import MemoryNote
    from nuggets.search.index.documents import Document
    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.query.query import Query
    from nuggets.search.scoring.meaning_fusion import Meaning, Similarity
    from nuggets.search.scoring.posting_sums import Offsets

    Notes = Callable[[Sequence[str]], Mapping[str, MemoryNote]]

SOFTMAX_RESULTS = 20  # results whose scores add up to 1, or the limit if that is larger
TEMPERATURE = 0.35  # of the softmax, as documented
DIGITS = 9  # of a relevance; smaller differences are rounding errors and must not rank
LITERAL_TEXT = 0.5  # text signal of a note that has a sign which is no word, such as "=>"
MOST_LITERAL = 5000  # notes searched for such a sign, newest first
PHRASE_EVIDENCE = (
    TEXT_WEIGHT * PHRASE / TEXT_SCALE
)  # for a note that has the question word for word
NO_EXTRAS = Extras(0.0, 0.0, 0.0, 0.0)
NOTHING: "Mapping[int, float]" = {}


class Ranked(NamedTuple):
    """A note that may be shown."""

    note: str
    relevance: float
    vector: float
    text: float
    created: int
    meaning: float  # what meaning adds to the relevance


class Search:
    """Answers questions put to one snapshot."""

    def __init__(
        self, snapshot: "Snapshot", notes: "Notes", meaning: "Meaning | None" = None
    ) -> None:
        """`meaning`: compares a question with notes by what they mean."""
        self._snapshot = snapshot
        self._meaning = meaning
        self._all_notes = notes
        self._read_notes: dict[str, MemoryNote] = {}
        self._compared: dict[str, Similarity | None] = {}  # by question

    def results(
        self, text: str, limit: int, filters: NoteFilterOptions, project: str | None
    ) -> list[SearchNotesResult]:
        """The best notes that meet the filters, those of other projects after all others."""
        if not self._snapshot.stats.notes:
            return []
        query = self.understand(text)
        most, pool = max(EXACT_CANDIDATES, 2 * limit), max(limit, SOFTMAX_RESULTS)
        eligible = self._eligible(filters)
        signals = self.signals(query, text, eligible, most, pool)
        if not is_answered(signals, query, self._snapshot) and not self._is_meant(
            signals, query, text, eligible
        ):
            return []
        ranked = self._rank(signals, pool, query, text, eligible)
        notes = self._notes([entry.note for entry in ranked[:limit]])
        projects = {note.project for note in notes.values()}
        if project is not None and not projects.issubset(visible_projects(project)):
            ranked = self._rank_own_first(ranked, query, text, limit, eligible, project)
            notes = self._notes([entry.note for entry in ranked[:limit]])
        best = max(entry.relevance for entry in ranked)
        shares = [exp((entry.relevance - best) / TEMPERATURE) for entry in ranked]
        total = sum(shares)
        stated = self._shares_stated(text, query, list(notes.values()))
        return [
            SearchNotesResult(
                notes[entry.note],
                share / total,
                entry.vector,
                entry.text,
                entry.relevance,
                stated.get(entry.note, 0.0),
                meaning=entry.meaning,
            )
            for entry, share in zip(ranked[:limit], shares, strict=False)
            if entry.note in notes  # else its record is damaged
        ]

    def _shares_stated(
        self, text: str, query: "Query", notes: "Sequence[MemoryNote]"
    ) -> dict[str, float]:
        """By note, the share of the question that it states: nothing of a question of conversation
        and numbers only. A title that is the whole question states all of it."""
        documents = self._snapshot.documents
        documents.load_notes(to_storable(note.id) for note in notes)
        rows = {note.id: documents.of_note(to_storable(note.id)) for note in notes}
        docs = {row.doc: note_id for note_id, row in rows.items() if row is not None}
        slots = topical_slots(query)
        if all(slot.word.isdigit() for slot in slots):
            slots = []
        shares = stated_shares(slots, self._snapshot, list(docs))
        question = tokens(fold_case(text))
        named = [
            note.id for note in notes if question and tokens(fold_case(note.title)) == question
        ]
        return {**{docs[doc]: share for doc, share in shares.items()}, **dict.fromkeys(named, 1.0)}

    def understand(self, text: str) -> "Query":
        queries = self._snapshot.queries
        if text not in queries:
            queries[text] = QueryReader(self._snapshot).understand(text)
        return queries[text]

    def explained_signal(
        self, query: "Query", text: str, document: "Document"
    ) -> ExplainedSignal | None:
        """The signal of one note; None if nothing speaks for it."""
        if not query.slots:
            containing = self._notes_containing(text, [document.note])
            return ExplainedSignal(_literal_signal(document), NO_EXTRAS, []) if containing else None
        explained = Ranking(query, self._snapshot).explained_signal(document)
        if explained is None:
            return None
        return explained._replace(
            signal=self._add_phrase_evidence(text, [explained.signal], 0.0)[0]
        )

    def signals(
        self, query: "Query", text: str, eligible: "Offsets | None", most: int, pool: int
    ) -> list[Signal]:
        """The signals of eligible notes. Phrase evidence is added for those that may be among the
        best, as many as `pool` says."""
        if not query.slots:
            return self._literal_matches(text, eligible)
        signals = _new_ranking(query, self._snapshot).signals(eligible, most)
        least = _least_of_best(signals, pool)
        is_enough = least > least_evidence(query, self._snapshot)
        return self._add_phrase_evidence(text, signals, least if is_enough else 0.0)

    def _add_phrase_evidence(self, text: str, signals: list[Signal], least: float) -> list[Signal]:
        """The signals, raised for notes that have the question word for word. Only notes that reach
        the evidence `least` with it are read."""
        if text.strip().isalnum():
            return signals  # a single word says nothing more as a phrase
        complete = [
            signal.document.note
            for signal in signals
            if signal.complete
            and signal.evidence + PHRASE_EVIDENCE + signal.document.boost >= least
        ]
        containing = self._notes_containing(text, complete)
        if not containing:
            return signals
        return [
            signal.with_text(min(1.0, signal.text + PHRASE / TEXT_SCALE))
            if signal.document.note in containing
            else signal
            for signal in signals
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
        notes = self._notes([entry.note for entry in ranked])
        foreign = [
            entry
            for entry in ranked
            if entry.note in notes and is_foreign(notes[entry.note], project)
        ]
        own = self._documents_labelled(
            [f"{LABEL}project={name}" for name in visible_projects(project)]
        )
        if eligible is not None:
            own = _intersection(own, eligible)
        most = max(EXACT_CANDIDATES, 2 * limit)
        signals = self.signals(query, text, own, most, len(ranked))
        best = self._rank(signals, len(ranked), query, text, own)
        return [*best, *foreign][: max(limit, SOFTMAX_RESULTS)]

    def _rank(
        self,
        signals: list[Signal],
        most: int,
        query: "Query",
        text: str,
        eligible: "Offsets | None",
    ) -> list[Ranked]:
        """The best notes by words, and by meaning if an encoder is at hand."""
        similarity = self._compare(query, text)
        if similarity is None:
            return _rank(signals, most)
        from nuggets.search.scoring.array_ranking import ArrayRanking
        from nuggets.search.scoring.meaning_fusion import add_meaning

        fused, parts = add_meaning(
            signals,
            similarity,
            ArrayRanking(query, self._snapshot),
            self._snapshot,
            lambda doc: _is_eligible(doc, eligible),
        )
        return _rank(fused, most, parts)

    def _is_meant(
        self, signals: list[Signal], query: "Query", text: str, eligible: "Offsets | None"
    ) -> bool:
        """Whether words and meaning agree on a note, where words alone are too few."""
        similarity = self._compare(query, text) if signals else None
        if similarity is None:
            return False
        from nuggets.search.scoring.array_ranking import ArrayRanking
        from nuggets.search.scoring.meaning_fusion import words_and_meaning_agree

        return words_and_meaning_agree(
            signals,
            similarity,
            ArrayRanking(query, self._snapshot),
            self._snapshot,
            lambda doc: _is_eligible(doc, eligible),
            query,
        )

    def _compare(self, query: "Query", text: str) -> "Similarity | None":
        """How near notes are to the question in meaning; None without an encoder or vectors."""
        if self._meaning is None or not query.slots:
            return None
        if text not in self._compared:
            from nuggets.search.scoring.meaning_fusion import topic_of

            self._compared[text] = self._meaning(topic_of(text, self._snapshot))
        return self._compared[text]

    def _eligible(self, filters: NoteFilterOptions) -> "Offsets | None":
        """The notes that meet all that the filters name; None if those are all."""
        labels = [LABEL + to_storable(f"{name}={value}") for name, value in _filter_values(filters)]
        eligible: Offsets | None = None
        for label in labels:
            if self._snapshot.index.count(label) != self._snapshot.stats.notes:
                labelled = self._documents_labelled([label])
                eligible = labelled if eligible is None else _intersection(eligible, labelled)
        return eligible

    def _documents_labelled(self, labels: "Iterable[str]") -> dict[int, set[int]]:
        """The notes that have any of the labels."""
        offsets: dict[int, set[int]] = {}
        for label in labels:
            for block, docs, _ in self._snapshot.index.postings(label):
                offsets.setdefault(block, set()).update(docs)
        return offsets

    def _literal_matches(self, text: str, eligible: "Offsets | None") -> list[Signal]:
        """The notes that have a text which holds no word, such as "=>"."""
        newest = [
            document
            for document in self._snapshot.documents.newest(MOST_LITERAL)
            if _is_eligible(document.doc, eligible)
        ]
        containing = self._notes_containing(text, [document.note for document in newest])
        return [_literal_signal(document) for document in newest if document.note in containing]

    def _notes(self, ids: "Sequence[str]") -> "Mapping[str, MemoryNote]":
        """Notes by id; each is read once."""
        unread = [note_id for note_id in ids if note_id not in self._read_notes]
        if unread:
            self._read_notes.update(self._all_notes(unread))
        return {
            note_id: self._read_notes[note_id] for note_id in ids if note_id in self._read_notes
        }

    def _notes_containing(self, text: str, ids: "Sequence[str]") -> set[str]:
        """The ids of those notes that have the text word for word."""
        if not ids:
            return set()
        text = fold_case(text)
        phrase = " ".join(text.rstrip("?!.").split() or text.split())
        return {
            note_id
            for note_id, note in self._notes(ids).items()
            if _contains(note.content, phrase) or _contains(note.title, phrase)
        }


def _new_ranking(query: "Query", snapshot: "Snapshot") -> Ranking:
    if is_numpy_worthwhile():
        from nuggets.search.scoring.array_ranking import ArrayRanking

        return ArrayRanking(query, snapshot)
    return Ranking(query, snapshot)


def _least_of_best(signals: list[Signal], pool: int) -> float:
    """The evidence a note needs to be among the best; 0 if there are not more."""
    if len(signals) <= pool:
        return 0.0
    return sorted([signal.evidence for signal in signals])[-pool]


def _literal_signal(document: "Document") -> Signal:
    return Signal(document, LITERAL_TEXT, 0.5, 0.0, True, combine(LITERAL_TEXT, 0.5))


def _filter_values(filters: NoteFilterOptions) -> list[tuple[str, str]]:
    values = {
        "subject": filters.subject,
        "scope": filters.scope,
        "type": filters.type,
        "kind": filters.kind,
        "nugget": None if filters.nugget is None else fold_case(filters.nugget),
        "tag": filters.tag,
    }
    return [(name, value) for name, value in values.items() if value is not None]


def _intersection(a: "Offsets", b: "Offsets") -> dict[int, set[int]]:
    return {block: a[block] & b[block] for block in a.keys() & b.keys()}


def _is_eligible(doc: int, eligible: "Offsets | None") -> bool:
    return eligible is None or doc & BLOCK - 1 in eligible.get(doc >> BLOCK_BITS, ())


def _rank(
    signals: list[Signal], most: int, meanings: "Mapping[int, float]" = NOTHING
) -> list[Ranked]:
    """Notes above the threshold, best first; of equals the newer first, then by id."""
    near = [
        (min(signal.evidence + signal.document.boost, 1.0), signal)
        for signal in signals
        if signal.evidence > THRESHOLD
    ]
    if len(near) > most:  # most of them are not among the best, however they are rounded
        least = sorted([relevance for relevance, _ in near])[-most] - 10**-DIGITS
        near = [pair for pair in near if pair[0] >= least]
    ranked = [
        Ranked(
            signal.document.note,
            round(relevance, DIGITS),
            signal.vector,
            signal.text,
            signal.document.created,
            meanings.get(signal.document.doc, 0.0),
        )
        for relevance, signal in near
    ]
    ranked.sort(key=lambda entry: (-entry.relevance, -entry.created, entry.note))
    return ranked[:most]


def _contains(text: str, phrase: str) -> bool:
    text = text.lower() if text.isascii() else fold_case(text)
    if phrase in text:
        return True
    # Normalising blanks takes longest, and few texts need it.
    has_other_blanks = "\n" in text or "  " in text or "\t" in text
    return has_other_blanks and phrase in " ".join(text.split())
