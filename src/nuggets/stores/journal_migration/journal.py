"""Read a journal: logs with a checksummed line for each commit, and snapshots of all notes.

    log-000000000001.jsonl       commits from revision 1 on
    snapshot-000000000419.jsonl  everything at revision 419
    log-000000000420.jsonl       commits from revision 420 on
    hits.jsonl                   recalls that no commit has counted yet

The caller holds the journal's lock, so nobody writes meanwhile.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any
from zlib import crc32

from nuggets.domain import codec
from nuggets.domain.records import NO_EXTRA, Changes, Commit, NuggetConfig, Touch
from nuggets.domain.state import MemoryState
from nuggets.errors import StoreCorrupt, StoreError
from nuggets.filesystem.atomic_files import unreadable

FORMAT = 1
_BLOCK = 512  # bytes that a disk writes at once: a power cut leaves whole blocks of zeros


class Journal:
    """The journal of one shelf."""

    def __init__(self, directory: str, *, salvage: bool = False) -> None:
        """`salvage`: read up to the first damage instead of raising an error."""
        self.directory = directory
        self._salvage = salvage
        self.state = MemoryState()
        self.revision = 0
        self.at = ""  # the moment of that revision

    def load(self) -> None:
        """Read the current state: the last snapshot and the commits after it."""
        snapshots, _ = self._list_files()
        for number in sorted(snapshots, reverse=True):
            try:
                self._load_snapshot(number, self._path(snapshots[number]))
                break
            except StoreCorrupt as problem:
                self._handle_damage(problem)
        for commit in self.commits(self.revision):
            if commit.revision != self.revision + 1:
                self._handle_damage(self._gap_error(self.revision + 1, commit.revision))
                return
            self.state.apply(commit.changes)
            self.revision, self.at = commit.revision, commit.at

    def commits(self, since: int = 0) -> Iterator[Commit]:
        """The commits after a revision that are still kept, oldest first."""
        _, logs = self._list_files()
        for start, following in pairwise([*sorted(logs), 0]):
            if following and following <= since + 1:
                continue
            for shape in self._read_lines(self._path(logs[start])):
                if shape.get("revision", 0) > since:
                    since = shape["revision"]
                    yield Commit(
                        since,
                        shape["at"],
                        _changes_from_json(shape["changes"]),
                        _changes_from_json(shape["before"]),
                    )

    def waiting_touches(self) -> Iterator[Touch]:
        """Read the recalls that no commit has counted."""
        for name in ("hits-taken.jsonl", "hits.jsonl"):
            with suppress(FileNotFoundError), open(self._path(name), "rb") as file:
                for line in file:
                    with suppress(ValueError, TypeError):  # cut off by a power cut
                        note_id, session, at = json.loads(line)
                        yield Touch(str(note_id), str(session), str(at))

    def _load_snapshot(self, revision: int, path: str) -> None:
        state, end = MemoryState(), codec.Json()
        for shape in self._read_lines(path, may_be_torn=False):
            if "note" in shape:
                note = codec.note_from_json(shape["note"])
                state.notes[note.id] = note
            elif "end" in shape:
                end = shape
            elif "format" not in shape:
                state.apply(_changes_from_json(shape))
        if end.get("end") != revision:
            raise _damage_error(path, "its end is missing")
        self.state, self.revision, self.at = state, revision, end["at"]

    def _read_lines(self, path: str, *, may_be_torn: bool = True) -> Iterator[dict[str, Any]]:
        """The intact lines. A torn line at the end of a log was never committed."""
        offset = 0
        try:
            with open(path, "rb") as file:
                for written in file:
                    shape = _parse_line(written)
                    if shape is None:
                        rest = written + file.read()
                        if not (may_be_torn and _is_torn(rest, offset)):
                            self._handle_damage(_damage_error(path, f"byte {offset}"))
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

    def _handle_damage(self, problem: StoreCorrupt) -> None:
        if not self._salvage:
            raise problem

    def _list_files(self) -> tuple[dict[int, str], dict[int, str]]:
        """Snapshots and logs by the revision in their names."""
        files: dict[str, dict[int, str]] = {"snapshot": {}, "log": {}}
        try:
            names = os.listdir(self.directory)
        except OSError as problem:
            raise unreadable(self.directory, problem) from problem
        for name in names:
            kind, _, rest = name.partition("-")
            number = rest.removesuffix(".jsonl")
            if kind in files and number != rest and number.isdecimal():
                files[kind][int(number)] = name
        return files["snapshot"], files["log"]

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def _gap_error(self, expected: int, revision: int) -> StoreCorrupt:
        return StoreCorrupt(
            f"{self.directory} goes from revision {expected - 1} to {revision}: a part is missing. "
            "Nothing was changed. Put the missing log back, or run `nuggets doctor --fix`"
        )


def _damage_error(path: str, where: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} is damaged ({where}). Nothing was changed. "
        "`nuggets doctor` shows what is wrong, `nuggets doctor --fix` saves what can be read"
    )


def _parse_line(written: bytes) -> Any:
    """The JSON value of a line; None if its checksum is wrong.

    A line is eight hex digits of CRC-32, a blank, JSON and a line feed (which JSON never contains).
    """
    if written[8:9] != b" " or written[-1:] != b"\n":
        return None
    text = written[9:-1]
    return json.loads(text) if written[:8] == b"%08x" % crc32(text) else None


def _is_torn(rest: bytes, offset: int) -> bool:
    """Did the writer die here? Then the line has no end, or lacks a block that never reached the
    medium, and no intact line comes after it. Anything else is damage."""
    first, newline, following = rest.partition(b"\n")
    if any(_parse_line(line + b"\n") is not None for line in following.split(b"\n")):
        return False
    if newline:
        return _lacks_a_block(first + newline, offset)
    return _parse_line(first[:-1] + b"\n") is None  # else only the line feed is damaged


def _lacks_a_block(written: bytes, offset: int) -> bool:
    starts = range(-(offset % _BLOCK), len(written), _BLOCK)
    return any(not written[max(0, start) : start + _BLOCK].strip(b"\0") for start in starts)


def _changes_from_json(shape: codec.Json) -> Changes:
    return Changes(
        put=tuple(map(codec.note_from_json, shape.get("put", ()))),
        drop=tuple(shape.get("drop", ())),
        put_nuggets=tuple(NuggetConfig(**config) for config in shape.get("nuggets", ())),
        drop_nuggets=tuple(shape.get("dropNuggets", ())),
        touches=tuple(Touch(*touch) for touch in shape.get("touches", ())),
        marks=shape.get("marks", NO_EXTRA),
        action=shape.get("action", ""),
        client=shape.get("client", ""),
    )
