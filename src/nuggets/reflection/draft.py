"""The notes as a pass is about to leave them, beside those it found. Knows no rule."""

from collections.abc import Iterator, Mapping

from nuggets.records import MemoryNote, ReflectionChange, ReflectionKind
from nuggets.reflection.contrast import Particulars, particulars
from nuggets.reflection.vocabulary import Tokens, all_tokens
from nuggets.refusals import Refusal


def age(note: MemoryNote) -> tuple[str, ...]:
    """Sorts the oldest first. Ids are drawn by chance, so they decide only between doubles."""
    return note.created_at, note.nugget_name, note.title, note.id


class Draft:
    """Changed notes lie over the found ones; nothing is written until all is thought out.

    The oldest come first: the order of files tells nothing.
    """

    def __init__(
        self, found: Mapping[str, MemoryNote], now: str, refused: frozenset[Refusal]
    ) -> None:
        self.found = found
        self.now = now
        self._refused = refused
        self.notes = {note.id: note for note in sorted(found.values(), key=age)}
        self.changes: list[ReflectionChange] = []
        self._said: dict[str, Tokens] = {}  # by content
        self._particulars: dict[str, Particulars] = {}  # by text

    def put(self, *notes: MemoryNote) -> None:
        self.notes.update({note.id: note for note in notes})

    def record(
        self, type: ReflectionKind, note: MemoryNote, detail: str, partners: tuple[str, ...] = ()
    ) -> None:
        self.changes.append(ReflectionChange(type, note.nugget_name, note.id, detail, partners))

    def may(self, step: ReflectionKind, note: str, other: str = "") -> bool:
        """Whether nobody ever took this step back from the note, or from the two."""
        refusal = Refusal.between(step, note, other) if other else Refusal(step, note)
        return refusal not in self._refused

    def visible(self, ids: list[str]) -> Iterator[MemoryNote]:
        """Those still in sight when their turn comes."""
        for found in sorted((self.found[note_id] for note_id in ids), key=age):
            note = self.notes[found.id]
            if not note.hidden:
                yield note

    def said(self, note: MemoryNote) -> Tokens:
        """The tokens of its content; each is read once in a pass."""
        tokens = self._said.get(note.content)
        if tokens is None:
            tokens = self._said[note.content] = all_tokens(note.content)
        return tokens

    def particulars(self, text: str) -> Particulars:
        """Those of a title or a content; each is read once in a pass, too."""
        found = self._particulars.get(text)
        if found is None:
            found = self._particulars[text] = particulars(text)
        return found

    def changed(self) -> tuple[MemoryNote, ...]:
        """What must be written, by id."""
        different = (note for note in self.notes.values() if note is not self.found[note.id])
        return tuple(
            sorted(
                (note for note in different if note != self.found[note.id]),
                key=lambda note: note.id,
            )
        )
