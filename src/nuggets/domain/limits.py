"""What may be written: sizes, and text that can be stored. Refuses by name, cuts nothing."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

# What a shelf takes in. The numbers are ours: far above what people and agents write, and low
# enough that one record can neither fill a page nor stop a search.
NAME_CHARACTERS = 512  # of a key or title: it is a name, longer text is content
CONTENT_BYTES = 1024 * 1024  # as UTF-8: a memory, not an archive
TAGS = 64  # of a note's own; the three that follow from its metadata are not counted
TAG_CHARACTERS = 64  # a word or two, by which notes are grouped
REASON_CHARACTERS = NAME_CHARACTERS  # of a link: shown beside it, on one line
FILES_SEEN = 200  # of a project: what was touched lately, not a listing of the repository
MEMORY_FILE_LINES, MEMORY_FILE_BYTES = 200, 25_000  # what Claude Code loads of a MEMORY.md
ID_CHARACTERS = 256  # of a note from elsewhere, or a host's of a session; ours have half of that
LINKS = 1000  # at one note: a hub with more says nothing about any of them
SESSION_CHARACTERS = ID_CHARACTERS
ADDRESS_CHARACTERS = 4096  # of a path (`PATH_MAX` of Linux), of an id or an address from elsewhere


class Limit(NamedTuple):
    """Bounds of a number, of the length of a text or of a list: `Annotated[str, Limit(1, 64)]`."""

    least: float = 0
    most: float = 0
    unit: str = "characters"  # or "items"
    pattern: str = ""  # that a text must match
    meaning: str = ""  # of the pattern


# What a field may hold, said once for files, rows, requests and messages.
Name = Annotated[str, Limit(1, NAME_CHARACTERS)]
Session = Annotated[str, Limit(0, SESSION_CHARACTERS)]
Address = Annotated[
    str, Limit(0, ADDRESS_CHARACTERS, pattern=r"[^\0]*", meaning="without the character NUL")
]
Digits = Annotated[
    str, Limit(1, 64, pattern="[0-9A-Za-z]*", meaning="letters and digits of ASCII alone")
]
Moment = Annotated[str, Limit(0, NAME_CHARACTERS)]  # a day or a time, in any form that is read
Count = Annotated[int, Limit(0, 2**63 - 1)]
Share = Annotated[float, Limit(0, 1)]


def checked_name(name: str, what: str) -> str:
    """A key, title or subject without blanks around it; inside it is never rewritten."""
    trimmed = storable(name, what).strip()
    if not trimmed:
        raise InvalidInput(f"{what} must not be empty")
    check_most(len(trimmed), NAME_CHARACTERS, what, "characters")
    return trimmed


def checked_reason(reason: str, default: str) -> str:
    """The reason on one line, or the default if none was given."""
    return checked_name(" ".join(storable(reason, "a reason").split()) or default, "a reason")


def checked_value(value: str) -> str:
    """The value, unchanged; an empty one is refused."""
    plain = storable(value, "a value")
    if not plain.strip():
        raise InvalidInput("a value must not be empty; to take a fact away, forget its key")
    return _checked_size(plain, "a value")


def checked_content(content: str) -> str:
    """The content, unchanged; it may be empty, because a title can be all there is yet."""
    return _checked_size(storable(content, "content"), "content")


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags, unchanged; too long or too many are refused."""
    is_list = type(tags) in (tuple, list)  # nearly always; that is quicker to find out
    is_record = hasattr(tags, "_fields")  # in the wrong place
    if not is_list and (is_record or isinstance(tags, str) or not isinstance(tags, Iterable)):
        raise InvalidInput(f"tags must be a list of texts, not {tags!r:.80}")
    texts = tuple([storable(tag, "a tag") for tag in tags])
    for tag in texts:
        check_most(len(tag.strip()), TAG_CHARACTERS, "a tag", "characters")
    return texts


def check_choice(field: str, value: object, allowed: Iterable[str]) -> None:
    """Refuse a value that is neither None nor one of the allowed words."""
    choices = tuple(allowed)
    if value is not None and not (isinstance(value, str) and value in choices):
        raise wrong_type(value, f"one of {', '.join(choices)}", field)


def check_count(limit: object, what: str) -> None:
    """Refuse anything but a positive whole number; `what` names what is counted."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidInput(f"limit is {what}, at least 1; not {describe(limit)}")


def check_whole(number: object, what: str) -> None:
    """Refuse anything but a whole number; True is none."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise wrong_type(number, CALLED[int], what)


def check_flag(flag: object, name: str) -> None:
    """Refuse anything but True and False, such as a text."""
    if not isinstance(flag, bool):
        raise wrong_type(flag, CALLED[bool], name)


def check_most(count: int, most: int, what: str, unit: str) -> None:
    if count > most:
        raise InvalidInput(f"{what} may have at most {most} {unit}; this has {count}")


def storable(text: object, what: str) -> str:
    """Text that every file and database can hold; other control characters are data.

    Returns a plain `str`, also for a member of a text Enum.
    """
    plain = whole_text(text, what)
    if "\0" in plain:
        raise InvalidInput(f"{what} must not contain the character NUL; take it out")
    return str.__str__(plain)


def whole_text(text: object, what: str) -> str:
    """Text of whole characters."""
    if not isinstance(text, str):
        raise wrong_type(text, CALLED[str], what)
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise InvalidInput(
            f"{what} is not valid Unicode: half a character (lone surrogate) "
            f"at position {problem.start}; was it read with the wrong encoding?"
        ) from problem
    return text


CALLED: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
    list: "a list",
    tuple: "a list",
    dict: "an object",
}


def wrong_type(value: object, called: str, where: str) -> InvalidInput:
    """The error for a value that is not what it should be, in the words of all doors."""
    return InvalidInput(f"{where} must be {called}, not {describe(value)}")


def describe(value: object) -> str:
    """A value in words: itself, if it is short."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str | int | float):
        return f"{value!r:.80}"
    return CALLED.get(type(value)) or f"a {type(value).__name__}"


def _checked_size(text: str, what: str) -> str:
    check_most(len(text.encode()), CONTENT_BYTES, what, "bytes of UTF-8")
    return text
