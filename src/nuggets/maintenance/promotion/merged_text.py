"""One promotion: computes the new text of a memory file from the old text and the notes.

Entries are recognised by the record of written lines. All other lines belong to people and stay.
"""

from collections.abc import Callable, Mapping, Sequence

from nuggets.domain.limits import MEMORY_FILE_BYTES, MEMORY_FILE_LINES
from nuggets.domain.records import PROMOTE_THRESHOLD, MemoryNote
from nuggets.domain.state import merged_into
from nuggets.maintenance.promotion.entries import (
    Explanation,
    Outcome,
    line_for,
    why_not,
    why_personal,
    with_caveats,
)
from nuggets.maintenance.promotion.entry_placement import (
    Line,
    Page,
    Place,
    join_lines,
    parse_lines,
    section_of,
    size_of,
    unwrap_line,
    with_current_header,
    with_entry,
    without_entries,
    without_entries_and_headings,
    without_removed_headings,
)
from nuggets.maintenance.promotion.hand_edits import FileEdits
from nuggets.maintenance.promotion.written_entries import (
    Entry,
    Fate,
    WrittenEntries,
    entry_lines,
    fate_of,
    line_hash,
    owners_of,
    short_hash,
)
from nuggets.named_tuple import NamedTuple

BOM = "\ufeff"


class Budget(NamedTuple):
    """How much of a memory file hosts load; the file must stay below both limits."""

    lines: int = MEMORY_FILE_LINES
    bytes: int = MEMORY_FILE_BYTES

    def has_room_for(self, lines: Sequence[Line]) -> bool:
        """Whether hosts load all of these lines."""
        count = sum(1 + line.text.count("\n") for line in lines)
        return count < self.lines and size_of(lines) < self.bytes


class Promotion(NamedTuple):
    """The new text, the record of its entries, and an explanation for each note."""

    text: str
    written: WrittenEntries
    explanations: list[Explanation]
    new_count: int
    edits: FileEdits = FileEdits("")  # of people, taken over before


def merged_text(
    text: str,
    notes: Mapping[str, MemoryNote],
    written: WrittenEntries,
    project: str,
    budget: Budget = Budget(),  # noqa: B008  (immutable)
    promote_after: int = PROMOTE_THRESHOLD,
    pinned: frozenset[str] = frozenset(),
    *,
    now: str = "",
    is_shared: bool = False,
    stale_reasons: Callable[[MemoryNote], Sequence[str]] = lambda note: (),
) -> Promotion:
    """Update the entries in a text; "" means that the file does not exist.

    `now`: the time, by which memories may be valid no longer; "" leaves that out.
    `is_shared`: other people read the file, so it gets memories of the project only.
    `stale_reasons`: what is no longer so of what a note names; its line says it.

    In an empty file, earlier entries count as lost, not as removed by a person.
    """
    mark = BOM if text.startswith(BOM) else ""
    budget = budget._replace(bytes=budget.bytes - len(mark.encode()))
    reasons = {
        note.id: why_not(note, project, promote_after, now, is_pinned=note.id in pinned)
        or (why_personal(note) if is_shared else "")
        for note in notes.values()
    }
    caveats = {i: stale_reasons(notes[i]) for i, reason in reasons.items() if not reason}
    work = _Work(text[len(mark) :], notes, written, reasons, caveats, promote_after, budget, pinned)
    work.take_out()
    work.make_room()
    work.admit()
    page = without_removed_headings(work.page)
    return Promotion(
        mark + join_lines(page.lines), work.record(page), work.explanations(), work.new
    )


class _Work:
    """The page while entries are removed and added."""

    def __init__(
        self,
        text: str,
        notes: Mapping[str, MemoryNote],
        written: WrittenEntries,
        reasons: Mapping[str, str],
        caveats: Mapping[str, Sequence[str]],
        promote_after: int,
        budget: Budget,
        pinned: frozenset[str],
    ) -> None:
        """`reasons`: why each note does not belong in the file; "" if it does."""
        self.caveats = caveats
        self.notes = notes
        self.promote_after = promote_after
        self.budget = budget
        self.pinned = pinned
        self.known = written.entries
        self.new = 0
        self.outcomes: dict[str, tuple[Outcome, str]] = {}
        ranked = sorted(sorted(notes, reverse=True), key=self._strength)[::-1]
        self.why_not = {note_id: reasons[note_id] for note_id in ranked}
        self.line = {i: line_for(notes[i], caveats[i]) for i in ranked if not reasons[i]}
        self.section = {i: section_of(notes[i]) for i in self.line}
        self.fellows: dict[str, set[str]] = {name: set() for name in self.section.values()}
        for note_id, name in self.section.items():
            self.fellows[name].add(note_id)
        lines = entry_lines(text, written, self.line.values())
        lines = with_current_header(lines, promote_after)
        owned = owners_of(lines, self.line, written.entries)
        self.page = Page(
            [line._replace(owner=owned.get(n, "")) for n, line in enumerate(lines)],
            written.headings,
        )
        is_new = all(line.is_blank for line in lines)
        self.refused = self._find_refused(text, set(owned.values()), is_new)

    def take_out(self) -> None:
        """Remove the entries of notes that no longer belong here, and update the other entries."""
        gone = [
            line.owner for line in self.page.lines if line.owner and line.owner not in self.line
        ]
        for owner in gone:
            reason = self.why_not.get(owner, "forgotten")
            self.outcomes[owner] = "out", f"{reason}; its line was taken out"
        self.page = without_entries_and_headings(self.page, gone)
        for n, line in enumerate(self.page.lines):
            if line.owner:
                fresh = self.line[line.owner]
                entry = self.known.get(line.owner)
                if entry is not None and entry.memory == line_hash(fresh):
                    self.outcomes[line.owner] = "kept", "stands there in your words"
                    own_words = with_caveats(line.text, self.caveats[line.owner])
                    self.page.lines[n] = line._replace(text=own_words)
                    continue
                if unwrap_line(line.text) == fresh:
                    self.outcomes[line.owner] = "kept", "stands there"
                    continue
                self.outcomes[line.owner] = "updated", "was edited"
                self.page.lines[n] = line._replace(text=fresh)

    def make_room(self) -> None:
        """Remove entries, those with the fewest hits first, until the file fits the budget."""
        for owner in self._weakest_first():
            if self._fits(self.page):
                return
            self._displace([owner])

    def admit(self) -> None:
        """Add new entries, most hits first; they may replace entries with fewer hits.

        Replaced entries come later in this order and may still find room in another section.
        """
        for newcomer in self.line:
            if newcomer in self.refused or self._has_place(newcomer):
                continue
            if any(line.text == self.line[newcomer] for line in self.page.lines):
                self.outcomes[newcomer] = "out", "the same line is already there"
            else:
                self._admit_one(newcomer)

    def record(self, page: Page) -> WrittenEntries:
        entries = {line.owner: self._entry(line) for line in page.lines if line.owner}
        own_text = join_lines([line for line in page.lines if not line.owner])
        others = frozenset(
            short_hash(line.text) for line in parse_lines(own_text) if not line.is_blank
        )
        refused = {
            i: Entry(self.known[i].line, fate)
            for i, fate in self.refused.items()
            if i in self.known
        }
        return WrittenEntries({**refused, **entries}, page.headings, others)

    def _entry(self, line: Line) -> Entry:
        """The record of a line in the file, which may be in a person's words."""
        fresh, digest = line_hash(self.line[line.owner]), line_hash(line.text)
        return Entry(digest) if digest == fresh else Entry(digest, "changed", fresh)

    def explanations(self) -> list[Explanation]:
        """Every note, most hits first, then deleted notes whose entries were removed."""
        explanations = []
        for note_id, reason in self.why_not.items():
            outcome: tuple[Outcome, str] = self.outcomes.get(note_id, ("out", reason))
            if note_id in self.refused and not reason:
                outcome = _refusal(self.refused[note_id])
            explanations.append(Explanation(note_id, self.notes[note_id].title, *outcome))
        forgotten = sorted(set(self.outcomes) - set(self.why_not))
        return explanations + [Explanation(i, "", *self.outcomes[i]) for i in forgotten]

    def _find_refused(self, text: str, present: set[str], is_new: bool) -> dict[str, Fate]:
        """The entries that a person changed or removed, which are not written again; nor are the
        notes that these were merged into, unless they have an entry themselves."""
        refused: dict[str, Fate] = {}
        for note_id, entry in self.known.items():
            if note_id in present or note_id not in self.notes:
                continue
            if not is_new:
                is_decided = entry.fate in ("declined", "missing")
                refused[note_id] = entry.fate if is_decided else fate_of(self.notes[note_id], text)
            elif entry.fate == "declined":  # what else is gone is gone with the file
                refused[note_id] = entry.fate
        for note_id, fate in list(refused.items()):
            for survivor in merged_into(self.notes[note_id]):
                if survivor not in present:
                    refused.setdefault(survivor, fate)
        return refused

    def _admit_one(self, newcomer: str) -> None:
        """Add an entry, in place of weaker ones if it must be."""
        strength = self._strength(newcomer)
        weaker = [owner for owner in self._weakest_first() if self._strength(owner) < strength]
        if weaker or self._fits(self.page, self.line[newcomer]):
            for count in range(len(weaker) + 1):
                page = self._page_with(newcomer, weaker[:count])
                if self._fits(page):
                    self._displace(weaker[:count])
                    self.page = page
                    self._tell_admission(newcomer)
                    return
        self.outcomes[newcomer] = "no room", "the file is as long as hosts read it"

    def _tell_admission(self, newcomer: str) -> None:
        is_new = newcomer not in self.outcomes
        self.outcomes[newcomer] = (
            ("new", self._reason(newcomer)) if is_new else ("kept", "moved to where there is room")
        )
        self.new += is_new

    def _reason(self, note_id: str) -> str:
        if note_id in self.pinned:
            return "pinned"
        return f"recalled in {self.notes[note_id].hits} sessions"

    def _strength(self, note_id: str) -> tuple[bool, int]:
        """Pinned entries come before all others, then those with more hits."""
        return note_id in self.pinned, self.notes[note_id].hits

    def _has_place(self, note_id: str) -> bool:
        return self.outcomes.get(note_id, ("new", ""))[0] in ("kept", "updated")

    def _page_with(self, newcomer: str, out: list[str]) -> Page:
        section = self.section[newcomer]
        place = Place(
            self.line[newcomer],
            newcomer,
            section,
            self.fellows[section],
            self.fellows,
            self.promote_after,
        )
        return with_entry(without_entries(self.page, out), place)

    def _displace(self, owners: list[str]) -> None:
        self.page = without_entries(self.page, owners)
        for owner in owners:
            self.outcomes[owner] = "no room", "others need the room; its line was taken out"

    def _weakest_first(self) -> list[str]:
        """The entries of the page."""
        owners = (line.owner for line in self.page.lines if line.owner)
        return sorted(owners, key=lambda i: (self._strength(i), i))

    def _fits(self, page: Page, more: str | None = None) -> bool:
        """Whether the page, with `more` as a further line, is within the budget."""
        rest = [] if more is None else [Line(more, "\n")]
        return self.budget.has_room_for([*page.lines, *rest])


def _refusal(fate: Fate) -> tuple[Outcome, str]:
    if fate == "changed":
        return "changed", "changed by hand; it stays as it was changed"
    if fate == "missing":
        return "declined", "gone from the file with many others; it is not written again"
    return "declined", "taken out by hand; it is not written again"
