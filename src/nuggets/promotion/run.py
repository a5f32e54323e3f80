"""One promotion: the file as it is, the notes as they are, the file as it should be.

Our lines are known by the record of what we wrote. All others belong to people and stay.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from nuggets.promotion.document import Line, joined, parsed, size_of
from nuggets.promotion.eligibility import (
    Explanation,
    Outcome,
    section_of,
    why_not,
)
from nuggets.promotion.entry import line_for
from nuggets.promotion.ownership import fate_of, owners_of
from nuggets.promotion.placing import (
    Page,
    Place,
    still_there,
    with_entry,
    without_entries,
    without_traces,
)
from nuggets.promotion.written import Entry, Fate, Written, line_hash
from nuggets.records import MemoryNote
from nuggets.state import merged_into

BOM = "\ufeff"


class Budget(NamedTuple):
    """What hosts load of a memory file at the start; it must stay below both."""

    lines: int = 200
    bytes: int = 25_000


class Promotion(NamedTuple):
    """The file to write, what to remember of it, and why."""

    text: str
    written: Written
    explanations: list[Explanation]
    new_count: int


def merged_text(
    text: str,
    notes: Mapping[str, MemoryNote],
    written: Written,
    project: str,
    budget: Budget = Budget(),  # noqa: B008  (immutable)
) -> Promotion:
    """The text with our entries as they should be; "" for a file that is not there.

    A file without a word is a new beginning: what we wrote into it before was lost, not refused.
    """
    mark = BOM if text.startswith(BOM) else ""
    work = _Work(text[len(mark) :], notes, written, project, budget, len(mark.encode()))
    work.take_out()
    work.make_room()
    work.admit()
    page = still_there(work.page)
    return Promotion(mark + joined(page.lines), work.record(page), work.explained(), work.new)


class _Work:
    """The page between the first look and the last."""

    def __init__(
        self,
        text: str,
        notes: Mapping[str, MemoryNote],
        written: Written,
        project: str,
        budget: Budget,
        taken: int,
    ) -> None:
        self.notes = notes
        self.budget = budget._replace(bytes=budget.bytes - taken)
        self.known = written.entries
        self.new = 0
        self.outcomes: dict[str, tuple[Outcome, str]] = {}
        ranked = sorted(notes.values(), key=lambda note: (-note.hits, note.id))
        self.why_not = {note.id: why_not(note, project) for note in ranked}
        self.line = {i: line_for(notes[i]) for i, reason in self.why_not.items() if not reason}
        self.section = {i: section_of(notes[i]) for i in self.line}
        self.fellows: dict[str, set[str]] = {name: set() for name in self.section.values()}
        for note_id, name in self.section.items():
            self.fellows[name].add(note_id)
        lines = parsed(text)
        owned = owners_of(lines, self.line, written.entries)
        self.page = Page(
            [line._replace(owner=owned.get(n, "")) for n, line in enumerate(lines)],
            written.headings,
        )
        is_new = all(line.is_blank for line in lines)
        self.refused = self._refused(text, set(owned.values()), is_new)

    def take_out(self) -> None:
        """Entries whose notes do not belong here any more; the others get their present words."""
        gone = [
            line.owner for line in self.page.lines if line.owner and line.owner not in self.line
        ]
        for owner in gone:
            reason = self.why_not.get(owner, "forgotten")
            self.outcomes[owner] = "out", f"{reason}; its line was taken out"
        self.page = without_traces(self.page, gone)
        for n, line in enumerate(self.page.lines):
            if line.owner:
                fresh = self.line[line.owner]
                self.outcomes[line.owner] = (
                    ("kept", "stands there") if fresh == line.text else ("updated", "was edited")
                )
                self.page.lines[n] = line._replace(text=fresh)

    def make_room(self) -> None:
        """Ours go, those with the fewest hits first, until all that others wrote fits as well."""
        if self._fits(self.page):
            return
        ours = self._weakest_first(_owned(self.page))
        if not self._fits(without_entries(self.page, ours)):
            self._displace(ours)
            return
        out: list[str] = []
        while not self._fits(without_entries(self.page, out)):
            out.append(ours[len(out)])
        self._displace(self._fewest(out, lambda some: without_entries(self.page, some)))

    def admit(self) -> None:
        """Newcomers, most hits first; they may take the room of entries with fewer.

        Those come later in this order, and may find another place that costs less.
        """
        before = self._weakest_first(_owned(self.page))
        is_full = not self._fits(self.page)  # of what others wrote
        for newcomer in self.line:
            if newcomer in self.refused or self._has_place(newcomer):
                continue
            if is_full:
                self._turned_away(newcomer)
                continue
            if any(line.text == self.line[newcomer] for line in self.page.lines):
                self.outcomes[newcomer] = "out", "the same line is already there"
                continue
            weaker = [i for i in before if self.notes[i].hits < self.notes[newcomer].hits]
            if self._admitted(newcomer, weaker):
                before = [i for i in before if self.outcomes[i][0] != "no room"]

    def record(self, page: Page) -> Written:
        ours = {line.owner: Entry(line_hash(line.text)) for line in page.lines if line.owner}
        refused = {
            i: Entry(self.known[i].line, fate)
            for i, fate in self.refused.items()
            if i in self.known
        }
        return Written({**refused, **ours}, page.headings)

    def explained(self) -> list[Explanation]:
        """Every note, most hits first, then what is in the file no more."""
        explanations = []
        for note_id, reason in self.why_not.items():
            outcome: tuple[Outcome, str] = self.outcomes.get(note_id, ("out", reason))
            if note_id in self.refused and not reason:
                outcome = _refusal(self.refused[note_id])
            explanations.append(Explanation(note_id, self.notes[note_id].title, *outcome))
        forgotten = sorted(set(self.outcomes) - set(self.why_not))
        return explanations + [Explanation(i, "", *self.outcomes[i]) for i in forgotten]

    def _refused(self, text: str, here: set[str], is_new: bool) -> dict[str, Fate]:
        """What a person changed or took out; it is not written again, nor what it was merged into
        unless that stands there itself."""
        refused: dict[str, Fate] = {}
        for note_id, entry in self.known.items():
            if note_id in here or note_id not in self.notes:
                continue
            if not is_new:
                refused[note_id] = fate_of(self.notes[note_id], text)
            elif entry.fate != "written":
                refused[note_id] = entry.fate
        for note_id, fate in list(refused.items()):
            for survivor in merged_into(self.notes[note_id]):
                if survivor not in here:
                    refused.setdefault(survivor, fate)
        return refused

    def _admitted(self, newcomer: str, weaker: list[str]) -> bool:
        """Whether it found room, at the cost of as few weaker ones as need be."""
        if not weaker and not self._fits(self.page, self.line[newcomer]):
            return self._turned_away(newcomer)
        out: list[str] = []
        page = self._with(newcomer, out)
        if not self._fits(page) and weaker and self._fits(self._with(newcomer, weaker)):
            while not self._fits(page):
                out.append(weaker[len(out)])
                page = self._with(newcomer, out)
            out = self._fewest(out, lambda some: self._with(newcomer, some))
            page = self._with(newcomer, out)
        if not self._fits(page):
            return self._turned_away(newcomer)
        self._displace(out)
        self.page = self._with(newcomer, [])
        is_new = newcomer not in self.outcomes
        self.outcomes[newcomer] = (
            ("new", f"recalled in {self.notes[newcomer].hits} sessions")
            if is_new
            else ("kept", "moved to where there is room")
        )
        self.new += is_new
        return True

    def _has_place(self, note_id: str) -> bool:
        return self.outcomes.get(note_id, ("new", ""))[0] in ("kept", "updated")

    def _fewest(self, out: list[str], page_without: Callable[[list[str]], Page]) -> list[str]:
        """Those that must really go: small ones may stay when a large one had to go as well."""
        for owner in out[::-1]:
            fewer = [other for other in out if other != owner]
            if self._fits(page_without(fewer)):
                out = fewer
        return out

    def _turned_away(self, newcomer: str) -> bool:
        self.outcomes[newcomer] = "no room", "the file is as long as hosts read it"
        return False

    def _with(self, newcomer: str, out: list[str]) -> Page:
        section = self.section[newcomer]
        place = Place(self.line[newcomer], newcomer, section, self.fellows[section], self.fellows)
        return with_entry(without_entries(self.page, out), place)

    def _displace(self, owners: list[str]) -> None:
        self.page = without_entries(self.page, owners)
        for owner in owners:
            self.outcomes[owner] = "no room", "others need the room; its line was taken out"

    def _weakest_first(self, owners: Iterable[str]) -> list[str]:
        return sorted(owners, key=lambda i: (self.notes[i].hits, i))

    def _fits(self, page: Page, more: str | None = None) -> bool:
        """Whether the page is short enough, perhaps even with another line."""
        rest = [] if more is None else [Line(more, "\n")]
        lines = len(page.lines) + len(rest)
        return lines < self.budget.lines and size_of([*page.lines, *rest]) < self.budget.bytes


def _owned(page: Page) -> list[str]:
    return [line.owner for line in page.lines if line.owner]


def _refusal(fate: Fate) -> tuple[Outcome, str]:
    if fate == "changed":
        return "changed", "changed by hand; it stays as it was changed"
    return "declined", "taken out by hand; it is not written again"
