"""Going back: the changes that undo a commit and nobody's later work. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from nuggets import refusals
from nuggets.errors import Conflict, NotFound
from nuggets.records import Changes, Commit, MemoryNote, NoteLink
from nuggets.state import SESSIONS_KEPT, State, merged_into, touched, with_recalls_of
from nuggets.text import folded

PURGE = "purge"
UNDO = "undo"  # the action of a commit that takes another back is this and its revision
TAKEN_IN = "take_in"
_NOBODYS = ("reflect", TAKEN_IN)  # actions that are no person's word on what a note says
HOOK = "hook"  # the door of those who note what they see
_UNASKED = ("tool_observation", "system")  # sources of what is noted without anybody doing so


def reverted(state: State, commit: Commit, since: Iterable[Commit] = ()) -> Changes:
    """What puts everything back to before the commit; `Conflict` where a later change would go.

    `since`: the commits after it, to name the one that stands in the way.

    Recalls since then stay counted: they are no change of what a note says, and neither is a
    clean-up that only looked at it or linked it. Marks stay as well: they record what happened,
    such as today's run or a line in a file that a person may edit. What a clean-up did and is
    taken back is refused from then on.
    """
    if not changes_memory(commit):
        raise Conflict(
            f"revision {commit.revision} changed no memory, or one that was purged since. A line "
            "in MEMORY.md is yours to take out: it is not written again"
        )
    notes = [*(note.id for note in commit.changes.put), *_dropped(commit)]
    after = {note.id: note for note in commit.changes.put}
    before = {note.id: note for note in commit.before.put}
    _refuse_to_lose(state, commit, {i: after.get(i) for i in notes}, since)
    _refuse_second_keys(state, commit, [before[i] for i in notes if i in before])
    _refuse_other_nuggets(state, commit)
    put = tuple(
        _as_before(commit, before[i], after.get(i), state.notes.get(i))
        for i in notes
        if i in before
    )
    return Changes(
        put=put,
        drop=tuple(i for i in notes if i not in before),
        put_nuggets=commit.before.put_nuggets,
        drop_nuggets=_unused(state, commit),
        marks=refusals.marks(state, ((state.notes[n.id], n) for n in put if n.id in state.notes)),
        action=f"{UNDO} {commit.revision}",
    )


def dropped(commits: Iterable[Commit]) -> dict[str | tuple[str, ...], str]:
    """When each id was last taken away, and each fact by its name: another shelf may know it by
    another id. An undo takes away what nobody meant to have."""
    found: dict[str | tuple[str, ...], str] = {}
    for commit in commits:
        if not commit.changes.action.startswith(UNDO):
            gone = set(commit.changes.drop)
            found.update(dict.fromkeys(gone, commit.at))
            facts = (n for n in commit.before.put if n.id in gone and n.kind == "fact")
            found.update((_fact_name(fact), commit.at) for fact in facts)
    return found


def changed_by_people(commits: Iterable[Commit]) -> dict[str, str]:
    """When somebody last did something about each note, be it to archive it or to undo a change."""
    found = {}
    for commit in commits:
        if commit.changes.action in _NOBODYS:
            continue
        before = {note.id: note for note in commit.before.put}
        for note in commit.changes.put:
            was = before.get(note.id)
            if was is None or not _same(was._replace(links=note.links), note):
                found[note.id] = commit.at
    return found


def brought(commits: Iterable[Commit]) -> dict[str, MemoryNote]:
    """Each note as it last came in from elsewhere."""
    found: dict[str, MemoryNote] = {}
    for commit in _standing(reversed(list(commits))):
        if commit.changes.action == TAKEN_IN:
            for note in commit.changes.put:
                found.setdefault(note.id, note)
    return found


def _refuse_to_lose(
    state: State,
    commit: Commit,
    after: Mapping[str, MemoryNote | None],
    since: Iterable[Commit],
) -> None:
    """What someone changed since; `after`: as the commit left it."""
    there = {note.id for note in commit.before.put}
    now = {i: state.notes.get(i) for i in after}
    now.update((i, _unlinked_since(state, now[i], after[i])) for i in after if i in there)
    later = [i for i, note in after.items() if not _same(now[i], note)]
    if not later:
        return
    loud = (one for one in _standing(reversed(list(since))) if not is_quiet(one))
    newer = next((one.revision for one in loud if any(concerns(one, i) for i in later)), None)
    which = f"revision {newer}" if newer else "the later revision"
    raise Conflict(
        f"revision {commit.revision} cannot be undone: {_some(later)} changed after it, and "
        f"that would be lost. Undo {which} first (see the history)"
    )


def _refuse_second_keys(state: State, commit: Commit, back: list[MemoryNote]) -> None:
    """Two facts by one key would answer by chance."""
    wanted = {_fact_name(note): note for note in back if note.kind == "fact"}
    own = {note.id for note in (*commit.before.put, *commit.changes.put)}
    for fact in wanted.values():
        alike = state.notes.find(
            nugget=fact.nugget_name, title=fact.title, kind="fact", project=fact.project
        )
        for other in alike:
            if other.id in own or _fact_name(other) not in wanted:
                continue
            raise Conflict(
                f"revision {commit.revision} cannot be undone: {other.nugget_name} has another "
                f"fact by the key {other.title!r:.80} now ({other.id}); forget that one first"
            )


def _refuse_other_nuggets(state: State, commit: Commit) -> None:
    """Nuggets that were made anew: their settings are somebody's later work."""
    left = {folded(config.name): config for config in commit.changes.put_nuggets}
    for config in commit.before.put_nuggets:
        fold = folded(config.name)
        if state.nuggets.get(fold) not in (config, left.get(fold)):
            raise Conflict(
                f"revision {commit.revision} cannot be undone: the nugget {config.name!r} was made "
                "anew after it, with other settings"
            )


def _unused(state: State, commit: Commit) -> tuple[str, ...]:
    """The nuggets that the commit made, but for those that others use by now."""
    own = {note.id for note in commit.changes.put}
    unused = tuple(
        name
        for name in commit.before.drop_nuggets
        if all(note.id in own for note in state.notes.find(nugget=name))
    )
    if not (own or unused or commit.before.put or commit.before.put_nuggets):
        made = ", ".join(map(repr, commit.before.drop_nuggets))
        raise Conflict(f"revision {commit.revision} only made {made}, which others use by now")
    return unused


def _fact_name(fact: MemoryNote) -> tuple[str, str, str]:
    return folded(fact.nugget_name), folded(fact.title), fact.project


def to_undo(newest_first: Iterable[Commit]) -> Commit:
    """The last thing that was done and not undone yet."""
    for commit in _standing(newest_first):
        if commit.changes.action.startswith(UNDO):
            continue
        if commit.changes.action == PURGE:
            raise NotFound(
                "the last thing that was done is a purge, which has no undo; what was done before "
                "is taken back by its number (see the history)"
            )
        if changes_memory(commit) and not _is_observation(commit):
            return commit
    raise NotFound("there is nothing to undo")


def _standing(newest_first: Iterable[Commit]) -> Iterator[Commit]:
    """What was not undone, newest first, and undos of what came before all of these: an undo and
    what it took back come to nothing together."""
    undone: dict[int, Commit] = {}
    for commit in newest_first:
        if undone.pop(commit.revision, None):
            continue  # an undo that was undone counts for nothing either
        if commit.changes.action.startswith(UNDO):
            undone[int(commit.changes.action.rpartition(" ")[2])] = commit
        else:
            yield commit
    yield from undone.values()


def _is_observation(commit: Commit) -> bool:
    """Nobody did it: a hook noted what it saw while someone worked."""
    concerned = (*commit.changes.put, *commit.before.put)
    return commit.changes.client == HOOK and all(note.source in _UNASKED for note in concerned)


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


def _unlinked_since(
    state: State, now: MemoryNote | None, after: MemoryNote | None
) -> MemoryNote | None:
    """The note without the links that it got since: they lead to it as it was just as well. Not
    so from a note that went into it, and relies on what it says."""
    if now is None or after is None:
        return now
    gained = [link for link in _gained(now, after) if now.id not in _went_into(state, link.to)]
    return now._replace(links=tuple(link for link in now.links if link not in gained))


def _went_into(state: State, note_id: str) -> list[str]:
    return merged_into(state.notes[note_id]) if note_id in state.notes else []


def _gained(now: MemoryNote, after: MemoryNote) -> list[NoteLink]:
    return [link for link in now.links if link not in after.links]


def _as_before(
    commit: Commit, before: MemoryNote, after: MemoryNote | None, now: MemoryNote | None
) -> MemoryNote:
    """The note as it was, and what was recalled or looked at since; sessions that a merge gave it
    go back."""
    for touch in commit.changes.touches:  # from before the commit, which only took them in
        if touch.note_id == before.id:
            before = touched(before, touch)
            after = after and touched(after, touch)
    if after is None or now is None:
        return before
    new = tuple(session for session in now.hit_sessions if session not in after.hit_sessions)
    quiet = now.last_accessed_at == after.last_accessed_at
    known = {(link.to, folded(link.reason)) for link in before.links}
    gained = (link for link in _gained(now, after) if (link.to, folded(link.reason)) not in known)
    before = before._replace(links=(*before.links, *gained))
    if before.last_inspected_at == after.last_inspected_at:
        before = before._replace(last_inspected_at=now.last_inspected_at)
    return before._replace(
        hits=before.hits + now.hits - after.hits,
        hit_sessions=(*before.hit_sessions, *new)[-SESSIONS_KEPT:],
        last_hit_session=new[-1] if new else before.last_hit_session,
        last_accessed_at=before.last_accessed_at if quiet else now.last_accessed_at,
    )


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
