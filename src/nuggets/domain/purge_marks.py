"""The marks of purges.

One has the ids of the notes that are to be erased. It is written with the commit that drops the
notes, before anything else is erased. Erasing a note from the history also removes it from every
mark, so the mark is empty when all is erased.

The other recognises what was purged when an older export is put back: keyed digests of ids, and of
the keys of facts, never of what they said.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nuggets.domain.fact_identity import identity, identity_of
from nuggets.domain.records import ExternalEdit, MemoryNote

UNFINISHED_PURGE = "unfinished_purge"
_PURGED = "purged"


def purge_intent(note_ids: Iterable[str]) -> dict[str, Any]:
    """The mark to write before anything is erased."""
    return {UNFINISHED_PURGE: dict.fromkeys(note_ids, True)}


def unfinished_purge(marks: Mapping[str, Any]) -> list[str]:
    """The ids of notes whose purge was interrupted."""
    return list(marks.get(UNFINISHED_PURGE) or ())


def describe_unfinished(marks: Mapping[str, Any]) -> str:
    """What a person should know of it; "" if there is none."""
    if not unfinished_purge(marks):
        return ""
    return (
        "a purge was interrupted: what it should erase may still stand in the history, in copies "
        "and in memory files. The next command that writes goes on with it"
    )


def record_purge(
    marks: Mapping[str, Any], versions: Iterable[MemoryNote], revision: int, salt: str
) -> dict[str, Any]:
    """The mark that recognises these notes from now on. `salt`: taken if there is none yet."""
    mark = marks.get(_PURGED) or {"salt": salt, "revisions": {}}
    revisions = dict(mark["revisions"])
    for note in versions:
        revisions[_digest(mark["salt"], note.id)] = revision
        if note.kind == "fact":
            revisions[_digest(mark["salt"], *identity_of(note))] = revision
    return {_PURGED: {**mark, "revisions": revisions}}


def without_purged(marks: Mapping[str, Any], edit: ExternalEdit) -> ExternalEdit:
    """The edit without notes that were purged, and without facts that its author saw before they
    were purged; the same key may be used again later."""
    mark = marks.get(_PURGED)
    if not mark:
        return edit
    salt, revisions = mark["salt"], mark["revisions"]
    notes = tuple(
        note for note in edit.notes if _digest(salt, str(note.get("id", ""))) not in revisions
    )
    if edit.nugget is None:
        return edit._replace(notes=notes)
    nugget = edit.nugget.name

    def is_purged(fact: Mapping[str, Any]) -> bool:
        known_by = identity(nugget, fact["key"], str(fact.get("project", "")))
        purged_at = int(revisions.get(_digest(salt, *known_by), 0))
        return 0 < edit.revision < purged_at

    return edit._replace(facts=tuple(fact for fact in edit.facts if not is_purged(fact)))


def _digest(salt: str, *parts: str) -> str:
    from hashlib import blake2b

    text = "\0".join(parts).encode(errors="replace")
    return blake2b(text, key=salt.encode(), digest_size=12).hexdigest()
