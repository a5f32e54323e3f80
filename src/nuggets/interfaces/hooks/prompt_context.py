"""What a hook shows for a prompt: memories that probably help with it, memories that have changed
since the session was shown them, and the earlier session that it asks for.

Only memories of this project and of no project; those of other projects are never included.
"""

from collections.abc import Mapping, Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from nuggets.domain import times
from nuggets.domain.limits import FILES_SEEN
from nuggets.domain.records import MemoryNote
from nuggets.interfaces.hooks.help_probability import (
    LEAST,
    MOST_SHOWN,
    Helpful,
    PromptText,
    judge,
    read_prompt,
    telling_words,
)
from nuggets.interfaces.hooks.host_payload import is_command
from nuggets.interfaces.hooks.shown_memories import (
    caveats_in_time,
    is_shown,
    quoted_block,
    safe_line,
    session_lines,
    title_part,
)
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.operations.session_requests import read_session_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from nuggets.encoder.vector_index import NearestNotes
    from nuggets.shelf import NuggetShelf

CANDIDATES = 20  # memories of which the probability is asked: a tenth of a millisecond each
# results, including those of other projects and files, which are left out
SEARCHED = FILES_SEEN + CANDIDATES
# The rest is ours: what stands on a prompt costs tokens of the conversation, and each search time.
PROMPT_LINE = 300  # characters of a memory, as of a line of MEMORY.md
CHANGED_MEMORIES = 5  # that one prompt is told of; the next one is told of more
SESSIONS_JUDGED = 5  # notes of sessions that are judged word by word
CHANGED_LINE = 200  # of each version
PROMPT_CHARACTERS = 2000  # of a prompt that are searched
WORDS_SEARCHED = 8  # of a prompt for which search finds nothing as a whole


def prompt_context(
    shelf: "NuggetShelf",
    prompt: str,
    shown_ids: frozenset[str],
    session: str,
    compare: "Callable[[str], NearestNotes | None] | None" = None,
    hold: "Callable[[str], None]" = lambda text: None,
) -> tuple[str, list[str]]:
    """Memories on a prompt that this session has not been shown, and their ids; "" for none.

    Only the best one counts as recalled, and only if it plainly answers, also if the session was
    shown it before. `compare`: gives the notes nearest to the prompt in meaning, which takes long;
    `hold`: gets what the words say before that.
    """
    query = prompt[:PROMPT_CHARACTERS].strip()
    if is_command(query) or not any(map(str.isalnum, query)):
        return "", []
    with shelf.snapshot():
        ranked = rank_memories(shelf, query)[:MOST_SHOWN]
        helpful = [one for one in ranked if one.probability >= LEAST]
        notes = [one.note for one in helpful]
        if compare is not None:
            hold(_show(shelf, notes, shown_ids)[0])
            nearest = compare(query)
            if nearest is not None:
                from nuggets.interfaces.hooks.prompt_meaning import with_meaning

                notes = with_meaning(shelf, query, helpful, nearest)
        best = next((one for one in helpful if one.note in notes[:1]), None)
        if best and best.is_recalled:
            shelf.count_hit(best.note.id, session, "injected")
    return _show(shelf, notes, shown_ids)


def rank_memories(shelf: "NuggetShelf", text: str) -> list[Helpful]:
    """The memories that share words with a text, those that help most probably first."""
    prompt = read_prompt(text)
    notes = _find_candidates(shelf, prompt)
    return sorted(judge(prompt, notes), key=lambda one: -one.probability)


def _find_candidates(shelf: "NuggetShelf", prompt: PromptText) -> list[MemoryNote]:
    """What search finds for a prompt and its paths. If that is nothing, what it finds for each
    telling word by itself, because one name among small talk is enough."""
    queries = (prompt.query, *prompt.paths)
    found = [note for query in queries for note in _visible_notes(shelf, query)]
    if not found:
        words = telling_words(prompt.query)[:WORDS_SEARCHED]
        found = [note for word in words for note in _visible_notes(shelf, word)]
    return list({note.id: note for note in found}.values())


def _show(
    shelf: "NuggetShelf", notes: Sequence[MemoryNote], shown_ids: frozenset[str]
) -> tuple[str, list[str]]:
    """The notes as text, without those that were shown, and their ids."""
    now, new = times.now(), [note for note in notes if note.id not in shown_ids]
    titles = [fold_case(note.title) for note in new]
    lines = []
    for note, title in zip(new, titles, strict=True):
        place = [f"nugget {note.nugget_name}"] if titles.count(title) > 1 else []
        lines.append(_line(note, now, PROMPT_LINE, [*place, *caveats_in_time(shelf, note)]))
    return quoted_block("From memory, on this prompt", lines), [note.id for note in new]


class ChangedMemory(NamedTuple):
    """A memory that a session knows in an earlier version."""

    was: MemoryNote
    now: MemoryNote | None  # None: archived or forgotten


def find_changed(shelf: "NuggetShelf", shown_at: Mapping[str, str]) -> list[ChangedMemory]:
    """Those of the notes whose text changed after the session was shown it; `shown_at`: when."""
    with shelf.snapshot():
        notes = shelf.get_notes(shown_at)
        changed: list[ChangedMemory] = []
        for note_id, moment in shown_at.items():
            current = notes.get(note_id)
            if current is not None and max(current.updated_at, current.archived_at or "") <= moment:
                continue
            was = shelf.note_at(note_id, moment)
            now = None if current is None or current.hidden else current
            says_same = was and now and (was.title, was.content) == (now.title, now.content)
            if was is not None and not was.hidden and not says_same:
                changed.append(ChangedMemory(was, now))
            if len(changed) == CHANGED_MEMORIES:
                break
    return changed


def changed_context(changed: Sequence[ChangedMemory]) -> str:
    """Memories that the session was shown and that say something else by now."""
    return quoted_block(
        "Changed in memory since this session was shown it", list(map(_change, changed))
    )


def find_requested_session(
    shelf: "NuggetShelf", prompt: str, own_id: str, *, is_first: bool
) -> MemoryNote | None:
    """The note of the session that a prompt asks for; None if it asks for none.

    `own_id`: the note of the session at hand, which counts only if there is no other.
    `is_first`: the prompt opens a session, so a bare "continue" means the last one.
    """
    request = read_session_request(prompt)
    if request is None:
        return None
    if request.topic:
        named = _session_about(shelf, request.topic, own_id)
        if named or not request.is_question:
            return named
    return _last_session(shelf, own_id) if request.is_question or is_first else None


def session_context(session: MemoryNote) -> str:
    """The summary of an earlier session."""
    when = times.age(session.updated_at, times.now())
    name = f"{safe_line(session.title, 120)} (last step: {when}, {session.id})"
    return quoted_block("An earlier session in this project", [name, *session_lines(session)])


def _session_about(shelf: "NuggetShelf", topic: str, own_id: str) -> MemoryNote | None:
    notes = [result.note for result in shelf.search_sessions(topic, SESSIONS_JUDGED)]
    likely = (one.note for one in judge(read_prompt(topic), notes) if one.probability >= LEAST)
    return next((note for note in likely if note.id != own_id), None)


def _last_session(shelf: "NuggetShelf", own_id: str) -> MemoryNote | None:
    notes = shelf.sessions()
    return next((note for note in notes if note.id != own_id), None) or next(iter(notes), None)


def _change(memory: ChangedMemory) -> str:
    was, now = safe_line(memory.was.content, CHANGED_LINE), memory.now
    if now is None:
        return f"- {title_part(memory.was)}no longer valid, was: {was} ({memory.was.id})"
    title = f"**{safe_line(now.title, 100)}**: "
    return f"- {title}now: {safe_line(now.content, CHANGED_LINE)}; was: {was} ({now.id})"


def _visible_notes(shelf: "NuggetShelf", query: str) -> list[MemoryNote]:
    """The best results of this project and of none, without traces of what hooks saw."""
    if not any(map(str.isalnum, query)):
        return []
    results = shelf.search_notes(query, SEARCHED, session=None)
    own = takewhile(lambda result: not shelf.is_foreign(result.note), results)  # others come last
    return list(islice((one.note for one in own if is_shown(shelf, one.note)), CANDIDATES))


def _line(note: MemoryNote, now: str, width: int, caveats: Sequence[str]) -> str:
    source = note.source.replace("_", " ")
    text = safe_line(note.content, width)
    marks = [
        source,
        times.age(note.updated_at, now),
        note.id,
        *(safe_line(c, 160) for c in caveats),
    ]
    return f"- {title_part(note)}{text} ({', '.join(marks)})"
