"""How a tag is written, and which tags a note has: its own, and those that follow from metadata."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from sys import intern

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


def without_system_tags(tags: Iterable[str], nugget: str) -> list[str]:
    """Of tags in their written form those that do not follow from metadata."""
    system = ("", normal_tag(nugget))
    return [tag for tag in tags if tag not in system and not tag.startswith(("scope:", "type:"))]


def own_tags(tags: Iterable[str], nugget: str) -> tuple[str, ...]:
    """The written form of what people and agents tagged, without what follows from metadata."""
    return _own_tags(tuple(tags), nugget)


@lru_cache(maxsize=256)  # asked three times for a note, and often for the next
def _own_tags(tags: tuple[str, ...], nugget: str) -> tuple[str, ...]:
    return tuple(without_system_tags(dict.fromkeys(map(normal_tag, tags)), nugget))


def normal_tags(tags: Iterable[str], nugget: str, scope: str, type: str) -> tuple[str, ...]:
    """The written form of a note's tags: its own in their order, then those it always carries."""
    return (*own_tags(tags, nugget), *system_tags(nugget, scope, type))
