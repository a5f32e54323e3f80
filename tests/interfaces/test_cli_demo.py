"""The demo: real commands in a directory that is thrown away."""

from pathlib import Path

import pytest

from command_line import NuggetsProcess


def test_the_demo_remembers_recalls_and_leaves_nothing(
    nuggets_process: NuggetsProcess, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(directory)
    (directory / "nuggets").mkdir()
    (directory / "nuggets" / "__init__.py").write_text("raise SystemExit('not this one')")

    steps = nuggets_process("demo", "--json", env={"TMPDIR": str(directory)}).json

    said = {" ".join(step["command"]): step for step in steps}
    assert "Found: auth handler" in said["nuggets recall auth handler --session tomorrow"]["output"]
    assert "Likely: 97 %" in said["nuggets recall auth handlr --nugget locations"]["output"]
    assert said["nuggets recall deployment region"]["exit"] == 1
    assert list(directory.glob("nuggets-demo-*")) == []


def test_the_demo_shows_its_commands_and_leaves_your_shelf_alone(
    nuggets_process: NuggetsProcess,
) -> None:
    done = nuggets_process("demo")

    assert (done.code, done.err) == (0, "")
    assert "$ nuggets remember locations 'auth handler'" in done.out
    assert '"key":"auth handler"' in done.out
    assert "Traceback" not in done.out
    assert nuggets_process("list", "--json").json == []
