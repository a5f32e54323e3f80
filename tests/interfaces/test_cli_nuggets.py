"""The commands on whole nuggets, and the settings."""

from pathlib import Path

import pytest

from command_line import Nuggets, run_in_terminal
from nuggets import NuggetShelf
from nuggets.__main__ import run_command as main
from nuggets.filesystem.hook_files import count_miss
from nuggets.settings import SETTINGS


@pytest.fixture(autouse=True)
def _filled(nuggets: Nuggets) -> None:
    nuggets("remember", "work", "key", "value")
    nuggets("note", "add", "work", "Note", "words")
    nuggets("remember", "other", "key 2", "value")


def test_list_is_a_table(nuggets: Nuggets) -> None:
    head, *rows = nuggets("list").lines

    assert head.split() == ["NUGGET", "FACTS", "NOTES"]
    assert [row.split() for row in rows] == [["other", "1", "0"], ["work", "1", "1"]]


def test_an_empty_shelf_says_how_to_begin(nuggets: Nuggets, directory: Path) -> None:
    assert "nuggets remember" in nuggets("list", "--dir", str(directory)).out
    assert nuggets("list", "--dir", str(directory), "--json").json == []
    assert nuggets("status", "--dir", str(directory)).lines == ["Nothing is stored yet."]


def test_status_as_json_has_the_documented_names(nuggets: Nuggets) -> None:
    one = nuggets("status", "work", "--json").json

    assert one == {
        "name": "work",
        "fact_count": 1,
        "note_count": 1,
        "dimension": 16384,
        "banks": 4,
        "ensembles": 1,
        "capacity": 512,
        "capacity_used_pct": 0.2,
        "capacity_warning": "",
        "max_facts": 0,
    }
    assert [status["name"] for status in nuggets("status", "--json").json] == ["other", "work"]


def test_status_shows_how_full_it_is(nuggets: Nuggets) -> None:
    text = nuggets("status", "WORK").out

    assert "1 fact, 1 note" in text
    assert "0.2% of 512" in text
    assert "bank" not in text  # of no use to anybody but a script


@pytest.mark.parametrize("command", ["clear", "remove"])
def test_nothing_is_taken_away_when_nobody_can_be_asked(nuggets: Nuggets, command: str) -> None:
    done = nuggets(command, "work", stdin="y\n")

    assert done.code == 2
    assert "--yes" in done.err
    assert nuggets("status", "work", "--json").json["fact_count"] == 1


def test_clear_with_yes_forgets_the_facts(nuggets: Nuggets) -> None:
    done = nuggets("clear", "work", "--yes")

    assert (done.code, done.out) == (0, "Forgot 1 fact.\n")
    assert nuggets("status", "work", "--json").json["note_count"] == 1


def test_remove_with_yes_takes_all(nuggets: Nuggets) -> None:
    done = nuggets("remove", "work", "--yes", "--json")

    assert done.json == {"removed": 2, "nugget": "work"}
    assert [one["name"] for one in nuggets("list", "--json").json] == ["other"]


@pytest.mark.parametrize("command", ["clear", "remove"])
@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y\n", 0, 0), ("YES\n", 0, 0), ("n\n", 1, 1), ("\n", 1, 1)]
)
def test_a_person_is_asked(
    nuggets: Nuggets, command: str, answer: str, code: int, left: int
) -> None:
    exit_code, seen = run_in_terminal(command, "work", typed=answer)

    everything = nuggets("note", "list", "--kind", "fact", "--json").json
    facts = [fact for fact in everything if fact["nuggetName"] == "work"]
    assert b"[y/N]" in seen
    assert (b"Nothing was changed." in seen) == bool(code)
    assert b"Error" not in seen
    assert exit_code == code
    assert len(facts) == left


def test_the_question_says_whose_memories_would_go(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project, keys in (("webshop", "ab"), ("blog", "c")):
        monkeypatch.setenv("NUGGETS_PROJECT", f"/home/me/{project}/.git")
        for key in keys:
            nuggets("remember", "work", key, "value")
    nuggets("note", "archive", "key")
    clear, remove = (nuggets(command, "work").err for command in ("clear", "remove"))

    assert "Delete all facts of work (4 facts; 2 of webshop; 1 archived)?" in clear
    assert (
        "Delete work with all facts and notes (4 facts, 1 note; 2 of webshop; 1 archived)?"
        in remove
    )


@pytest.mark.parametrize("command", ["clear", "remove"])
def test_what_came_in_while_a_person_was_asked_is_not_taken_away(
    nuggets: Nuggets,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Person:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            with NuggetShelf() as other:
                other.remember("work", "late", "value")
            return "y\n"

    monkeypatch.setattr("sys.stdin", Person())
    code = main([command, "work"])

    assert code == 1
    assert "changed meanwhile" in capsys.readouterr().err
    assert len(nuggets("facts", "work", "--json").json) == 2


def test_config_shows_every_setting_and_its_origin(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_SESSION", "s1")

    shown = {entry["name"]: entry for entry in nuggets("config", "--json").json}
    text = nuggets("config").out

    assert shown.keys() == {setting.name for setting in SETTINGS}
    assert (shown["session"]["value"], shown["session"]["origin"]) == ("s1", "environment")
    assert shown["project"]["origin"] == "default"
    assert all(setting.variable in text for setting in SETTINGS)


def test_a_broken_config_file_is_a_clear_error(nuggets: Nuggets, directory: Path) -> None:
    (directory / "config.toml").write_text("session = ")

    done = nuggets("list", "--dir", str(directory))

    assert (done.code, done.out) == (1, "")
    assert str(directory / "config.toml") in done.err


def test_a_wrong_setting_is_one_warning_and_the_command_goes_on(
    nuggets: Nuggets, directory: Path
) -> None:
    (directory / "config.toml").write_text("session = 5\n")

    done = nuggets("list", "--dir", str(directory), "--json")

    assert (done.code, done.json) == (0, [])
    assert done.err.count("Warning:") == 1


def test_the_doctor_says_how_hooks_that_are_late_get_more_time(
    nuggets: Nuggets, directory: Path
) -> None:
    count_miss(str(directory), "stop")

    said = nuggets("--dir", str(directory), "doctor").out

    assert "1 hook ran out of time so far; NUGGETS_HOOK_SECONDS allows more" in said
