"""Which fact a question means: this project's before others', exact before substring before fuzzy,
and which of several that match wins. Knows no value and no page.

`key_matching` says what a match of each kind is; `RecallResult.is_clear` which result is a hit.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from nuggets.domain.records import NuggetConfig
from nuggets.domain.visibility import first_in_precedence, is_foreign
from nuggets.language.text import fold_case

if TYPE_CHECKING:
    from nuggets.facts.key_matching import Match
    from nuggets.facts.key_table import Candidate, KeyTable
    from nuggets.facts.key_tokenizer import Form


class FactLookup:
    """What one question means. The table of keys is read at most once for each kind of match."""

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
        self.candidates: dict[int, Candidate] = {}  # all candidates that were read, by place

    def matches(self) -> "list[Match]":
        """The best match of each nugget, all of the same kind: the strictest that any nugget has.

        Facts of other projects match only if this project has none that match.
        """
        if not any(map(str.isalnum, self._query)):
            return []
        for everywhere in (False, True):
            matches = self._exact(everywhere) or self._similar(everywhere)
            if matches:
                return matches
            if not any(map(self._is_foreign, self.candidates.values())):
                break
        return []

    def _exact(self, everywhere: bool) -> "list[Match]":
        return [self._match_preferred(group) for group in self._groups(self._equal, everywhere)]

    def _match_preferred(self, facts: "list[Candidate]") -> "Match":
        """Matches the project's own of facts with the same key, else the oldest."""
        from nuggets.facts.key_matching import Match

        preferred = first_in_precedence(facts, self._project)[0]
        rest = tuple(fact.place for fact in facts if fact is not preferred)
        rivals = rest if preferred.project != self._project else ()
        return Match("exact", 1.0, True, preferred.place, rivals)

    def _similar(self, everywhere: bool) -> "list[Match]":
        """Parts before misspellings; but a key that leaves words of the question over comes last.

        "rate limit of the evnt store" means "rate limit of the event store", if that is known.
        """
        partial = self._partial(everywhere)
        complete = [match for match in partial if match.complete]
        return complete or self._misspelt(everywhere) or partial

    def _partial(self, everywhere: bool) -> "list[Match]":
        from nuggets.facts.key_matching import substring

        groups = self._groups(self._overlapping, everywhere)
        matches = (substring(self._form, _forms(group)) for group in groups)
        return [match for match in matches if match]

    def _misspelt(self, everywhere: bool) -> "list[Match]":
        from nuggets.facts.key_matching import fuzzy

        groups = self._groups(self._alike, everywhere)
        matches = (
            fuzzy(
                self._form,
                _forms(group),
                self._threshold(group[0].nugget),
                self._table.has_word,
            )
            for group in groups
        )
        return [match for match in matches if match]

    @cached_property
    def _form(self) -> "Form":
        from nuggets.facts.key_tokenizer import form

        return form(self._query)

    @cached_property
    def _equal(self) -> "list[Candidate]":
        return self._record(self._table.equal(fold_case(self._query), self._nugget))

    @cached_property
    def _overlapping(self) -> "list[Candidate]":
        from nuggets.facts.key_matching import significant_part

        part = significant_part(self._form)
        if not part:
            return []
        return self._record(self._table.overlapping(part, self._form.spaced, self._nugget))

    @cached_property
    def _alike(self) -> "list[Candidate]":
        names = (*self._configs, "") if self._nugget is None else (self._nugget,)
        lowest = min(map(self._threshold, names))
        return self._record(self._table.alike(self._form, lowest, self._nugget))

    def _record(self, candidates: "list[Candidate]") -> "list[Candidate]":
        self.candidates.update((candidate.place, candidate) for candidate in candidates)
        return candidates

    def _threshold(self, nugget: str) -> float:
        return self._configs.get(nugget, NuggetConfig(nugget)).fuzzy_threshold

    def _is_foreign(self, candidate: "Candidate") -> bool:
        return is_foreign(candidate, self._project)

    def _groups(self, candidates: "list[Candidate]", everywhere: bool) -> "list[list[Candidate]]":
        """By nugget, in the order in which the shelf has its nuggets."""
        groups: dict[str, list[Candidate]] = {name: [] for name in self._configs}
        for candidate in candidates:
            if everywhere or not self._is_foreign(candidate):
                groups.setdefault(candidate.nugget, []).append(candidate)
        return [group for group in groups.values() if group]


def closest(matches: "Sequence[Match]") -> "list[Match]":
    """Of matches of one kind the closest: in whole words, then by ratio. Equals: oldest first."""
    top = max((match.whole, match.ratio) for match in matches)
    tied = [match for match in matches if (match.whole, match.ratio) == top]
    return sorted(tied, key=lambda match: match.place)


def _forms(candidates: "list[Candidate]") -> "dict[int, Form]":
    return {fact.place: fact.form for fact in candidates if fact.form is not None}
