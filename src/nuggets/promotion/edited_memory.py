"""A memory after a person changed its line: only the words that the line showed are replaced.

A line shows a text on one line, escaped, and long ones cut. What it did not show stays: line
breaks, and all that follows the place where it was cut. Knows no file.
"""

import re
from collections.abc import Callable

from nuggets.domain.records import MemoryNote
from nuggets.language.text import visible
from nuggets.named_tuple import NamedTuple
from nuggets.promotion.entry_rendering import (
    ELLIPSIS,
    line_for,
    unescape,
    unescape_title,
    without_caveats,
)

_BULLET = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+")
_TITLE = re.compile(r"\*\*((?:[^*\\]|\\.|\*(?!\*)){1,2000})\*\*[ \t]*:?[ \t]*")
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
    content = " ".join((rest[title.end() :] if title else rest).split())
    return EntryText(title[1].strip() if title else None, content)


def apply_edit(note: MemoryNote, line: str) -> tuple[str, str]:
    """The title and the content of a note whose line was changed to this one."""
    shown, edited = entry_text(line_for(note)), entry_text(line)
    title = note.title
    if edited.title is not None and edited.title != shown.title:
        title = replace_shown(note.title, shown.title or "", edited.title, unescape_title)
    content = edited.content
    if edited.title is None:  # the title in plain letters, or left out
        content = content.removeprefix(note.title).removeprefix(":").lstrip()
    if content == shown.content:
        return title, note.content
    return title, replace_shown(note.content, shown.content, content, unescape)


def replace_shown(original: str, shown: str, edited: str, unescape: Callable[[str], str]) -> str:
    """The original text with those words replaced that differ between `shown` and `edited`."""
    spans = [match.span() for match in _WORD.finditer(original) if visible(match[0])]
    shown_words, edited_words = shown.split(), edited.split()
    end = len(original)
    if _is_cut(original, spans, shown_words, unescape):
        spans = spans[: len(shown_words)]
        shown_words[-1] = shown_words[-1].removesuffix(ELLIPSIS)
        start, end = spans[-1]
        if visible(original[start:end]) != unescape(shown_words[-1]):  # cut within a long word
            end = start + len(unescape(shown_words[-1]))
            spans[-1] = start, end
        if edited_words and edited_words[-1].endswith(ELLIPSIS):
            edited_words[-1] = edited_words[-1].removesuffix(ELLIPSIS)
            edited_words = list(filter(None, edited_words))
    if len(spans) == len(shown_words):
        head = _replace_words(original[:end], spans, shown_words, edited_words, unescape)
    else:  # invisible characters part what shows as one word
        head = unescape(" ".join(edited_words))
    rest = original[end:]
    return head + rest if head else rest.lstrip()


def _is_cut(
    original: str,
    spans: list[tuple[int, int]],
    shown_words: list[str],
    unescape: Callable[[str], str],
) -> bool:
    if not shown_words or not shown_words[-1].endswith(ELLIPSIS) or len(spans) < len(shown_words):
        return False
    start, end = spans[len(shown_words) - 1]
    is_last = len(spans) == len(shown_words)
    return not (is_last and visible(original[start:end]) == unescape(shown_words[-1]))


def _replace_words(
    text: str,
    spans: list[tuple[int, int]],
    shown_words: list[str],
    edited_words: list[str],
    unescape: Callable[[str], str],
) -> str:
    """Replace words of a text in their places; `shown_words`: as they were shown."""
    from difflib import SequenceMatcher

    ends = [0, *(end for _, end in spans)]
    parts: list[str] = []
    steps = SequenceMatcher(None, shown_words, edited_words, autojunk=False).get_opcodes()
    for step, begin, stop, edited_begin, edited_stop in steps:
        if step == "equal":
            parts.append(text[ends[begin] : ends[stop]])
        elif step != "delete":
            words = unescape(" ".join(edited_words[edited_begin:edited_stop]))
            gap = text[ends[begin] : spans[begin][0]] if step == "replace" else " "
            parts.append(gap + words if begin or step == "replace" else f"{words} ")
    parts.append(text[ends[-1] :])
    is_first_kept = steps and steps[0][0] == "equal"
    joined = "".join(parts)
    return joined if is_first_kept else joined.lstrip()
