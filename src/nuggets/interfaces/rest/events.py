"""Live changes as server-sent events: an open page shows what any process writes. And the summaries
of notes and commits that the page gets instead of the whole records."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.domain.records import Commit, CommitSummary, MemoryNote
from nuggets.errors import NuggetsError
from nuggets.interfaces.request_shelf import is_still_member, shelf_of_request
from nuggets.shelf import NuggetShelf

# --- summaries of notes and commits ---------------------------------------------------------------


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


# --- live changes ---------------------------------------------------------------------------------


LOOK_SECONDS = 0.3  # between two looks at the revision, which cost a few calls of stat
ALIVE_SECONDS = 15.0  # keeps proxies from closing an idle connection
COMMITS_SENT = 200  # a page further behind than this loads everything again


async def response(
    request: Request, shelf: NuggetShelf, stopping: Callable[[], bool]
) -> StreamingResponse:
    """A stream that ends when the client disconnects, its member is revoked or the server stops."""
    seen = await run_in_threadpool(shelf_of_request, request, shelf)
    return StreamingResponse(_stream(request, seen, stopping), media_type="text/event-stream")


async def _stream(
    request: Request, shelf: NuggetShelf, stopping: Callable[[], bool]
) -> AsyncIterator[str]:
    revision = await run_in_threadpool(lambda: shelf.revision)
    yield _event("hello", {"revision": revision})
    sent_at = time.monotonic()
    while not stopping():
        await asyncio.sleep(LOOK_SECONDS)
        if not await run_in_threadpool(_may_see, request):
            return
        update = await run_in_threadpool(_update_since, shelf, revision)
        if update is not None:
            revision = update["revision"]
            yield _event("change" if "put" in update else "reload", update)
            sent_at = time.monotonic()
        elif time.monotonic() - sent_at > ALIVE_SECONDS:
            yield ": still here\n\n"
            sent_at = time.monotonic()


def _may_see(request: Request) -> bool:
    try:
        return is_still_member(request)
    except NuggetsError:  # the browser asks again, and is told what is wrong
        return False


def _update_since(shelf: NuggetShelf, last: int) -> Json | None:
    """What changed after a revision, or None; of too many changes only the revision."""
    try:
        with shelf.snapshot():
            revision = shelf.revision
            if revision == last:
                return None
            commits = shelf.new_commits(last, COMMITS_SENT)
            if commits is None:
                return {"revision": revision}
            notes = shelf.get_notes(changed_note_ids(commits))
            return update(last, revision, commits, notes)
    except NuggetsError:  # the next request reports the problem
        return None


def _event(kind: str, data: Json) -> str:
    return f"event: {kind}\ndata: {codec.dumps(data)}\n\n"
