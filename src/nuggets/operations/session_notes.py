"""One note per session with an agent: what storing it changes, and which requests ask for one.

These notes are archived from the start, so search, recall, injection, promotion and the clean-up
do not see them. They are shown only on request.
"""

import re
import zlib
from functools import cache

from nuggets.domain.records import Changes, GraphNoteMetaInput, MemoryNote
from nuggets.domain.state import State
from nuggets.domain.times import moment_after, normalize_time
from nuggets.domain.visibility import is_of_conversation
from nuggets.errors import InvalidInput, NotFound
from nuggets.language.text import fold_case, is_unspaced, tokens
from nuggets.language.word_lists import assent_words, conversation_words, stop_words
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


# --- requests for an earlier session ----------------------------------------------------------

# Such as "where were we?" and "continue the UUID migration"; others say themselves what to do.
READ_CHARACTERS = 4000  # of a text: who pastes a page has said before it what to do
LONGEST_QUESTION = 300  # characters: a longer request says itself what to do
SHORTEST_UNSPACED = 4  # letters of a request in a script that puts no blanks between words

# Questions for an earlier session, each by a part that it contains: others are not compiled.
_QUESTIONS = {
    "where": r"\bwhere (?:(?:were|was|did|have|had) (?:we|i|you|things)|(?:are|do) we)\b"
    r"(?: (?:leave|left|stop|get|got|been|at))?(?: off)?",
    "left off": r"\b(?:we|i|you) left off",
    "up where": r"\bpick(?:ing)? up where",
    "session": r"\b(?:last|previous|yesterday'?s?) session\b",
    "conversation": r"\b(?:last|previous|yesterday'?s?) conversation\b",
    " time": r"\b(?:last|previous|yesterday'?s?) time\b",
    "catch me up": r"\bcatch me up\b",
    "what": r"\bwhat (?:did|were|was|have|had) (?:we|i|you)"
    r" (?:do|doing|done|work(?:ing)?(?: on)?|been)\b",
    "wo ": r"\bwo (?:waren|sind|standen|stehen) wir\b",
    "letzte": r"\bletzte[nrs]? (?:sitzung|mal)\b",
    "was haben wir": r"\bwas haben wir (?:zuletzt|gestern)\b",
    "nde ": r"\bd[oó]nde (?:est[aá]bamos|lo dejamos|quedamos)\b",
    "ltima ": r"\b[uú]ltima (?:sesi[oó]n|vez)\b",
    "où en": r"\boù en (?:étions|était|sommes)\b",
    "上次": "上次",
    "昨天": "昨天",
    "到哪": r"(?:我们)?(?:做|说|聊)到哪(?:里|儿)?了?",
    "前回": "前回",
    "どこまで": "どこまで",
}
_GO_ON = (
    *("continue", "resume", "carry on", "go on", "keep going", "pick up", "get back to"),
    *("back to", "finish", "weitermachen", "weiter", "mach weiter", "continúa", "seguimos"),
    *("sigamos", "reprends", "reprenons", "继续", "続け"),
)
_GOING_ON = (
    r"(?i)(?:(?:please|ok|okay|let's|lets|can we|can you|we|so|and|now)[, ]+){0,3}"
    rf"(?:{'|'.join(_GO_ON)})(?: (?:with|working|on|the|mit|con))*"
)


class SessionRequest(NamedTuple):
    """A request for an earlier session."""

    topic: str  # which one; "" for the last one
    is_question: bool  # else it says to go on, which may also be about the session at hand


def read_session_request(prompt: str) -> SessionRequest | None:
    """What a prompt asks for of earlier sessions; None for nothing."""
    if len(prompt) > LONGEST_QUESTION:
        return None
    lower = prompt.lower()
    is_question = any(
        part in lower and re.search(f"(?i){question}", prompt)
        for part, question in _QUESTIONS.items()
    )
    goes_on = any(words in lower for words in _GO_ON) and re.match(_GOING_ON, prompt)
    if not is_question and not goes_on:
        return None
    rest = re.sub(_GOING_ON, " ", _without_questions(prompt), count=1).strip()
    has_topic = any(not _is_idle(fold_case(word)) for word in tokens(rest))
    return SessionRequest(rest if has_topic else "", is_question)


def is_substantial(request: str) -> bool:
    """Does it say what to do? "Go on", "where were we?" and commands to the host do not."""
    if request.startswith("/") and " " not in request.split("\n", 1)[0].strip():
        return False
    asked = _without_questions(request[:READ_CHARACTERS])
    said = [fold_case(word) for word in tokens(asked)]
    telling = {word for word in said if not _is_idle(word)}
    if any(is_unspaced(word[0]) for word in telling):
        return sum(map(len, telling)) >= SHORTEST_UNSPACED
    return len(telling) > 1 or (len(telling) == 1 and len(said) > 2)


def _without_questions(text: str) -> str:
    return re.sub(f"(?i){'|'.join(_QUESTIONS.values())}", " ", text)


def _is_idle(word: str) -> bool:
    return word in _idle_words() or word.isdigit()


@cache
def _idle_words() -> frozenset[str]:
    return stop_words() | conversation_words() | assent_words()
