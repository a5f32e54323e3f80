"""Importers: each reads one format of another program into notes, in their documented JSON.

They decide nothing: `NuggetShelf.import_memories` checks every note and merges it. What they read
was written by others, so it is bounded, no link is followed, and what cannot be read is named.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

from nuggets.domain.limits import TAG_CHARACTERS, TAGS
from nuggets.domain.times import normalize_time
from nuggets.errors import InvalidInput
from nuggets.operations.argument_checks import title_from_text

Json = dict[str, Any]


class Records:
    """What was read so far, in the order in which it was read."""

    def __init__(self) -> None:
        self.form = ""  # what was recognised, in words
        self.project = ""  # that instructions belong to; "": everywhere
        self.notes: list[Json] = []  # in their documented JSON
        self.places: list[str] = []  # where each of them was read: a file and a line
        self.problems: list[str] = []  # what cannot be read, each with its place
        self.left_out = 0  # relations and links to what is not there

    def add(self, note: Json, place: str) -> None:
        self.notes.append(note)
        self.places.append(place)


def make_note(
    nugget: str,
    title: str,
    content: str,
    *,
    identity: str,
    at: str,
    created: str = "",
    tags: Iterable[object] = (),
) -> Json:
    """A note that another program wrote. The same identity gets the same id, so that reading a
    place again adds nothing twice.

    `at`: when it was last changed; `created`: "" if that is not known.
    """
    digest = hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()
    return {
        "id": f"note-{nugget}-{digest[:16]}",
        "nuggetName": nugget,
        "title": title.strip() or title_from_text(content),
        "content": content.strip("\n") or title,
        "tags": fitting_tags(tags),
        "links": [],
        "source": "inferred",  # nobody knows who told the other program
        "createdAt": created or at,
        "updatedAt": at,
    }


def fitting_tags(tags: Iterable[object]) -> list[str]:
    """Those that a note may have: a tag too long or too many is no reason to refuse the note."""
    words = ("-".join(str(tag).split()).strip("#") for tag in tags)
    return list(dict.fromkeys(word for word in words if 0 < len(word) <= TAG_CHARACTERS))[:TAGS]


def moment(value: object, default: str) -> str:
    """A time in any form that programs write: ISO 8601, or seconds since 1970."""
    from datetime import UTC, datetime

    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return normalize_time(datetime.fromtimestamp(value, UTC))
        return normalize_time(value) if isinstance(value, str) and value.strip() else default
    except (InvalidInput, OverflowError, OSError, ValueError):
        return default
