"""Live changes as server-sent events: an open page shows what any process writes."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.errors import NuggetsError
from nuggets.interfaces.request_shelf import is_still_member, shelf_of_request
from nuggets.interfaces.rest import record_summaries
from nuggets.shelf import NuggetShelf

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
    sent_at, counter = time.monotonic(), 0
    while not stopping():
        await asyncio.sleep(LOOK_SECONDS)
        news, update = await run_in_threadpool(_change_counter, shelf), None
        if news != counter:
            if not await run_in_threadpool(_may_see, request):
                return
            counter, update = news, await run_in_threadpool(_update_since, shelf, revision)
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


def _change_counter(shelf: NuggetShelf) -> int:
    try:
        return shelf.change_counter()
    except NuggetsError:  # the next request reports the problem
        return 0


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
            notes = shelf.get_notes(record_summaries.changed_note_ids(commits))
            return record_summaries.update(last, revision, commits, notes)
    except NuggetsError:  # the next request reports the problem
        return None


def _event(kind: str, data: Json) -> str:
    return f"event: {kind}\ndata: {codec.dumps(data)}\n\n"
