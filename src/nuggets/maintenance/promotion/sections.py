"""One promotion: the new text of a memory file, from the old text and the notes. Pure.

Entries are recognised by the record of written lines. All other lines belong to people: none of
them is changed, moved or removed.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import pairwise

from nuggets.domain.limits import MEMORY_FILE_BYTES, MEMORY_FILE_LINES
from nuggets.domain.records import PROMOTE_THRESHOLD, MemoryNote
from nuggets.domain.state import merged_into
from nuggets.language.markdown import Markup, is_item, item_end
from nuggets.language.text import fold_case
from nuggets.maintenance.promotion.entries import (
    Entry,
    Explanation,
    Fate,
    Outcome,
    WrittenEntries,
    line_for,
    line_hash,
    short_hash,
    title_of,
    unwrap_line,
    why_not,
    with_caveats,
)
from nuggets.maintenance.promotion.hand_edits import (
    FileEdits,
    Line,
    entry_lines,
    join_lines,
    parse_lines,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.metadata_inference import PREFERENCE_NUGGETS

BOM = "\ufeff"


class Budget(NamedTuple):
    """How much of a memory file hosts load; the file must stay below both limits."""

    lines: int = MEMORY_FILE_LINES
    bytes: int = MEMORY_FILE_BYTES

    def has_room_for(self, lines: Sequence[Line]) -> bool:
        """Whether hosts load all of these lines; undecodable bytes count as one each."""
        count = sum(1 + line.text.count("\n") for line in lines)
        size = len(join_lines(lines).encode(errors="surrogateescape"))
        return count < self.lines and size < self.bytes


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
        or ("is of no project, and others read this file" if is_shared and not note.project else "")
        for note in notes.values()
    }
    caveats = {i: stale_reasons(notes[i]) for i, reason in reasons.items() if not reason}
    work = _Work(text[len(mark) :], notes, written, reasons, caveats, pinned)
    work.update_entries()
    work.choose_entries(budget, header(promote_after))
    new_count = sum(outcome == "new" for outcome, _ in work.outcomes.values())
    return Promotion(mark + join_lines(work.page), work.record(), work.explanations(), new_count)


class _Work:
    """The lines of the file while entries are updated, removed and added."""

    def __init__(
        self,
        text: str,
        notes: Mapping[str, MemoryNote],
        written: WrittenEntries,
        reasons: Mapping[str, str],
        caveats: Mapping[str, Sequence[str]],
        pinned: frozenset[str],
    ) -> None:
        """`reasons`: why each note does not belong in the file; "" if it does."""
        self.notes = notes
        self.known = written.entries
        self.caveats = caveats
        self.pinned = pinned
        self.outcomes: dict[str, tuple[Outcome, str]] = {}
        ranked = sorted(sorted(notes), key=self._strength, reverse=True)
        self.why_not = {note_id: reasons[note_id] for note_id in ranked}
        self.line = {i: line_for(notes[i], caveats[i]) for i in ranked if not reasons[i]}
        self.section = {i: section_of(notes[i]) for i in self.line}
        self.page = entry_lines(text, written, self.line)
        is_new = all(line.is_blank for line in self.page)
        self.refused = self._find_refused(text, {line.owner for line in self.page}, is_new)

    def _strength(self, note_id: str) -> tuple[bool, int]:
        """Pinned entries come before all others, then those with more hits."""
        return note_id in self.pinned, self.notes[note_id].hits

    def _find_refused(self, text: str, present: set[str], is_new: bool) -> dict[str, Fate]:
        """The entries that a person changed or removed, which are not written again; nor are the
        notes that these were merged into, unless they have an entry themselves."""
        refused: dict[str, Fate] = {}
        for note_id, entry in self.known.items():
            if note_id in present or note_id not in self.notes:
                continue
            if entry.fate == "declined":
                refused[note_id] = entry.fate
            elif not is_new:  # what else is gone from an empty file is gone with the file
                is_changed = title_of(self.notes[note_id]) in text
                refused[note_id] = "changed" if is_changed else "declined"
        for note_id, fate in list(refused.items()):
            for survivor in merged_into(self.notes[note_id]):
                if survivor not in present:
                    refused.setdefault(survivor, fate)
        return refused

    def update_entries(self) -> None:
        """Remove the entries of notes that no longer belong here, with headings of ours that have
        none left, and update the other entries."""
        kept: list[Line] = []
        for line in self.page:
            owner = line.owner
            if owner and owner not in self.line:
                reason = self.why_not.get(owner, "forgotten")
                self.outcomes[owner] = "out", f"{reason}; its line was taken out"
            else:
                kept.append(self._update_line(line) if owner else line)
        self.page = without_bare_headings(kept)

    def _update_line(self, line: Line) -> Line:
        fresh, entry = self.line[line.owner], self.known.get(line.owner)
        if entry is not None and entry.memory == line_hash(fresh):
            self.outcomes[line.owner] = "kept", "stands there in your words"
            return line._replace(text=with_caveats(line.text, self.caveats[line.owner]))
        if unwrap_line(line.text) == fresh:
            self.outcomes[line.owner] = "kept", "stands there"
            return line
        self.outcomes[line.owner] = "updated", "was edited"
        return line._replace(text=fresh)

    def choose_entries(self, budget: Budget, first_lines: Sequence[str]) -> None:
        """Go through all entries, the strongest first, old ones before new ones of the same
        strength, and take each for which there is room. `first_lines`: of a new file."""
        present = {line.owner for line in self.page if line.owner}
        newcomers = [i for i in self.line if i not in self.refused and i not in present]
        candidates = sorted([*sorted(present), *newcomers], key=self._strength, reverse=True)
        taken = {""}  # the lines of people

        def has_room(page: Sequence[Line], note_id: str) -> bool:
            return budget.has_room_for([ln for ln in page if ln.owner in taken | {note_id}])

        for note_id in candidates:
            page, is_new = self.page, note_id not in present
            if is_new and any(line.text == self.line[note_id] for line in page):
                self.outcomes[note_id] = "out", "the same line is already there"
                continue
            if is_new:
                page = [*page, Line(self.line[note_id], "\n", note_id)]
                if has_room(page, note_id):
                    page = self._with_entry(note_id, first_lines)
            if has_room(page, note_id):
                taken.add(note_id)
                self.page = page
                if is_new:
                    hits = f"recalled in {self.notes[note_id].hits} sessions"
                    self.outcomes[note_id] = "new", "pinned" if note_id in self.pinned else hits
            elif is_new:
                self.outcomes[note_id] = "no room", "the file is as long as hosts read it"
            else:
                reason = "others need the room; its line was taken out"
                self.outcomes[note_id] = "no room", reason
        self.page = [line for line in self.page if line.owner in taken]

    def record(self) -> WrittenEntries:
        entries = {
            line.owner: Entry.from_lines(line.text, self.line[line.owner])
            for line in self.page
            if line.owner
        }
        own_text = join_lines([line for line in self.page if not line.owner])
        others = frozenset(
            short_hash(line.text) for line in parse_lines(own_text) if not line.is_blank
        )
        refused = {
            i: Entry(self.known[i].line, fate)
            for i, fate in self.refused.items()
            if i in self.known
        }
        # one whose entries gave way to stronger ones stays: its room would let others in next time
        filled = without_bare_headings(self.page)
        headings = frozenset(short_hash(line.text) for line in filled if line.is_our_heading)
        return WrittenEntries({**refused, **entries}, others, headings)

    def explanations(self) -> list[Explanation]:
        """Every note, most hits first, then deleted notes whose entries were removed."""
        explanations = []
        for note_id, reason in self.why_not.items():
            outcome: tuple[Outcome, str] = self.outcomes.get(note_id, ("out", reason))
            if note_id in self.refused and not reason:
                outcome = _REFUSED[self.refused[note_id]]
            explanations.append(Explanation(note_id, self.notes[note_id].title, *outcome))
        forgotten = sorted(set(self.outcomes) - set(self.why_not))
        return explanations + [Explanation(i, "", *self.outcomes[i]) for i in forgotten]

    # --- where an entry stands ------------------------------------------------------------------

    def _with_entry(self, note_id: str, first_lines: Sequence[str]) -> list[Line]:
        """The page with an entry after the last one of its section, else under its heading, else
        under a new one."""
        page, name = self.page, self.section[note_id]
        if all(line.is_blank for line in page):
            lines = entry_lines("\n".join(first_lines), WrittenEntries())
            page = _insert_lines(page, len(page), lines, True)
        entry = Line(self.line[note_id], "", note_id)
        place = self._place_in_section(page, name)
        if place is not None:
            at, apart = place
            return _insert_lines(page, at, [entry], apart)
        at = self._place_of_section(page, name)
        markup = Markup(level=SECTION_LEVEL, name=name)
        heading = Line(f"## {name}", "", is_our_heading=True, markup=markup)
        return _insert_lines(page, at, [heading, Line("", ""), entry], True)

    def _place_in_section(self, page: Sequence[Line], name: str) -> tuple[int, bool] | None:
        """The line to insert before, and whether an empty line must precede the entry."""
        starts = [n for n, line in enumerate(page) if n == 0 or line.markup.level]
        parts = list(pairwise([*starts, len(page)]))
        for start, end in parts:
            if _is_section(page[start], {fold_case(name)}):
                own_lines = [n for n in range(start, end) if page[n].owner and page[n].is_plain]
                if own_lines:
                    return _item_end(page, own_lines[-1]), False
                at = _after_text(page, start, end)
                return at, not (is_item(page[at - 1].text) and page[at - 1].is_plain)
        # someone renamed or removed the heading: stay with the other entries of the section; one
        # alone may stand anywhere
        for start, end in parts:
            own = (n for n in range(start, end) if self.section.get(page[n].owner) == name)
            fellows = [n for n in own if page[n].is_plain]
            if len(fellows) > 1:
                return _item_end(page, fellows[-1]), False
        return None

    def _place_of_section(self, page: Sequence[Line], name: str) -> int:
        """The place of a section: before the first one that sorts later, else after the last."""
        names = {fold_case(known) for known in (*SECTIONS, *self.section.values())}
        start, end = 0, len(page)
        for n, line in enumerate(page):
            if _is_section(line, names):
                if _section_order(line.markup.name) > _section_order(name):
                    return _after_text(page, 0, n)
                later = range(n + 1, len(page))
                ends = (m for m in later if 0 < page[m].markup.level <= SECTION_LEVEL)
                start, end = n, next(ends, len(page))
        return _after_text(page, start, end)


_REFUSED: dict[Fate, tuple[Outcome, str]] = {
    "changed": ("changed", "changed by hand; it stays as it was changed"),
    "declined": ("declined", "taken out by hand; it is not written again"),
}


# --- sections ---------------------------------------------------------------------------------

FIRST_SECTIONS = ("learnings", "preferences")
SECTIONS = (*FIRST_SECTIONS, "assistant-self", "shared-context", "user")  # others: nuggets
SECTION_LEVEL = 2  # of "## learnings", as documented
_TITLE, _RULE = "# Memory", "Auto-promoted from nuggets graph notes ("


def section_of(note: MemoryNote) -> str:
    """The heading of its entry. A memory of a project is not listed as the user's."""
    if "learnings" in note.tags:
        return "learnings"
    is_users = not note.project or fold_case(note.nugget_name) in PREFERENCE_NUGGETS
    if "preferences" in note.tags and is_users:
        return "preferences"
    if note.project and note.scope != "session":
        return "shared-context"
    if note.subject == "assistant:self":
        return "assistant-self"
    if note.subject.startswith("user:"):
        return "user"
    return "shared-context" if note.scope in ("shared", "project") else note.nugget_name


def header(promote_after: int) -> tuple[str, ...]:
    """The first lines of a new file."""
    return _TITLE, "", f"{_RULE}{promote_after}+ recalls across sessions)."


def is_header(line: str) -> bool:
    return line == _TITLE or line.startswith(_RULE)


def without_bare_headings(lines: Sequence[Line]) -> list[Line]:
    """The lines but for headings of ours that have nothing below, each with its empty line."""
    kept: list[Line] = []  # from the last one
    for line in reversed(lines):
        if line.is_our_heading:
            below = next((each for each in reversed(kept) if not each.is_blank), None)
            if below is None or 0 < below.markup.level <= SECTION_LEVEL:
                if kept and not kept[-1].text:
                    kept.pop()
                continue
        kept.append(line)
    return kept[::-1]


def _is_section(line: Line, names: Container[str]) -> bool:
    return line.markup.level == SECTION_LEVEL and fold_case(line.markup.name) in names


def _section_order(name: str) -> tuple[bool, str]:
    """A sort key: learnings and preferences first, then alphabetical."""
    return name not in FIRST_SECTIONS, fold_case(name)


def _item_end(page: Sequence[Line], at: int) -> int:
    return item_end([line.text for line in page], [line.is_plain for line in page], at)


def _after_text(page: Sequence[Line], start: int, end: int) -> int:
    """After the last line with text from `start` to `end`; never inside an unclosed block."""
    lines = range(end - 1, start - 1, -1)
    filled = (n + 1 for n in lines if not (page[n].is_blank or page[n].markup.is_open))
    return next(filled, start)


def _insert_lines(page: list[Line], at: int, new: list[Line], apart: bool) -> list[Line]:
    """Insert lines before line `at`, using the empty lines that exist, with the line ending that
    is the most frequent one; `apart`: an empty line must precede them."""
    ends = [line.end for line in page if line.end]
    newline = max(("\n", "\r\n", "\r"), key=ends.count)
    above, below = page[:at], page[at:]
    if above and not above[-1].end:
        above[-1] = above[-1]._replace(end=newline)
    if apart and above and not above[-1].is_blank:
        above.append(below.pop(0) if below and below[0].is_blank else Line("", newline))
        above[-1] = above[-1]._replace(end=above[-1].end or newline)
    if below and not below[0].is_blank and not is_item(below[0].text):
        new = [*new, Line("", "")]
    return [*above, *(line._replace(end=newline) for line in new), *below]
