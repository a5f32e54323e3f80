"""One memory that is made to take long never silences the others."""

from pathlib import Path

import pytest

from agent_doors import hook, injected, repository
from nuggets.filesystem.hook_files import missed_deadlines
from nuggets.shelf import NuggetShelf

MANY = 8  # their lines leave room for one more in the start of a session
POISONS = {
    "a private key of headers": "-----BEGIN PRIVATE KEY-----\n" + "abcdefghijklmno: " * 60_000,
    "one long word": "a" * 1_000_000,
    "words": "deploy carefully " * 60_000,
    "addresses": "a@" * 500_000 + "/x.py",
    "blanks": " \t" * 500_000 + "x",
}


@pytest.mark.parametrize("poison", POISONS)
def test_hooks_tell_of_other_memories_beside_one_that_takes_long(
    tmp_path: Path, poison: str
) -> None:
    here = repository(tmp_path / "here")
    with NuggetShelf(tmp_path / "shelf", project=str(here / ".git")) as shelf:
        for number in range(MANY):
            text = f"{POISONS[poison]} {number}"
            shelf.remember("prefs", f"deploy taste {number}", text, type="preference")
        shelf.create_note("learnings", "deploy steps", "run make release first")
    asked = {"session_id": "another", "cwd": str(here), "prompt": "deploy steps"}

    start = hook("session-start", {"session_id": "s", "cwd": str(here)}, tmp_path / "shelf")
    prompt = hook("user-prompt", asked, tmp_path / "shelf")

    assert "make release" in injected(start)
    assert "make release" in injected(prompt)
    assert missed_deadlines(str(tmp_path / "shelf")) == 0
