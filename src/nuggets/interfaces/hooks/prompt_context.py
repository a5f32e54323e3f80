"""What a hook shows for a prompt: notes that it is about, memories that have changed since the
session was shown them, and the earlier session that it asks for.

Only memories of this project and of no project; those of other projects are never included.
"""

import re
import signal
import time
from collections.abc import Mapping, Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from nuggets.domain import times
from nuggets.domain.limits import FILES_SEEN
from nuggets.domain.records import MemoryNote, SearchNotesResult
from nuggets.interfaces.hooks.memory_lines import (
    quoted_block,
    safe_line,
    session_lines,
    title_part,
)
from nuggets.interfaces.hooks.relevance_gate import (
    AS_NEAR,
    CONTRADICTS,
    SAID,
    has_topic,
    is_about,
    meant_cosine,
    names_path,
    names_title,
    part_said,
    read_prompt,
    telling_words,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.session_notes import read_session_request
from nuggets.search.clear_answer import mark_clear_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from nuggets.encoder.text_encoder import NearestNotes
    from nuggets.shelf import NuggetShelf

PROMPT_LINES = 5  # also how many notes are judged word by word: a millisecond each
NEAR_LOOKED_AT = 60  # notes nearest in meaning, including those of other projects and files
# results, including those of other projects and files, which are left out
SEARCHED = FILES_SEEN + 20
PROMPT_LINE = 300
CHANGED_MEMORIES = 5  # that one prompt is told of; the next one is told of more
SESSIONS_JUDGED = 5  # notes of sessions that are judged word by word
CHANGED_LINE = 200  # of each version
PROMPT_CHARACTERS = 2000  # of a prompt that are searched
RELATIVE = 0.5  # of the share of the prompt that the best note says: less is noise
WORDS_SEARCHED = 8  # of a prompt for which search finds nothing as a whole
ASKING_SHARE = 0.3  # of the time that is left, for an answer of a living process
LOADING_SECONDS = 0.5  # that must be left to load the encoder, which takes some 0.15
_COMMAND = re.compile(r"/[\w:-]+(?:\s|$)")  # a command to the host; "/src/auth.py: …" is a prompt


def prompt_context(
    shelf: "NuggetShelf",
    prompt: str,
    shown_ids: frozenset[str],
    session: str,
    compare: "Callable[[str], NearestNotes | None] | None" = None,
    hold: "Callable[[str], None]" = lambda text: None,
) -> tuple[str, list[str]]:
    """Notes on a prompt that this session has not been shown, and their ids; "" for none.

    Only the best note counts as recalled, and only if it clearly answers the prompt or is named by
    its title, also if the session was shown it before. `compare`: gives the notes nearest to the
    prompt in meaning, which takes long; `hold`: gets what the words say before that.
    """
    query = prompt[:PROMPT_CHARACTERS].strip()
    if _COMMAND.match(query) or not any(map(str.isalnum, query)):
        return "", []
    with shelf.snapshot():
        found = _find_by_words(shelf, query)
        fitting, nearest = found.fitting(), None
        if compare is not None:
            hold(_show(shelf, [result.note for result in fitting], shown_ids)[0])
            nearest = compare(query)
        if nearest is not None:
            fitting = found.fitting(lambda one: _agrees(query, one, nearest))
        best = fitting[0] if fitting else None
        if best and _is_recalled(query, best):
            shelf.count_hit(best.note.id, session, "injected")
        on_prompt = [result.note for result in fitting] or _notes_meant(shelf, query, nearest)
    return _show(shelf, on_prompt, shown_ids)


def _show(
    shelf: "NuggetShelf", notes: Sequence[MemoryNote], shown_ids: frozenset[str]
) -> tuple[str, list[str]]:
    """The notes as text, without those that were shown, and their ids."""
    now, new = times.now(), [note for note in notes if note.id not in shown_ids]
    lines = [_line(note, now, PROMPT_LINE, shelf.caveats(note)) for note in new]
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
            if was is not None and not was.hidden and _differ(was, now):
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
    for result in shelf.search_sessions(topic, SESSIONS_JUDGED):
        note = result.note
        words = shelf.explain(topic, note.id, include_hidden=True).words
        if note.id != own_id and is_about(read_prompt(topic), note, words):
            return note
    return None


def _last_session(shelf: "NuggetShelf", own_id: str) -> MemoryNote | None:
    notes = shelf.sessions()
    return next((note for note in notes if note.id != own_id), None) or next(iter(notes), None)


def _differ(was: MemoryNote, now: MemoryNote | None) -> bool:
    return now is None or (was.title, was.content) != (now.title, now.content)


def _change(memory: ChangedMemory) -> str:
    was, now = safe_line(memory.was.content, CHANGED_LINE), memory.now
    if now is None:
        return f"- {title_part(memory.was)}no longer valid, was: {was} ({memory.was.id})"
    title = f"**{safe_line(now.title, 100)}**: "
    return f"- {title}now: {safe_line(now.content, CHANGED_LINE)}; was: {was} ({now.id})"


def _is_recalled(query: str, result: SearchNotesResult) -> bool:
    return result.clear_answer or names_title(query, result.note.title)


class _FoundByWords(NamedTuple):
    """The notes that a prompt may be about by its words."""

    named: list[SearchNotesResult]  # by a path
    about: list[SearchNotesResult]
    shares: dict[str, float]  # of the prompt that each of those says

    def fitting(
        self, agrees: "Callable[[SearchNotesResult], bool]" = lambda result: True
    ) -> list[SearchNotesResult]:
        """The best of them, without noise beside them; `agrees`: what else speaks for a note."""
        about = [result for result in self.about if agrees(result)]
        least = RELATIVE * max((self.shares[result.note.id] for result in about), default=0.0)
        about = [result for result in about if self.shares[result.note.id] >= least]
        by_id = {result.note.id: result for result in [*self.named, *about]}
        return list(by_id.values())[:PROMPT_LINES]


def _find_by_words(shelf: "NuggetShelf", query: str) -> _FoundByWords:
    prompt = read_prompt(query)
    on_paths = [found for path in prompt.paths for found in _visible_results(shelf, path)]
    judged = mark_clear_answer(find_candidates(shelf, prompt.query), shelf.project)
    said = {result.note.id: shelf.explain(prompt.query, result.note.id).words for result in judged}
    return _FoundByWords(
        [result for result in on_paths if names_path(prompt, result.note)],
        [result for result in judged if is_about(prompt, result.note, said[result.note.id])],
        {note_id: part_said(words) for note_id, words in said.items()},
    )


def _agrees(query: str, result: SearchNotesResult, nearest: "NearestNotes") -> bool:
    """Does meaning not speak against a note that has words of the prompt?"""
    return _is_recalled(query, result) or nearest.cosine(result.note.id) >= CONTRADICTS


def find_candidates(shelf: "NuggetShelf", text: str) -> list[SearchNotesResult]:
    """What search finds for a text; if nothing, for each telling word by itself, because one name
    among small talk is enough."""
    found = _visible_results(shelf, text)
    if found:
        return found
    by_id = {
        result.note.id: result
        for word in telling_words(text)[:WORDS_SEARCHED]
        for result in _visible_results(shelf, word)
    }
    return list(by_id.values())


def _visible_results(shelf: "NuggetShelf", query: str) -> list[SearchNotesResult]:
    """The best results of this project and of none, without traces of what hooks saw."""
    if not any(map(str.isalnum, query)):
        return []
    results = shelf.search_notes(query, SEARCHED, session=None)
    own = takewhile(lambda result: not shelf.is_foreign(result.note), results)  # others come last
    return list(islice((result for result in own if _is_shown(shelf, result.note)), PROMPT_LINES))


def _notes_meant(
    shelf: "NuggetShelf", query: str, nearest: "NearestNotes | None"
) -> list[MemoryNote]:
    """The notes that a prompt plainly means in other words, nearest first."""
    if nearest is None:
        return []
    ids = list(nearest.cosines)[:NEAR_LOOKED_AT]
    notes = shelf.get_notes(ids)
    in_sight = [note for note in map(notes.get, ids) if note and not shelf.is_foreign(note)]
    shown = [note for note in in_sight if _is_shown(shelf, note)][:PROMPT_LINES]
    least = meant_cosine(nearest.compared * len(in_sight) / max(1, len(ids)), nearest.common)
    if not shown or nearest.cosine(shown[0].id) < least:
        return []
    nearness = {
        note.id: nearest.cosine(note.id) - SAID * part_said(shelf.explain(query, note.id).words)
        for note in shown
    }
    least = max(least, max(nearness.values()) - AS_NEAR)
    near = [note for note in shown if nearness[note.id] >= least]
    return sorted(near, key=lambda note: -nearness[note.id])


def _is_shown(shelf: "NuggetShelf", note: MemoryNote) -> bool:
    return not _is_trace(note) and not note.hidden and not shelf.invalidity(note)


def _is_trace(note: MemoryNote) -> bool:
    """Was it written by a hook: a file seen, or the task of a session?"""
    return note.stability == "temporary" and note.source in ("tool_observation", "system")


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


# --- by meaning, within what is left of the time --------------------------------------------------


class PromptMeaning:
    """What the encoder says of one prompt."""

    def __init__(
        self, shelf: "NuggetShelf", location: str, explain: "Callable[[str], None]"
    ) -> None:
        """`explain`: told what was done."""
        self._shelf = shelf
        self._location = location
        self._explain = explain

    def compare(self, prompt: str) -> "NearestNotes | None":
        """The notes nearest to the prompt; None if it is judged by its words alone."""
        if not has_topic(prompt):
            self._explain("encoder: not compared: the prompt names no topic in English")
            return None
        from nuggets.interfaces.encoder_socket import NEAREST_NOTES, ask_living_process

        start = time.monotonic()
        nearest = ask_living_process(self._location, prompt, ASKING_SHARE * _seconds_left())
        how = "asked a living process"
        if nearest is None:
            if _seconds_left() < LOADING_SECONDS:
                self._explain("encoder: not compared: no process to ask, and no time to load")
                return None
            nearest = self._shelf.nearest_by_encoder(prompt, NEAREST_NOTES)
            how = "loaded the encoder"
        if nearest is None:
            self._explain("encoder: not compared: no note has a vector (`nuggets encoder status`)")
            return None
        took = 1000 * (time.monotonic() - start)
        self._explain(f"encoder: {how}, {nearest.compared} notes compared in {took:.0f} ms")
        return nearest


def _seconds_left() -> float:
    """Until the hook's deadline; plenty if none is set."""
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    return left or 60.0
