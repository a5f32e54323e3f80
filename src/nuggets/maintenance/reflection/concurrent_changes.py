"""Drops the parts of a plan whose notes changed meanwhile. Knows no rule of reflection."""

from collections.abc import Iterable, Mapping

from nuggets.domain.records import Changes, MemoryNote, ReflectionChange, ReflectionResult, Touch
from nuggets.domain.state import apply_touch, with_recalls_of
from nuggets.maintenance.reflection.plan import result_of


def still_valid(
    changes: Changes,
    result: ReflectionResult,
    notes_before: Mapping[str, MemoryNote],
    current: Mapping[str, MemoryNote],
) -> tuple[Changes, ReflectionResult]:
    """The part of the plan made from `notes_before` that fits `current`; links stay two-way.

    A note that changed meanwhile is left as it is, and merges with it are dropped. Recalls do not
    count as a change and are carried over, except that a recalled note is not archived.
    """
    stale = _stale(changes.put, result.changes, notes_before, current)
    valid = [change for change in result.changes if stale.isdisjoint(_note_ids(change))]
    gone_to = {
        source: change.note_id
        for change in valid
        if change.type == "merge"
        for source in change.partners[:1]
    }
    new_hits = _recalls_since(
        notes_before, current, {note.id for note in changes.put} - stale, gone_to
    )
    put = [
        _with_recalls(
            _without_new_links(note, notes_before[note.id], stale), new_hits.get(note.id, ())
        )
        for note in changes.put
        if note.id not in stale
    ]
    inspected = sum(
        1 for note in changes.put if note.id in stale and note.last_inspected_at == result.ran_at
    )
    return (
        changes._replace(put=tuple(note for note in put if note != current[note.id])),
        result_of(result.ran_at, result.inspected - inspected, valid),
    )


def _stale(
    put: Iterable[MemoryNote],
    plan: Iterable[ReflectionChange],
    notes_before: Mapping[str, MemoryNote],
    current: Mapping[str, MemoryNote],
) -> set[str]:
    archived = {change.note_id for change in plan if change.type == "hide"}
    stale = {
        note.id
        for note in put
        if not _same(notes_before[note.id], current.get(note.id), recalls_count=note.id in archived)
    }
    merges = [set(_note_ids(change)) for change in plan if change.type == "merge"]
    before = -1
    while before != len(stale):  # a dropped merge may invalidate the next one
        before = len(stale)
        for involved in merges:
            if not stale.isdisjoint(involved):
                stale |= involved
    return stale


def _same(before: MemoryNote, now: MemoryNote | None, recalls_count: bool) -> bool:
    if now is None or recalls_count:
        return before == now
    return before == with_recalls_of(now, before)


def _note_ids(change: ReflectionChange) -> tuple[str, ...]:
    return (change.note_id, *change.partners)


def _without_new_links(note: MemoryNote, before: MemoryNote, stale: set[str]) -> MemoryNote:
    links_before = set(before.links)
    links = tuple(link for link in note.links if link.to not in stale or link in links_before)
    return note if len(links) == len(note.links) else note._replace(links=links)


def _recalls_since(
    notes_before: Mapping[str, MemoryNote],
    current: Mapping[str, MemoryNote],
    ids: set[str],
    gone_to: Mapping[str, str],
) -> dict[str, list[Touch]]:
    """The recalls since the plan was made; those of a merged note count for its survivor too."""
    recalls: dict[str, list[Touch]] = {}
    for note_id in sorted(ids):
        before, after = notes_before[note_id], current[note_id]
        if after.last_accessed_at == before.last_accessed_at and after.hits == before.hits:
            continue
        new_sessions = [s for s in after.hit_sessions if s not in before.hit_sessions] or [""]
        heir: str | None = note_id
        while heir is not None:
            recalls.setdefault(heir, []).extend(
                Touch(heir, session, after.last_accessed_at) for session in new_sessions
            )
            heir = gone_to.get(heir)
    return recalls


def _with_recalls(note: MemoryNote, recalls: Iterable[Touch]) -> MemoryNote:
    for recall in recalls:
        note = apply_touch(note, recall)
    return note
