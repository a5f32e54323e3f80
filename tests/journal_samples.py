"""Journals as the version before the database wrote them, made from what a shelf remembers."""

import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from zlib import crc32

from nuggets import NuggetShelf
from nuggets.domain import codec
from nuggets.domain.records import Changes, Commit


def line(shape: object) -> bytes:
    text = codec.dumps(shape).encode()
    return b"%08x %s\n" % (crc32(text), text)


def log_of(commits: Iterable[Commit]) -> bytes:
    written = (
        line(
            {
                "revision": commit.revision,
                "at": commit.at,
                "changes": _shape(commit.changes),
                "before": _shape(commit.before),
            }
        )
        for commit in commits
    )
    return b"".join([line({"format": 1}), *written])


def _shape(changes: Changes) -> dict[str, object]:
    shape = {
        "put": [codec.note_to_json(note, vector=False) for note in changes.put],
        "drop": changes.drop,
        "nuggets": [config._asdict() for config in changes.put_nuggets],
        "dropNuggets": changes.drop_nuggets,
        "touches": changes.touches,
        "marks": dict(changes.marks),
        "action": changes.action,
        "client": changes.client,
    }
    return {name: part for name, part in shape.items() if part}


def snapshot_of(shelf: NuggetShelf) -> bytes:
    notes = shelf.list_notes(include_hidden=True)
    nuggets = [config for commit in shelf.commits() for config in commit.changes.put_nuggets]
    last = shelf.commits()[-1]
    return b"".join(
        [
            line({"format": 1}),
            line(_shape(Changes(put_nuggets=tuple(nuggets)))),
            *(line({"note": codec.note_to_json(note, vector=False)}) for note in notes),
            line({"end": last.revision, "at": last.at}),
        ]
    )


def busy_shelf(notes: int = 5) -> NuggetShelf:
    """A shelf in memory with something of everything in its history."""
    shelf = NuggetShelf("memory:", project="")
    for number in range(notes):
        shelf.create_note("plans", f"Plan {number}", f"Step {number}", ["work"])
        shelf.remember("facts", f"key {number}", f"value {number}")
    shelf.recall("key 1", session="monday")
    shelf.remember("facts", "key 1", "another value")
    shelf.add_link("Plan 0", "Plan 1", "first things first")
    shelf.edit_note("Plan 2", content="another step")
    shelf.delete_note("Plan 3")
    shelf.forget("facts", "key 2")
    shelf.recall("key 1", session="tuesday")
    shelf.create("empty")
    return shelf


def write_documented_files(directory: Path, shelf: NuggetShelf) -> None:
    """As that version left them: with the moment of their revision as their time."""
    shelf.export("json", directory)
    moment = datetime.fromisoformat(shelf.commits()[-1].at)
    stamp = int(moment.timestamp()) * 10**9 + moment.microsecond // 1000 * 10**6
    for path in (*directory.glob("*.nugget.json"), directory / "graph" / "graph.json"):
        os.utime(path, ns=(stamp, stamp))


def write_journal(directory: Path, shelf: NuggetShelf, hits: Sequence[object] = ()) -> Path:
    """The shelf's history as a journal of one log; `hits`: recalls that wait to be counted."""
    journal = directory / "journal"
    journal.mkdir(parents=True, mode=0o700)
    (journal / "log-000000000001.jsonl").write_bytes(log_of(shelf.commits()))
    if hits:
        (journal / "hits.jsonl").write_text("".join(f"\n{json.dumps(hit)}\n" for hit in hits))
    for path in journal.iterdir():
        os.chmod(path, 0o600)
    return journal
