"""Which of the notes that a session was shown did the agent cite in its replies?"""

from collections.abc import Iterable

from nuggets.domain.memory_tag import carries_mark
from nuggets.domain.records import MemoryNote
from nuggets.language.text import fold_case

_OPENING = "\"'`*_[“‘„‚«‹「『"
_CLOSING = "\"'`*_]”’“‘»›」』"


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
