"""Summaries of notes and commits for the page: less than the whole records."""

from collections.abc import Iterable, Mapping, Sequence

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.domain.records import Commit, CommitSummary, MemoryNote

NOTES_OF_A_COMMIT = 20  # shown with before and after; an import may have written thousands


def node(note: MemoryNote) -> Json:
    """What the map needs of a note: everything but its content."""
    return {
        "id": note.id,
        "title": note.title,
        "nugget": note.nugget_name,
        "kind": note.kind,
        "type": note.type,
        "tags": list(note.tags),
        "hits": note.hits,
        "hidden": note.hidden,
        "scope": note.scope,
        "project": note.project,
        "updatedAt": note.updated_at,
        "links": [[link.to, link.reason] for link in note.links],
    }


def commit(step: Commit, only: str | None = None) -> Json:
    """A step of the history; of a large one the first notes, of one note's history that note."""
    changed = [*(note.id for note in step.changes.put), *step.changes.drop]
    note_ids = {only} if only is not None else set(changed[:NOTES_OF_A_COMMIT])
    part = step._replace(
        changes=step.changes._replace(
            put=tuple(n for n in step.changes.put if n.id in note_ids),
            drop=tuple(i for i in step.changes.drop if i in note_ids),
        ),
        before=step.before._replace(put=tuple(n for n in step.before.put if n.id in note_ids)),
    )
    return {**codec.commit_to_json(part), "noteCount": len(changed)}


def changed_note_ids(steps: Iterable[Commit]) -> set[str]:
    """Ids of the notes that the steps changed, deleted or recalled."""
    return {
        note_id
        for step in steps
        for note_id in (
            *(note.id for note in step.changes.put),
            *step.changes.drop,
            *(touch.note_id for touch in step.changes.touches),
        )
    }


def update(
    since: int, revision: int, steps: Sequence[Commit], current: Mapping[str, MemoryNote]
) -> Json:
    """What an open page has to change so that it shows these steps between two revisions too.

    `current`: the notes that these steps changed or recalled, as they are now. Recalled notes are
    listed apart, because a recall adds a hit and changes nothing else.
    """
    put = {note.id for step in steps for note in step.changes.put}
    recalled = {touch.note_id for step in steps for touch in step.changes.touches} - put
    drop = {note_id for step in steps for note_id in step.changes.drop}
    return {
        "since": since,
        "revision": revision,
        "put": [node(current[note_id]) for note_id in current if note_id in put],
        "recalled": [node(current[note_id]) for note_id in current if note_id in recalled],
        "drop": sorted(drop - current.keys()),
        "steps": activity([_summary(step) for step in steps])["steps"],
    }


def activity(steps: Sequence[CommitSummary]) -> Json:
    """What was written and recalled, without what it said."""
    return {
        "steps": [
            {
                "revision": step.revision,
                "at": step.at,
                "action": step.action,
                "client": step.client,
                "notes": step.notes,
            }
            for step in steps
            if step.notes or step.changes_nuggets
        ],
        "recalls": [
            {"at": touch.at, "session": touch.session, "noteId": touch.note_id}
            for step in steps
            for touch in step.touches
        ],
    }


def _summary(step: Commit) -> CommitSummary:
    changes = step.changes
    return CommitSummary(
        step.revision,
        step.at,
        changes.action,
        changes.client,
        len(changes.put) + len(changes.drop),
        bool(changes.put_nuggets or changes.drop_nuggets),
        changes.touches,
    )
