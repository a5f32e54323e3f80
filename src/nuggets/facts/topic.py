"""The facts of one nugget: in order, by key, and in pages. Knows no other nugget."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, NamedTuple

from nuggets.facts.capacity import page_size
from nuggets.records import MemoryNote, NuggetConfig
from nuggets.text import folded

if TYPE_CHECKING:
    from nuggets.facts.banks import Banks
    from nuggets.facts.words import Form
    from nuggets.fhrr.scoring import Verdict


class Keys(NamedTuple):
    """The keys of some of a nugget's facts: all that finding one needs."""

    config: NuggetConfig
    exact: dict[str, list[int]]  # folded key to places, ascending
    forms: "dict[int, Form]"


class Topic:
    """A place is a number that grows with every note of the shelf; facts are ordered by it."""

    def __init__(self, name: str) -> None:
        self.config = NuggetConfig(name)
        self.named = False  # by a configuration, not just by its notes
        self.places: list[int] = []  # ascending
        self.facts: dict[int, MemoryNote] = {}  # their notes, by place
        self.exact: dict[str, list[int]] = {}  # folded key to places, ascending
        self.banks: Banks | None = None
        self._projects: Counter[str] = Counter()
        self._forms: dict[int, Form] | None = None  # only questions that are no key need them

    def configure(self, config: NuggetConfig, named: bool) -> None:
        if config != self.config:
            self.banks = None
        self.config, self.named = config, named

    def put(self, place: int, fact: MemoryNote) -> None:
        old = self.facts.get(place)
        if old is not None and old.title != fact.title:
            self.take(place)
            old = None
        self.facts[place] = fact
        self._projects[fact.project] += 1
        if old is not None:
            self._count_out(old.project)
        else:
            insort(self.places, place)
            insort(self.exact.setdefault(folded(fact.title), []), place)
            if self._forms is not None:
                self._forms.update(_forms([(place, fact)]))

    def take(self, place: int) -> None:
        fact = self.facts.pop(place)
        self._count_out(fact.project)
        key = folded(fact.title)
        del self.places[bisect_left(self.places, place)]
        self.exact[key].remove(place)
        if not self.exact[key]:
            del self.exact[key]
        if self._forms is not None:
            self._forms.pop(place, None)

    def _count_out(self, project: str) -> None:
        self._projects[project] -= 1
        if not self._projects[project]:
            del self._projects[project]

    @property
    def projects(self) -> set[str]:
        """Those that facts here belong to."""
        return set(self._projects)

    def only(self, projects: Container[str]) -> Keys:
        """The keys that these projects know."""
        known = {place for place, fact in self.facts.items() if fact.project in projects}
        exact = {key: [p for p in places if p in known] for key, places in self.exact.items()}
        return Keys(
            self.config,
            {key: places for key, places in exact.items() if places},
            {place: form for place, form in self.forms.items() if place in known},
        )

    @property
    def forms(self) -> "dict[int, Form]":
        if self._forms is None:
            self._forms = _forms(self.facts.items())
        return self._forms

    def decode(self, place: int) -> "tuple[str, Verdict]":
        """The value that the vectors hold for the fact at this place."""
        size = page_size(self.config.dims)
        page, position = divmod(bisect_left(self.places, place), size)
        numbers: dict[str, int] = {}
        pattern = tuple(
            numbers.setdefault(self.facts[p].content, len(numbers))
            for p in self.places[page * size : (page + 1) * size]
        )
        if self.banks is None:
            from nuggets.facts.banks import Banks
            from nuggets.fhrr.phasors import seed_from_text

            self.banks = Banks(self.config, seed_from_text(folded(self.config.name)))
        verdict = self.banks.decode(pattern, position)
        return list(numbers)[verdict.best], verdict


def _forms(facts: Iterable[tuple[int, MemoryNote]]) -> "dict[int, Form]":
    """Of keys without a word there is nothing to compare."""
    from nuggets.facts.words import form

    forms = ((place, form(fact.title)) for place, fact in facts)
    return {place: key for place, key in forms if key.spaced}
