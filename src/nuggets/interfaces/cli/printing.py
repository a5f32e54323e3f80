"""Text for a terminal: stored memories are someone else's words, so nothing in them may act."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets.text import STEERING

if TYPE_CHECKING:
    from nuggets.records import MemoryNote

_ESCAPES = {
    code: f"\\x{code:02x}"
    if code < 0x100
    else f"\\u{code:04x}"
    if code < 0x10000
    else f"\\U{code:08x}"
    for code in STEERING
}
WIDEST = 80  # of a table's columns but the last: holds any id, and one long key spoils no table
TITLE = 80  # columns of a title that stands in a line with more
ID_TAIL = 8  # signs at the end of an id, which name a note as well as all of it do
NARROWEST = 12  # of a column between the first, which is copied, and the last
ENDLESS = 1 << 30  # columns where nobody looks: what a program reads is cut nowhere
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def say(text: str) -> str:
    """Print it, UTF-8 whatever the locale says; why it could not be heard, "" if it was.

    A reader who has seen enough, as in ``nuggets … | head``, is no problem.
    """
    try:
        sys.stdout.flush()
        if text:
            sys.stdout.buffer.write(text.encode(errors="backslashreplace") + b"\n")
            sys.stdout.flush()
    except OSError as problem:
        return "" if isinstance(problem, BrokenPipeError) else problem.strerror or "unknown error"
    return ""


def warn(text: str) -> None:
    """Tell a person, beside the output; if nobody hears it, the exit code still speaks."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def regret(unheard: str) -> int:
    """Tell that an answer is lost, and why; the exit code for it."""
    warn(f"Error: the answer could not be written: {unheard}")
    return 1


def printable(text: str) -> str:
    """The text with everything shown that would otherwise steer a terminal."""
    return text.translate(_ESCAPES)


def inert_json(text: str) -> str:
    """JSON that says the same and cannot steer a terminal: what would, is escaped the JSON way."""
    if text.isascii() and "\x7f" not in text:
        return text
    return text.translate({code: _json_escape(code) for code in STEERING})


def _json_escape(code: int) -> str:
    pair = chr(code).encode("utf-16-be").hex()
    return "".join(f"\\u{pair[i : i + 4]}" for i in range(0, len(pair), 4))


def one_line(text: str, width: int = 0) -> str:
    """The same in one line, cut to a width if one is given."""
    flat = printable(" ".join(text.split()))
    return flat if not width or cells(flat) <= width else _cut(flat, width - 1) + "…"


def fitted(text: str, width: int) -> str:
    """One line that leaves room for others beside it; a pipe has room for all."""
    return one_line(text, width if screen_width() < ENDLESS else 0)


def titles(notes: Iterable["MemoryNote"]) -> dict[str, str]:
    """What to call each, by its id: its title, and how its id ends where two have the same."""
    known = {note.id: fitted(note.title, TITLE) for note in notes}
    times = Counter(known.values())
    return {
        note_id: f"{title} ({one_line(note_id[-ID_TAIL:])})" if times[title] > 1 else title
        for note_id, title in known.items()
    }


def without_ids(text: str, note_ids: Iterable[str], names: Mapping[str, str]) -> str:
    """The text without the ids before quoted titles, but for the ends that tell two apart."""
    for note_id in note_ids:
        tail = note_id[-ID_TAIL:]
        kept = f"{tail} " if names.get(note_id, "").endswith(f" ({one_line(tail)})") else ""
        for quote in "'\"":
            text = text.replace(f"{note_id} {quote}", f"{kept}{quote}")
    return text


def minute(moment: str) -> str:
    """A stored moment as the reader's clock showed it."""
    from nuggets.times import parsed

    return f"{parsed(moment).astimezone():%Y-%m-%d %H:%M}"


def styled(text: str, *styles: str) -> str:
    """Coloured, if a person is looking and has not asked for plain text."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"


def cells(text: str) -> int:
    """How many columns a terminal needs for it."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def screen_width() -> int:
    """Columns of the terminal; `ENDLESS` when nobody looks at one."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80  # some say nothing
    except (OSError, ValueError):
        return ENDLESS


def wrapped(text: str, indent: str) -> list[str]:
    """One line as several that fit the screen, broken between words, each with an indent."""
    from textwrap import wrap

    return wrap(
        one_line(text),
        max(40, screen_width()),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,  # ids and paths are copied
        break_on_hyphens=False,
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, copied: bool = False) -> list[str]:
    """Aligned columns; the last one takes what the screen leaves, at the cost of the middle.

    `copied`: people copy what the last one says, so it is whole on any screen.
    """
    body = [[*(fitted(cell, WIDEST) for cell in row[:-1]), one_line(row[-1])] for row in rows]
    widest = [max(cells(line[i]) for line in [list(head), *body]) for i in range(len(head))]
    widths = [*(min(WIDEST, width) for width in widest[:-1]), widest[-1]]
    space = screen_width() - 2 * (len(head) - 1)
    for i in range(1, len(head) - 1):
        excess = sum(widths[:-1]) + 20 - space
        widths[i] = min(widths[i], max(NARROWEST, widths[i] - max(0, excess)))
    if not copied:
        widths[-1] = min(widths[-1], max(20, space - sum(widths[:-1])))
    lines = [styled(_joined(head, widths), "bold")]
    for row in body:
        fitting = [fitted(cell, width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append(_joined([row[0], *fitting], widths))
    return lines


def bar(share: float, width: int = 20) -> str:
    """A gauge: how full something is, from 0 to 1 and beyond."""
    full = min(width, round(width * share))
    return "█" * full + "░" * (width - full)


def _joined(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)]
    return "  ".join(padded).rstrip()


def _cut(text: str, width: int) -> str:
    while cells(text) > width:
        text = text[: max(0, len(text) - max(1, (cells(text) - width) // 2))]
    return text
