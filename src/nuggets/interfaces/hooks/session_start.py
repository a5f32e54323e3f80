"""What a session starts with, in this order: its summary if it is taken up again, else what the
last one left open; what people wrote into the memory file by hand; the memories that stand in it,
with what is pinned; commands and conventions of this project; what changed since the last session;
what someone works on (the branch, the files touched last, the last session); preferences and what
is recalled most; how much more there is, and titles of it.

Only memories of this project and of no project; those of other projects are never included.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from nuggets.domain.limits import MEMORY_FILE_BYTES, MEMORY_FILE_LINES
from nuggets.domain.records import MemoryNote
from nuggets.domain.visibility import is_observed
from nuggets.errors import NuggetsError
from nuggets.interfaces.hooks.help_probability import judge, read_prompt
from nuggets.interfaces.hooks.orders import has_sign_of_rule
from nuggets.interfaces.hooks.shown_memories import (
    caveats_in_time,
    quoted_block,
    safe_line,
    session_lines,
    title_part,
)
from nuggets.language.text import estimate_tokens, one_line, tokens, visible

if TYPE_CHECKING:
    from nuggets.maintenance.promotion import MemoryFileText
    from nuggets.shelf import NuggetShelf

# Ours; what a start shows is bounded by the setting `start_tokens`.
START_LINE = 240  # characters of a memory: some 60 tokens
LONGEST_LINE = 8_000  # characters of a paragraph that a person wrote: the longest start has no more
START_TOO_LONG = 20  # lines without room before the rest is left out unread
START_HEADING = "What memory holds for this project, in the person's words unless marked"
STANDING_ORDER = (
    "Store what the person says that is lasting (remember), replace what is outdated (edit_note), "
    "and say so."
)
MORE = "and {} more in memory (search_notes)"
MORE_BY_HAND = "and more, written by hand, in {}"
TITLE_CHARACTERS = 60  # of a memory of which only the title is told
MOST_TITLES = 200  # more do not fit
CHANGED = 5  # memories since the last session: more is a list that nobody reads
RECENT_FILES = 10  # on one line
NO_WORD_SHARED = 0.06  # the probability that a memory helps which shares no word is .049
# a program and what it is given, such as "make check" or "yarn vitest run --project store"
LONGEST_COMMAND = 200  # characters: ours; whatever is longer is no line that one types
_COMMAND = re.compile(r"[a-z][a-z0-9_.-]*(?: [a-z0-9_:./=-]+){1,3}(?: --?[a-z].*)?$", re.ASCII)


def start_context(
    shelf: "NuggetShelf",
    *,
    loads_memory_file: bool,
    session: MemoryNote | None,
    branch: str = "",
    loaded_path: str | None = None,
    unread_path: str | None = None,
) -> tuple[str, list[str]]:
    """The context at the start of a session, and the ids of the notes that the agent then knows.

    It holds durable notes, within the setting `start_tokens`; each group leaves half of the room to
    the next ones. What people wrote into a memory file has half of the room too, and what memories
    leave of the rest. Nothing counts as recalled.
    `session`: the note of this session, if it is taken up again; its summary comes first.
    `loaded_path`: the memory file that the host loads, if it is not that of this project.
    `unread_path`: a memory file of this project that no host loads; it is shown here.
    """
    budget = shelf.settings["start_tokens"]
    if not budget:
        return "", []
    loaded_file = _read_memory_file(shelf, loaded_path) if loads_memory_file else None
    known = _letters_and_digits(_loaded_text(loaded_file.text)) if loaded_file else ""
    outdated = loaded_file.outdated if loaded_file else ()
    notes = shelf.leading_notes()
    promote_after = shelf.settings["promote_after"]
    chosen = [note for note in notes if note.stability == "durable" and not is_observed(note)]
    chosen.sort(key=lambda note: (note.hits, note.updated_at), reverse=True)
    chosen.sort(key=lambda note: (note.hits < promote_after, note.type != "preference"))
    frame = f"{quoted_block(START_HEADING, ['-', MORE])}\n{STANDING_ORDER}"
    room = _Room(budget - estimate_tokens(frame))
    last = session or next(iter(shelf.sessions()), None)
    first = ["This session before this point:", *session_lines(session)] if session else []
    if last and not session:
        first = [f"Left open by the last session: {line}" for line in _open_points(last)]
    first += [f"MEMORY.md is outdated there: {safe_line(line, START_LINE)}" for line in outdated]
    first = [line for line in first if room.take(line, 0 if session else room.tokens // 2)]
    file = _read_memory_file(shelf, unread_path) if unread_path else None
    in_file = set(file.ours.values()) if file else set()
    told = {"", *(note.id for note in chosen)}  # "": our headings
    # no more lines than tokens can be shown
    by_hand = list(islice(_lines_by_hand(file, told, known), budget)) if file else []
    shown = room.take_first(by_hand, room.tokens // 2)
    if len(shown) < len(by_hand):
        room.take_part(MORE_BY_HAND.format(unread_path))
    known += _letters_and_digits("\n".join(shown))
    loaded = {note.id for note in chosen if _contains(known, note)}
    unknown = [note for note in chosen if note.id not in loaded]
    about_last = [last.title, last.content] if last else []
    work = "\n".join([branch, *_recent_files(notes), *about_last])
    groups = (
        [note for note in unknown if note.id in in_file],
        [note for note in unknown if note.project and is_rule(note)],
        _changed_since(last, unknown),
        _rank_by_work(unknown, work),
        unknown,
    )
    lines_by_id: dict[str, str] = {}
    for group in groups:
        untold = [note for note in group if note.id not in lines_by_id]
        lines_by_id |= _lines_within(shelf, untold, room, leaves_titles=group is unknown)
    shown += room.take_first(by_hand[len(shown) :])
    first += shown
    if len(shown) < len(by_hand):
        first.append(MORE_BY_HAND.format(unread_path))
    rest = _name_rest([note for note in unknown if note.id not in lines_by_id], room)
    text = quoted_block(START_HEADING, [*first, *lines_by_id.values(), *rest])
    return f"{text}\n{STANDING_ORDER}" if text else "", [*loaded, *lines_by_id]


def is_rule(note: MemoryNote) -> bool:
    """Is it a command, or a convention that is to be followed?"""
    text, is_persons = note.content, note.source == "explicit_user"
    if text.startswith("`") or (len(text) <= LONGEST_COMMAND and _COMMAND.match(text)):
        return True
    return is_persons and has_sign_of_rule(text)


def _changed_since(session: MemoryNote | None, notes: Sequence[MemoryNote]) -> list[MemoryNote]:
    """The memories that are new, or say something else, since a session ended; newest first."""
    changed = [note for note in notes if session and note.updated_at > session.updated_at]
    return sorted(changed, key=lambda note: note.updated_at, reverse=True)[:CHANGED]


def _open_points(session: MemoryNote) -> list[str]:
    """What the summary of a session has under "Open"."""
    _, found, rest = f"\n{session.content}".partition("\nOpen:")
    if not found:
        return []
    same_line, *lines = rest.split("\n")
    listed = takewhile(lambda line: line.startswith("- "), lines)
    points = [same_line.strip(), *(line.removeprefix("- ") for line in listed)]
    return [safe_line(point, START_LINE) for point in points if point]


class _Room:
    """How many tokens are left."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def take(self, line: str, reserved: int = 0) -> bool:
        """Take the room of a line; False if less than `reserved` tokens would be left."""
        return bool(self.take_first([line], reserved))

    def take_first(self, lines: Sequence[str], reserved: int = 0) -> list[str]:
        """Take the room of the first lines, however many, until less would be left."""
        taken: list[str] = []
        for line in lines:
            left = self.tokens - estimate_tokens(line) - 1  # its line break
            if left < reserved:
                break
            self.tokens = left
            taken.append(line)
        return taken

    def take_part(self, text: str) -> bool:
        """Take the room of a part of a line."""
        left = self.tokens - estimate_tokens(text)
        self.tokens = max(left, 0)
        return left >= 0


def _recent_files(notes: Iterable[MemoryNote]) -> list[str]:
    """The files that hooks saw last, the newest first; `notes`: of any kind."""
    seen = [note for note in notes if is_observed(note)]
    seen.sort(key=lambda note: note.updated_at, reverse=True)
    return [note.title.removeprefix("file: ") for note in seen[:RECENT_FILES]]


def _rank_by_work(notes: Sequence[MemoryNote], work: str) -> list[MemoryNote]:
    """Those of the notes that share a telling word with the work, by how probably they help with
    it. Parts of names and paths are words, too."""
    judged = judge(read_prompt(" ".join(tokens(work))), notes)
    fitting = [one for one in judged if one.probability > NO_WORD_SHARED]
    return [one.note for one in sorted(fitting, key=lambda one: -one.probability)]


def _lines_within(
    shelf: "NuggetShelf", notes: Sequence[MemoryNote], room: _Room, *, leaves_titles: bool
) -> dict[str, str]:
    """By note id, the lines for which there is room, as long as few are too long for it. Half of
    the room is left to what follows. If that is the titles of the rest, it is no more than these
    need, and nothing before a preference, which is to be followed without being asked for."""
    lines: dict[str, str] = {}
    named = notes[:MOST_TITLES] if leaves_titles else ()
    needed = {note.id: estimate_tokens(note.title[:TITLE_CHARACTERS]) + 1 for note in named}
    half, too_long = room.tokens // 2, 0
    waiting = sum(needed.values()) if leaves_titles else half
    for note in notes:
        line = _start_line(note, caveats_in_time(shelf, note))
        others = waiting - needed.get(note.id, 0)
        is_asked_for = not leaves_titles or note.type != "preference"
        if room.take(line, min(half, others) if is_asked_for else 0):
            lines[note.id], waiting = line, others
            continue
        too_long += 1
        if too_long > START_TOO_LONG:
            break
    return lines


def _name_rest(notes: Sequence[MemoryNote], room: _Room) -> list[str]:
    """How many memories are left out, with the titles for which there is room: the agent cannot
    ask for what it does not know of."""
    if not notes:
        return []
    short = (safe_line(note.title, TITLE_CHARACTERS) for note in notes[:MOST_TITLES])
    titles = takewhile(lambda title: room.take_part(f"{title};"), short)
    return [": ".join(filter(None, [MORE.format(len(notes)), "; ".join(titles)]))]


def _start_line(note: MemoryNote, caveats: Sequence[str]) -> str:
    """A memory without what the model does not need: an id only if it must open the whole text, a
    source only if it is not the person's word."""
    marks = [] if note.source == "explicit_user" else [note.source.partition("_")[0]]
    text = safe_line(note.content, START_LINE)
    if text.endswith("…"):
        marks.append(note.id)
    marks += (safe_line(caveat, 160) for caveat in caveats)
    suffix = f" ({', '.join(marks)})" if marks else ""
    return f"- {title_part(note)}{text}{suffix}"


def _read_memory_file(shelf: "NuggetShelf", path: str | None) -> "MemoryFileText | None":
    """A memory file as far as it holds; None if it cannot be read."""
    with suppress(NuggetsError):
        return shelf.read_memory_file(path)
    return None


def _loaded_text(text: str) -> str:
    """The text of a memory file as far as hosts load it."""
    loaded = "\n".join(text.splitlines()[:MEMORY_FILE_LINES]).encode()[:MEMORY_FILE_BYTES]
    return loaded.decode(errors="ignore")


def _lines_by_hand(file: "MemoryFileText", told: Collection[str], known: str) -> Iterator[str]:
    """What people wrote into a memory file, line by line, with the headings and items above it.
    Left out is what is known, and lines of memories that are told otherwise (`told`: their ids).
    Of a paragraph that is longer than a memory each part is a line."""
    from nuggets.maintenance.promotion.sections import is_header

    above: list[tuple[int, str]] = []  # what the next line may stand under, and how deep that is
    for line in file.text.splitlines():
        text = line.strip()
        if not text or is_header(line):
            continue
        marks = len(line) - len(line.lstrip("#"))
        depth = marks - 7 if marks else len(line) - len(line.lstrip())  # six levels of headings
        above = [(upper_depth, upper) for upper_depth, upper in above if upper_depth < depth]
        is_told = file.ours.get(line) in told
        if is_told or (not marks and _letters_and_digits(line) in known):
            above.append((depth, line))
            continue
        for _, part in [*above, (depth, line)]:
            yield from _wrap(safe_line(part, LONGEST_LINE))
        above = []


def _wrap(text: str) -> list[str]:
    """The text in lines that are no longer than a memory."""
    if len(text) <= START_LINE:
        return [text]
    from textwrap import wrap

    return wrap(text, START_LINE, break_on_hyphens=False)


def _contains(loaded_text: str, note: MemoryNote) -> bool:
    return (
        bool(loaded_text)
        and _letters_and_digits(note.title) in loaded_text
        and _letters_and_digits(one_line(note.content, 60)) in loaded_text
    )


def _letters_and_digits(text: str) -> str:
    """Only letters and digits, because promotion escapes punctuation."""
    unescaped = visible(text).replace("&lt;", "<").replace("&gt;", ">")
    return "".join(filter(str.isalnum, unescaped))
