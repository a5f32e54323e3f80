"""What others wrote into the documented files: which files, what their authors saw, and what that
means as changes. Decides nothing about notes (that is given) and writes nothing."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets import times
from nuggets.errors import StoreBusy, StoreError
from nuggets.records import Changes, OutsideEdit
from nuggets.state import State
from nuggets.stores.pictures import GRAPH_FIELDS, Pictures, Shown
from nuggets.stores.replica import Replica
from nuggets.text import folded

if TYPE_CHECKING:
    from nuggets.stores.edits import Edited

_BEHIND_SECONDS = 2.0  # pictures may be a second behind a commit, and painting takes its time

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
            past = self._replica.pasts({shown.revision})
            moment = past[shown.revision][1] if shown.revision in past else None
        return moment == shown.saved_at

    def _took_in(self, path: str, status: os.stat_result) -> bool:
        mark = self._replica.state.marks.get(self._pictures.label(path))
        if mark is None:
            return False
        from nuggets.stores.edits import version_of

        with suppress(OSError), open(path, "rb") as file:
            return bool(mark == version_of(status, file.read()))
        return False

    def shown_with_edits(self, now: str) -> State:
        """What a reader sees where the edits can be read but nothing can be written."""
        return self._applied(self._edits(), now)

    def changes(self, clock: Callable[[], str]) -> "Iterator[tuple[Edited, Changes | None]]":
        """Every edited file with what takes it in, decided on what those before it have become;
        None if it says nothing new. Files that cannot be taken in are refused, one by one: only
        while nothing is ours yet, one of them keeps all the others out."""
        edits = self._edits()
        if edits:
            now = clock()
            if not self._replica.position.revision:
                self._applied(edits, now)
            yield from self._decided(edits, self._replica.state, now)

    def _applied(self, edits: "Iterable[tuple[Edited, State | None]]", now: str) -> State:
        state = self._replica.state.copy()
        for _, changes in self._decided(edits, state, now):
            if changes is not None:
                state.apply(changes)
        return state

    def _decided(
        self, edits: "Iterable[tuple[Edited, State | None]]", state: State, now: str
    ) -> "Iterator[tuple[Edited, Changes | None]]":
        for edited, base in edits:
            try:
                changes = self._changes(state, edited, base, now)
            except StoreError as problem:
                self._refuse(edited.path, edited.status, problem)
            else:
                yield edited, changes

    def _refuse(self, path: str, status: os.stat_result, problem: StoreError) -> None:
        if isinstance(problem, StoreBusy) or not self._replica.position.revision:
            raise problem
        self._pictures.refuse(path, status, str(problem))

    def _read(self, paths: Iterable[str]) -> "Iterator[Edited]":
        from nuggets.stores.edits import read_edit

        for path in paths:
            with suppress(FileNotFoundError):  # gone since we looked
                status = os.lstat(path)
                try:
                    yield read_edit(path, self._pictures.graph_path)
                except StoreError as problem:
                    self._refuse(path, status, problem)

    def _edits(self) -> "list[tuple[Edited, State | None]]":
        """Every edited file with what its author saw."""
        paths = self.foreign()
        if not paths:
            return []
        edits = list(self._read(paths))
        claimed = self._pictures.claimed()
        shown = {one.revision for one in (*(edited.shown for edited in edits), claimed) if one}
        pasts = self._replica.pasts(shown)
        seen: set[str] = set()
        found = []
        for edited in edits:
            base = self._base(edited, claimed, pasts)
            fold = folded(edited.edit.nugget.name) if edited.edit.nugget else ""
            # Of two spellings of a name the second only adds: it cannot mean the first is gone.
            found.append((edited, None if fold in seen else base))
            seen.add(fold)
        return found

    def _base(
        self, edited: "Edited", claimed: Shown | None, pasts: Mapping[int, tuple[State, str]]
    ) -> State | None:
        """The state that an edited file showed before; None if it never was a picture of ours."""
        if self._replica.position.revision == 0:
            return State()  # nothing is ours yet
        shown = edited.shown
        if shown is None:  # a program wrote it whole: what it saw last, we suppose
            return self._replica.state.copy()
        if shown.revision not in pasts and edited.edit.nugget is not None and claimed is not None:
            shown = claimed  # too long ago to be looked up; the graph says how far all of them are
        past = pasts.get(shown.revision)
        if past is None or past[1] != shown.saved_at:
            return None
        return self._replica.state.copy() if self._is_restored(edited, past[0]) else past[0]

    def _is_restored(self, edited: "Edited", past: State) -> bool:
        """Did someone put an earlier picture of ours back, in the place of one that shows more?
        Then what came after it is meant to go. One that was merely behind, and was copied or saved
        unchanged at that moment, means nothing; nor do times where the journal itself came later
        than its last commit: then all of it was copied, pictures that were behind included."""
        last = self._replica.position.at
        by_then = times.parsed(last).timestamp() + _BEHIND_SECONDS
        if edited.status.st_ctime < by_then or self._replica.put_there() >= by_then:
            return False
        return self._changes(past, edited, past, last) is None

    def _changes(
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
        marks[self._pictures.label(edited.path)] = edited.version
        return changes._replace(marks=marks)
