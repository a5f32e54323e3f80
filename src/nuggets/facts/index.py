"""All facts of a shelf, recalled from its database without loading them.

Derived from notes in the transaction that writes them; thrown away and rebuilt at will. Facts keep
the order in which their notes came to the shelf, so an index that followed every change and one
made afresh agree page by page. Knows no driver, file or transaction: the store has them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from nuggets.facts.capacity import page_size
from nuggets.facts.key_table import KeyTable, Replaced
from nuggets.facts.pages import Page, Pages
from nuggets.facts.question import Question
from nuggets.records import MemoryNote, NuggetConfig, RecallResult
from nuggets.text import folded

if TYPE_CHECKING:
    from nuggets.facts.key_table import Candidate
    from nuggets.facts.keys import Match
    from nuggets.sql import Database

ALSO_TOLD = 3  # other facts that a query may have meant


class FactIndex:
    """Recall by key over the nuggets of a shelf; each recall within one read transaction."""

    FORMAT = 1  # raised when other rows are derived from the same notes

    def __init__(
        self,
        database: "Database",
        notes: Callable[[Sequence[str]], Mapping[str, MemoryNote]],
        nuggets: Callable[[], Mapping[str, NuggetConfig]],
    ) -> None:
        self._table = KeyTable(database)
        self._pages = Pages(database)
        self._notes = notes
        self._nuggets = nuggets

    def update(self, replaced: Iterable[Replaced]) -> None:
        """Follow what became of notes: (place, before, after) for each."""
        self._table.update(replaced)

    def rebuild(self, notes: Iterable[tuple[int, MemoryNote]]) -> None:
        """Start afresh from all notes with their places."""
        self._pages.forget()
        self._table.rebuild(notes)

    def recall(self, query: str, nugget: str | None = None, project: str = "") -> RecallResult:
        """Resolve the key, then decode its value; without a nugget, the best of all.

        What other projects know answers only where this one knows nothing.
        """
        configs = self._nuggets()
        name = None if nugget is None else _storable(folded(nugget))
        question = Question(self._table, configs, _storable(query), name, _storable(project))
        matches = question.matches()
        if not matches:
            return RecallResult()
        facts = question.candidates
        top = max((match.strictness, match.ratio) for match in matches)
        tied = [match for match in matches if (match.strictness, match.ratio) == top]
        results = [
            self._result(match, facts[match.place], configs)
            for match in sorted(tied, key=lambda match: match.place)
        ]
        best = max(results, key=lambda result: result.confidence)  # of equals the oldest
        return best._replace(also=_also(matches, best, facts))

    def _result(
        self, match: "Match", fact: "Candidate", configs: Mapping[str, NuggetConfig]
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
        )

    def _decode(
        self, fact: "Candidate", config: NuggetConfig
    ) -> tuple[str, float, float, MemoryNote]:
        """The value that the vectors hold for the fact, how surely, and the fact's own note."""
        number, position, ids = self._table.locate(fact.nugget, fact.place, page_size(config.dims))
        notes = self._notes(ids)
        values: dict[str, int] = {}
        pattern = tuple(values.setdefault(notes[i].content, len(values)) for i in ids)
        page = Page(fact.nugget, config, number, pattern)
        best, confidence, margin = self._pages.verdict(page, position)
        return list(values)[best], confidence, margin, notes[fact.note]

    @property
    def has_unsaved(self) -> bool:
        """Whether there is anything to keep."""
        return self._pages.has_fresh

    def save(self) -> None:
        """Store what recalls had to decode since, so that no other process has to."""
        self._pages.keep()

    def forget_traces(self, note_ids: Iterable[str]) -> None:
        """Leave nothing of these notes."""
        self._table.forget(note_ids)
        self._pages.forget()

    def check(self) -> list[str]:
        """Count what is counted and decode what is kept again; what differs, in words."""
        return [*self._table.check(), *self._pages.check(self._nuggets())]


def _also(
    matches: "list[Match]", best: RecallResult, facts: "Mapping[int, Candidate]"
) -> tuple[str, ...]:
    """What fits in the same way, in whole words: whoever asked may have meant it."""
    alike = [match for match in matches if match.kind == best.match != "fuzzy" and match.whole]
    places = dict.fromkeys(p for match in alike for p in (match.place, *match.rivals))
    ids = (facts[place].note for place in places)
    return tuple(islice((one for one in ids if one != best.note_id), ALSO_TOLD))


def _storable(text: str) -> str:
    """Half a surrogate pair, as a broken argument has it, can be in no database."""
    return text.encode(errors="replace").decode()
