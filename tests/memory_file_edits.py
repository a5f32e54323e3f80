"""Random hands on a memory file: edits by people, changes of notes, promotions, and the laws.

One script is one seed. After each promotion it is checked that every line that is not ours is
still there in its place, that a second promotion changes nothing, that what people took out stays
out, and that the file fits its budget.
"""

import random
import re
from collections import Counter
from collections.abc import Callable

from nuggets import PROMOTE_THRESHOLD
from nuggets.domain.records import MemoryNote
from nuggets.maintenance.promotion.entries import WrittenEntries, line_for, line_hash, short_hash
from nuggets.maintenance.promotion.sections import Budget, header, merged_text

NOW = "2026-01-31T09:00:00.000Z"
SUBJECTS = ("user:primary", "assistant:self", "shared:project")
LINES = (
    "", "", "  ", "plain text", "- a bullet", "* another", "  - nested", "  more of it",
    "1. first", "# Mine", "## Mine", "### below", "## learnings", "## user", "## Learnings",
    "```", "```python", "~~~", "- ```", "<!--", "-->", "<!-- one line -->", "<div>", "</div>",
    "<details>", "===", "---", "***", "> quoted", "| a | b |", "    code", "\tcode", "é 設定 🙂",
    "- **By hand**: mine", "[ref]: https://example.org", "a\u2028b", "\x0b\x0c", "@import.md",
)  # fmt: skip
SECTIONS = (
    "learnings", "preferences", "user", "assistant-self", "shared-context", "zoo", "alpha",
)  # fmt: skip
HEADINGS = tuple(f"## {name}" for name in SECTIONS)
CONTENTS = (
    "RS256", "two\nlines", "# heading\n- item", "```\ncode", "<!-- open", "close -->",
    "x\n===", "a\r\nb", "@src/secret.md", "\u202eabc", "é" * 400, "<script>alert(1)</script>", "",
)  # fmt: skip


class Script:
    """A file, its notes and its record, moved on by one seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.notes: dict[str, MemoryNote] = {}
        self.written = WrittenEntries()
        self.text = ""
        self.ours: set[str] = set()  # every line we ever wrote
        self.budget = self.chance.choice((Budget(), Budget(14, 700), Budget(40, 1500)))
        self.count = 0
        for _ in range(self.chance.randrange(6)):
            self.new_note()

    def play(self, steps: int) -> None:
        hands: tuple[Callable[[], None], ...] = (
            self.insert, self.insert, self.insert, self.delete, self.move, self.change_ours,
            self.delete_ours, self.wrap_ours, self.other_newlines, self.no_final_newline,
            self.byte_order_mark, self.new_note, self.new_note, self.change_note, self.change_note,
            self.promote, self.promote, self.promote,
        )  # fmt: skip
        for _ in range(steps):
            self.chance.choice(hands)()
        self.promote()

    # --- notes ----------------------------------------------------------------------------

    def new_note(self) -> None:
        self.count += 1
        name = f"note-n-{self.count:08x}"
        tags = self.chance.choice(((), ("learnings",), ("preferences",)))
        title = f"Title {self.count} {'*`[<@'[self.count % 5]}x"
        self.notes[name] = MemoryNote(
            name, self.chance.choice(("zoo", "alpha")), title,
            self.chance.choice(CONTENTS), "note", self.chance.choice(("other", *SUBJECTS)), "user",
            "note", "explicit_user", 0.9, "durable", NOW, NOW, NOW, tags=tags,
            hits=self.chance.randrange(1, PROMOTE_THRESHOLD + 5),
        )  # fmt: skip

    def change_note(self) -> None:
        if not self.notes:
            return
        note = self.notes[self.chance.choice(sorted(self.notes))]
        kind = self.chance.randrange(5)
        if kind == 0:
            del self.notes[note.id]
            return
        self.notes[note.id] = (
            note._replace(hits=note.hits + 2),
            note._replace(hidden=not note.hidden),
            note._replace(content=self.chance.choice(CONTENTS)),
            note._replace(tags=self.chance.choice(((), ("learnings",)))),
        )[kind - 1]

    # --- hands ----------------------------------------------------------------------------

    def edit(self, lines: list[str]) -> None:
        self.text = "".join(lines)

    def spot(self, lines: list[str]) -> int:
        return self.chance.randrange(len(lines) + 1)

    def insert(self) -> None:
        lines = split(self.text)
        for _ in range(self.chance.randint(1, 4)):
            lines.insert(self.spot(lines), self.chance.choice(LINES) + "\n")
        self.edit(lines)

    def delete(self) -> None:
        lines = split(self.text)
        if lines:
            lines.pop(self.chance.randrange(len(lines)))
        self.edit(lines)

    def move(self) -> None:
        lines = split(self.text)
        if lines:
            line = lines.pop(self.chance.randrange(len(lines)))
            lines.insert(self.spot(lines), bare(line) + "\n")
        self.edit(lines)

    def our_line(self, lines: list[str]) -> int | None:
        found = [n for n, line in enumerate(lines) if bare(line) in self.ours]
        return self.chance.choice(found) if found else None

    def change_ours(self) -> None:
        lines = split(self.text)
        at = self.our_line(lines)
        if at is not None:
            lines[at] = lines[at].replace("Title", "My title", 1)
        self.edit(lines)

    def delete_ours(self) -> None:
        lines = split(self.text)
        at = self.our_line(lines)
        if at is not None:
            del lines[at]
        self.edit(lines)

    def wrap_ours(self) -> None:
        lines = split(self.text)
        at = self.our_line(lines)
        if at is not None:
            before, after = self.chance.choice((("```", "```"), ("<!--", "-->"), ("<div>", "")))
            lines[at : at + 1] = [before + "\n", bare(lines[at]) + "\n", after + "\n"]
        self.edit(lines)

    def other_newlines(self) -> None:
        end = self.chance.choice(("\n", "\r\n"))
        self.edit([bare(line) + end for line in split(self.text)])

    def no_final_newline(self) -> None:
        self.text = self.text.rstrip("\r\n")

    def byte_order_mark(self) -> None:
        self.text = "\ufeff" + self.text.removeprefix("\ufeff")

    # --- the laws -------------------------------------------------------------------------

    def promote(self) -> None:
        before, known = self.text, self.written
        after = merged_text(before, self.notes, known, "", self.budget)
        again = merged_text(after.text, self.notes, after.written, "", self.budget)
        here = [bare(line) for line in split(after.text.removeprefix("\ufeff"))]

        assert (again.text, again.written, again.new_count) == (after.text, after.written, 0)
        assert WrittenEntries.from_json(after.written.to_json()) == after.written
        self.check_refusals(before, known, here)
        self.ours |= {line_for(note) for note in self.notes.values()} & set(here)
        self.check_survival(before, after.text, known)
        self.check_budget(after.text)
        self.text, self.written = after.text, after.written

    def check_refusals(self, before: str, known: WrittenEntries, here: list[str]) -> None:
        there = {bare(line) for line in split(before.removeprefix("\ufeff"))}
        if not before.strip("\ufeff \t\r\n"):
            return
        for note_id, entry in known.entries.items():
            note = self.notes.get(note_id)
            if note is None or line_for(note) in there or hash_in(entry.line, there):
                continue
            assert line_for(note) not in here, f"{note_id} was taken out by hand and is back"

    def check_survival(self, before: str, after: str, known: WrittenEntries) -> None:
        """All others' lines in order, and nothing new but ours, headings and empty lines."""
        assert after.startswith("\ufeff") or not before.startswith("\ufeff")
        mark = "\ufeff" if before.startswith("\ufeff") else ""
        theirs = self.others(before.removeprefix(mark))
        rest = self.others(after.removeprefix(mark))
        own = [text for text in HEADINGS if short_hash(text) in known.headings]
        own_headings = {*own, *(f"\ufeff{text}" for text in own)}
        places = {0}  # how far in the rest we may have come
        for line in theirs:
            if line in ("\n", "\r\n", "\r"):
                continue
            same = (line, line + "\n", line + "\r\n") if bare(line) == line else (line,)
            found = (next((n for n in range(p, len(rest)) if rest[n] in same), -1) for p in places)
            skipped = places if bare(line) in own_headings else set()
            places = {n + 1 for n in found if n >= 0} | skipped
            assert places, f"lost: {line!r}"
        was, now = Counter(map(bare, theirs)), Counter(map(bare, rest))
        assert set(now - was) <= {"", *header(PROMOTE_THRESHOLD), *HEADINGS}
        dropped = sum((was - now)[heading] for heading in own_headings)
        assert was - now <= Counter({"": dropped, **dict.fromkeys(own_headings, 1)})

    def others(self, text: str) -> list[str]:
        return [line for line in split(text) if bare(line) not in self.ours]

    def check_budget(self, text: str) -> None:
        lines = split(text)
        others = [line for line in lines if bare(line) not in self.ours]
        if len(lines) < self.budget.lines and len(text.encode()) < self.budget.bytes:
            return
        ours = {bare(line) for line in lines} & self.ours
        assert not ours or len(others) == len(lines), f"{ours} stand in a file that is too long"


def split(text: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$", text)


def bare(line: str) -> str:
    return line.rstrip("\r\n")


def hash_in(digest: str, lines: set[str]) -> bool:
    return digest in {line_hash(line) for line in lines if line.startswith("- **")}
