"""Forked processes do what new ones do."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from forked_processes import ForkedProcess, can_fork, run_module, start_module

HOOK = json.dumps({"session_id": "s", "prompt": "what is the port?"}).encode()


ID = re.compile(rb"fact-project-\w+")  # drawn at random
CALLS = (
    ("nuggets", "remember", "project", "port", "8080"),
    ("nuggets", "remember", "project", "käse", "brie"),
    ("nuggets", "recall", "port"),
    ("nuggets", "recall", "no such key"),
    ("nuggets", "no-such-command"),
    ("nuggets", "hook", "user-prompt"),
)


def test_a_forked_process_says_and_returns_what_a_new_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    for run in (run_module, start_module):
        place = tmp_path / run.__name__ / "work"
        place.mkdir(parents=True)
        monkeypatch.chdir(place)
        env = {**os.environ, "NUGGETS_DIR": "here"}
        done = [run(*words, given=HOOK, env=env) for words in CALLS]
        said.append([(one.returncode, ID.sub(b"", one.stdout), one.stderr) for one in done])
        assert (place / "here" / "nuggets.db").exists()

    assert said[0] == said[1]
    assert b"8080" in said[0][2][1]


def test_a_forked_process_is_one_of_its_own_and_can_be_killed(tmp_path: Path) -> None:
    env = {**os.environ, "NUGGETS_DIR": str(tmp_path)}
    with ForkedProcess("-m", "nuggets", "mcp", env=env) as waiting:
        assert waiting.pid != os.getpid()
        waiting.kill()
        assert waiting.wait() == -signal.SIGKILL
        assert waiting.stdout.read() == b""


@pytest.mark.parametrize("variable", ["PYTHONWARNINGS", "LC_ALL", "LD_PRELOAD"])
def test_what_python_reads_when_it_starts_needs_a_new_one(variable: str) -> None:
    assert can_fork(os.environ)
    assert not can_fork({**os.environ, variable: "C"})
