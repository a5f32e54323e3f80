"""The tag around everything that memory shows to an agent, so that it is not stored again."""

import re

from nuggets.language.text import visible

TAG = "nuggets-memory"
_GAP = "[\\s\u200c\u200d\ufe00-\ufe0f]*"  # joiners are letters, but between ours nobody sees them
_NAME = r"[\W_]{0,3}".join(_GAP.join(word) for word in TAG.split("-"))
_LESS = "(?:[<\ufe64\uff1c]|&(?:lt|#0*60|#x0*3c);)"  # some hosts escape it
_BEFORE = _GAP.replace("[", "[/", 1)  # one class: two in a row would try all ways to part blanks
_OUR_TAG = re.compile(rf"{_LESS}(?={_BEFORE}{_NAME})", re.IGNORECASE)


def inert(text: str) -> str:
    """The text as a person would see it, with our own marks made visible."""
    return _OUR_TAG.sub("&lt;", visible(text))


def carries_mark(text: str) -> bool:
    """Was this shown by us before?"""
    return _OUR_TAG.search(visible(text)) is not None
