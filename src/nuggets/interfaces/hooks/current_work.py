"""What someone works on (the branch, the files touched last, the last session), and which memories
are about it. Knows no index: at the start of a session there is no question to ask one."""

from collections.abc import Iterable, Sequence
from math import log

from nuggets.domain.records import MemoryNote
from nuggets.language.text import first_words, tokens
from nuggets.language.word_lists import conversation_words

RECENT_FILES = 10
WORK_WORDS = 100
READ_CHARACTERS = 400  # of a memory
WEAK = 0.2  # of the best score: less is no reason
SHORTEST_WORD = 4  # of ASCII letters: a shorter one begins too many words


def describe_work(branch: str, files: Iterable[str], session: MemoryNote | None) -> str:
    """The words on what someone works on; `session`: the last one."""
    told = [session.title, session.content] if session else []
    return "\n".join([branch, *files, *told])


def recent_files(notes: Iterable[MemoryNote]) -> list[str]:
    """The files that hooks saw last, the newest first; `notes`: of any kind."""
    seen = [note for note in notes if note.source == "tool_observation"]
    seen.sort(key=lambda note: note.updated_at, reverse=True)
    return [note.title.removeprefix("file: ") for note in seen[:RECENT_FILES]]


def rank_by_work(notes: Sequence[MemoryNote], work: str) -> list[MemoryNote]:
    """Those of the notes that share a telling word with the work, most and rarest words first.

    A word also counts where it begins a longer one: "mail" is in "mailbox".
    """
    texts = {
        note.id: " " + " ".join(tokens(f"{note.title} {note.content[:READ_CHARACTERS]}")).casefold()
        for note in notes
    }
    scores: dict[str, float] = {}
    for word in _telling_words(work):
        start = f" {word}" if word.isascii() else word  # other scripts may have no blanks
        sharing = [note_id for note_id, text in texts.items() if start in text]
        for note_id in sharing:
            scores[note_id] = scores.get(note_id, 0.0) + log(len(texts) / len(sharing))
    best = max(scores.values(), default=0.0)
    fitting = [note for note in notes if scores.get(note.id, 0.0) > WEAK * best]
    return sorted(fitting, key=lambda note: scores[note.id], reverse=True)


def _telling_words(work: str) -> set[str]:
    idle = conversation_words()
    return {
        word.rstrip("s") if word.isascii() else word
        for word in first_words(work, WORK_WORDS)
        if word not in idle
        and not word.isdigit()
        and (len(word) >= SHORTEST_WORD or not word.isascii())
    }
