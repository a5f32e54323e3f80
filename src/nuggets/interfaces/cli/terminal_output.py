"""Output on a terminal: escaping, styles, tables, width, progress. What all doors say: the
package above.

Stored memories may contain anything, so control characters are escaped.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from nuggets.interfaces.cli import Outcome
from nuggets.language.text import STEERING

if TYPE_CHECKING:
    from threading import Event

    from nuggets.domain.records import MemoryNote

MAX_COLUMN = 80  # width of a table's columns but the last: holds any id
MIN_COLUMN = 12  # width of a column between the first, which people copy, and the last: a word
TITLE_WIDTH = 80  # of a title in a line with other text: titles made from texts are as long
LISTED = 10  # lines of each kind: with two kinds a screen of 24 lines; the JSON has them all
UNLIMITED = 1 << 30  # screen width where there is no screen: a program gets the whole text
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def print_outcome(outcome: Outcome, *, as_json: bool) -> str:
    """Print the JSON for a script, the lines for a person; returns why that failed, else ""."""
    if not as_json:
        return print_text("\n".join(outcome.lines))
    from nuggets.domain import codec
    from nuggets.interfaces import json_responses

    shape = json_responses.shape_of(outcome.json)
    return print_text("" if shape is None else inert_json(codec.dumps(shape)))


def print_answer(outcome: Outcome, *, as_json: bool) -> int:
    """Print what needed no shelf; returns the exit code."""
    problem = print_outcome(outcome, as_json=as_json)
    return report_lost_output(problem) if problem else 0


def help_outcome(text: str) -> Outcome:
    return Outcome({"help": text}, [text.rstrip("\n")])


def print_text(text: str) -> str:
    """Print a text, as UTF-8 whatever the locale; returns why that failed, "" if it did not.

    A reader that ends early, as in ``nuggets … | head``, is not a failure.
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
    """Print to stderr. If that is closed, the exit code still reports the problem."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def report_lost_output(problem: str) -> int:
    """Report that the output could not be written; returns the exit code for it."""
    warn(f"Error: the answer could not be written: {problem}")
    return 1


def escape_controls(text: str) -> str:
    """Show control characters as escapes, so that they cannot steer a terminal."""
    return text if text.isascii() and text.isprintable() else text.translate(_escapes())


@cache
def _escapes() -> dict[int, str]:
    return {code: chr(code).encode("unicode_escape").decode() for code in STEERING}


def inert_json(text: str) -> str:
    """Equivalent JSON that cannot steer a terminal: control characters become JSON escapes."""
    if text.isascii() and "\x7f" not in text:
        return text
    return text.translate({code: _json_escape(code) for code in STEERING})


def _json_escape(code: int) -> str:
    pair = chr(code).encode("utf-16-be").hex()
    return "".join(f"\\u{pair[i : i + 4]}" for i in range(0, len(pair), 4))


def one_line(text: str, width: int = 0) -> str:
    """The text on one line, truncated to a width if one is given."""
    flat = escape_controls(" ".join(text.split()))
    return flat if not width or count_cells(flat) <= width else _truncate(flat, width - 1) + "…"


def fit(text: str, width: int) -> str:
    """The text on one line, truncated to a width on a screen, whole in a pipe."""
    return one_line(text, width if screen_width() < UNLIMITED else 0)


def distinct_titles(notes: Iterable["MemoryNote"]) -> dict[str, str]:
    """The title of each note by its id, with the end of the id where two have the same title."""
    from nuggets.operations.argument_checks import ID_TAIL

    by_id = {note.id: fit(note.title, TITLE_WIDTH) for note in notes}
    counts = Counter(by_id.values())
    return {
        note_id: f"{title} ({one_line(note_id[-ID_TAIL:])})" if counts[title] > 1 else title
        for note_id, title in by_id.items()
    }


def remove_ids(text: str, note_ids: Iterable[str], titles: Mapping[str, str]) -> str:
    """Remove ids before quoted titles, except for the ends that `distinct_titles` shows."""
    from nuggets.operations.argument_checks import ID_TAIL

    for note_id in note_ids:
        tail = note_id[-ID_TAIL:]
        prefix = f"{tail} " if titles.get(note_id, "").endswith(f" ({one_line(tail)})") else ""
        for quote in "'\"":
            text = text.replace(f"{note_id} {quote}", f"{prefix}{quote}")
    return text


def format_minute(moment: str) -> str:
    """A stored time in the reader's time zone, to the minute."""
    from nuggets.domain.times import parse

    return f"{parse(moment).astimezone():%Y-%m-%d %H:%M}"


def style(text: str, *styles: str) -> str:
    """Add colours if stdout is a terminal and the user did not turn them off."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"


def count_cells(text: str) -> int:
    """The number of columns that a terminal needs for the text."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def screen_width() -> int:
    """Columns of the terminal; `UNLIMITED` if stdout is none."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80  # some report 0
    except (OSError, ValueError):
        return UNLIMITED


def wrap_lines(text: str, indent: str) -> list[str]:
    """Wrap a text between words to lines that fit the screen, each with an indent."""
    from textwrap import wrap

    return wrap(
        one_line(text),
        max(40, screen_width()),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,  # people copy ids and paths
        break_on_hyphens=False,
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, whole: bool = False) -> list[str]:
    """Aligned columns; the last takes the rest of the screen, those in the middle shrink for it.

    `whole`: people copy the last column, so it is never truncated.
    """
    body = [[*(fit(cell, MAX_COLUMN) for cell in row[:-1]), one_line(row[-1])] for row in rows]
    longest = [max(count_cells(line[i]) for line in [list(head), *body]) for i in range(len(head))]
    widths = [*(min(MAX_COLUMN, width) for width in longest[:-1]), longest[-1]]
    space = screen_width() - 2 * (len(head) - 1)
    for i in range(1, len(head) - 1):
        excess = sum(widths[:-1]) + 20 - space
        widths[i] = min(widths[i], max(MIN_COLUMN, widths[i] - max(0, excess)))
    if not whole:
        widths[-1] = min(widths[-1], max(20, space - sum(widths[:-1])))
    lines = [style(_join_cells(head, widths), "bold")]
    for row in body:
        cells = [fit(cell, width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append(_join_cells([row[0], *cells], widths))
    return lines


def list_items(head: str, items: Sequence[str], sign: str, colour: str) -> list[str]:
    """The first items below a head; nothing if there are none."""
    lines = [f"  {style(sign, colour)} {one_line(item)}" for item in items[:LISTED]]
    more = f"    and {len(items) - LISTED} more; --json names all"
    return [head, *lines, *([more] if len(items) > LISTED else [])] if items else []


def name_notes(notes: Iterable["MemoryNote"]) -> list[str]:
    """Notes as a list names them."""
    return [f"{note.nugget_name}: {fit(note.title, TITLE_WIDTH)}" for note in notes]


def bar(share: float, width: int = 20) -> str:
    """A gauge of a share; a share above 1 shows as full."""
    full = min(width, round(width * share))
    return "█" * full + "░" * (width - full)


def _join_cells(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell + " " * (width - count_cells(cell)) for cell, width in zip(row, widths, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _truncate(text: str, width: int) -> str:
    while count_cells(text) > width:
        text = text[: max(0, len(text) - max(1, (count_cells(text) - width) // 2))]
    return text


# --- progress of a long command: one line on a terminal, once it takes over a second -----------


_DELAY = 1.0  # seconds before the first line: up to then people wait without wondering
_INTERVAL = 0.2  # seconds between two lines: as fast as a counter can be read


class Progress:
    """Shows what a command is doing. Work that does not report how far it is has a text that ends
    with …, and its seconds are counted."""

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._ended: Event | None = None  # where nobody looks there is no thread

    def __call__(self, text: str) -> None:
        self._text = text

    def __enter__(self) -> "Progress":
        if sys.stderr is not None and sys.stderr.isatty():
            from threading import Event, Thread

            self._ended = Event()
            self._thread = Thread(target=self._show, args=(self._ended,), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._ended is not None:
            self._ended.set()
            self._thread.join()

    def _show(self, ended: "Event") -> None:
        start, width, pause = time.monotonic(), 0, _DELAY
        while not ended.wait(pause):
            seconds = f" {time.monotonic() - start:.0f} s so far"
            text = (self._text + (seconds if self._text.endswith("…") else ""))[:79]
            _print_over(text, width)
            width, pause = len(text), _INTERVAL
        if width:
            _print_over("", width)


def _print_over(text: str, width: int) -> None:
    """Print a text over another one of so many characters."""
    with suppress(OSError):
        print(f"\r{'':<{width}}\r{text}", end="", file=sys.stderr, flush=True)
