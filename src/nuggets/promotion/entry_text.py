"""A note as one line of Markdown that cannot break the file around it, and the note after a person
changed that line. Knows no file.

Markup that stays within the line is kept: `code`, links, **bold**. Everything that could reach
beyond it is removed or escaped: line breaks, control and direction characters, HTML tags, comments,
marks of hosts and models, and ``@path``, which hosts read as an import.

A line shows a text on one line, escaped, and long ones cut. Of an edited line only the words that
it showed are replaced. What it did not show stays: line breaks, and all that follows the place
where it was cut.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence

from nuggets.domain.host_markup import escape_host_markup
from nuggets.domain.records import MemoryNote
from nuggets.language.text import visible
from nuggets.named_tuple import NamedTuple

TITLE_CHARACTERS = 100
CONTENT_CHARACTERS = 300  # the budget of 25 KB for 200 lines allows 125 bytes a line on average
CAVEAT_CHARACTERS = 120  # a path and what became of it
CAVEAT_BEGIN, CAVEAT_END = " *(stale: ", ")*"
ELLIPSIS = "…"

_HTML = re.compile(r"<(?=[A-Za-z/!?|])")
_IMPORT = re.compile(r"(?<![\w@\\])@(?=[\w./~\\-])")
_BREAKING_TITLE = re.compile(r"([\\*`\[])")
_ESCAPED_IMPORT = re.compile(r"(?<!\\)\\@")
_ESCAPED_TITLE = re.compile(r"\\([\\*`\[])")


def line_for(note: MemoryNote, caveats: Sequence[str] = ()) -> str:
    """``- **Title**: content``, shortened at a word, and what is no longer so of what it names."""
    title = _BREAKING_TITLE.sub(r"\\\1", cut(flat(note.title), TITLE_CHARACTERS))
    content = cut(flat(note.content), CONTENT_CHARACTERS)
    # with the colon before it, because a role that begins the content begins no line
    line = f"- **{_harmless(title)}**" + (_harmless(f": {content}") if content else "")
    return with_caveats(line, caveats)


def with_caveats(line: str, caveats: Sequence[str]) -> str:
    """The line with these caveats at its end, in place of those that it has."""
    reasons = _harmless(cut(flat(", ".join(caveats)), CAVEAT_CHARACTERS))
    mark = f"{CAVEAT_BEGIN}{reasons}{CAVEAT_END}" if reasons else ""
    return without_caveats(line) + mark


def without_caveats(line: str) -> str:
    """The line as its memory says it."""
    head, begin, reasons = line.rpartition(CAVEAT_BEGIN)
    return head if begin and reasons.rstrip().endswith(CAVEAT_END) else line


def title_of(note: MemoryNote) -> str:
    """The title as its line has it."""
    return line_for(note._replace(content="")).removeprefix("- ")


def flat(text: str) -> str:
    """The text in one line, with single blanks and without invisible characters."""
    return " ".join(visible(text).split())


def cut(text: str, most: int) -> str:
    """Shorten to `most` characters with an ellipsis, at a word boundary unless words are long."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    words = head.rsplit(" ", 1)[0] if text[most - 1] != " " else head
    head = words if len(words) > most // 2 else head
    while head and _belongs_to_previous(text[len(head)]):
        head = head[:-1]  # not between a letter and its accent, nor inside an emoji
    return head.rstrip() + ELLIPSIS


def unescape(text: str) -> str:
    """The text of an escaped content."""
    text = _ESCAPED_IMPORT.sub("@", text).replace("--&gt;", "-->").replace("&lt;", "<")
    return text.replace("&#91;", "[").replace("&#58;", ":")


def unescape_title(text: str) -> str:
    """The text of an escaped title."""
    return _ESCAPED_TITLE.sub(r"\1", unescape(text))


def _belongs_to_previous(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf", "Sk")


def _harmless(text: str) -> str:
    text = _HTML.sub("&lt;", escape_host_markup(text)).replace("-->", "--&gt;")
    return _IMPORT.sub(r"\\@", text)


# --- what an edited line changes --------------------------------------------------------------


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
