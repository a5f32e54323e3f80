"""From a question to the notes that answer it, best first."""

from functools import cached_property
from math import exp
from typing import TYPE_CHECKING

from nuggets.domain.records import NoteFilterOptions, SearchNotesResult
from nuggets.domain.visibility import is_foreign, visible_projects
from nuggets.language.text import fold_case, tokens
from nuggets.search.answer_degree import (
    DIGITS,
    degree,
    is_complete,
    names_another_time,
    stated_share,
    topical_weights,
)
from nuggets.search.note_analyzer import LABEL
from nuggets.search.postings import BLOCK, term_key
from nuggets.search.query import QueryReader
from nuggets.search.ranking import Ranking, Signal
from nuggets.search.weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nuggets.domain.records import MemoryNote
    from nuggets.search.answer_degree import Degree
    from nuggets.search.documents import Document, IndexReader
    from nuggets.search.encoder_signal import Meaning, Similarity
    from nuggets.search.query import Query
    from nuggets.search.ranking import Eligible

    Notes = Callable[[Sequence[str]], Mapping[str, MemoryNote]]

SOFTMAX_RESULTS = 20  # whose scores add up to 1, as documented; or the limit, if it is larger


class Search:
    """Answers one question put to an index as it is."""

    def __init__(
        self, reader: "IndexReader", notes: "Notes", text: str, meaning: "Meaning | None" = None
    ) -> None:
        """`meaning`: compares a question with notes by what they mean."""
        self._reader = reader
        self._text = text
        self._meaning = meaning
        self._all_notes = notes
        self._read_notes: dict[str, MemoryNote] = {}
        self._pool = SOFTMAX_RESULTS  # results that were wanted last

    @cached_property
    def query(self) -> "Query":
        return QueryReader(self._reader).understand(self._text)

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(self.query, self._reader)

    @cached_property
    def _similarity(self) -> "Similarity | None":
        """How near notes are to the question in meaning; None without an encoder or vectors."""
        if self._meaning is None or not self.query.slots:
            return None
        from nuggets.search.encoder_signal import topic_of

        return self._meaning(topic_of(self._text, self._reader.postings))

    @cached_property
    def _topical(self) -> "Mapping[int, float]":
        return topical_weights(self.query, self._reader.stats.notes)

    @cached_property
    def _question(self) -> list[str]:
        return tokens(fold_case(self._text))

    def results(
        self, limit: int, filters: NoteFilterOptions, project: str | None
    ) -> list[SearchNotesResult]:
        """The best notes that meet the filters, those of other projects after all others."""
        if not self._reader.stats.notes:
            return []
        eligible, self._pool = self._eligible(filters), max(limit, SOFTMAX_RESULTS)
        ranked = self._rank(eligible)
        known = self._degree(ranked)
        if known == "nothing":
            return []
        if project is not None:
            ranked = self._own_first(ranked, eligible, project)
        ranked = ranked[: self._pool]
        notes = self._notes([signal.document.note for signal in ranked[:limit]])
        best = max(signal.relevance for signal in ranked)
        shares = [exp((signal.relevance - best) / WEIGHTS.temperature) for signal in ranked]
        total = sum(shares)
        known_words, unknown_words = self._words_by_knowledge()
        return [
            SearchNotesResult(
                notes[signal.document.note],
                share / total,
                signal.vector,
                signal.text,
                signal.relevance,
                self._stated_share(signal, notes[signal.document.note]),
                meaning=signal.meaning,
                little_found=known == "little",
                known_words=known_words if known == "little" else (),
                unknown_words=unknown_words,
            )
            for signal, share in zip(ranked[:limit], shares, strict=False)
            if signal.document.note in notes  # else its record is damaged
        ]

    def signal_of(self, document: "Document") -> Signal:
        """The signal of one note, with the same numbers as among the results."""
        if not self.query.slots:
            return self._literal_signals([document])[0]
        candidates = self._ranking.signals(None, self._pool)
        found = [one for one in candidates if one.document.doc == document.doc]
        signals = found or self._ranking.signals_of([document])
        self._add_phrase(signals)
        return signals[0]

    def _signals(self, eligible: "Eligible | None") -> list[Signal]:
        if not self.query.slots:
            newest = self._reader.documents.newest(BLOCK)  # of a large shelf not all are read
            return self._literal_signals(
                [one for one in newest if eligible is None or one.doc in eligible]
            )
        signals = self._ranking.signals(eligible, self._pool)
        if self._similarity is None:
            near = _near_best(signals, self._pool)
            self._add_phrase(near)
            return near
        from nuggets.search.encoder_signal import add_meaning

        self._add_phrase(signals)
        return add_meaning(signals, self._similarity, self._ranking, self._reader, eligible)

    def _rank(self, eligible: "Eligible | None") -> list[Signal]:
        """Notes above the threshold, best first; of equals those that have the question word for
        word, then the newer, then by id. Beyond the wanted ones there may be some missing."""
        ranked = []
        for signal in self._signals(eligible):
            evidence = signal.evidence + signal.meaning
            if evidence > WEIGHTS.threshold or is_complete(signal):
                relevance = min(evidence + signal.document.boost, 1.0)
                signal.relevance = round(relevance, DIGITS)
                ranked.append(signal)
        ranked.sort(
            key=lambda one: (
                *(-one.relevance, -one.phrase),
                *(-one.document.created, one.document.note),
            )
        )
        return ranked

    def _degree(self, ranked: "Sequence[Signal]") -> "Degree":
        """How much is known, by words; or found, where words and meaning agree."""
        if ranked and not self.query.slots:
            return "found"
        signals = sorted(ranked, key=lambda one: -one.evidence)
        if self._similarity is not None:
            from nuggets.search.encoder_signal import words_and_meaning_agree

            if words_and_meaning_agree(signals, self._similarity):
                return "found"
        return degree(signals, self.query, self._topical, self._reader.stats.notes)

    def _own_first(
        self, ranked: list[Signal], eligible: "Eligible | None", project: str
    ) -> list[Signal]:
        """Notes of the project and of no project before those of others."""
        visible = visible_projects(project)
        labels = [f"project={name}" for name in dict.fromkeys(visible)]
        if self._count_labels(labels) == self._reader.stats.notes:
            return ranked
        notes = self._notes([one.document.note for one in ranked[: self._pool]])
        if all(note.project in visible for note in notes.values()):
            return ranked
        own = self._notes_with_label(labels)
        if eligible is not None:
            own &= eligible
        foreign = [
            one
            for one in ranked[: self._pool]
            if (note := notes.get(one.document.note)) and is_foreign(note, project)
        ]
        return [*self._rank(own), *foreign]

    def _eligible(self, filters: NoteFilterOptions) -> "Eligible | None":
        """The notes that meet all that the filters name; None if those are all."""
        eligible: Eligible | None = None
        for label in _filter_labels(filters):
            if self._count_labels([label]) != self._reader.stats.notes:
                labelled = self._notes_with_label([label])
                eligible = labelled if eligible is None else eligible & labelled
        return eligible

    def _count_labels(self, labels: "Sequence[str]") -> int:
        """How many notes have them, if a note has one of them at most."""
        return sum(self._reader.postings.count(LABEL + label) for label in labels)

    def _notes_with_label(self, labels: "Iterable[str]") -> "Eligible":
        """The notes that have any of the labels."""
        return frozenset(
            doc
            for label in labels
            for doc in self._reader.postings.documents(term_key(LABEL + label))
        )

    def _add_phrase(self, signals: list[Signal]) -> None:
        """Raise the signals of notes that have the question word for word."""
        if self._text.strip().isalnum():
            return  # a single word says nothing more as a phrase
        complete = {one.document.note: one for one in signals if is_complete(one)}
        for note in self._notes_containing(list(complete)):
            complete[note].phrase = WEIGHTS.phrase
            complete[note].combine()

    def _literal_signals(self, documents: "Sequence[Document]") -> list[Signal]:
        """Of a text that holds no word, such as "=>", for notes that have it."""
        containing = self._notes_containing([document.note for document in documents])
        signals = [Signal(document, 1.0, []) for document in documents]
        for signal in signals:
            signal.phrase = WEIGHTS.phrase * (signal.document.note in containing)
            signal.combine()
        return signals

    def _notes_containing(self, ids: "Sequence[str]") -> set[str]:
        """The ids of those notes that have the question word for word."""
        if not ids:
            return set()
        text = fold_case(self._text)
        phrase = " ".join(text.rstrip("?!.").split() or text.split())
        found = set()
        for note_id, note in self._notes(ids).items():
            fields = (note.title, note.content, *note.tags, note.subject, note.scope, note.type)
            if any(_contains(field, phrase) for field in fields):
                found.add(note_id)
        return found

    def _notes(self, ids: "Sequence[str]") -> "Mapping[str, MemoryNote]":
        """Notes by id; each is read once."""
        unread = [note_id for note_id in ids if note_id not in self._read_notes]
        if unread:
            self._read_notes.update(self._all_notes(unread))
        return {
            note_id: self._read_notes[note_id] for note_id in ids if note_id in self._read_notes
        }

    def _stated_share(self, signal: Signal, note: "MemoryNote") -> float:
        """The share of the question that the note states. A title that is the whole question
        states all of it."""
        if self._question and tokens(fold_case(note.title)) == self._question:
            return 1.0
        if names_another_time(self._text, f"{note.title}\n{note.content}\n{' '.join(note.tags)}"):
            return 0.0
        return stated_share(self._topical, signal)

    def _words_by_knowledge(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words that the question is about and that notes have, and the others, as they are
        written in it."""
        written = {token.casefold(): token for token in reversed(tokens(self._text))}
        known: list[str] = []
        unknown: list[str] = []
        for slot in map(self.query.slots.__getitem__, self._topical):
            (known if slot.alternatives else unknown).append(written.get(slot.word, slot.word))
        return tuple(dict.fromkeys(known)), tuple(dict.fromkeys(unknown))


def _near_best(signals: list[Signal], pool: int) -> list[Signal]:
    """The best, about so many, and notes that have every word: these may have the question word for
    word, and say that something is known, however far behind they are."""
    if len(signals) <= pool:
        return signals
    relevances = sorted([signal.evidence + signal.document.boost for signal in signals])
    least = relevances[-pool]
    return [
        one for one in signals if one.evidence + one.document.boost >= least or is_complete(one)
    ]


def _filter_labels(filters: NoteFilterOptions) -> list[str]:
    """The labels of notes that meet the filters."""
    nugget = None if filters.nugget is None else fold_case(filters.nugget)
    values = filters._replace(nugget=nugget)._asdict()
    del values["include_hidden"]  # these notes are read or not
    return [f"{name}={value}" for name, value in values.items() if value is not None]


def _contains(text: str, phrase: str) -> bool:
    text = text.lower() if text.isascii() else fold_case(text)
    if phrase in text:
        return True
    # Normalising blanks takes longest, and few texts need it.
    has_other_blanks = "\n" in text or "  " in text or "\t" in text
    return has_other_blanks and phrase in " ".join(text.split())
