"""Live changes as server-sent events: what any process writes reaches an open page in a moment."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from nuggets import codec
from nuggets.codec import Json
from nuggets.errors import NuggetsError
from nuggets.interfaces.rest import views
from nuggets.shelf import NuggetShelf

LOOK_SECONDS = 0.3  # a look costs a few calls of stat; a write is to show within a second
ALIVE_SECONDS = 15.0  # a sign of life, so that whoever stands in between keeps the line open
STEPS_TOLD = 200  # further behind than this, a page fares better by asking for everything


def response(shelf: NuggetShelf, stopping: Callable[[], bool]) -> StreamingResponse:
    """An endless answer, until the listener goes or the server stops."""
    return StreamingResponse(_stream(shelf, stopping), media_type="text/event-stream")


async def _stream(shelf: NuggetShelf, stopping: Callable[[], bool]) -> AsyncIterator[str]:
    known = await run_in_threadpool(lambda: shelf.revision)
    yield _event("hello", {"revision": known})
    spoke = time.monotonic()
    while not stopping():
        await asyncio.sleep(LOOK_SECONDS)
        told = await run_in_threadpool(_news, shelf, known)
        if told is not None:
            known = told["revision"]
            yield _event("change" if "put" in told else "reload", told)
            spoke = time.monotonic()
        elif time.monotonic() - spoke > ALIVE_SECONDS:
            yield ": still here\n\n"
            spoke = time.monotonic()


def _news(shelf: NuggetShelf, known: int) -> Json | None:
    """What happened after a revision, or None; too much of it is only announced."""
    try:
        revision = shelf.revision
        if revision == known:
            return None
        steps = shelf.commits(since=known) if 0 < revision - known <= STEPS_TOLD else ()
        notes = shelf.get_notes(views.concerned(steps))
    except NuggetsError:  # a store in trouble is told by whoever asks it something
        return None
    if not steps or steps[0].revision != known + 1:
        return {"revision": revision}
    return views.news(steps, notes)


def _event(kind: str, data: Json) -> str:
    return f"event: {kind}\ndata: {codec.dumps(data)}\n\n"
