"""Keeps the note of a session: reads the host's transcript, distils it, writes it to the shelf.

Hosts leave hardly a second at the end of a session, so the work is done when an agent stops, before
a compaction, and at the next start for sessions that went on after that.
"""

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.domain import times
from nuggets.domain.host_markup import carries_mark
from nuggets.domain.records import MemoryNote
from nuggets.errors import InvalidInput, RefusedText
from nuggets.filesystem.current_project import checkout_root
from nuggets.filesystem.hook_files import log, purge_time
from nuggets.interfaces.hooks.shown_memories import (
    append_entry,
    other_diaries,
    place_of,
    prompts_of,
    read_diary,
    where_it_is,
)
from nuggets.language.text import fold_case
from nuggets.operations.session_notes import SessionRecord, session_note_id

if TYPE_CHECKING:
    from nuggets.interfaces.hooks.host_payload import Event
    from nuggets.interfaces.hooks.transcript_reader import Transcript
    from nuggets.operations.session_note_text import Step
    from nuggets.shelf import NuggetShelf

PAUSE_SECONDS = 300  # between two versions of a note: each one stays in the history
LEFT_OVER_SESSIONS = 5  # that one start looks after: ours, each reads a transcript
_OPENING = "\"'`*_[“‘„‚«‹「『"
_CLOSING = "\"'`*_]”’“‘»›」』"


def is_due(directory: str, event: "Event") -> bool:
    """Has the note of this session not been kept for some minutes?"""
    if not event.session:
        return False
    kept = [entry["kept"] for entry in read_diary(directory, event.session) if "kept" in entry]
    return not kept or time.time() - kept[-1] > PAUSE_SECONDS


def keep_session(shelf: "NuggetShelf", event: "Event", directory: str, *, waits: bool) -> None:
    """Keep the note of the session that an event is of.

    `waits`: in the diary, until the next start; what a host sends cannot be read again then."""
    if not event.session or not shelf.settings["session_notes"]:
        return
    record = _distil(shelf, event, directory)
    if waits and record is not None:
        append_entry(directory, event.session, {**where_it_is(event), "waiting": record})
    elif not waits:
        _write(shelf, event, record, directory)


def keep_left_over(shelf: "NuggetShelf", directory: str, session: str = "") -> None:
    """Keep the notes of sessions, other than this one, that went on after theirs were kept."""
    if not shelf.settings["session_notes"]:
        return
    waiting = []
    for entries in other_diaries(directory, session):
        places = [entry for entry in entries if entry.get("session")]
        if places and "kept" not in entries[-1]:
            waiting.append((place_of(places[-1]), entries))
    for event, entries in waiting[-LEFT_OVER_SESSIONS:]:
        record = _waiting_record(entries)
        # prompts alone tell less than a note of more
        if (
            record
            or event.transcript
            or _was_made_of_prompts(entries)
            or not shelf.get_notes([session_note_id(event.session)])
        ):
            record = record or _distil(shelf, event, directory)
            _write(shelf, event, record, directory)


def _waiting_record(entries: list[dict[str, Any]]) -> SessionRecord | None:
    """The last record that waits in a diary, if no note was kept after it."""
    for entry in reversed(entries):
        if "kept" in entry:
            return None
        fields = entry.get("waiting")
        if isinstance(fields, list) and len(fields) == len(SessionRecord._fields):
            return SessionRecord(*map(str, fields))
    return None


def _was_made_of_prompts(entries: list[dict[str, Any]]) -> bool:
    kept = [entry for entry in entries if "kept" in entry]
    return bool(kept) and kept[-1].get("of") == "prompts"


def _write(
    shelf: "NuggetShelf", event: "Event", record: SessionRecord | None, directory: str
) -> None:
    has_more = event.transcript or event.messages or event.last_reply
    of = "transcript" if has_more else "prompts"
    append_entry(directory, event.session, {"kept": int(time.time()), "of": of})
    if record is not None:
        with suppress(RefusedText):  # it quotes what memory has shown
            shelf.keep_session(record)


def _distil(shelf: "NuggetShelf", event: "Event", directory: str) -> SessionRecord | None:
    from nuggets.operations.session_note_text import Step

    entries = read_diary(directory, event.session)
    transcript = _read(event, directory)
    steps: list[Step] = transcript.steps if transcript else []
    if not any(step.kind == "request" for step in steps):
        steps = [*(Step("request", prompt) for prompt in prompts_of(entries)), *steps]
    if event.last_reply and (not steps or steps[-1].text != event.last_reply.strip()):
        steps.append(Step("reply", event.last_reply))
    _count_citations(shelf, event, entries, steps)
    return make_record(
        steps,
        _used_memories(shelf, entries),
        session=event.session,
        host=(transcript.host if transcript else "") or event.host,
        folder=event.folder,
        project=shelf.project_of(event.folder),
        started=transcript.started if transcript else "",
        ended=transcript.ended if transcript else "",
    )


def make_record(
    steps: "Iterable[Step]",
    memories: Sequence[str] = (),
    *,
    session: str,
    host: str,
    folder: str,
    project: str,
    started: str,
    ended: str,
) -> SessionRecord | None:
    """What is kept of a session; None if nothing was asked in it. Times as a host writes them."""
    from nuggets.operations.session_note_text import summarize, title_of

    summary = summarize(_relative_files(steps, folder), memories)
    if summary is None:
        return None
    now = times.now()
    begin = _time(started, now)
    title = title_of(summary.goal, begin[:10])
    return SessionRecord(session, host, project, title, summary.text, begin, _time(ended, now))


def _read(event: "Event", directory: str) -> "Transcript | None":
    """The transcript; None, with a line in the log, if it cannot be read."""
    if not event.transcript and not event.messages:
        return None
    from nuggets.interfaces.hooks.transcript_reader import (
        Unreadable,
        read_sent_transcript,
        read_transcript,
    )

    since = purge_time(directory)
    try:
        if event.messages:
            return None if since else read_sent_transcript(event.host, event.messages)
        return read_transcript(event.transcript, since)
    except Unreadable as problem:
        log(directory, f"session note: the transcript of {event.host or 'a host'}: {problem}")
    except Exception as problem:  # a format that changed must not cost the rest of the hook
        log(directory, f"session note: the transcript could not be read: {type(problem).__name__}")
    return None


def _relative_files(steps: "Iterable[Step]", folder: str) -> "Iterable[Step]":
    root = os.path.join(checkout_root(folder), "") if folder else ""
    for step in steps:
        if root and step.kind == "file" and step.text.startswith(root):
            step = step._replace(text=step.text[len(root) :])
        yield step


def _count_citations(
    shelf: "NuggetShelf", event: "Event", entries: list[dict[str, Any]], steps: "list[Step]"
) -> None:
    """Count the notes that hooks showed to this session and that the agent then cited."""
    ids = dict.fromkeys(note_id for entry in entries for note_id in entry.get("shown", ()))
    replies = [step.text for step in steps if step.kind == "reply"]
    if not ids or not replies:
        return
    for note in cited_notes(shelf.get_notes(ids).values(), replies):
        if note.source != "system":  # the note of a session is no memory to promote
            shelf.count_hit(note.id, event.session, "cited")


def _used_memories(shelf: "NuggetShelf", entries: list[dict[str, Any]]) -> list[str]:
    """The memories that were shown on prompts, by title and id."""
    ids = [
        note_id for entry in entries if entry.get("prompt") for note_id in entry.get("shown", ())
    ]
    notes = shelf.get_notes(dict.fromkeys(ids)).values()
    return [f"{note.title} ({note.id})" for note in notes if note.source != "system"]


def _time(text: str, now: str) -> str:
    """A host's time in our form; now if there is none, and never later."""
    try:
        return min(times.normalize_time(text), now) if text else now
    except InvalidInput:
        return now


def cited_notes(notes: Iterable[MemoryNote], replies: Iterable[str]) -> list[MemoryNote]:
    """The notes that a reply names by id, or by their title in quotation marks or emphasis.

    Bare words of a title are no citation, because they may be the topic of the conversation; nor is
    a quoted single word, because it may be a name in code.
    """
    # a reply that repeats what a hook injected names all of it
    texts = [fold_case(reply) for reply in replies if not carries_mark(reply)]
    return [note for note in notes if any(_cites(text, note) for text in texts)]


def _cites(text: str, note: MemoryNote) -> bool:
    if fold_case(note.id) in text:
        return True
    title = fold_case(note.title)
    return len(title.split()) > 1 and _is_quoted(text, title)


def _is_quoted(text: str, title: str) -> bool:
    start = text.find(title)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(title) :][:1]
        if before and after and before in _OPENING and after in _CLOSING:
            return True
        start = text.find(title, start + 1)
    return False
