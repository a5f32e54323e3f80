"""Reflection: plans the daily clean-up from the notes alone, in steps. Knows no store, clock or
chance: the same input gives the same plan.
"""

from collections.abc import Mapping

from nuggets.domain.records import Changes, MemoryNote, ReflectionChange, ReflectionResult
from nuggets.language.text import fold_case
from nuggets.maintenance.reflection.archiving_tidying_tagging import (
    archive,
    rewrite,
    select_notes,
    tag,
)
from nuggets.maintenance.reflection.linking_and_merging import (
    Plan,
    Policy,
    link,
    merge,
    result_of,
)

__all__ = ["Policy", "ReflectionChange", "ReflectionResult", "part_that_holds", "reflect"]

STANDARD = Policy()


def reflect(
    notes: Mapping[str, MemoryNote],
    now: str,
    policy: Policy = STANDARD,
    nugget: str | None = None,
) -> tuple[Changes, ReflectionResult]:
    """The changes and the result; `nugget` limits the pass to one nugget, None means all.

    Only selected notes are inspected, but any note of the same nugget may be the partner of a
    merge or a link. No note is deleted, archived notes are not changed, and a change that someone
    undid is not proposed again.
    """
    plan = Plan(notes, now, policy.rejected)
    name = None if nugget is None else fold_case(nugget)
    eligible = (
        note
        for note in notes.values()
        if not note.hidden and (name is None or fold_case(note.nugget_name) == name)
    )
    ids = select_notes(eligible, now, policy)
    archive(plan, ids)
    rewrite(plan, ids)
    tag(plan, ids)
    merge(plan, ids)
    link(plan, ids)
    plan.put(*(plan.notes[i]._replace(last_inspected_at=now) for i in ids))
    changes = Changes(put=plan.changed_notes(), action="reflect")
    return changes, result_of(now, len(ids), plan.changes)


def part_that_holds(
    found: Mapping[str, MemoryNote],
    current: Mapping[str, MemoryNote],
    changes: Changes,
    result: ReflectionResult,
) -> tuple[Changes, ReflectionResult]:
    """A plan without the notes that are not as they were found, and without what it links to them
    or merges with them; the next pass sees to these."""
    planned = {note.id: note for note in changes.put}
    linked = {
        i: {link.to for link in {*note.links} ^ {*found[i].links}} for i, note in planned.items()
    }
    waiting = [i for i in planned if current.get(i) != found[i]]
    moved: set[str] = set()
    while waiting:
        note_id = waiting.pop()
        if note_id in planned and note_id not in moved:
            moved.add(note_id)
            waiting += linked[note_id]
            waiting += (i for i, others in linked.items() if note_id in others)
    put = tuple(note for note in changes.put if note.id not in moved)
    inspected = result.inspected - sum(planned[i].last_inspected_at == result.ran_at for i in moved)
    done = (c for c in result.changes if moved.isdisjoint((c.note_id, *c.partners)))
    return changes._replace(put=put), result_of(result.ran_at, inspected, done)
