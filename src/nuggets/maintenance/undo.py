"""Undo: the changes that revert a commit without losing later changes. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from nuggets.domain.marks import RUN_MARK, rejection_marks
from nuggets.domain.names_and_tags import identity_of
from nuggets.domain.records import Changes, Commit, MemoryNote, NoteLink
from nuggets.domain.state import SESSIONS_KEPT, State, apply_touch, merged_into, with_recalls_of
from nuggets.domain.visibility import is_foreign
from nuggets.errors import Conflict, NotFound
from nuggets.language.text import fold_case
from nuggets.maintenance.promotion.entries import reverted_pins
from nuggets.maintenance.promotion.written_entries import unchanged_files, without_taken_out
from nuggets.operations.notes_and_links import link_identity

PURGE = "purge"
UNDO = "undo"  # an undo commit has the action "undo <revision of the undone commit>"
IMPORT = "import_memories"
_AUTOMATIC_ACTIONS = ("reflect", IMPORT)  # actions in which no person edited a note
UPKEEP = ("keep_session", "promote", "take_in_shared")  # actions that no person asks for by name
# the clients of edits of MEMORY.md and of the documented files, which a person made
EDITED_FILES = ("memory file", "file")
ATTENDED = ("cli", "page")  # clients behind which that person may be
_CHANGES_NAMED = 3  # changes of others that an error names


def revert(state: State, commit: Commit, since: Iterable[Commit] = ()) -> Changes:
    """The changes that restore the state before the commit.

    `Conflict` if a later change would be lost.

    `since`: the commits after it, so that the error can name the conflicting one.

    Recalls since then stay counted: they are no change of what a note says, and neither is a
    clean-up that only looked at it or linked it. Marks other than pins stay
    as well: they record what happened, such as today's run or a line in a file that a person may
    edit. What a clean-up did and is
    taken back is refused from then on.
    """
    if not changes_memory(commit):
        raise Conflict(
            f"revision {commit.revision} changed no memory, or one that was purged since. A line "
            "in MEMORY.md is yours to take out: it is not written again"
        )
    notes = [*(note.id for note in commit.changes.put), *_dropped_ids(commit)]
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
        drop_nuggets=_unused_nuggets(state, commit),
        marks={
            **rejection_marks(state, ((state.notes[n.id], n) for n in put if n.id in state.notes)),
            **reverted_pins(commit.changes.marks, commit.before.marks),
            **without_taken_out(state.marks, commit.changes.marks, commit.before.marks),
        },
        action=f"{UNDO} {commit.revision}",
    )


def drop_times(commits: Iterable[Commit]) -> dict[str | tuple[str, ...], str]:
    """When each note id was last dropped, and each fact by its identity, because another shelf may
    know the fact by another id. Drops made by an undo do not count."""
    times: dict[str | tuple[str, ...], str] = {}
    for commit in commits:
        if not commit.changes.action.startswith(UNDO):
            ids = set(commit.changes.drop)
            times.update(dict.fromkeys(ids, commit.at))
            facts = (n for n in commit.before.put if n.id in ids and n.kind == "fact")
            times.update((identity_of(fact), commit.at) for fact in facts)
    return times


def changed_by_people(commits: Iterable[Commit]) -> dict[str, str]:
    """When a person last changed each note; archiving it or undoing a change counts."""
    times = {}
    for commit in commits:
        if commit.changes.action in _AUTOMATIC_ACTIONS:
            continue
        before = {note.id: note for note in commit.before.put}
        for note in commit.changes.put:
            was = before.get(note.id)
            if was is None or not _says_the_same(was._replace(links=note.links), note):
                times[note.id] = commit.at
    return times


def imported_notes(commits: Iterable[Commit]) -> dict[str, MemoryNote]:
    """Each note as the last import from another shelf stored it."""
    notes: dict[str, MemoryNote] = {}
    for commit in _not_undone(reversed(list(commits))):
        if commit.changes.action == IMPORT:
            for note in commit.changes.put:
                notes.setdefault(note.id, note)
    return notes


def _refuse_to_lose(
    state: State,
    commit: Commit,
    after: Mapping[str, MemoryNote | None],
    since: Iterable[Commit],
) -> None:
    """Raise `Conflict` if a note was changed since; `after`: the notes as the commit left them."""
    existed_before = {note.id for note in commit.before.put}
    now = {i: state.notes.get(i) for i in after}
    now.update(
        (i, _without_later_links(state, now[i], after[i])) for i in after if i in existed_before
    )
    later = [i for i, note in after.items() if not _says_the_same(now[i], note)]
    if not later:
        return
    noticeable = (change for change in _not_undone(reversed(list(since))) if not is_quiet(change))
    newer = next(
        (change.revision for change in noticeable if any(concerns(change, i) for i in later)), None
    )
    which = f"revision {newer}" if newer else "the later revision"
    raise Conflict(
        f"revision {commit.revision} cannot be undone: {_abbreviate(later)} changed after it, and "
        f"that would be lost. Undo {which} first (see the history)"
    )


def _refuse_second_keys(state: State, commit: Commit, back: list[MemoryNote]) -> None:
    """Raise `Conflict` if the undo would create a second fact with the same key."""
    wanted = {identity_of(note): note for note in back if note.kind == "fact"}
    own = {note.id for note in (*commit.before.put, *commit.changes.put)}
    for fact in wanted.values():
        same_key = state.notes.find(
            nugget=fact.nugget_name, title=fact.title, kind="fact", project=fact.project
        )
        for fact_now in same_key:
            if fact_now.id in own or identity_of(fact_now) not in wanted:
                continue
            raise Conflict(
                f"revision {commit.revision} cannot be undone: {fact_now.nugget_name} has another "
                f"fact by the key {fact_now.title!r:.80} now ({fact_now.id}); forget that one first"
            )


def _refuse_other_nuggets(state: State, commit: Commit) -> None:
    """Raise `Conflict` if a nugget was created again since, with other settings."""
    left = {fold_case(config.name): config for config in commit.changes.put_nuggets}
    for config in commit.before.put_nuggets:
        fold = fold_case(config.name)
        if state.nuggets.get(fold) not in (config, left.get(fold)):
            raise Conflict(
                f"revision {commit.revision} cannot be undone: the nugget {config.name!r} was made "
                "anew after it, with other settings"
            )


def _unused_nuggets(state: State, commit: Commit) -> tuple[str, ...]:
    """The nuggets that the commit created and that no other note uses now."""
    own = {note.id for note in commit.changes.put}
    unused = tuple(
        name
        for name in commit.before.drop_nuggets
        if all(note.id in own for note in state.notes.find(nugget=name))
    )
    if not (own or unused or commit.before.put or commit.before.put_nuggets):
        names = ", ".join(map(repr, commit.before.drop_nuggets))
        raise Conflict(f"revision {commit.revision} only names {names}, which others use by now")
    return unused


def last_to_undo(newest_first: Iterable[Commit], is_own: Callable[[Commit], bool]) -> Commit | None:
    """The caller's last commit that changed memory and is not undone.

    `NotFound` if it is a purge.
    """
    for commit in _not_undone(newest_first):
        if commit.changes.action.startswith(UNDO) or not is_own(commit):
            continue
        if commit.changes.action == PURGE and commit.changes.drop:
            raise NotFound(
                "the last change is a purge, which cannot be undone; undo an earlier change by its "
                "number (see the history)"
            )
        if changes_memory(commit):
            return commit
    return None


def last_change_of(commits: Callable[[], Iterable[Commit]], client: str, project: str) -> Commit:
    """The last commit of this client that changed something in this project and is not undone.

    `commits`: reads the history, newest first. `NotFound` names the last changes of others.
    """

    def is_own(commit: Commit) -> bool:
        by_person = commit.changes.client in EDITED_FILES and client in ATTENDED
        is_mine = commit.changes.client == client or by_person
        return is_mine and is_in_project(commit, project) and not is_upkeep(commit)

    if (own := last_to_undo(commits(), is_own)) is not None:
        return own
    others = ", ".join(
        f"{commit.revision} ({commit.changes.action} from {commit.changes.client or '?'})"
        for commit in islice(changes_in_effect(commits()), _CHANGES_NAMED)
    )
    if not others:
        raise NotFound("there is nothing to undo")
    raise NotFound(
        f"there is nothing to undo from {client} in this project; by others or in other projects: "
        f"{others}. Undo one of them by its number"
    )


def is_upkeep(commit: Commit) -> bool:
    """Did nobody ask for it: the daily clean-up, the note of a session, a line of MEMORY.md?"""
    return commit.changes.action in UPKEEP or RUN_MARK in commit.changes.marks


def is_in_project(commit: Commit, project: str) -> bool:
    """Did it change a memory that this project sees? A commit without notes is in every one."""
    notes = (*commit.changes.put, *commit.before.put)
    return not notes or any(not is_foreign(note, project) for note in notes)


def changes_in_effect(newest_first: Iterable[Commit]) -> Iterator[Commit]:
    """The commits that changed memory and are neither undone nor an undo."""
    return (
        commit
        for commit in _not_undone(newest_first)
        if changes_memory(commit) and not commit.changes.action.startswith(UNDO)
    )


def _not_undone(newest_first: Iterable[Commit]) -> Iterator[Commit]:
    """The commits that are not undone, newest first. An undo and the commit that it reverted are
    both left out; undos of commits that are not in the list come last."""
    undone: dict[int, Commit] = {}
    for commit in newest_first:
        if undone.pop(commit.revision, None):
            continue  # undone; if it was an undo itself, it has no effect
        if commit.changes.action.startswith(UNDO):
            undone[int(commit.changes.action.rpartition(" ")[2])] = commit
        else:
            yield commit
    yield from undone.values()


def changes_memory(commit: Commit) -> bool:
    """Does it change a note or a nugget visibly, beyond counted recalls and inspections?"""
    before = {note.id: note for note in commit.before.put}
    changes = commit.changes
    return bool(_dropped_ids(commit) or changes.put_nuggets or changes.drop_nuggets) or any(
        not _says_the_same(before.get(note.id), note) for note in changes.put
    )


def is_quiet(commit: Commit) -> bool:
    """Does it contain only counted recalls, inspections, and runs that changed nothing?"""
    after, before = commit.changes.marks, commit.before.marks
    changed = after.keys() - {RUN_MARK}  # a daily run that changed nothing
    changed -= unchanged_files(after, before)  # a promotion that wrote nothing
    return not (changes_memory(commit) or commit.changes.drop or changed)


def _dropped_ids(commit: Commit) -> list[str]:
    """The ids that it dropped, except purged notes, which cannot be restored."""
    restorable = {note.id for note in commit.before.put}
    return [note_id for note_id in commit.changes.drop if note_id in restorable]


def concerns(commit: Commit, note_id: str) -> bool:
    """Did the commit change this note?"""
    return note_id in commit.changes.drop or any(n.id == note_id for n in commit.changes.put)


def _says_the_same(note: MemoryNote | None, other: MemoryNote | None) -> bool:
    """Are they equal, apart from counted recalls and inspections?"""
    if note is None or other is None:
        return note is other
    looked_at = note._replace(last_inspected_at=other.last_inspected_at)
    return with_recalls_of(looked_at, other) == other


def _without_later_links(
    state: State, now: MemoryNote | None, after: MemoryNote | None
) -> MemoryNote | None:
    """The note without the links that were added since, which are no conflict. Links from a note
    that was merged into it stay, because that note relies on its content."""
    if now is None or after is None:
        return now
    gained = [
        link for link in _new_links(now, after) if now.id not in _merge_targets(state, link.to)
    ]
    return now._replace(links=tuple(link for link in now.links if link not in gained))


def _merge_targets(state: State, note_id: str) -> list[str]:
    return merged_into(state.notes[note_id]) if note_id in state.notes else []


def _new_links(now: MemoryNote, after: MemoryNote) -> list[NoteLink]:
    return [link for link in now.links if link not in after.links]


def _as_before(
    commit: Commit, before: MemoryNote, after: MemoryNote | None, now: MemoryNote | None
) -> MemoryNote:
    """The note as it was before the commit, with the recalls, links and inspections since; hits
    that a merge added are removed again."""
    for touch in commit.changes.touches:  # they happened before the commit, which only counted them
        if touch.note_id == before.id:
            before = apply_touch(before, touch)
            after = after and apply_touch(after, touch)
    if after is None or now is None:
        return before
    new_sessions = tuple(
        session for session in now.hit_sessions if session not in after.hit_sessions
    )
    not_recalled = now.last_accessed_at == after.last_accessed_at
    linked_before = {link_identity(link) for link in before.links}
    gained = (link for link in _new_links(now, after) if link_identity(link) not in linked_before)
    before = before._replace(links=(*before.links, *gained))
    if before.last_inspected_at == after.last_inspected_at:
        before = before._replace(last_inspected_at=now.last_inspected_at)
    return before._replace(
        hits=before.hits + now.hits - after.hits,
        hit_sessions=(*before.hit_sessions, *new_sessions)[-SESSIONS_KEPT:],
        last_hit_session=new_sessions[-1] if new_sessions else before.last_hit_session,
        last_accessed_at=before.last_accessed_at if not_recalled else now.last_accessed_at,
    )


def _abbreviate(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
