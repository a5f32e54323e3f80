"""Live changes as server-sent events: an open page shows what any process writes."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.errors import NuggetsError
from nuggets.interfaces.rest import views
from nuggets.shelf import NuggetShelf

LOOK_SECONDS = 0.3  # between two looks at the revision, which cost a few calls of stat
ALIVE_SECONDS = 15.0  # keeps proxies from closing an idle connection
COMMITS_SENT = 200  # a page further behind than this loads everything again


def response(shelf: NuggetShelf, stopping: Callable[[], bool]) -> StreamingResponse:
    """A stream that ends when the client disconnects or the server stops."""
    return StreamingResponse(_stream(shelf, stopping), media_type="text/event-stream")


async def _stream(shelf: NuggetShelf, stopping: Callable[[], bool]) -> AsyncIterator[str]:
    revision = await run_in_threadpool(lambda: shelf.revision)
    yield _event("hello", {"revision": revision})
    sent_at, counter = time.monotonic(), 0
    while not stopping():
        await asyncio.sleep(LOOK_SECONDS)
        news, update = await run_in_threadpool(_change_counter, shelf), None
        if news != counter:
            counter, update = news, await run_in_threadpool(_update_since, shelf, revision)
        if update is not None:
            revision = update["revision"]
            yield _event("change" if "put" in update else "reload", update)
            sent_at = time.monotonic()
        elif time.monotonic() - sent_at > ALIVE_SECONDS:
            yield ": still here\n\n"
            sent_at = time.monotonic()


def _change_counter(shelf: NuggetShelf) -> int:
    try:
        return shelf.change_counter()
    except NuggetsError:  # the next request reports the problem
        return 0


def _update_since(shelf: NuggetShelf, last: int) -> Json | None:
    """What changed after a revision, or None; of too many changes only the revision."""
    try:
        revision = shelf.revision
        if revision == last:
            return None
        commits = shelf.commits(since=last) if 0 < revision - last <= COMMITS_SENT else ()
        notes = shelf.get_notes(views.changed_note_ids(commits))
    except NuggetsError:  # the next request reports the problem
        return None
    if not commits or commits[0].revision != last + 1:
        return {"revision": revision}
    return views.update(commits, notes)


def _event(kind: str, data: Json) -> str:
    return f"event: {kind}\ndata: {codec.dumps(data)}\n\n"
