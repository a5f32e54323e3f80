"""What is left of a plan when notes changed while it was made. Knows no rule of reflection."""

from collections.abc import Iterable, Mapping

from nuggets.records import Changes, MemoryNote, ReflectionChange, ReflectionResult, Touch
from nuggets.reflection.outcome import result_of
from nuggets.state import touched, with_recalls_of


def still_valid(
    changes: Changes,
    result: ReflectionResult,
    seen: Mapping[str, MemoryNote],
    current: Mapping[str, MemoryNote],
) -> tuple[Changes, ReflectionResult]:
    """The plan made from `seen`, as far as it fits `current`; links stay two-way.

    A note that is no longer what was seen is left alone, and a merge it has part in does not
    take place. Recalls do not count as a difference, they are carried over; only an archived
    note that was recalled meanwhile has proved its worth and stays.
    """
    stale = _stale(changes.put, result.changes, seen, current)
    kept = [change for change in result.changes if stale.isdisjoint(_involved(change))]
    gone_to = {
        source: change.note_id
        for change in kept
        if change.type == "merge"
        for source in change.partners[:1]
    }
    new_hits = _recalls_since(seen, current, {note.id for note in changes.put} - stale, gone_to)
    put = [
        _with_recalls(_without_new_links(note, seen[note.id], stale), new_hits.get(note.id, ()))
        for note in changes.put
        if note.id not in stale
    ]
    inspected = sum(
        1 for note in changes.put if note.id in stale and note.last_inspected_at == result.ran_at
    )
    return (
        changes._replace(put=tuple(note for note in put if note != current[note.id])),
        result_of(result.ran_at, result.inspected - inspected, kept),
    )


def _stale(
    put: Iterable[MemoryNote],
    plan: Iterable[ReflectionChange],
    seen: Mapping[str, MemoryNote],
    current: Mapping[str, MemoryNote],
) -> set[str]:
    archived = {change.note_id for change in plan if change.type == "hide"}
    stale = {
        note.id
        for note in put
        if not _same(seen[note.id], current.get(note.id), recalls_count=note.id in archived)
    }
    merges = [set(_involved(change)) for change in plan if change.type == "merge"]
    before = -1
    while before != len(stale):  # one merge not made can take the next one with it
        before = len(stale)
        for involved in merges:
            if not stale.isdisjoint(involved):
                stale |= involved
    return stale


def _same(seen: MemoryNote, now: MemoryNote | None, recalls_count: bool) -> bool:
    if now is None or recalls_count:
        return seen == now
    return seen == with_recalls_of(now, seen)


def _involved(change: ReflectionChange) -> tuple[str, ...]:
    return (change.note_id, *change.partners)


def _without_new_links(note: MemoryNote, seen: MemoryNote, stale: set[str]) -> MemoryNote:
    known = set(seen.links)
    links = tuple(link for link in note.links if link.to not in stale or link in known)
    return note if len(links) == len(note.links) else note._replace(links=links)


def _recalls_since(
    seen: Mapping[str, MemoryNote],
    current: Mapping[str, MemoryNote],
    ids: set[str],
    gone_to: Mapping[str, str],
) -> dict[str, list[Touch]]:
    """The recalls that landed meanwhile; one of a note merged away counts for its survivor too."""
    recalls: dict[str, list[Touch]] = {}
    for note_id in sorted(ids):
        before, after = seen[note_id], current[note_id]
        if after.last_accessed_at == before.last_accessed_at and after.hits == before.hits:
            continue
        new = [s for s in after.hit_sessions if s not in before.hit_sessions] or [""]
        heir: str | None = note_id
        while heir is not None:
            recalls.setdefault(heir, []).extend(
                Touch(heir, session, after.last_accessed_at) for session in new
            )
            heir = gone_to.get(heir)
    return recalls


def _with_recalls(note: MemoryNote, recalls: Iterable[Touch]) -> MemoryNote:
    for recall in recalls:
        note = touched(note, recall)
    return note
