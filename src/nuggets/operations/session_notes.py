"""One note per session with an agent: what storing it changes.

These notes are archived from the start, so search, recall, injection, promotion and the clean-up
do not see them. They are shown only on request.
"""

import zlib

from nuggets.domain.records import Changes, GraphNoteMetaInput, MemoryNote
from nuggets.domain.state import State
from nuggets.domain.times import moment_after, normalize_time
from nuggets.domain.visibility import is_of_conversation
from nuggets.errors import InvalidInput, NotFound
from nuggets.named_tuple import NamedTuple
from nuggets.operations import argument_checks

NUGGET = "sessions"
PREVIOUS = "previous session"  # reason of the link to it


class SessionRecord(NamedTuple):
    """A summarized session."""

    session: str  # the host's id of it
    host: str  # the agent's name; "" if unknown
    project: str
    title: str
    text: str
    started: str  # ISO times
    ended: str


def session_digest(session: str) -> str:
    """A short name for a session. Checksums are enough: loading hashlib would take longer."""
    raw = session.encode(errors="replace")
    return f"{zlib.crc32(raw):08x}{zlib.adler32(raw):08x}"


def session_note_id(session: str) -> str:
    """The id of a session's note."""
    return f"note-{NUGGET}-{session_digest(session)}"


def session_notes(state: State, project: str | None) -> list[MemoryNote]:
    """The notes of sessions in a project, or with None in all; the last one first."""
    listed = [
        note
        for note in state.notes.find(nugget=NUGGET, kind="note", project=project)
        if is_session_note(note)
    ]
    return sorted(listed, key=lambda note: (note.updated_at, note.id), reverse=True)


def is_session_note(note: MemoryNote) -> bool:
    """Was it made here? People may put notes of their own into the nugget."""
    return note.nugget_name == NUGGET and is_of_conversation(note)


def session_agent(note: MemoryNote) -> str:
    """The agent that a session was with; "" if nobody knows."""
    return next((tag for tag in note.tags if tag != NUGGET and ":" not in tag), "")


def find_session(state: State, name: str | None, project: str) -> MemoryNote:
    """The note of a session by its id, or the beginning of it; without one a project's last one."""
    if name is None:
        notes = session_notes(state, project)
        if not notes:
            raise NotFound("there is no note of a session with an agent in this project yet")
        return notes[0]
    note = argument_checks.resolve(state.notes, name, NUGGET, project=project, archived=True)
    if not is_session_note(note):
        raise NotFound(f"{note.id} is no note of a session with an agent")
    return note


def keep_session(state: State, record: SessionRecord, now: str, oldest: str) -> tuple[Changes, str]:
    """Write a session's note, or bring it up to date; its id.

    A new note is linked to the project's session before it. `oldest`: notes of sessions that
    ended before this time are dropped; "" drops none.
    """
    from nuggets.operations import notes_and_links  # a prompt hook writes no note of a session

    note_id = session_note_id(record.session)
    current = state.notes.get(note_id)
    if current is not None:
        after = current._replace(title=record.title, content=record.text)
        if after == current:
            return Changes(), note_id
        ended = moment_after(current.updated_at, min(record.ended, now))
        return Changes(put=(after._replace(updated_at=ended),)), note_id
    note = new_session_note(record, now)
    all_notes = session_notes(state, None)
    expired = [other.id for other in all_notes if other.updated_at < oldest]
    changes = notes_and_links.drop_notes(state.notes, expired)
    put = {changed.id: changed for changed in changes.put}
    previous = next(
        (o for o in all_notes if o.project == note.project and o.id not in expired), None
    )
    if previous is not None:
        pair = notes_and_links.add_link(note, put.get(previous.id, previous), PREVIOUS, now)
        note, put[previous.id] = pair or (note, previous)
    return changes._replace(put=(*put.values(), note)), note_id


def new_session_note(record: SessionRecord, now: str) -> MemoryNote:
    """The note of a session, archived, and without links."""
    from nuggets.operations import notes_and_links

    given = GraphNoteMetaInput(
        scope="session",
        type="note",
        source="system",
        stability="temporary",
        project=record.project,
    )
    try:
        born = normalize_time(record.started)
    except InvalidInput:
        born = now
    note = notes_and_links.new_note(
        nugget=NUGGET,
        kind="note",
        title=record.title,
        content=record.text,
        tags=[record.host] if record.host else [],
        given=given,
        now=now,
        note_id=session_note_id(record.session),
        project=record.project,
        created_at=min(born, now),
    )
    ended = max(note.created_at, min(record.ended or now, now))
    return notes_and_links.archive_note(note, now)._replace(updated_at=ended)
