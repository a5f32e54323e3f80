"""Sessions that are over: transcripts that hosts keep, and conversations of chats, become the notes
that sessions have had ever since an agent was connected, by the same rules."""

import os
from collections.abc import Iterable, Iterator, Sequence

from nuggets.domain import codec, times
from nuggets.filesystem.hook_files import purge_time
from nuggets.interfaces.hooks.session_note_update import make_record
from nuggets.interfaces.hooks.transcript_reader import Unreadable, read_named_transcript
from nuggets.interfaces.importers import Json, Records, moment
from nuggets.operations.session_note_text import Step
from nuggets.operations.session_notes import NUGGET, PREVIOUS, SessionRecord, new_session_note


def add_session(
    found: Records,
    *,
    session: str,
    host: str,
    steps: Iterable[Step],
    started: str,
    ended: str,
    place: str,
    folder: str = "",
) -> None:
    """The note of a session; one in which nothing was asked gets none, and none is kept that ended
    before those of live sessions are dropped."""
    record = make_record(
        steps,
        session=session,
        host=host,
        folder=folder,
        project=found.project_of(folder) if folder else "",
        started=started,
        ended=ended,
    )
    add_record(record, place, found)


def add_record(record: SessionRecord | None, place: str, found: Records) -> None:
    """The same for what is known of a session; None if nothing was asked in it."""
    if record is None:
        found.idle_sessions += 1
    elif record.ended < found.oldest_session:
        found.old_sessions += 1
    else:
        shape = codec.note_to_json(new_session_note(record, times.now()), vector=False)
        found.add(shape, place)


def read_transcripts(paths: Sequence[str], found: Records) -> None:
    """The notes of transcripts."""
    since = purge_time(found.directory)  # nothing that was erased may come back
    for number, path in enumerate(paths):
        found.report(f"{number} of {len(paths)} sessions")
        try:
            transcript = read_named_transcript(path, since)
        except Unreadable as problem:
            found.problems.append(f"{path}: {problem}")
            continue
        add_session(
            found,
            session=transcript.session or os.path.splitext(os.path.basename(path))[0],
            host=transcript.host,
            steps=transcript.steps,
            started=transcript.started or _modification_time(path),
            ended=transcript.ended or _modification_time(path),
            place=path,
            folder=transcript.folder,
        )


def _modification_time(path: str) -> str:
    """What is known of the time of a session whose host writes none."""
    try:
        return moment(os.lstat(path).st_mtime, "")
    except OSError:  # gone meanwhile
        return ""


def link_sessions(found: Records) -> None:
    """Link each session to the one before it in its project, as live ones are."""
    last: dict[str, Json] = {}
    for note in sorted(_sessions(found), key=lambda note: (str(note["updatedAt"]), note["id"])):
        before = last.get(note["project"])
        if before is not None:
            link = {"to": before["id"], "reason": PREVIOUS, "createdAt": note["updatedAt"]}
            note["links"] = [*note["links"], link]
        last[note["project"]] = note


def _sessions(found: Records) -> Iterator[Json]:
    is_made = {"nuggetName": NUGGET, "source": "system", "scope": "session"}.items()
    for note in found.notes:
        if all(note.get(name) == value for name, value in is_made) and not note["links"]:
            yield note
