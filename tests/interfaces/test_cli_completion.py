"""Completion scripts: they parse, and bash completes with them."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from command_line import COMMAND, Nuggets
from nuggets.domain.records import STABILITIES
from nuggets.interfaces.cli.command_table import GROUPS, MODULES
from nuggets.maintenance.export_and_backup import FORMS


def complete(script: str, *words: str, cwd: Path | None = None, **env: str) -> set[str]:
    """What bash would offer for the last word."""
    line = " ".join(map(shlex.quote, words))
    ask = (
        f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _nuggets\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-u", "-c", ask],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        cwd=cwd,
        check=False,
    )
    assert done.stderr == ""
    return set(filter(None, done.stdout.split("\n")))


@pytest.fixture
def bash(nuggets: Nuggets) -> str:
    return nuggets("completion", "bash").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_parses_in_its_shell(nuggets: Nuggets, shell: str) -> None:
    script = nuggets("completion", shell)
    if shutil.which(shell) is None:
        assert "nuggets" in script.out
        return

    done = subprocess.run([shell, "-n"], input=script.out, text=True, capture_output=True)

    assert (script.code, done.returncode, done.stderr) == (0, 0, "")


def test_the_first_word_is_a_command(bash: str) -> None:
    first = {name.split()[0] for commands in MODULES.values() for name in commands}

    assert complete(bash, "nuggets", "") == first
    assert complete(bash, "nuggets", "rec") == {"recall"}


def test_the_second_word_of_a_group_is_a_command(bash: str) -> None:
    assert {"add", "show", "edit"} < complete(bash, "nuggets", "note", "")
    assert complete(bash, "nuggets", "note", "re") == {"restore"}


@pytest.mark.parametrize(
    ("group", "command"),
    [name.split() for names in MODULES.values() for name in names if name.split()[0] in GROUPS],
)
def test_behind_a_command_of_a_group_its_options_are_offered(
    bash: str, group: str, command: str
) -> None:
    offered = complete(bash, "nuggets", group, command, "--")

    assert {"--help", "--dir", "--json"} <= offered
    assert command not in complete(bash, "nuggets", group, command, "")


def test_options_are_those_of_the_command(bash: str) -> None:
    assert complete(bash, "nuggets", "recall", "x", "--s") == {"--session"}
    assert complete(bash, "nuggets", "note", "list", "--k") == {"--kind"}
    assert complete(bash, "nuggets", "--json", "recall", "--nu") == {"--nugget"}


def test_the_choices_of_an_argument_are_offered_where_it_belongs(bash: str) -> None:
    assert complete(bash, "nuggets", "export", "") == {*FORMS}
    assert complete(bash, "nuggets", "export", "js") == {"json", "jsonl"}
    assert complete(bash, "nuggets", "export", "--d") == {"--dry-run", "--dir"}
    assert complete(bash, "nuggets", "export", "jsonl", "j") == set()
    assert complete(bash, "nuggets", "connect", "co") == {"codex"}
    assert complete(bash, "nuggets", "--dir", "x", "completion", "b") == {"bash"}


def test_fish_offers_the_choices_of_an_argument(nuggets: Nuggets) -> None:
    assert f" -a '{' '.join(FORMS)}'" in nuggets("completion", "fish").out


def test_the_names_of_nuggets_are_offered_where_one_belongs(nuggets: Nuggets, bash: str) -> None:
    for name in ("project", "prefs", "my notes"):
        nuggets("remember", name, "k", "v")

    assert complete(bash, "nuggets", "remember", "") == {"project", "prefs", r"my\ notes"}
    assert complete(bash, "nuggets", "facts", "pro") == {"project"}
    assert complete(bash, "nuggets", "note", "add", "pr") == {"project", "prefs"}
    assert complete(bash, "nuggets", "recall", "--nugget", "pre") == {"prefs"}
    assert complete(bash, "nuggets", "remember", "my\\ n") == {r"my\ notes"}
    assert complete(bash, "nuggets", "remember", "project", "pr") == set()


def test_another_directory_has_its_own_names(nuggets: Nuggets, bash: str, directory: Path) -> None:
    nuggets("--dir", str(directory), "remember", "elsewhere", "k", "v")

    for option in (
        ("--dir", str(directory)),
        (f"--dir={directory}",),  # as zsh splits words
        ("--dir", "=", str(directory)),  # and as bash does
    ):
        assert complete(bash, "nuggets", *option, "facts", "") == {"elsewhere"}
        assert complete(bash, "nuggets", *option, "facts", "x", "--js") == {"--json"}


def test_a_value_may_stand_right_behind_its_option(nuggets: Nuggets, bash: str) -> None:
    nuggets("remember", "project", "k", "v")

    assert complete(bash, "nuggets", "recall", "--nugget", "=") == {"project"}
    assert complete(bash, "nuggets", "recall", "--nugget", "=", "pro") == {"project"}
    assert complete(bash, "nuggets", "recall", "--session", "=", "--") == set()
    assert complete(bash, "nuggets", "--dir", "=") == set()
    assert complete(bash, "nuggets", "note", "list", "--tag", "=", "x", "--k") == {"--kind"}


def test_without_a_shelf_nothing_is_offered(bash: str, directory: Path) -> None:
    assert complete(bash, "nuggets", "facts", "", NUGGETS_DIR=str(directory / "none")) == set()


def test_the_name_of_a_file_is_never_run(bash: str, directory: Path) -> None:
    (directory / "$(touch pwned).nugget.json").write_text("{}")
    (directory / "`touch pwned`.nugget.json").write_text("{}")

    offered = complete(bash, "nuggets", "facts", "", cwd=directory, NUGGETS_DIR=str(directory))

    assert len(offered) == 2
    assert not (directory / "pwned").exists()


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


@pytest.mark.usefixtures("on_path")
def test_keys_are_offered_where_one_belongs(nuggets: Nuggets, bash: str) -> None:
    nuggets("remember", "project", "test cmd", "make test")
    nuggets("remember", "project", "deploy cmd", "make deploy")
    nuggets("remember", "prefs", "text editor", "helix")
    nuggets("note", "add", "project", "Text of the licence", "MIT")

    assert complete(bash, "nuggets", "recall", "te") == {r"test\ cmd", r"text\ editor"}
    assert complete(bash, "nuggets", "recall", "te", "--nu") == {"--nugget"}
    assert complete(bash, "nuggets", "recall", "--nugget", "prefs", "t") == {r"text\ editor"}
    assert complete(bash, "nuggets", "forget", "project", "") == {r"test\ cmd", r"deploy\ cmd"}
    assert complete(bash, "nuggets", "remember", "project", "test\\ c") == {r"test\ cmd"}
    assert complete(bash, "nuggets", "forget", "project", '"test') == {"test cmd"}
    assert complete(bash, "nuggets", "search", "te") == set()


@pytest.mark.usefixtures("on_path")
def test_titles_are_offered_where_a_note_is_named(nuggets: Nuggets, bash: str) -> None:
    nuggets("note", "add", "project", "Auth middleware", "Uses JWT.")
    nuggets("note", "add", "project", "Auth $(touch pwned)", "Uses JWT.")
    nuggets("note", "add", "project", "Old plan", "Uses cookies.")
    nuggets("note", "archive", "Old plan")
    titles = {r"Auth\ middleware", r"Auth\ \$\(touch\ pwned\)"}

    assert complete(bash, "nuggets", "note", "show", "") == titles
    assert complete(bash, "nuggets", "link", "x", "Auth\\ m") == {r"Auth\ middleware"}
    assert complete(bash, "nuggets", "history", "--note", "Auth\\ m") == {r"Auth\ middleware"}
    assert not Path("pwned").exists()


def test_the_values_of_options_are_offered(bash: str) -> None:
    assert complete(bash, "nuggets", "note", "add", "n", "t", "--stability", "") == set(STABILITIES)
    assert complete(bash, "nuggets", "note", "list", "--kind", "f") == {"fact"}
    assert complete(bash, "nuggets", "mcp", "--tools", "=", "") == {"few", "all"}
    assert complete(bash, "nuggets", "config", "set", "promote") == {"promote_after"}
    assert complete(bash, "nuggets", "config", "") == {"set", "unset"}


def test_completing_writes_nothing(nuggets: Nuggets, directory: Path) -> None:
    shelf = Path(nuggets("config", "--json").json[0]["value"])
    nuggets("remember", "project", "test cmd", "make test")
    before = {path: path.stat().st_mtime_ns for path in shelf.rglob("*") if path.is_file()}

    done = nuggets("__complete", "key", str(shelf), "", "te")
    nothing = nuggets("__complete", "key", str(directory / "none"), "", "te")

    assert (done.code, done.out) == (0, "test cmd\n")
    assert (nothing.out, (directory / "none").exists()) == ("", False)
    after = {path: path.stat().st_mtime_ns for path in shelf.rglob("*") if path.is_file()}
    assert {p: t for p, t in after.items() if p.suffix != ".db-shm"} == {
        p: t for p, t in before.items() if p.suffix != ".db-shm"
    }
