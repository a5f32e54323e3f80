"""Records as the REST interface shows them, where that is less than the whole record."""

from collections.abc import Iterable, Mapping, Sequence

from nuggets import codec
from nuggets.codec import Json
from nuggets.records import Commit, MemoryNote

NOTES_OF_A_COMMIT = 20  # shown with before and after; an import may have written thousands


def node(note: MemoryNote) -> Json:
    """What the picture of the graph needs of a note: all but its content."""
    return {
        "id": note.id,
        "title": note.title,
        "nugget": note.nugget_name,
        "kind": note.kind,
        "type": note.type,
        "tags": list(note.tags),
        "hits": note.hits,
        "hidden": note.hidden,
        "updatedAt": note.updated_at,
        "links": [[link.to, link.reason] for link in note.links],
    }


def commit(step: Commit, only: str | None = None) -> Json:
    """A step of the history; of a large one the first notes, of one note's history that note."""
    changed = [*(note.id for note in step.changes.put), *step.changes.drop]
    shown = [only] if only is not None else changed[:NOTES_OF_A_COMMIT]
    wanted = set(shown)
    part = step._replace(
        changes=step.changes._replace(
            put=tuple(n for n in step.changes.put if n.id in wanted),
            drop=tuple(i for i in step.changes.drop if i in wanted),
        ),
        before=step.before._replace(put=tuple(n for n in step.before.put if n.id in wanted)),
    )
    return {**codec.commit_to_json(part), "noteCount": len(changed)}


def concerned(steps: Iterable[Commit]) -> set[str]:
    """Ids of the notes that the steps changed, dropped or recalled."""
    return {
        note_id
        for step in steps
        for note_id in (
            *(note.id for note in step.changes.put),
            *step.changes.drop,
            *(touch.note_id for touch in step.changes.touches),
        )
    }


def news(steps: Sequence[Commit], there: Mapping[str, MemoryNote]) -> Json:
    """What an open page has to change so that it shows these steps too.

    `there`: those of the concerned notes that are there by now; what became of them after these
    steps is told again with those. A recall makes a note larger and is no change of it, so it is
    told apart.
    """
    put = {note.id for step in steps for note in step.changes.put}
    recalled = {touch.note_id for step in steps for touch in step.changes.touches} - put
    drop = {note_id for step in steps for note_id in step.changes.drop}
    return {
        "revision": steps[-1].revision,
        "put": [node(there[note_id]) for note_id in there if note_id in put],
        "recalled": [node(there[note_id]) for note_id in there if note_id in recalled],
        "drop": sorted(drop - there.keys()),
        "steps": [_step(step) for step in steps],
    }


def activity(steps: Sequence[Commit]) -> Json:
    """What was written and recalled, without what it said."""
    return {
        "steps": [_step(step) for step in steps if _changed(step)],
        "recalls": [
            {"at": touch.at, "session": touch.session, "noteId": touch.note_id}
            for step in steps
            for touch in step.changes.touches
        ],
    }


def _step(step: Commit) -> Json:
    changes = step.changes
    return {
        "revision": step.revision,
        "at": step.at,
        "action": changes.action,
        "client": changes.client,
        "notes": len(changes.put) + len(changes.drop),
    }


def _changed(step: Commit) -> bool:
    changes = step.changes
    return bool(changes.put or changes.drop or changes.put_nuggets or changes.drop_nuggets)
