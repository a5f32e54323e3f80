"""Undo: the changes that revert a commit without losing later changes. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nuggets.domain.marks import FILE_MARK, RUN_MARK, rejection_marks
from nuggets.domain.names_and_tags import identity_of
from nuggets.domain.records import Changes, Commit, LeftNote, MemoryNote, NoteLink
from nuggets.domain.state import SESSIONS_KEPT, State, apply_touch, merged_into, with_recalls_of
from nuggets.domain.visibility import is_foreign
from nuggets.errors import Conflict, NotFound
from nuggets.language.text import fold_case
from nuggets.maintenance.promotion.entries import reverted_pins, without_taken_out
from nuggets.maintenance.reflection.linking_and_merging import with_whole_groups
from nuggets.operations.notes_and_links import link_identity
from nuggets.operations.shelf_import import ShelfPast

PURGE = "purge"
UNDO = "undo"  # an undo commit has the action "undo <revision of the undone commit>"
IMPORT = "import_memories"
REFLECT = "reflect"
_AUTOMATIC_ACTIONS = (REFLECT, IMPORT)  # actions in which no person edited a note
UPKEEP = ("keep_session", "promote", "take_in_shared")  # actions that no person asks for by name
# the clients of edits of MEMORY.md and of the documented files, which a person made
EDITED_FILES = ("memory file", "file")
ATTENDED = ("cli", "page")  # clients behind which that person may be


def revert(state: State, commit: Commit, since: Iterable[Commit] = ()) -> tuple[Changes, Commit]:
    """The changes that restore the state before the commit, and what they take back of it.

    Of a clean-up, notes that changed since are left as they are (`Commit.left`), and a merge with
    one of them as a whole. Of anything else all is taken back, or nothing: `Conflict` if a later
    change would be lost. `since`: the commits after it, so that the conflicting one can be named.

    Recalls since then stay counted: they are no change of what a note says, and neither is a
    clean-up that only looked at it or linked it. Marks other than pins stay as well: they record
    what happened, such as today's run or a line in a file that a person may edit. What a clean-up
    did and is taken back is refused from then on.
    """
    if not changes_memory(commit):
        raise Conflict(
            f"revision {commit.revision} changed no memory, or one that was purged since. A line "
            "in MEMORY.md is yours to take out: it is not written again"
        )
    part = _without_changed_since(state, commit, since)
    _refuse_other_nuggets(state, part)
    notes = [*(note.id for note in part.changes.put), *_dropped_ids(part)]
    after = {note.id: note for note in part.changes.put}
    before = {note.id: note for note in part.before.put}
    put = tuple(
        _as_before(part, before[i], after.get(i), state.notes.get(i)) for i in notes if i in before
    )
    changes = Changes(
        put=put,
        drop=tuple(i for i in notes if i not in before),
        put_nuggets=part.before.put_nuggets,
        drop_nuggets=_unused_nuggets(state, part),
        marks={
            **rejection_marks(state, ((state.notes[n.id], n) for n in put if n.id in state.notes)),
            **reverted_pins(part.changes.marks, part.before.marks),
            **without_taken_out(state.marks, part.changes.marks, part.before.marks),
        },
        action=f"{UNDO} {part.revision}",
    )
    return changes, part


def recorded_past(commits: Iterable[Commit]) -> ShelfPast:
    """When people last changed each note (archiving it or undoing a change counts), when each was
    last dropped (an undo does not count), and each as the last import stored it. A fact that was
    dropped is also known by its identity, because another shelf may know it by another id."""
    changed: dict[str, str] = {}
    gone: dict[Any, str] = {}
    brought: dict[str, MemoryNote] = {}
    oldest_first = list(commits)
    for commit in oldest_first:
        before = {note.id: note for note in commit.before.put}
        if not commit.changes.action.startswith(UNDO):
            ids = set(commit.changes.drop)
            facts = (n for n in before.values() if n.id in ids and n.kind == "fact")
            gone.update(dict.fromkeys((*ids, *map(identity_of, facts)), commit.at))
        if commit.changes.action not in _AUTOMATIC_ACTIONS:
            for note in commit.changes.put:
                was = before.get(note.id)
                if was is None or not _says_the_same(was._replace(links=note.links), note):
                    changed[note.id] = commit.at
    for commit in _not_undone(reversed(oldest_first)):
        if commit.changes.action == IMPORT:
            for note in commit.changes.put:
                brought.setdefault(note.id, note)
    return ShelfPast(changed, gone, brought)


def _without_changed_since(state: State, commit: Commit, since: Iterable[Commit]) -> Commit:
    """The commit without the notes that must stay as they are now; `Conflict` if that is not part
    of a clean-up, or all of it."""
    changed, second_keys = _changed_since(state, commit), _second_keys(state, commit)
    if not (changed or second_keys):
        return commit
    stay = with_whole_groups({*changed, *second_keys}, _merges(commit))
    after = {note.id: note for note in commit.changes.put}
    before = {note.id: note for note in commit.before.put}
    newest = _last_changes(since)
    reasons = {i: "merged with a note that changed since" for i in stay}
    reasons |= {**dict.fromkeys(changed, "changed since"), **second_keys}
    part = commit._replace(
        changes=commit.changes._replace(put=tuple(n for n in after.values() if n.id not in stay)),
        before=commit.before._replace(
            put=tuple(
                _with_links_to(n, after.get(n.id), stay)
                for n in before.values()
                if n.id not in stay
            )
        ),
        left=tuple(
            LeftNote(i, note.title, reasons[i], newest.get(i, 0) if i in changed else 0)
            for i, note in after.items()
            # neither what it only looked at, nor what was taken back already
            if i in stay and not _says_the_same(before.get(i), note)
            if not _says_the_same(before.get(i), state.notes.get(i))
        ),
    )
    if commit.changes.action == REFLECT and changes_memory(part):
        return part
    refused = f"revision {commit.revision} cannot be undone"
    if not changed:
        raise Conflict(f"{refused}: {next(iter(second_keys.values()))}; forget that one first")
    newer = next((revision for i, revision in newest.items() if i in changed), 0)
    which = f"revision {newer}" if newer else "the later revision"
    raise Conflict(
        f"{refused}: {', '.join(changed[:3])} changed after it, and that would be lost. "
        f"Undo {which} first (see the history)"
    )


def _with_links_to(before: MemoryNote, after: MemoryNote | None, stay: set[str]) -> MemoryNote:
    """The note before, with the links that it has after to those that stay as they are."""
    if after is None:
        return before
    links = [link for link in before.links if link.to not in stay]
    return before._replace(links=(*links, *(link for link in after.links if link.to in stay)))


def _changed_since(state: State, commit: Commit) -> list[str]:
    """The notes that no longer are as the commit left them."""
    after: dict[str, MemoryNote | None] = {note.id: note for note in commit.changes.put}
    after |= dict.fromkeys(_dropped_ids(commit))
    was_there = {note.id for note in commit.before.put}
    changed = []
    for note_id, note in after.items():
        now = state.notes.get(note_id)
        if now is not None and note is not None and note_id in was_there:
            later = _links_since(state, now, note)
            now = now._replace(links=tuple(link for link in now.links if link not in later))
        if not _says_the_same(now, note):
            changed.append(note_id)
    return changed


def _last_changes(since: Iterable[Commit]) -> dict[str, int]:
    """The last revision in effect of each note that was changed, the newest first."""
    last: dict[str, int] = {}
    for commit in _not_undone(reversed(list(since))):
        if not is_quiet(commit):
            for note_id in (*(note.id for note in commit.changes.put), *commit.changes.drop):
                last.setdefault(note_id, commit.revision)
    return last


def _merges(commit: Commit) -> list[set[str]]:
    """The notes of each merge: the source, the survivor, and those that were linked with it."""
    before = {note.id: note for note in commit.before.put if not note.hidden}
    return [
        {source.id, *merged_into(source), *(link.to for link in before[source.id].links)}
        for source in commit.changes.put
        if source.id in before and merged_into(source)
    ]


def _second_keys(state: State, commit: Commit) -> dict[str, str]:
    """The facts whose key another fact has now, which the undo would make a second one of."""
    own = {note.id for note in (*commit.before.put, *commit.changes.put)}
    found = {}
    for fact in commit.before.put:
        if fact.kind != "fact":
            continue
        for other in state.notes.find(
            nugget=fact.nugget_name, title=fact.title, kind="fact", project=fact.project
        ):
            if other.id not in own and identity_of(other) == identity_of(fact):
                found[fact.id] = (
                    f"{other.nugget_name} has another fact by the key {other.title!r:.80} now "
                    f"({other.id})"
                )
    return found


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


def last_change_of(newest_first: Iterable[Commit], client: str, project: str) -> Commit:
    """The last commit of this client that changed something in this project and is not undone."""

    def is_own(commit: Commit) -> bool:
        by_person = commit.changes.client in EDITED_FILES and client in ATTENDED
        is_mine = commit.changes.client == client or by_person
        return is_mine and is_in_project(commit, project) and not is_upkeep(commit)

    own = last_to_undo(newest_first, is_own)
    if own is not None:
        return own
    raise NotFound(
        f"there is nothing to undo from {client} in this project; undo a change of others, or in "
        "another project, by its number (see the history)"
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
    """Does it contain only counted recalls, inspections, runs that changed nothing, and how memory
    files were left?"""
    marks = (mark for mark in commit.changes.marks if not mark.startswith(FILE_MARK))
    changed = [mark for mark in marks if mark != RUN_MARK]
    return not (changes_memory(commit) or commit.changes.drop or changed)


def _dropped_ids(commit: Commit) -> list[str]:
    """The ids that it dropped, except purged notes, which cannot be restored."""
    restorable = {note.id for note in commit.before.put}
    return [note_id for note_id in commit.changes.drop if note_id in restorable]


def _says_the_same(note: MemoryNote | None, other: MemoryNote | None) -> bool:
    """Are they equal, apart from counted recalls and inspections?"""
    if note is None or other is None:
        return note is other
    looked_at = note._replace(last_inspected_at=other.last_inspected_at)
    return with_recalls_of(looked_at, other) == other


def _links_since(state: State, now: MemoryNote, after: MemoryNote) -> list[NoteLink]:
    """The links that were added since, which are no conflict; not those from a note that was merged
    into it, because that note relies on its content."""
    links = [link for link in now.links if link not in after.links]
    others = state.notes.many(link.to for link in links)
    return [
        link
        for link in links
        if link.to not in others or now.id not in merged_into(others[link.to])
    ]


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
    new_links = (link for link in now.links if link not in after.links)
    gained = (link for link in new_links if link_identity(link) not in linked_before)
    before = before._replace(links=(*before.links, *gained))
    if before.last_inspected_at == after.last_inspected_at:
        before = before._replace(last_inspected_at=now.last_inspected_at)
    return before._replace(
        hits=before.hits + now.hits - after.hits,
        hit_sessions=(*before.hit_sessions, *new_sessions)[-SESSIONS_KEPT:],
        last_hit_session=new_sessions[-1] if new_sessions else before.last_hit_session,
        last_accessed_at=before.last_accessed_at if not_recalled else now.last_accessed_at,
    )
