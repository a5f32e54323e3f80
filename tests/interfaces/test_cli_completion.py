"""Completion scripts: they parse, and bash completes with them."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import COMMAND, Nuggets
from nuggets.domain.records import KINDS, STABILITIES
from nuggets.interfaces.cli import GROUPS, MODULES
from nuggets.maintenance.export_and_backup import FORMS


def complete_in_bash(script: str, *words: str, cwd: Path | None = None) -> set[str]:
    """What bash would offer for the last word."""
    line = " ".join(map(shlex.quote, words))
    ask = (
        f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _nuggets\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-u", "-c", ask], capture_output=True, text=True, cwd=cwd, check=False
    )
    assert done.stderr == ""
    return set(filter(None, done.stdout.split("\n")))


Complete = Callable[..., set[str]]


@pytest.fixture
def complete(nuggets: Nuggets) -> Complete:
    """What a script is told for the last word, without what it is."""

    def ask(*words: str) -> set[str]:
        return {line.partition("\t")[0] for line in nuggets("__complete", *words).lines}

    return ask


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_parses_in_its_shell(nuggets: Nuggets, shell: str) -> None:
    script = nuggets("completion", shell)
    if shutil.which(shell) is None:
        assert "nuggets" in script.out
        return

    done = subprocess.run([shell, "-n"], input=script.out, text=True, capture_output=True)

    assert (script.code, done.returncode, done.stderr) == (0, 0, "")


def test_the_first_word_is_a_command(complete: Complete) -> None:
    first = {name.split()[0] for commands in MODULES.values() for name in commands}

    assert complete("") == first
    assert complete("rec") == {"recall"}


def test_the_second_word_of_a_group_is_a_command(complete: Complete) -> None:
    assert {"add", "show", "edit"} < complete("note", "")
    assert complete("note", "re") == {"restore"}


@pytest.mark.parametrize(
    ("group", "command"),
    [name.split() for names in MODULES.values() for name in names if name.split()[0] in GROUPS],
)
def test_behind_a_command_of_a_group_its_options_are_offered(
    complete: Complete, group: str, command: str
) -> None:
    offered = complete(group, command, "--")

    assert {"--help", "--dir", "--json"} <= offered
    assert command not in complete(group, command, "")


def test_options_are_those_of_the_command(complete: Complete) -> None:
    assert complete("recall", "x", "--s") == {"--session"}
    assert complete("note", "list", "--k") == {"--kind"}
    assert complete("--json", "recall", "--nu") == {"--nugget"}


def test_the_choices_of_an_argument_are_offered_where_it_belongs(complete: Complete) -> None:
    assert complete("export", "") == {*FORMS}
    assert complete("export", "js") == {"json", "jsonl"}
    assert complete("export", "--d") == {"--dry-run", "--dir"}
    assert complete("export", "jsonl", "j") == set()
    assert complete("connect", "co") == {"codex"}
    assert complete("--dir", "x", "completion", "b") == {"bash"}


def test_the_names_of_nuggets_are_offered_where_one_belongs(
    nuggets: Nuggets, complete: Complete
) -> None:
    for name in ("project", "prefs", "my notes"):
        nuggets("remember", name, "k", "v")

    assert complete("remember", "") == {"project", "prefs", "my notes"}
    assert complete("facts", "pro") == {"project"}
    assert complete("note", "add", "pr") == {"project", "prefs"}
    assert complete("recall", "--nugget", "pre") == {"prefs"}
    assert complete("remember", "my\\ n") == {"my notes"}
    assert complete("remember", "project", "pr") == set()


def test_another_directory_has_its_own_names(
    nuggets: Nuggets, complete: Complete, directory: Path
) -> None:
    nuggets("--dir", str(directory), "remember", "elsewhere", "k", "v")

    for option in (
        ("--dir", str(directory)),
        (f"--dir={directory}",),  # as zsh splits words
        ("--dir", "=", str(directory)),  # and as bash does
    ):
        assert complete(*option, "facts", "") == {"elsewhere"}
        assert complete(*option, "facts", "x", "--js") == {"--json"}


def test_a_value_may_stand_right_behind_its_option(nuggets: Nuggets, complete: Complete) -> None:
    nuggets("remember", "project", "k", "v")

    assert complete("recall", "--nugget", "=") == {"project"}
    assert complete("recall", "--nugget=pro") == {"--nugget=project"}
    assert complete("recall", "--nugget", "=", "pro") == {"project"}
    assert complete("recall", "--session", "=", "--") == set()
    assert complete("--dir", "=") == set()
    assert complete("note", "list", "--tag", "=", "x", "--k") == {"--kind"}


def test_without_a_shelf_nothing_is_offered(complete: Complete, directory: Path) -> None:
    assert complete("--dir", str(directory / "none"), "facts", "") == set()


def test_names_with_apostrophes_do_not_break_fish(nuggets: Nuggets) -> None:
    script = nuggets("completion", "fish").out

    for line in script.splitlines():
        if line.startswith("complete"):
            assert shlex.split(line.replace("\\'", ""))


@pytest.fixture
def on_path(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `nuggets` that shells find."""
    stub = directory / "bin" / "nuggets"
    stub.parent.mkdir()
    stub.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", str(stub.parent), prepend=os.pathsep)


def test_a_command_is_offered_with_what_it_is(nuggets: Nuggets) -> None:
    [recall] = nuggets("__complete", "rec").lines

    assert recall.partition("\t")[0] == "recall"
    assert len(recall.partition("\t")[2].split()) > 2
    assert nuggets("__complete", "enc").lines == ["encoder\tcommands of encoder"]


def test_keys_are_offered_where_one_belongs(nuggets: Nuggets, complete: Complete) -> None:
    nuggets("remember", "project", "test cmd", "make test")
    nuggets("remember", "project", "deploy cmd", "make deploy")
    nuggets("remember", "prefs", "text editor", "helix")
    nuggets("note", "add", "project", "Text of the licence", "MIT")

    assert complete("recall", "te") == {"test cmd", "text editor"}
    assert complete("recall", "te", "--nu") == {"--nugget"}
    assert complete("recall", "--nugget", "prefs", "t") == {"text editor"}
    assert complete("forget", "project", "") == {"test cmd", "deploy cmd"}
    assert complete("remember", "project", "test\\ c") == {"test cmd"}
    assert complete("forget", "project", '"test') == {"test cmd"}
    assert complete("search", "te") == set()


def test_titles_are_offered_where_a_note_is_named(nuggets: Nuggets, complete: Complete) -> None:
    nuggets("note", "add", "project", "Auth middleware", "Uses JWT.")
    nuggets("note", "add", "project", "Auth of guests", "Uses cookies.")
    nuggets("note", "add", "project", "Old plan", "Uses cookies.")
    nuggets("note", "archive", "Old plan")

    assert complete("note", "show", "") == {"Auth middleware", "Auth of guests"}
    assert complete("link", "x", "Auth\\ m") == {"Auth middleware"}
    assert complete("history", "--note", "Auth\\ m") == {"Auth middleware"}


@pytest.mark.usefixtures("on_path")
def test_bash_keeps_words_together_and_runs_none_of_them(nuggets: Nuggets) -> None:
    for key in ("test cmd", "test $(touch pwned)", "test `touch pwned`"):
        nuggets("remember", "my notes", key, "make test")
    script = nuggets("completion", "bash").out

    assert complete_in_bash(script, "nuggets", "rec") == {"recall"}
    assert complete_in_bash(script, "nuggets", "facts", "") == {r"my\ notes"}
    assert complete_in_bash(script, "nuggets", "recall", "test\\ c") == {r"test\ cmd"}
    assert complete_in_bash(script, "nuggets", "recall", '"test c') == {"test cmd"}
    assert complete_in_bash(script, "nuggets", "recall", "te") == {
        r"test\ cmd",
        r"test\ \$\(touch\ pwned\)",
        r"test\ \`touch\ pwned\`",
    }
    assert not Path("pwned").exists()


def test_the_values_of_options_are_offered(complete: Complete) -> None:
    assert complete("note", "add", "n", "t", "--stability", "") == set(STABILITIES)
    assert complete("note", "list", "--kind", "f") == {"fact"}
    assert complete("note", "list", "--kind", "=", "") == set(KINDS)
    assert complete("mcp", "--tools", "=", "") == {"few", "all"}
    assert complete("config", "set", "promote") == {"promote_after"}
    assert complete("config", "") == {"set", "unset"}


def test_completing_writes_nothing(nuggets: Nuggets, directory: Path) -> None:
    shelf = Path(nuggets("config", "--json").json[0]["value"])
    nuggets("remember", "project", "test cmd", "make test")
    before = {path: path.stat().st_mtime_ns for path in shelf.rglob("*") if path.is_file()}

    done = nuggets("__complete", "--dir", str(shelf), "recall", "te")
    nothing = nuggets("__complete", "--dir", str(directory / "none"), "recall", "te")

    assert (done.code, done.out) == (0, "test cmd\n")
    assert (nothing.out, (directory / "none").exists()) == ("", False)
    after = {path: path.stat().st_mtime_ns for path in shelf.rglob("*") if path.is_file()}
    assert {p: t for p, t in after.items() if p.suffix != ".db-shm"} == {
        p: t for p, t in before.items() if p.suffix != ".db-shm"
    }
