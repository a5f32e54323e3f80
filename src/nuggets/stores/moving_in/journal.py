"""Reading a journal: logs of checksummed lines, one per commit, and snapshots of everything.

    log-000000000001.jsonl       commits from revision 1 on
    snapshot-000000000419.jsonl  everything at revision 419
    log-000000000420.jsonl       commits from revision 420 on
    hits.jsonl                   recalls that no commit has counted yet

For whoever holds the journal's lock: nobody else writes meanwhile.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

from nuggets import codec
from nuggets.errors import StoreCorrupt, StoreError
from nuggets.files import unreadable
from nuggets.records import Commit, Touch
from nuggets.state import MemoryState
from nuggets.stores.moving_in import lines

FORMAT = 1


class Journal:
    """The journal of one shelf. `salvage`: damage ends what is read instead of refusing it."""

    def __init__(self, directory: str, *, salvage: bool = False) -> None:
        self.directory = directory
        self._salvage = salvage
        self.state = MemoryState()
        self.revision = 0
        self.at = ""  # the moment of that revision
        self.damage = ""  # what ended the reading

    def load(self) -> None:
        """Everything as it is now: the last snapshot, and what was committed since."""
        snapshots, _ = self._names()
        for number in sorted(snapshots, reverse=True):
            try:
                self._load_snapshot(number, self._path(snapshots[number]))
                break
            except StoreCorrupt as problem:
                self._refuse(problem)
        for commit in self.commits(self.revision):
            if commit.revision != self.revision + 1:
                self._refuse(self._gap(self.revision + 1, commit.revision))
                return
            self.state.apply(commit.changes)
            self.revision, self.at = commit.revision, commit.at

    def commits(self, since: int = 0) -> Iterator[Commit]:
        """The commits after a revision that are still kept, oldest first."""
        _, logs = self._names()
        for start, following in pairwise([*sorted(logs), 0]):
            if following and following <= since + 1:
                continue
            for shape in self._lines(self._path(logs[start])):
                if shape.get("revision", 0) > since:
                    since = shape["revision"]
                    yield Commit(
                        since,
                        shape["at"],
                        lines.changes_from_json(shape["changes"]),
                        lines.changes_from_json(shape["before"]),
                    )

    def waiting_touches(self) -> Iterator[Touch]:
        """Recalls that no commit has counted."""
        for name in ("hits-taken.jsonl", "hits.jsonl"):
            with suppress(FileNotFoundError), open(self._path(name), "rb") as file:
                for line in file:
                    with suppress(ValueError, TypeError):  # cut off by a power cut
                        note_id, session, at = json.loads(line)
                        yield Touch(str(note_id), str(session), str(at))

    def _load_snapshot(self, revision: int, path: str) -> None:
        state, end = MemoryState(), codec.Json()
        for shape in self._lines(path, may_be_torn=False):
            if "note" in shape:
                note = codec.note_from_json(shape["note"])
                state.notes[note.id] = note
            elif "end" in shape:
                end = shape
            elif "format" not in shape:
                state.apply(lines.changes_from_json(shape))
        if end.get("end") != revision:
            raise _damaged(path, "its end is missing")
        self.state, self.revision, self.at = state, revision, end["at"]

    def _lines(self, path: str, *, may_be_torn: bool = True) -> Iterator[dict[str, Any]]:
        """The sound lines; what is torn at the very end of a log was never committed."""
        offset = 0
        try:
            with open(path, "rb") as file:
                for written in file:
                    shape = lines.checked(written)
                    if shape is None:
                        if not (may_be_torn and lines.is_torn(written + file.read(), offset)):
                            self._refuse(_damaged(path, f"byte {offset}"))
                        return
                    if shape.get("format", FORMAT) != FORMAT:
                        raise StoreError(
                            f"{path} was written by a newer version of Nuggets; install that one "
                            "to open it"
                        )
                    offset += len(written)
                    yield shape
        except OSError as problem:
            raise unreadable(path, problem) from problem

    def _refuse(self, problem: StoreCorrupt) -> None:
        if not self._salvage:
            raise problem
        self.damage = self.damage or str(problem)

    def _names(self) -> tuple[dict[int, str], dict[int, str]]:
        """Snapshots and logs by the revision in their names."""
        found: dict[str, dict[int, str]] = {"snapshot": {}, "log": {}}
        try:
            there = os.listdir(self.directory)
        except OSError as problem:
            raise unreadable(self.directory, problem) from problem
        for name in there:
            kind, _, rest = name.partition("-")
            number = rest.removesuffix(".jsonl")
            if kind in found and number != rest and number.isdecimal():
                found[kind][int(number)] = name
        return found["snapshot"], found["log"]

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def _gap(self, wanted: int, found: int) -> StoreCorrupt:
        return StoreCorrupt(
            f"{self.directory} goes from revision {wanted - 1} to {found}: a part is missing. "
            "Nothing was changed. Put the missing log back, or run `nuggets doctor --fix`"
        )


def _damaged(path: str, place: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} is damaged ({place}). Nothing was changed. "
        "`nuggets doctor` shows what is wrong, `nuggets doctor --fix` saves what can be read"
    )
