"""The entries of a memory file: which notes get one, the line of each, the note after a person
changed its line, and the record of the lines that were written. Knows no file.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Literal, get_args

from nuggets.domain.credentials import credential_kinds, memory_credential_kinds
from nuggets.domain.host_markup import escape_host_markup
from nuggets.domain.marks import FILE_MARK
from nuggets.domain.names_and_tags import CONFIRMED
from nuggets.domain.records import MemoryNote, Touch
from nuggets.domain.state import Notes, merged_into
from nuggets.domain.times import invalidity
from nuggets.domain.visibility import is_foreign, is_unconfirmed
from nuggets.language.text import ELLIPSIS, one_line, visible
from nuggets.named_tuple import NamedTuple

# --- the line of a note -----------------------------------------------------------------------

# A note is one line of Markdown that cannot break the file around it. Markup that stays within it
# is kept: `code`, links, **bold**. Everything that could reach beyond it is removed or escaped:
# line breaks, control and direction characters, HTML tags, comments, marks of hosts and models,
# and ``@path``, which hosts read as an import. Long texts are cut.
# What hosts load, 25 KB in 200 lines, allows 125 bytes a line on average; most take less. These
# bounds are documented (docs/agents.md).
TITLE_CHARACTERS = 100
CONTENT_CHARACTERS = 300
CAVEAT_CHARACTERS = 120  # a path and what became of it
CAVEAT_BEGIN, CAVEAT_END = " *(stale: ", ")*"

_HTML = re.compile(r"<(?=[A-Za-z/!?|])")
_IMPORT = re.compile(r"(?<![\w@\\])@(?=[\w./~\\-])")
_BREAKING_TITLE = re.compile(r"([\\*`\[])")
_ESCAPED_IMPORT = re.compile(r"(?<!\\)\\@")
_ESCAPED_TITLE = re.compile(r"\\([\\*`\[])")


def line_for(note: MemoryNote, caveats: Sequence[str] = ()) -> str:
    """``- **Title**: content``, shortened at a word, and what is no longer so of what it names."""
    title = _BREAKING_TITLE.sub(r"\\\1", one_line(note.title, TITLE_CHARACTERS))
    content = one_line(note.content, CONTENT_CHARACTERS)
    # with the colon before it, because a role that begins the content begins no line
    line = f"- **{_harmless(title)}**" + (_harmless(f": {content}") if content else "")
    return with_caveats(line, caveats)


def with_caveats(line: str, caveats: Sequence[str]) -> str:
    """The line with these caveats at its end, in place of those that it has."""
    reasons = _harmless(one_line(", ".join(caveats), CAVEAT_CHARACTERS))
    mark = f"{CAVEAT_BEGIN}{reasons}{CAVEAT_END}" if reasons else ""
    return without_caveats(line) + mark


def without_caveats(line: str) -> str:
    """The line as its memory says it."""
    head, begin, reasons = line.rpartition(CAVEAT_BEGIN)
    return head if begin and reasons.rstrip().endswith(CAVEAT_END) else line


def title_of(note: MemoryNote) -> str:
    """The title as its line has it."""
    return line_for(note._replace(content="")).removeprefix("- ")


def unescape(text: str) -> str:
    """The text of an escaped content."""
    text = _ESCAPED_IMPORT.sub("@", text).replace("--&gt;", "-->").replace("&lt;", "<")
    return text.replace("&#91;", "[").replace("&#58;", ":")


def unescape_title(text: str) -> str:
    """The text of an escaped title."""
    return _ESCAPED_TITLE.sub(r"\1", unescape(text))


def _harmless(text: str) -> str:
    text = _HTML.sub("&lt;", escape_host_markup(text)).replace("-->", "--&gt;")
    return _IMPORT.sub(r"\\@", text)


# --- what an edited line changes --------------------------------------------------------------

# Only the words that the line showed are replaced. What it did not show stays: line breaks, and all
# that follows the place where it was cut.
_BULLET = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_BOLD = (
    r"\*\*(?P<stars>(?:[^*\\]|\\.|\*(?!\*)){1,2000})\*\*|"
    r"__(?P<lines>(?:[^_\\]|\\.|_(?!_)){1,2000})__"
)
_AFTER_TITLE = r"[ \t]*(?P<mark>:|[-–—](?=[ \t]))?[ \t]*"
_TITLE, _MARK = re.compile(rf"(?:{_BOLD}){_AFTER_TITLE}"), re.compile(rf"^{_AFTER_TITLE}")
_WORD = re.compile(r"\S+")


class EntryText(NamedTuple):
    """The two parts of a line, still escaped; `title` is None if nothing is bold."""

    title: str | None
    content: str


def entry_text(line: str) -> EntryText:
    """Read a list item as an entry."""
    line = without_caveats(line)
    bullet = _BULLET.match(line)
    rest = line[bullet.end() :] if bullet else line.lstrip()
    title = _TITLE.match(rest)
    if title is None:
        return EntryText(None, " ".join(rest.split()))
    words = (title["stars"] or title["lines"]).strip()
    if not title["mark"]:  # the colon may be bold too
        words = words.removesuffix(":").rstrip() or words
    return EntryText(words, " ".join(rest[title.end() :].split()))


def apply_edit(note: MemoryNote, line: str) -> tuple[str, str]:
    """The title and the content of a note whose line was changed to this one."""
    shown, edited = entry_text(line_for(note)), entry_text(line)
    title = note.title
    if edited.title is not None and edited.title != shown.title:
        words = (shown.title or "").split(), edited.title.split()
        title = _replace_shown(title, *words, unescape_title, TITLE_CHARACTERS)
    content = edited.content
    if edited.title is None:  # the title in plain letters, or left out
        content = _MARK.sub("", content.removeprefix(note.title), count=1)
    if content == shown.content:
        return title, note.content
    words = shown.content.split(), content.split()
    return title, _replace_shown(note.content, *words, unescape, CONTENT_CHARACTERS)


def _replace_shown(
    original: str,
    shown: list[str],
    edited: list[str],
    unescape: Callable[[str], str],
    most: int,
) -> str:
    """The original text with the words replaced from the first to the last one that differ between
    the shown and the edited ones. `most`: of its characters were shown; the others go where the
    line ends in other words and without the mark that there is more."""
    shown, edited = list(map(unescape, shown)), list(map(unescape, edited))
    spans = [match.span() for match in _WORD.finditer(original) if visible(match[0])]
    is_cut = len(one_line(original)) > most
    if is_cut:
        start, end = spans[len(shown) - 1]
        last_word = shown[-1].removesuffix(ELLIPSIS)
        is_whole = visible(original[start:end]) == last_word
        spans[len(shown) - 1 :] = [(start, end if is_whole else start + len(last_word))]
        if edited and edited[-1] != last_word and not edited[-1].endswith(ELLIPSIS):
            original = original[: spans[-1][1]]
    elif len(spans) != len(shown):  # invisible characters part what shows as one word
        return " ".join(edited)
    first = _count_equal(shown, edited)
    last = _count_equal(shown[first:][::-1], edited[first:][::-1])
    replaced = spans[first : len(spans) - last]
    words = " ".join(edited[first : len(edited) - last])
    if is_cut:
        words = words.removesuffix(ELLIPSIS).rstrip()
    begin = spans[first - 1][1] if first else 0
    end = replaced[-1][1] if replaced else begin
    gap = original[begin : replaced[0][0]] if replaced else " "
    text = original[:begin] + (gap + words if words else "") + original[end:]
    if first:
        return text
    return text.lstrip() if replaced else f"{words} {original}"


def _count_equal(words: list[str], others: list[str]) -> int:
    """How many words at the beginning are the same."""
    pairs = zip(words, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


# --- which notes get one, by recalls or because a person pinned them ----------------------------

Outcome = Literal["new", "kept", "updated", "changed", "declined", "no room", "out"]


class Explanation(NamedTuple):
    """Why a note is in the file, or why not."""

    note_id: str
    title: str
    outcome: Outcome
    reason: str
    # by the sessions that recalled it, the last of them; without a time if that is no longer known
    sessions: tuple[Touch, ...] = ()


def counted_sessions(note: MemoryNote, hits: Mapping[tuple[str, str], Touch]) -> tuple[Touch, ...]:
    """The recalls that count for a note, one of each session; `hits` by note and session."""
    return tuple(
        hits.get((note.id, session), Touch(note.id, session, "")) for session in note.hit_sessions
    )


def why_not(
    note: MemoryNote, project: str, promote_after: int, now: str, *, is_pinned: bool = False
) -> str:
    """Why a note does not belong in this project's file; "" if it does.

    An observation of a tool needs a confirmation: someone tags it or edits its source. Recalls are
    not enough, because planted text could cause its own recalls.
    """
    if note.hidden:
        return "archived"
    if is_foreign(note, project):
        return "belongs to another project"
    if note.stability == "temporary":
        return "temporary"
    invalid = invalidity(note, now) if now else ""
    if invalid:
        return invalid
    if not is_pinned and note.hits < promote_after:
        return f"recalled in {note.hits} of {promote_after} sessions"
    if not is_pinned and is_unconfirmed(note):
        return f"seen by a tool, not confirmed by anyone (tag it {CONFIRMED})"
    return why_secret(note)


def why_secret(note: MemoryNote) -> str:
    """Why it looks like a credential; "" if it does not."""
    secret = memory_credential_kinds(note.title, note.content) or credential_kinds(line_for(note))
    return f"looks like a credential: {', '.join(secret)}" if secret else ""


# --- pins -------------------------------------------------------------------------------------

# A pin is a mark, so that no text can pin itself, and it is written in the commit of its memory.
PIN_MARK = "pin:"


def pin_marks(note_id: str) -> dict[str, Any]:
    return {f"{PIN_MARK}{note_id}": True}


def reverted_pins(changed: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The marks that take back the pins of a commit; other marks stay."""
    return {mark: before.get(mark) for mark in changed if mark.startswith(PIN_MARK)}


def pinned_ids(marks: Mapping[str, Any], notes: Notes) -> frozenset[str]:
    """The pinned notes; a note that was merged passes its pin on."""
    ids = {mark.removeprefix(PIN_MARK) for mark in marks if mark.startswith(PIN_MARK)}
    merged = {target for note in notes.many(ids).values() for target in merged_into(note)}
    return frozenset(ids | merged)


# --- the record of what was written to one file, a mark ------------------------------------------
#
# Hashes are stored instead of marks in the file, which people would see and could copy to other
# lines, and instead of the lines themselves, which must not outlive a purge.

Fate = Literal["written", "changed", "declined"]  # by hand: changed, or deleted
_WRAP = re.compile(r"[ \t]*(?:\r\n|\n|\r)[ \t]*")


def unwrap_line(text: str) -> str:
    """The words of an item in one line, as they were before someone wrapped it."""
    return _WRAP.sub(" ", text)


def line_hash(line: str) -> str:
    """A prefix of the SHA-256 of the line, long enough to avoid collisions. Caveats come and go,
    and are no edit, nor is where a line is wrapped."""
    from hashlib import sha256

    words = without_caveats(unwrap_line(line)).encode(errors="surrogateescape")
    return sha256(words).hexdigest()[:24]


def short_hash(line: str) -> str:
    """The same for lines of people, of which there are many; a byte order mark is no part."""
    return line_hash(line.removeprefix("\ufeff"))[:12]


class Entry(NamedTuple):
    """The hash of an entry and what became of it."""

    line: str  # hash
    fate: Fate = "written"
    memory: str = ""  # of a line in a person's words: hash of the line that we would write

    @classmethod
    def from_lines(cls, line: str, own_line: str) -> "Entry":
        """Of a line in the file; `own_line`: as we would write it."""
        digest, own_digest = line_hash(line), line_hash(own_line)
        return cls(digest) if digest == own_digest else cls(digest, "changed", own_digest)

    @property
    def is_in_file(self) -> bool:
        """Was the line in the file when that was last seen?"""
        return self.fate == "written" or bool(self.memory)


class WrittenEntries(NamedTuple):
    """The entries that we wrote to one file."""

    entries: Mapping[str, Entry] = {}  # by note id
    others: frozenset[str] = frozenset()  # short hashes of people's own lines
    headings: frozenset[str] = frozenset()  # short hashes of the headings that we wrote

    def before_decision(self, known: "WrittenEntries") -> "WrittenEntries":
        """The record where edits were not taken over: what was `known` of lines that are not there
        stays, and so does which lines are people's own, so that all is looked at again."""
        entries = {i: e if e.is_in_file else known.entries[i] for i, e in self.entries.items()}
        return self._replace(entries=entries, others=known.others)

    def to_json(self) -> dict[str, Any]:
        entries = {i: list(self.entries[i]) for i in sorted(self.entries)}
        return {
            "entries": entries,
            "others": sorted(self.others),
            "headings": sorted(self.headings),
        }

    @classmethod
    def from_json(cls, shape: Any) -> "WrittenEntries":
        """Read a record; one that is invalid claims nothing, so its lines stay in the file."""
        try:
            entries = {i: Entry(*entry) for i, entry in shape["entries"].items()}
            if all(entry.fate in get_args(Fate) for entry in entries.values()):
                return cls(
                    entries, frozenset(shape["others"]), frozenset(shape.get("headings", ()))
                )
        except (AttributeError, LookupError, TypeError):
            pass
        return cls()


def written_entries(marks: Mapping[str, Any], mark: str) -> WrittenEntries:
    """The record of one memory file among the marks."""
    return WrittenEntries.from_json((marks.get(mark) or {}).get("written"))


def without_taken_out(
    now: Mapping[str, Any], after: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, Any]:
    """The marks of the memory files without the entries that people took out of them between the
    marks of `before` and `after`, so that these may be written again."""
    marks: dict[str, Any] = {}
    for mark in after:
        if mark.startswith(FILE_MARK) and now.get(mark):
            was, is_now = written_entries(before, mark).entries, written_entries(now, mark)
            back = {
                i: entry
                for i, entry in is_now.entries.items()
                if entry.fate != "declined" or i not in was or was[i].fate == "declined"
            }
            if len(back) < len(is_now.entries):
                marks[mark] = {**now[mark], "written": is_now._replace(entries=back).to_json()}
    return marks
