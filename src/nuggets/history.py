"""Going back: the changes that undo a commit and nobody's later work. Pure."""

from collections.abc import Iterable, Mapping

from nuggets.errors import Conflict, NotFound
from nuggets.records import NO_EXTRA, Changes, Commit, MemoryNote
from nuggets.state import SESSIONS_KEPT, State, touched, with_recalls_of
from nuggets.text import folded

UNDO = "undo"  # the action of a commit that takes another back is this and its revision
CLEAN_UP = "reflect"  # the action of a clean-up
# A mark: the notes that a clean-up was taken back from, with the time of their last change.
LEFT_ALONE = "left_alone"


def reverted(state: State, commit: Commit) -> Changes:
    """What puts everything back to before the commit; `Conflict` where a later change would go.

    Recalls since then stay counted: they are no change of what a note says, and neither is a
    clean-up that only looked at it. Marks stay as well: they record what happened, such as
    today's run or a line in a file that a person may edit. After a clean-up a new one says
    that its notes are to be left alone.
    """
    if not changes_memory(commit):
        raise Conflict(
            f"revision {commit.revision} changed no memory, or one that was purged since. A line "
            "in MEMORY.md is yours to take out: it is not written again"
        )
    notes = [*(note.id for note in commit.changes.put), *_dropped(commit)]
    after = {note.id: note for note in commit.changes.put}
    before = {note.id: note for note in commit.before.put}
    later = [i for i in notes if not _same(state.notes.get(i), after.get(i))]
    if later:
        raise Conflict(
            f"revision {commit.revision} cannot be undone: {_some(later)} changed after it, and "
            "that would be lost. Undo the later revision first (see the history)"
        )
    for name in commit.before.drop_nuggets:
        fold = folded(name)
        strangers = [
            n.id
            for n in state.notes.values()
            if folded(n.nugget_name) == fold and n.id not in after
        ]
        if strangers:
            raise Conflict(
                f"revision {commit.revision} made the nugget {name!r}, which now also holds "
                f"{_some(strangers)}; undo or remove those first"
            )
    return Changes(
        put=tuple(
            _with_recalls_since(commit, before[i], after.get(i), state.notes.get(i))
            for i in notes
            if i in before
        ),
        drop=tuple(i for i in notes if i not in before),
        put_nuggets=commit.before.put_nuggets,
        drop_nuggets=commit.before.drop_nuggets,
        marks=_marks(state, commit),
        action=f"{UNDO} {commit.revision}",
    )


def _marks(state: State, commit: Commit) -> Mapping[str, Mapping[str, str]]:
    """Whoever takes a clean-up back does not want it done again the next day."""
    after = {note.id: note for note in commit.changes.put}
    back = {n.id: n.updated_at for n in commit.before.put if not _same(n, after.get(n.id))}
    left = left_alone(state)
    if commit.changes.action == CLEAN_UP:
        return {LEFT_ALONE: left | back}
    if LEFT_ALONE in commit.changes.marks:  # it was undone, and now done again
        return {LEFT_ALONE: {i: at for i, at in left.items() if i not in back}}
    return NO_EXTRA


def left_alone(state: State) -> dict[str, str]:
    """Notes that no clean-up may touch until somebody changes them."""
    known = state.marks.get(LEFT_ALONE, {}).items()
    return {i: at for i, at in known if i in state.notes and state.notes[i].updated_at == at}


def to_undo(newest_first: Iterable[Commit]) -> Commit:
    """The last thing that was done and not undone yet."""
    undone: set[int] = set()
    for commit in newest_first:
        if commit.revision in undone:
            continue  # an undo that was undone counts for nothing either
        if commit.changes.action.startswith(UNDO):
            undone.add(int(commit.changes.action.rpartition(" ")[2]))
        elif changes_memory(commit):
            return commit
    raise NotFound("there is nothing to undo")


def changes_memory(commit: Commit) -> bool:
    """Does it change any note or nugget in a way that someone would notice?"""
    before = {note.id: note for note in commit.before.put}
    changes = commit.changes
    return bool(_dropped(commit) or changes.put_nuggets or changes.drop_nuggets) or any(
        not _same(before.get(note.id), note) for note in changes.put
    )


def is_quiet(commit: Commit) -> bool:
    """Recalls were counted or notes looked at: nothing that anyone would call a change."""
    return not (changes_memory(commit) or commit.changes.drop or commit.changes.marks)


def _dropped(commit: Commit) -> list[str]:
    """The notes it took away, but for those that were purged: nothing can bring them back."""
    kept = {note.id for note in commit.before.put}
    return [note_id for note_id in commit.changes.drop if note_id in kept]


def concerns(commit: Commit, note_id: str) -> bool:
    """Did the commit change this note?"""
    return note_id in commit.changes.drop or any(n.id == note_id for n in commit.changes.put)


def _same(note: MemoryNote | None, other: MemoryNote | None) -> bool:
    """Whether they say the same, recalled or looked at by a clean-up as they may be."""
    if note is None or other is None:
        return note is other
    looked_at = note._replace(last_inspected_at=other.last_inspected_at)
    return with_recalls_of(looked_at, other) == other


def _with_recalls_since(
    commit: Commit, before: MemoryNote, after: MemoryNote | None, now: MemoryNote | None
) -> MemoryNote:
    """The note as it was, and what was recalled since; sessions that a merge gave it go back."""
    for touch in commit.changes.touches:  # from before the commit, which only took them in
        if touch.note_id == before.id:
            before = touched(before, touch)
            after = after and touched(after, touch)
    if after is None or now is None:
        return before
    new = tuple(session for session in now.hit_sessions if session not in after.hit_sessions)
    quiet = now.last_accessed_at == after.last_accessed_at
    return before._replace(
        hits=before.hits + now.hits - after.hits,
        hit_sessions=(*before.hit_sessions, *new)[-SESSIONS_KEPT:],
        last_hit_session=new[-1] if new else before.last_hit_session,
        last_accessed_at=before.last_accessed_at if quiet else now.last_accessed_at,
    )


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
