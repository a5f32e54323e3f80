"""Storms of edits on machines that share a folder, some of them offline or killed; and what of the
edits is left at the end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from nuggets import NuggetShelf
from nuggets.domain.records import MemoryNote
from nuggets.errors import NuggetsError


def says(note: MemoryNote) -> tuple[Any, ...]:
    """What machines must agree on: everything but recalls, inspections and the case of a nugget's
    name."""
    counted = ("hits", "last_hit_session", "hit_sessions", "last_accessed_at", "last_inspected_at")
    fields = {name: value for name, value in note._asdict().items() if name not in counted}
    links = sorted((link.to, link.reason, link.created_at) for link in note.links)
    nugget = note.nugget_name.lower()
    return tuple({**fields, "links": tuple(links), "nugget_name": nugget}.items())


def content_of(shelf: NuggetShelf) -> dict[str, tuple[Any, ...]]:
    return {note.id: says(note) for note in shelf.list_notes(include_hidden=True)}


class Edits:
    """Every text that was ever written, and which texts its author replaced knowingly."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.texts: set[str] = set()
        self.replaced: set[str] = set()
        self._number = 0

    def new_text(self) -> str:
        self._number += 1
        return f"text {self._number} of the storm"

    def edit(self, shelf: NuggetShelf) -> None:
        """One random edit of one shelf; what it replaces was seen by its author."""
        notes = list(shelf.list_notes(include_hidden=True))
        self._edit(shelf, notes)
        left = {note.content for note in shelf.list_notes(include_hidden=True)}
        self.replaced.update({note.content for note in notes} - left)
        self.texts.update(left)

    def _edit(self, shelf: NuggetShelf, notes: list[MemoryNote]) -> None:
        kind = self.chance.choices(
            ("new", "fact", "edit", "tag", "link", "unlink", "archive", "delete"),
            (4, 2, 12, 3, 3, 1, 1, 1),
        )[0]
        if kind == "new" or len(notes) < 3:
            shelf.create_note("storm", f"Note {self.chance.randrange(10**9)}", self.new_text())
            return
        note, other = self.chance.sample(notes, 2)
        with suppress(NuggetsError):  # such as a link to itself, or a key that another fact has
            if kind == "fact":
                shelf.remember("storm", f"key {self.chance.randrange(5)}", self.new_text())
            elif kind == "edit":
                shelf.edit_note(note.id, content=self.new_text())
            elif kind == "tag":
                shelf.edit_note(note.id, tags=[*note.tags, f"t{self.chance.randrange(9)}"])
            elif kind == "link":
                shelf.add_link(note.id, other.id, f"reason {self.chance.randrange(3)}")
            elif kind == "unlink" and note.links:
                shelf.remove_link(note.id, note.links[0].to)
            elif kind == "archive":
                shelf.delete_note(note.id)
            elif kind == "delete":
                shelf.delete_note(note.id, hard=True)

    def lost_in(self, shelf: NuggetShelf) -> set[str]:
        there = {note.content for note in shelf.list_notes(include_hidden=True)}
        return self.texts - self.replaced - there


def kill_while_pairing(directory: Path, folder: Path, seconds: float) -> None:
    """Pair as a process of its own, and kill it after a while, wherever it is."""
    command = [sys.executable, "-P", "-m", "nuggets", "pair", str(folder)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "NUGGETS_DIR": str(directory)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=directory,
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def pair_storm(work: Path, edits: int, kills: int, seed: int, machines: int = 3) -> Iterator[str]:
    """Edit on all machines, of which each is offline now and then; then let all of them meet."""
    folder = work / "shared"
    folder.mkdir(parents=True)
    storm, places = Edits(seed), [work / f"machine {number}" for number in range(machines)]
    shelves = [NuggetShelf(place, project="") for place in places]
    kill_at = set(storm.chance.sample(range(edits), kills))
    start = time.perf_counter()
    for number in range(edits):
        shelf = storm.chance.choice(shelves)
        storm.edit(shelf)
        if number in kill_at:
            which = storm.chance.randrange(machines)
            kill_while_pairing(places[which], folder, storm.chance.uniform(0.1, 0.6))
        if storm.chance.random() < 0.15:
            storm.chance.choice(shelves).pair(folder)
    for _ in range(2):
        for shelf in shelves:
            shelf.pair(folder)
    for shelf in shelves:
        [done] = shelf.pair(folder)
        assert not done.problems, done.problems
        assert not done.written, "it never comes to rest"
    contents = [content_of(shelf) for shelf in shelves]
    for other in contents[1:]:
        assert other == contents[0], "the machines differ"
    lost = storm.lost_in(shelves[0])
    assert not lost, f"{len(lost)} of {len(storm.texts)} texts are lost: {sorted(lost)[:3]}"
    conflicts = sum("conflict" in note.tags for note in shelves[0].list_notes())
    # a killed writer leaves a temporary file, which is no harm
    assert not any(defect.harmful for shelf in shelves for defect in shelf.checkup())
    yield (
        f"{edits} edits on {machines} machines, {kills} killed: all equal, 0 of {len(storm.texts)} "
        f"texts lost, {conflicts} kept side by side, {time.perf_counter() - start:.0f} s"
    )
    for shelf in shelves:
        shelf.close()
