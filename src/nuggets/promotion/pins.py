"""Pins: memories that a person puts into MEMORY.md at once, however often they were recalled.

A pin is a mark, so that no text can pin itself, and it is written in the commit of its memory.
"""

from collections.abc import Mapping
from typing import Any

from nuggets.domain.state import Notes, merged_into

MARK = "pin:"


def pin_marks(note_id: str) -> dict[str, Any]:
    return {f"{MARK}{note_id}": True}


def reverted_pins(changed: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The marks that take back the pins of a commit; other marks stay."""
    return {mark: before.get(mark) for mark in changed if mark.startswith(MARK)}


def pinned_ids(marks: Mapping[str, Any], notes: Notes) -> frozenset[str]:
    """The pinned notes; a note that was merged passes its pin on."""
    ids = {mark.removeprefix(MARK) for mark in marks if mark.startswith(MARK)}
    merged = {target for note in notes.many(ids).values() for target in merged_into(note)}
    return frozenset(ids | merged)
