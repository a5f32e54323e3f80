"""What others wrote into the documented files: which files, what their authors saw, and what that
means as changes. Decides nothing about notes (that is given) and writes nothing."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from nuggets.records import Changes, OutsideEdit
from nuggets.state import State
from nuggets.stores.pictures import GRAPH_FIELDS, Pictures, Shown, version_of
from nuggets.stores.replica import Replica
from nuggets.text import folded

if TYPE_CHECKING:
    from nuggets.stores.edits import Edited

Adopt = Callable[[State, State | None, OutsideEdit, str], Changes]
"""Decide what an edit means: (what we hold, what its author saw or None, the edit, now)."""


class Adoption:
    """Takes edits in, against what this process holds of the journal."""

    def __init__(self, replica: Replica, pictures: Pictures, adopt: Adopt) -> None:
        self._replica = replica
        self._pictures = pictures
        self._adopt = adopt

    def foreign(self) -> list[str]:
        return self._pictures.foreign(self._wrote, self._took_in)

    def _wrote(self, path: str, shown: Shown) -> bool:
        """Is a picture that shows this one of our own? One from another shelf would look alike."""
        if shown.revision > self._replica.position.revision:
            return False
        moment = self._replica.moment(shown.revision)
        if moment is None:
            known = folded(self._pictures.name_of(path)) in self._replica.state.nuggets
            if known or path == self._pictures.graph_path:
                return True  # too old to be proved, and too likely to read all history for it
            past = self._replica.past(shown.revision)
            moment = past[1] if past else None
        return moment == shown.saved_at

    def _took_in(self, label: str, version: list[int]) -> bool:
        return self._replica.state.marks.get(label) == version

    def shown_with_edits(self, now: str) -> State:
        """What a reader sees where the edits can be read but nothing can be written."""
        state = self._replica.state.copy()
        for edited, base in self.edits():
            changes = self.changes(state, edited, base, now)
            if changes is not None:
                state.apply(changes)
        return state

    def edits(self) -> "list[tuple[Edited, State | None]]":
        """Every edited file with what its author saw."""
        paths = self.foreign()
        if not paths:
            return []
        from nuggets.stores.edits import read_edit

        edits = [read_edit(path, self._pictures.graph_path) for path in paths]
        claimed = self._pictures.claimed()
        seen: set[str] = set()
        found = []
        for edited in edits:
            base = self._base(edited, claimed)
            fold = folded(edited.edit.nugget.name) if edited.edit.nugget else ""
            # Of two spellings of a name the second only adds: it cannot mean the first is gone.
            found.append((edited, None if fold in seen else base))
            seen.add(fold)
        return found

    def _base(self, edited: "Edited", claimed: Shown | None) -> State | None:
        """The state that an edited file showed before; None if it never was a picture of ours."""
        if self._replica.position.revision == 0:
            return State()  # nothing is ours yet
        if edited.shown is None:
            return (
                self._replica.state.copy()
            )  # a program wrote it whole: what it saw last, we suppose
        past = self._replica.past(edited.shown.revision)
        if past is None and edited.edit.nugget is not None and claimed is not None:
            # Too long ago to be looked up. The graph says how far all the pictures are.
            edited, past = edited._replace(shown=claimed), self._replica.past(claimed.revision)
        if past is None or edited.shown is None or past[1] != edited.shown.saved_at:
            return None
        return past[0]

    def changes(
        self, state: State, edited: "Edited", base: State | None, now: str
    ) -> Changes | None:
        """The changes that take a file in; None if it says nothing new."""
        changes = self._adopt(state, base, edited.edit, now)
        marks = dict(changes.marks)
        if edited.edit.nugget is None:
            fields = dict(edited.fields)
            if edited.shown is None:
                fields = {**state.marks.get(GRAPH_FIELDS, {}), **fields}
            if fields != state.marks.get(GRAPH_FIELDS, {}):
                marks[GRAPH_FIELDS] = fields or None
        if changes._replace(action="", client="", marks=marks) == Changes():
            return None
        marks[self._pictures.label(edited.path)] = version_of(edited.status)
        return changes._replace(marks=marks)
