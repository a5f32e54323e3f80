"""What may be written: sizes, and text that can be stored. Refuses by name, cuts nothing."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

NAME_CHARACTERS = 512  # of a key or title: it is a name, longer text is content
CONTENT_BYTES = 1024 * 1024  # as UTF-8: a memory, not an archive
RECORD_CHARACTERS = 8 * CONTENT_BYTES  # of a note from elsewhere, with everything, as JSON
TAGS = 64  # of a note's own; the three that follow from its metadata are not counted
TAG_CHARACTERS = 64
REASON_CHARACTERS = 512
FILES_SEEN = 200  # of a project: what was touched lately, not a listing of the repository
MEMORY_FILE_LINES, MEMORY_FILE_BYTES = 200, 25_000  # what hosts load of a MEMORY.md
LINKS = 1000  # at one note: a hub with more says nothing about any of them
SESSION_CHARACTERS = 256
ADDRESS_CHARACTERS = 4096  # of a path, an id, an address


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
Count = Annotated[int, Limit(0, 2**63 - 1)]
Share = Annotated[float, Limit(0, 1)]

_WHOLE_NUMBERS = {  # of a nugget, and between which bounds its fact memory can be built
    "dims": (2, 1 << 20),
    "banks": (1, 256),
    "ensembles": (1, 64),
    "max_facts": (0, 1 << 53),
    "ortho_iters": (0, 32),
}
_NUMBERS = {
    "sharpen_p": (0, 8),  # sharper, and a full page decodes wrongly
    "corvacs_a": (0, 1_000_000),
    "temperature": (0, 1_000_000),
    "fuzzy_threshold": (0, 1),
}


def checked_key(key: str) -> str:
    """The key without blanks around it; inside it is never rewritten."""
    return _checked_short(key, "a key", NAME_CHARACTERS)


def checked_title(title: str) -> str:
    return _checked_short(title, "a title", NAME_CHARACTERS)


def checked_subject(subject: str) -> str:
    return _checked_short(subject, "a subject", NAME_CHARACTERS)


def checked_reason(reason: str, default: str) -> str:
    """The reason, or the default if none was given."""
    text = storable(reason, "a reason").strip()
    return _checked_short(text or default, "a reason", REASON_CHARACTERS)


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
        raise InvalidInput(f"{field} must be one of {', '.join(choices)}; not {value!r:.80}")


def check_config(values: Mapping[str, Any]) -> None:
    """Refuse options from which no fact memory can be built; other fields are not checked."""
    for field, (least, most) in (_WHOLE_NUMBERS | _NUMBERS).items():
        value, whole = values.get(field, least), field in _WHOLE_NUMBERS
        fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not fits or not least <= value <= most:
            kind = "whole number" if whole else "number"
            raise InvalidInput(f"{field} is a {kind} from {least} to {most}; not {value!r:.80}")


def check_count(limit: object, what: str) -> None:
    """Refuse anything but a positive whole number; `what` names what is counted."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidInput(f"limit is {what}, at least 1; not {limit!r}")


def check_whole(number: object, what: str) -> None:
    """Refuse anything but a whole number; True is none."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidInput(f"{what} is a whole number, not {number!r:.80}")


def check_flag(flag: object, name: str) -> None:
    """Refuse anything but True and False, such as a text."""
    if not isinstance(flag, bool):
        raise InvalidInput(f"{name} must be True or False, not {flag!r:.80}")


def check_most(count: int, most: int, what: str, unit: str) -> None:
    if count > most:
        raise InvalidInput(f"{what} may have at most {most} {unit}; this has {count}")


def storable(text: object, what: str) -> str:
    """Text that every file and database can hold; other control characters are data.

    Returns a plain `str`, also for a member of a text Enum.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"{what} must be text, not {type(text).__name__}")
    if "\0" in text:
        raise InvalidInput(f"{what} must not contain the character NUL; take it out")
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise InvalidInput(
            f"{what} is not valid Unicode: half a character (lone surrogate) "
            f"at position {problem.start}; was it read with the wrong encoding?"
        ) from problem
    return str.__str__(text)


def _checked_short(text: str, what: str, most: int) -> str:
    trimmed = storable(text, what).strip()
    if not trimmed:
        raise InvalidInput(f"{what} must not be empty")
    check_most(len(trimmed), most, what, "characters")
    return trimmed


def _checked_size(text: str, what: str) -> str:
    check_most(len(text.encode()), CONTENT_BYTES, what, "bytes of UTF-8")
    return text
