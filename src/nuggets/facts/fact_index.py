"""The index of all facts: recalls a fact from the database without loading the others.

It is derived from notes, updated in the transaction that writes them, and can be rebuilt at any
time. Facts are ordered as their notes were added, so an updated index and a rebuilt one have the
same pages. Knows no driver, file or transaction: the store has them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from nuggets.domain.records import (
    RECALL_MIN_PROBABILITY,
    MemoryNote,
    NuggetConfig,
    RecallResult,
)
from nuggets.facts.capacity import page_size
from nuggets.facts.decode_cache import DecodeCache, Page
from nuggets.facts.key_match import KeyMatch, Question, find_matches
from nuggets.facts.key_table import Candidate, KeyTable, Replaced
from nuggets.language.text import fold_case

if TYPE_CHECKING:
    from nuggets.domain.state import Database

MOST_ALTERNATIVES = 3  # other facts that are named because the query may mean them


class FactIndex:
    """Recalls facts by key; each recall runs within one read transaction."""

    def __init__(
        self,
        database: "Database",
        notes: Callable[[Sequence[str]], Mapping[str, MemoryNote]],
        nuggets: Callable[[], Mapping[str, NuggetConfig]],
    ) -> None:
        self._table = KeyTable(database)
        self._pages = DecodeCache(database)
        self._notes = notes
        self._nuggets = nuggets

    def update(self, replaced: Iterable[Replaced]) -> None:
        """Apply changes of notes, each as (place, note before, note after)."""
        self._table.update(replaced)

    def rebuild(self, notes: Iterable[tuple[int, MemoryNote]]) -> None:
        """Replace the index by one made of these notes and their places."""
        self._pages.forget()
        self._table.rebuild(notes)

    def recall(
        self,
        query: str,
        nugget: str | None = None,
        project: str = "",
        min_probability: float = RECALL_MIN_PROBABILITY,
    ) -> RecallResult:
        """Resolve the key, then decode its value; without a nugget, of all nuggets.

        Facts of other projects answer only if this project has none that does.
        `min_probability` 0: the documented order of matches decides alone.
        """
        configured = cache(self._nuggets().get)

        def threshold(name: str) -> float:
            return (configured(name) or NuggetConfig(name)).fuzzy_threshold

        name = None if nugget is None else _storable(fold_case(nugget))
        question = Question(_storable(query), name, _storable(project), min_probability, threshold)
        matches = find_matches(self._table, question)
        if not matches:
            return RecallResult()
        best = matches[0]
        equals = {m.fact.nugget: m for m in matches[::-1] if m[1:] == best[1:]}
        results = (self._result(m, configured(m.fact.nugget)) for m in reversed(equals.values()))
        result = max(results, key=lambda result: result.confidence)  # of equal ones the oldest
        return result._replace(also=_alternatives(matches, best, result.note_id))

    def _result(self, match: KeyMatch, config: NuggetConfig | None) -> RecallResult:
        fact = match.fact
        answer, confidence, margin, note = self._decode(fact, config or NuggetConfig(fact.nugget))
        return RecallResult(
            answer=answer,
            confidence=confidence,
            margin=margin,
            found=True,
            key=note.title,
            nugget=config.name if config else note.nugget_name,
            match=match.kind,
            ratio=match.ratio,
            note_id=note.id,
            project=note.project,
            probability=match.probability * confidence,
            missing=match.fit.missing,
            doubt=match.fit.doubt(is_part=match.kind != "fuzzy"),
            valid_from=note.valid_from,
            valid_until=note.valid_until,
        )

    def _decode(
        self, fact: Candidate, config: NuggetConfig
    ) -> tuple[str, float, float, MemoryNote]:
        """The decoded value of the fact with confidence and margin, and the note of the fact."""
        at = self._table.locate(fact.nugget, fact.place, page_size(config.dims))
        numbers = {value: number for number, value in enumerate(dict.fromkeys(at.values))}
        pattern = tuple(map(numbers.__getitem__, at.values))
        page = Page(fact.nugget, config, at.page, pattern)
        best, confidence, margin = self._pages.verdict(page, at.position)
        holder = fact.note
        if pattern[at.position] != best:
            holder = self._table.with_value(fact.nugget, at.values[pattern.index(best)])
        notes = self._notes((holder, fact.note))
        return notes[holder].content, confidence, margin, notes[fact.note]

    @property
    def has_unsaved(self) -> bool:
        """Whether decoded pages wait to be stored."""
        return self._pages.has_fresh

    def save(self) -> None:
        """Store the pages that recalls decoded, so that no other process decodes them again."""
        self._pages.keep()

    def forget_traces(self, note_ids: Iterable[str]) -> None:
        """Erase what the index holds of these notes."""
        self._table.forget(note_ids)
        self._pages.forget()

    def check(self) -> list[str]:
        """Recount the facts and decode the stored pages again; describe what differs."""
        return [*self._table.check(), *self._pages.check(self._nuggets())]


def _alternatives(matches: Sequence[KeyMatch], best: KeyMatch, chosen: str) -> tuple[str, ...]:
    """Ids of other facts that are at least half as probable, or have the same key."""
    ids = (
        match.fact.note
        for match in matches
        if match.kind == "exact" or 2 * match.probability >= best.probability > 0
    )
    return tuple(islice((note_id for note_id in ids if note_id != chosen), MOST_ALTERNATIVES))


def _storable(text: str) -> str:
    """Replaces lone surrogates, which a broken argument may have and no database stores."""
    return text.encode(errors="replace").decode()
