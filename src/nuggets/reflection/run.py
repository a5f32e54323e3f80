"""One pass over the notes: same input, same plan. Knows the order of the steps, not their rules."""

from collections.abc import Mapping

from nuggets.records import Changes, MemoryNote, ReflectionResult
from nuggets.reflection.draft import Draft
from nuggets.reflection.linking import link
from nuggets.reflection.merging import merge
from nuggets.reflection.outcome import Policy, result_of
from nuggets.reflection.selection import selected
from nuggets.reflection.tidying import archive, rewrite, tag
from nuggets.text import folded

STANDARD = Policy()


def reflect(
    notes: Mapping[str, MemoryNote],
    now: str,
    policy: Policy = STANDARD,
    nugget: str | None = None,
) -> tuple[Changes, ReflectionResult]:
    """What to write and what it means; `nugget` keeps the pass to one, None looks at all.

    Only selected notes are worked on, though a partner for a merge or a link may be any other
    of the same nugget. Nothing is dropped, nothing hidden is touched, and nothing is done again
    that someone took back.
    """
    draft = Draft(notes, now, policy.refused)
    name = None if nugget is None else folded(nugget)
    eligible = (
        note
        for note in notes.values()
        if not note.hidden and (name is None or folded(note.nugget_name) == name)
    )
    ids = selected(eligible, now, policy)
    archive(draft, ids, policy)
    rewrite(draft, ids)
    tag(draft, ids, policy)
    merge(draft, ids, policy)
    link(draft, ids, policy)
    draft.put(*(draft.notes[i]._replace(last_inspected_at=now) for i in ids))
    changes = Changes(put=draft.changed(), action="reflect")
    return changes, result_of(now, len(ids), draft.changes)
