"""Escapes what looks like the mark of a host or model: a tag, a bracketed word, a turn.

A memory that says `</system-reminder>` or `<|im_start|>` must not look like the host's own words,
neither in a prompt (`interfaces/prompt_quoting.py`) nor in MEMORY.md. No list of names decides:
hosts invent new ones, and an escaped `<div>` still says to a model what the memory says.
"""

import re
import unicodedata

from nuggets.language.text import visible

_TURNS = ("human", "assistant")  # also inside a line: memories are shown on one
_ROLES = (*_TURNS, "user", "system", "developer")
_HEADINGS = ("instruction", "instructions", "input", "response", *_ROLES)  # "### Response:"

_JUDGED_CHARACTERS = 80  # characters after a sign: no name is longer
_SIGNS = "<[&\\%"
# A sign that may begin a mark: as it is, in full width, or as an escape.
_OPENING = (
    r"(?P<less>[<\u2039\u2329\u27e8\u3008\ufe64\uff1c]|&(?:lt|#0{0,6}60|#x0{0,6}3c);?"
    r"|\\u003c|\\x3c|%3c)|(?P<bracket>[\[\uff3b]|&(?:lsqb|lbrack|#0{0,6}91|#x0{0,6}5b);?)"
)
_HYPHEN = r"\u2010-\u2015_-"
_NAME = rf"(?P<name>[^\W\d_](?:[\w.: {_HYPHEN}]{{0,60}}\w)?)"
# A name that is closed or has attributes, or one of several words ("<system-reminder"). After a
# blank it must be closed at once, or have a slash before it: "a < b" compares.
_TAG = (
    rf"(?:[</]{{0,9}}|\s{{0,8}}/\s{{0,8}})(?:[^\W\d_]{{2,30}}[{_HYPHEN}][^\W\d_]{{2}}|"
    rf"{_NAME}\s{{0,8}}[>/\]=&%\\\u203a])|\s{{1,8}}[^\W\d_][\w-]{{0,60}}\s{{0,8}}>"
)
_BARRED = r"[\s<]{0,8}/?\|(?:/?[\w.:\u2581-]{1,60}\||\s{0,4}/?[\w.:\u2581 -]{4,60}\|\s{0,4}>)"
# A word in capitals or behind a slash; the text of a link is none.
_BRACKETED = r"\s{0,4}(?:/[A-Za-z_ -]{1,60}|[a-z]{0,9}[A-Z_]{3,30}[A-Za-z_ -]{0,30})\](?!\()"
_JOINERS = "[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f]"  # nobody sees them in a name
# A turn of a transcript: a role at the beginning of a line. In small letters it is a key of a
# settings file ("user: postgres").
_TURN = (
    r"(?P<before>(?:^|\\n)[\s>*_#|-]{0,12}|(?<=\s))(?P<role>[A-Z\uff21-\uff3a]\w{3,12})"
    r"(?P<after>[\s*_]{0,4})[:\uff1a\ufe55]"
)


def escape_host_markup(text: str) -> str:
    """The text with the marks of hosts escaped; everything else stays as it is."""
    if not text.isascii() or any(sign in text for sign in _SIGNS):
        text = re.sub(_OPENING, _escape_sign, text, flags=re.IGNORECASE)
    lower = text.lower()
    if not text.isascii() or any(heading in lower for heading in _HEADINGS):
        text = re.sub(_TURN, _escape_turn, text, flags=re.MULTILINE)
    return text


def _escape_sign(sign: re.Match[str]) -> str:
    following = _normal_form(sign.string[sign.end() : sign.end() + _JUDGED_CHARACTERS])
    if sign["bracket"]:
        return "&#91;" if re.match(_BRACKETED, following) else sign[0]
    follows_word = sign.string[max(0, sign.start() - 1) : sign.start()].isalnum()
    is_mark = re.match(_BARRED, following) or _is_tag(following, follows_word)
    return "&lt;" if is_mark else sign[0]


def _is_tag(following: str, follows_word: bool) -> bool:
    """Does it go on like a tag, and unlike the type argument in `List<User>`?"""
    match = re.match(_TAG, following)
    is_argument = follows_word and following[:1].isalpha()
    return match is not None and not (is_argument and (match["name"] or "").isalnum())


def _normal_form(following: str) -> str:
    """As a lenient reader sees it: entities, full width and joiners resolved."""
    if "&" in following:
        import html

        following = html.unescape(following)
    if not following.isascii():
        following = unicodedata.normalize("NFKC", re.sub(_JOINERS, "", following))
    return following


def _escape_turn(turn: re.Match[str]) -> str:
    begins_line = turn["before"] or turn.string[max(0, turn.start() - 1) : turn.start()] in (
        "",
        "\n",
    )
    names = _HEADINGS if "#" in turn["before"] else _ROLES if begins_line else _TURNS
    if _normal_form(turn["role"]).lower() not in names:
        return turn[0]
    return f"{turn['before']}{turn['role']}{turn['after']}&#58;"


# --- our own mark -----------------------------------------------------------------------------

# Around everything that memory shows to an agent, so that it is not stored again.
TAG = "nuggets-memory"
_GAP = "[\\s\u200c\u200d\ufe00-\ufe0f]*"  # joiners are letters, but between ours nobody sees them
_TAG_NAME = r"[\W_]{0,3}".join(_GAP.join(word) for word in TAG.split("-"))
_LESS_THAN = "(?:[<\ufe64\uff1c]|&(?:lt|#0*60|#x0*3c);)"  # some hosts escape it
_BEFORE = _GAP.replace("[", "[/", 1)  # one class: two in a row would try all ways to part blanks
_OUR_TAG = re.compile(rf"{_LESS_THAN}(?={_BEFORE}{_TAG_NAME})", re.IGNORECASE)


def enclose(body: str, attributes: str = "") -> str:
    """A text of memory, neutralized before, between our tags: the fence around it."""
    return f"<{TAG}{attributes}>\n{body}\n</{TAG}>"


def inert(text: str) -> str:
    """The text as a person would see it, with our own marks made visible."""
    return _OUR_TAG.sub("&lt;", visible(text))


def carries_mark(text: str) -> bool:
    """Was this shown by us before?"""
    return _OUR_TAG.search(visible(text)) is not None
