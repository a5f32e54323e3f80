"""The index of all facts: recalls a fact from the database without loading the others.

It is derived from notes, updated in the transaction that writes them, and can be rebuilt at any
time. Facts are ordered as their notes were added, so an updated index and a rebuilt one have the
same pages. Knows no driver, file or transaction: the store has them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from nuggets.domain.records import MemoryNote, NuggetConfig, RecallResult
from nuggets.facts.best_match import FactLookup, closest
from nuggets.facts.capacity import page_size
from nuggets.facts.decode_cache import DecodeCache, Page
from nuggets.facts.key_table import KeyTable, Replaced
from nuggets.facts.probability import probability
from nuggets.language.text import fold_case

if TYPE_CHECKING:
    from nuggets.domain.sql_interface import Database
    from nuggets.facts.key_matching import Match
    from nuggets.facts.key_table import Candidate

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

    def recall(self, query: str, nugget: str | None = None, project: str = "") -> RecallResult:
        """Resolve the key, then decode its value; without a nugget, the best match of all nuggets.

        Facts of other projects answer only if this project has none that match.
        """
        configs = self._nuggets()
        name = None if nugget is None else _storable(fold_case(nugget))
        question = FactLookup(self._table, configs, _storable(query), name, _storable(project))
        matches = question.matches()
        if not matches:
            return RecallResult()
        facts = question.candidates
        results = [
            self._result(match, matches, facts[match.place], configs) for match in closest(matches)
        ]
        best = max(results, key=lambda result: result.confidence)  # of equal ones the oldest
        return best._replace(also=_alternatives(matches, best, facts))

    def _result(
        self,
        match: "Match",
        matches: "list[Match]",
        fact: "Candidate",
        configs: Mapping[str, NuggetConfig],
    ) -> RecallResult:
        config = configs.get(fact.nugget)
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
            probability=probability(match, matches, confidence),
            valid_from=note.valid_from,
            valid_until=note.valid_until,
        )

    def _decode(
        self, fact: "Candidate", config: NuggetConfig
    ) -> tuple[str, float, float, MemoryNote]:
        """The decoded value of the fact with confidence and margin, and the note of the fact."""
        number, position, ids = self._table.locate(fact.nugget, fact.place, page_size(config.dims))
        notes = self._notes(ids)
        values: dict[str, int] = {}
        pattern = tuple(values.setdefault(notes[i].content, len(values)) for i in ids)
        page = Page(fact.nugget, config, number, pattern)
        best, confidence, margin = self._pages.verdict(page, position)
        return list(values)[best], confidence, margin, notes[fact.note]

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


def _alternatives(
    matches: "list[Match]", best: RecallResult, facts: "Mapping[int, Candidate]"
) -> tuple[str, ...]:
    """Ids of other facts that match in the same way and in whole words."""
    alike = [match for match in matches if match.kind != "fuzzy" and match.whole]
    places = dict.fromkeys(p for match in alike for p in (match.place, *match.rivals))
    ids = (facts[place].note for place in places)
    return tuple(islice((note_id for note_id in ids if note_id != best.note_id), MOST_ALTERNATIVES))


def _storable(text: str) -> str:
    """Replaces lone surrogates, which a broken argument may have and no database stores."""
    return text.encode(errors="replace").decode()
