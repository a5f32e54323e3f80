"""A note as one line of Markdown that cannot break the file around it. Knows no file.

Inside the line most markup is harmless and stays as it was written: `code`, links, **bold**. What
could reach beyond it is taken away or escaped: line breaks of any kind, control and direction
characters, the beginning of HTML and of comments, and ``@path``, which hosts read as an import.
"""

import re
import unicodedata

from nuggets.records import MemoryNote
from nuggets.text import visible

TITLE_CHARACTERS = 100
CONTENT_CHARACTERS = 300  # with 25 KB for 200 lines the average line has 125
ELLIPSIS = "…"

_HTML = re.compile(r"<(?=[A-Za-z/!?])")
_IMPORT = re.compile(r"(?<![\w@\\])@(?=[\w./~\\-])")
_BREAKING_TITLE = re.compile(r"([\\*`\[])")


def line_for(note: MemoryNote) -> str:
    """``- **Title**: content``, long ones cut at a word."""
    title = _BREAKING_TITLE.sub(r"\\\1", cut(flat(note.title), TITLE_CHARACTERS))
    content = cut(flat(note.content), CONTENT_CHARACTERS)
    return (
        f"- **{_harmless(title)}**: {_harmless(content)}"
        if content
        else f"- **{_harmless(title)}**"
    )


def flat(text: str) -> str:
    """One line, single blanks, nothing that is not seen."""
    return " ".join(visible(text).split())


def cut(text: str, most: int) -> str:
    """At most so many characters, whole words unless they are long; an ellipsis for the rest."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    words = head.rsplit(" ", 1)[0] if text[most - 1] != " " else head
    head = words if len(words) > most // 2 else head
    while head and _belongs_to_previous(text[len(head)]):
        head = head[:-1]  # not between a letter and its accent, nor inside an emoji
    return head.rstrip() + ELLIPSIS


def _belongs_to_previous(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf", "Sk")


def _harmless(text: str) -> str:
    return _IMPORT.sub(r"\\@", _HTML.sub("&lt;", text).replace("-->", "--&gt;"))
