"""A note as one line of Markdown that cannot break the file around it. Knows no file.

Markup that stays within the line is kept: `code`, links, **bold**. Everything that could reach
beyond it is removed or escaped: line breaks, control and direction characters, HTML tags, comments,
marks of hosts and models, and ``@path``, which hosts read as an import.
"""

import re
import unicodedata
from collections.abc import Sequence

from nuggets.domain.host_markup import escape_host_markup
from nuggets.domain.records import MemoryNote
from nuggets.language.text import visible

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
