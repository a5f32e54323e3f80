"""Who ends an import or an export with Ctrl-C finds all of it, or nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nuggets import NuggetShelf

NOTES = 1500


def run_and_interrupt(*arguments: str, seen: Path) -> int:
    """Send SIGINT as soon as something is there, or the command has ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nuggets", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while (
        process.poll() is None
        and not seen.exists()
        and not any(seen.parent.glob(f"{seen.name}*.partial"))
    ):
        os.sched_yield()
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    return process.wait()


def test_an_interrupted_import_brings_all_or_nothing(tmp_path: Path) -> None:
    shelf_directory = tmp_path / "shelf"
    lines = [json.dumps({"memory": f"Memory number {i} of many"}) for i in range(NOTES)]
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    arguments = ("import", str(tmp_path / "many.jsonl"), "--dir", str(shelf_directory))
    run_and_interrupt(*arguments, seen=shelf_directory / "nuggets.lock")

    with NuggetShelf(shelf_directory, project="") as shelf:
        assert len(shelf.list_notes()) in (0, NOTES)
        assert not any(defect.harmful for defect in shelf.checkup())


@pytest.mark.parametrize("form", ["obsidian", "jsonl", "json"])
def test_an_interrupted_export_leaves_all_or_nothing(tmp_path: Path, form: str) -> None:
    with NuggetShelf(tmp_path / "shelf", project="") as shelf, shelf.batch():
        for number in range(NOTES):
            shelf.create_note("ops", f"Title {number}", "text")
    target = tmp_path / "out" / "notes"
    target.parent.mkdir()
    arguments = ("export", form, str(target), "--dir", str(tmp_path / "shelf"))
    run_and_interrupt(*arguments, seen=target)

    assert list(target.parent.iterdir()) in ([], [target])
    if target.exists() and form == "obsidian":
        assert sum(1 for _ in target.rglob("*.md")) == NOTES
