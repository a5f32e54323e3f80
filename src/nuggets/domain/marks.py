"""The marks (small named values beside the notes) that several rooms read: what a daily run leaves,
what was purged, which changes of the clean-up people undid, and how memory files were left."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from nuggets.domain.names_and_tags import identity, identity_of
from nuggets.domain.records import ExternalEdit, MemoryNote
from nuggets.domain.state import State, merged_into
from nuggets.named_tuple import NamedTuple

# --- what a daily run leaves ---------------------------------------------------------------------

RUN_MARK = "last_run"  # of the clean-up

# --- purges -----------------------------------------------------------------------------------

# The ids of notes that are to be erased, written with the commit that drops the notes, before
# anything else is erased. Erasing a note from the history also removes it from every mark, so this
# one is empty when all is erased.
UNFINISHED_PURGE = "unfinished_purge"
# By which what was purged is recognised when an older export is put back: keyed digests of ids, and
# of the keys of facts, never of what they said.
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


def is_purged(marks: Mapping[str, Any], note_id: str) -> bool:
    """Was the note with this id purged?"""
    mark = marks.get(_PURGED)
    return mark is not None and _digest(mark["salt"], note_id) in mark["revisions"]


def _digest(salt: str, *parts: str) -> str:
    from hashlib import blake2b

    text = "\0".join(parts).encode(errors="replace")
    return blake2b(text, key=salt.encode(), digest_size=12).hexdigest()


# --- changes of the clean-up that people undid ------------------------------------------------

# What the clean-up must not repeat: note -> other note, or "" for itself -> steps.
REJECTED = "refused"


class RejectedChange(NamedTuple):
    """A change that the clean-up must not make: to one note, or to a pair."""

    step: str  # hide, rewrite, tag, merge, link
    note: str
    other: str = ""  # the later one in order, where there are two

    @classmethod
    def of_pair(cls, step: str, a: str, b: str) -> "RejectedChange":
        return cls(step, min(a, b), max(a, b))


def read_rejected(state: State) -> frozenset[RejectedChange]:
    """Every change that people rejected."""
    mark: Mapping[str, Mapping[str, list[str]]] = state.marks.get(REJECTED, {})
    return frozenset(
        RejectedChange(step, note, other)
        for note, others in mark.items()
        for other, steps in others.items()
        for step in steps
    )


def rejection_marks(
    state: State, changed: Iterable[tuple[MemoryNote, MemoryNote]]
) -> Mapping[str, Any]:
    """The new mark after someone changed notes (before, after); {} if the mark stays the same.

    A change that a person makes after undoing it is no longer rejected.
    """
    before = read_rejected(state)
    after = set(before)
    separated: dict[str, list[str]] = {}  # by the note that they had been merged into
    for was, is_now in changed:
        after.difference_update(_undone_steps(is_now, was))
        after.update(_undone_steps(was, is_now))
        if was.hidden and not is_now.hidden:
            for survivor in merged_into(was):
                separated.setdefault(survivor, []).append(was.id)
    for together in separated.values():
        after.update(RejectedChange.of_pair("merge", *pair) for pair in combinations(together, 2))
    if after == before:
        return {}
    named = {note_id for change in after for note_id in change[1:]}
    existing = {"", *state.notes.many(named)}
    shape: dict[str, dict[str, list[str]]] = {}
    for step, note, other in sorted(after):
        if note in existing and other in existing:
            shape.setdefault(note, {}).setdefault(other, []).append(step)
    return {REJECTED: shape or None}


def _undone_steps(was: MemoryNote, is_now: MemoryNote) -> Iterator[RejectedChange]:
    """The changes of the clean-up that someone undid by turning `was` into `is_now`."""
    id_ = was.id
    if was.hidden and not is_now.hidden and was.content == is_now.content:
        # A rewritten note is a new statement, and the clean-up may archive it again.
        yield RejectedChange("hide", id_)
        yield from (RejectedChange.of_pair("merge", id_, link.to) for link in was.links)
    elif not was.hidden and not is_now.hidden:
        gone = {link.to for link in was.links} - {link.to for link in is_now.links}
        yield from (RejectedChange.of_pair("link", id_, other) for other in gone)
    if (was.last_rewritten_at or "") > (is_now.last_rewritten_at or ""):
        yield RejectedChange("rewrite", id_)
    elif was.last_rewritten_at and was.content != is_now.content:
        yield RejectedChange("rewrite", id_)  # a person rewrote what the clean-up had rewritten
    inspected = (was.last_inspected_at or "") > (is_now.last_inspected_at or "")
    if inspected and set(was.tags) - set(is_now.tags):
        yield RejectedChange("tag", id_)


# --- memory files -----------------------------------------------------------------------------

# The owner of each file, and its state when last seen. A hook reads this much at every start; only
# `promotion/` knows the rest of a record.
FILE_MARK = "memory_file:"  # followed by the path of the file
INSTRUCTION_FILES = {  # by host: the file of a repository's root that it reads at every start
    **dict.fromkeys(("codex", "cursor"), "AGENTS.md"),
    "gemini": "GEMINI.md",
    **dict.fromkeys(("opencode", "pi"), "AGENTS.md"),
}
BLOCK_FILES = tuple(dict.fromkeys(INSTRUCTION_FILES.values()))  # only a block of them is ours
BLOCK_BEGIN = "<!-- nuggets: begin of the memories of this project -->"
BLOCK_END = "<!-- nuggets: end -->"


def is_block_file(path: str) -> bool:
    """Is only a marked block of the file ours?"""
    return path.rpartition("/")[2] in BLOCK_FILES


def checksum(path: str, content: bytes) -> str:
    """Of our part of a file, to notice an edit; not a protection against anyone."""
    if is_block_file(path):
        rest = content.partition(BLOCK_BEGIN.encode())[2]
        content = rest.partition(BLOCK_END.encode())[0]
    return f"{zlib.crc32(content):08x}"


def memory_file_records(marks: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The record of each memory file that was ever written, by path."""
    return {
        name.removeprefix(FILE_MARK): marks[name] for name in marks if name.startswith(FILE_MARK)
    }
