"""Which facts of a shelf a question means: of one nugget or of all, this project's first.

Knows no value and no page.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from nuggets.records import NuggetConfig
from nuggets.text import folded

if TYPE_CHECKING:
    from nuggets.facts.key_table import Candidate, KeyTable
    from nuggets.facts.keys import Match
    from nuggets.facts.words import Form


class Question:
    """One question to the keys; the table is asked once for each kind of match, if at all."""

    def __init__(
        self,
        table: "KeyTable",
        configs: Mapping[str, NuggetConfig],
        query: str,
        nugget: str | None,
        project: str,
    ) -> None:
        self._table = table
        self._configs = configs
        self._query = query
        self._nugget = nugget
        self._project = project
        self.candidates: dict[int, Candidate] = {}  # all that came into question, by place

    def matches(self) -> "list[Match]":
        """The best match of each nugget, all of the strictest kind that any nugget has.

        What other projects know answers only where this one knows nothing.
        """
        if not any(map(str.isalnum, self._query)):
            return []
        kinds = self._exact, self._partial, self._misspelt
        for everywhere in (False, True):
            for kind in kinds:
                found = kind(everywhere)
                if found:
                    return found
            if not any(map(self._is_foreign, self.candidates.values())):
                break
        return []

    def _exact(self, everywhere: bool) -> "list[Match]":
        return [self._own(group) for group in self._groups(self._equal, everywhere)]

    def _own(self, facts: "list[Candidate]") -> "Match":
        """Of facts with one key the project's own, else the oldest."""
        from nuggets.facts.keys import Match

        own = min(facts, key=lambda fact: fact.project != self._project)
        others = [fact.place for fact in facts if fact is not own]
        rivals = tuple(others) if own.project != self._project else ()
        return Match("exact", 1.0, True, own.place, rivals)

    def _partial(self, everywhere: bool) -> "list[Match]":
        from nuggets.facts.keys import substring

        groups = self._groups(self._overlapping, everywhere)
        found = (substring(self._form, _forms(group)) for group in groups)
        return [match for match in found if match]

    def _misspelt(self, everywhere: bool) -> "list[Match]":
        from nuggets.facts.keys import fuzzy

        groups = self._groups(self._alike, everywhere)
        found = (
            fuzzy(self._form, _forms(group), self._threshold(group[0].nugget)) for group in groups
        )
        return [match for match in found if match]

    @cached_property
    def _form(self) -> "Form":
        from nuggets.facts.words import form

        return form(self._query)

    @cached_property
    def _equal(self) -> "list[Candidate]":
        return self._noted(self._table.equal(folded(self._query), self._nugget))

    @cached_property
    def _overlapping(self) -> "list[Candidate]":
        from nuggets.facts.keys import telling_part

        part = telling_part(self._form)
        if not part:
            return []
        return self._noted(self._table.overlapping(part, self._form.spaced, self._nugget))

    @cached_property
    def _alike(self) -> "list[Candidate]":
        names = (*self._configs, "") if self._nugget is None else (self._nugget,)
        lowest = min(map(self._threshold, names))
        return self._noted(self._table.alike(self._form, lowest, self._nugget))

    def _noted(self, candidates: "list[Candidate]") -> "list[Candidate]":
        self.candidates.update((candidate.place, candidate) for candidate in candidates)
        return candidates

    def _threshold(self, nugget: str) -> float:
        return self._configs.get(nugget, NuggetConfig(nugget)).fuzzy_threshold

    def _is_foreign(self, candidate: "Candidate") -> bool:
        return candidate.project not in (self._project, "")

    def _groups(self, candidates: "list[Candidate]", everywhere: bool) -> "list[list[Candidate]]":
        """By nugget, in the order in which the shelf has its nuggets."""
        groups: dict[str, list[Candidate]] = {name: [] for name in self._configs}
        for candidate in candidates:
            if everywhere or not self._is_foreign(candidate):
                groups.setdefault(candidate.nugget, []).append(candidate)
        return [group for group in groups.values() if group]


def _forms(candidates: "list[Candidate]") -> "dict[int, Form]":
    return {one.place: one.form for one in candidates if one.form is not None}
