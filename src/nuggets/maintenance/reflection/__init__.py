"""Reflection: plans the daily clean-up from the notes alone, in steps. Knows no store, clock or
chance: the same input gives the same plan."""

from collections.abc import Mapping

from nuggets.domain.records import Changes, MemoryNote, ReflectionChange, ReflectionResult
from nuggets.language.text import fold_case
from nuggets.maintenance.reflection.linking_and_merging import link, merge
from nuggets.maintenance.reflection.plan import Plan, Policy, result_of, still_valid
from nuggets.maintenance.reflection.tidying import archive, rewrite, select_notes, tag

__all__ = ["Policy", "ReflectionChange", "ReflectionResult", "reflect", "still_valid"]

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
    unmerged = merge(plan, ids)
    link(plan, ids, unmerged)
    plan.put(*(plan.notes[i]._replace(last_inspected_at=now) for i in ids))
    changes = Changes(put=plan.changed_notes(), action="reflect")
    return changes, result_of(now, len(ids), plan.changes)
