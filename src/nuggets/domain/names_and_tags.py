"""How names are written, and when two of them are the same: of nuggets, facts, titles and tags."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from sys import intern

from nuggets.domain.limits import storable
from nuggets.domain.records import SCOPES, TYPES, MemoryNote
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case, shorten
from nuggets.named_tuple import NamedTuple

# --- tags -------------------------------------------------------------------------------------

# A note has tags of its own, and those that follow from its metadata.
CONFIRMED = "confirmed"  # the tag by which a person or agent vouches for what a tool saw
# Tags that decide something: a word of the text alone does not give them.
DECIDING_TAGS = (CONFIRMED, "learnings", "preferences", "reflection", "files")


@lru_cache(maxsize=1024)  # few tags, of many notes
def normal_tag(tag: str) -> str:
    """The written form of a tag; "" if it is blank."""
    lower = unicodedata.normalize("NFC", tag).lower()
    return unicodedata.normalize("NFC", "-".join(lower.split()))


@lru_cache(maxsize=4096)
def system_tags(nugget: str, scope: str, type: str) -> tuple[str, str, str]:
    """The tags that every note carries."""
    return intern(normal_tag(nugget)), intern(f"scope:{scope}"), intern(f"type:{type}")


_OF_METADATA = {*(f"scope:{scope}" for scope in SCOPES), *(f"type:{type_}" for type_ in TYPES)}


def without_system_tags(tags: Iterable[str], nugget: str) -> list[str]:
    """Of tags in their written form those that do not follow from metadata; `type:bug` is one."""
    system = ("", normal_tag(nugget))
    return [tag for tag in tags if tag not in system and tag not in _OF_METADATA]


def tagged_values(tags: Iterable[str]) -> dict[str, str]:
    """The scope and type that tags name, by field."""
    named = _OF_METADATA.intersection(map(normal_tag, tags))
    return dict(tag.split(":") for tag in sorted(named))


def own_tags(tags: Iterable[str], nugget: str) -> tuple[str, ...]:
    """The written form of what people and agents tagged, without what follows from metadata."""
    return _own_tags(tuple(tags), nugget)


@lru_cache(maxsize=256)  # asked three times for a note, and often for the next
def _own_tags(tags: tuple[str, ...], nugget: str) -> tuple[str, ...]:
    return tuple(without_system_tags(dict.fromkeys(map(normal_tag, tags)), nugget))


def normal_tags(tags: Iterable[str], nugget: str, scope: str, type: str) -> tuple[str, ...]:
    """The written form of a note's tags: its own in their order, then those it always carries."""
    return (*own_tags(tags, nugget), *system_tags(nugget, scope, type))


# --- names of nuggets -------------------------------------------------------------------------

NUGGET_NAME_CHARACTERS = 64  # it is a word of every command line
NUGGET_NAME_BYTES = 200  # as UTF-8: file systems allow 255 with our ending and a staging name
# Names that some systems reserve for devices, in small letters.
DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
_ALLOWED = "letters, digits, '-', '_', '.' and spaces"


def checked_nugget_name(name: str) -> str:
    """A nugget's name in NFC; it also names a file, on any disk, so it is never a path."""
    written = unicodedata.normalize("NFC", storable(name, "a nugget's name"))
    if not 1 <= len(written) <= NUGGET_NAME_CHARACTERS:
        raise InvalidInput(
            f"a nugget's name has 1 to {NUGGET_NAME_CHARACTERS} characters; "
            f"this one has {len(written)}"
        )
    if len(written.encode()) > NUGGET_NAME_BYTES:
        raise InvalidInput(
            f"a nugget's name may take {NUGGET_NAME_BYTES} bytes as UTF-8; "
            f"this one takes {len(written.encode())}"
        )
    stranger = next((sign for sign in written if not _is_allowed_in_name(sign)), None)
    if stranger is not None:
        raise InvalidInput(f"a nugget's name has only {_ALLOWED}; not {stranger!r}")
    if written[0] in ". " or written[-1] in ". ":
        raise InvalidInput(
            f"a nugget's name must not begin or end with a dot or a space; {written!r} does"
        )
    if fold_case(written.partition(".")[0]) in DEVICES:
        raise InvalidInput(f"{written!r} is reserved for a device on some systems; choose another")
    return written


@lru_cache(maxsize=256)  # names are checked with every note, and have few signs
def _is_allowed_in_name(sign: str) -> bool:
    # marks belong to the letters of many scripts; variation selectors are marks nobody can see
    if unicodedata.name(sign, "").startswith("VARIATION SELECTOR"):
        return False
    return sign in "-_. " or unicodedata.category(sign)[0] in "LM" or sign.isdecimal()


# --- the same fact, title, id -----------------------------------------------------------------


class FactIdentity(NamedTuple):
    """What a fact is known by, apart from the id of its note: two with one nugget, key and project
    are the same. Two projects may know different things by one key."""

    nugget: str  # folded
    key: str  # folded
    project: str


def identity(nugget: str, key: str, project: str) -> FactIdentity:
    """The identity of the fact with this key."""
    return FactIdentity(fold_case(nugget), fold_case(key), project)


def identity_of(fact: MemoryNote) -> FactIdentity:
    """The identity of a note of kind fact."""
    return identity(fact.nugget_name, fact.title, fact.project)


def title_form(title: str) -> str:
    """The form in which titles and whole texts are compared: case folded, runs of blanks as one."""
    return " ".join(fold_case(title).split())


def abbreviates(part: str, note_id: str) -> bool:
    """Whether an id begins with this, or ends with it after a dash."""
    whole = fold_case(note_id)
    return whole.startswith(part) or whole.endswith(f"-{part}")


# --- names for what is given without one --------------------------------------------------------

DEFAULT_NUGGET = "notes"
TITLE_FROM_TEXT = 80  # characters of a title: a line of a terminal


def title_from_text(text: str) -> str:
    """A title for a text that was given without one: its first sentence or line, with a capital
    letter, shortened to a whole clause if there is one, else to whole words."""
    line = next(filter(None, (line.strip("#*->\t ") for line in text.splitlines())), "")
    ends = [i for i in (line.find(f"{mark} ") for mark in ".!?") if i > 0]
    sentence = line[: min(ends)] if ends else line.rstrip(".")
    title = sentence if len(sentence.split()) > 2 else line
    clause = max(title.rfind(mark, 0, TITLE_FROM_TEXT) for mark in (", ", "; ", ": ", " ("))
    if len(title) > TITLE_FROM_TEXT and clause * 2 >= TITLE_FROM_TEXT:
        title = title[:clause].rstrip()  # a shorter clause seldom says what the text is about
    title = shorten(title, TITLE_FROM_TEXT)
    first_word = title.partition(" ")[0]
    is_plain_word = first_word.isalpha() and first_word.islower()  # no name, path or identifier
    return title[:1].upper() + title[1:] if is_plain_word else title
