"""`--json`: one JSON value on standard output and nothing else, whatever happens."""

import pytest

from command_line import Nuggets, Prepare
from nuggets.interfaces.cli import MODULES

CALLS: dict[str, tuple[str, ...]] = {
    "remember": ("n", "another", "v"),
    "recall": ("key",),
    "forget": ("n", "key"),
    "facts": ("n",),
    "note add": ("n", "Third", "c"),
    "note show": ("One",),
    "note edit": ("One", "changed"),
    "note archive": ("One",),
    "note restore": ("Archived",),
    "note delete": ("One",),
    "note merge": ("One", "Two"),
    "note list": (),
    "search": ("jwt",),
    "link": ("One", "Two", "reason"),
    "unlink": ("One", "Two"),
    "graph": (),
    "list": (),
    "status": (),
    "clear": ("n", "--yes"),
    "remove": ("n", "--yes"),
    "config": (),
    "completion": ("bash",),
}
UNLIKELY = {"unlink": 1}  # nothing to take away


@pytest.fixture(autouse=True)
def _filled(prepare: Prepare) -> None:
    prepare(
        "remember n key value",
        "note add n One 'About jwt.'",
        "note add n Two 'About tokens.'",
        "note add n Archived 'About cookies.'",
        "note archive Archived",
    )


@pytest.mark.parametrize("command", CALLS)
def test_a_command_prints_one_json_value(nuggets: Nuggets, command: str) -> None:
    done = nuggets(*command.split(), *CALLS[command], "--json")

    assert done.json is not None
    assert done.err == ""
    assert done.code == UNLIKELY.get(command, 0)


@pytest.mark.parametrize("command", CALLS)
def test_the_option_may_stand_first(nuggets: Nuggets, command: str) -> None:
    done = nuggets("--json", *command.split(), *CALLS[command])

    assert done.json is not None


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("remember", "n", "", "v"), "invalid_input", 2),
        (("remember", "../x", "k", "v"), "invalid_input", 2),
        (("remember", "n", "k"), "invalid_input", 2),
        (("remember", "n", "k", "v", "--bogus"), "invalid_input", 2),
        (("search", " "), "invalid_input", 2),
        (("recall", "k", "--nugget", "nope"), "not_found", 1),
        (("facts", "nope"), "not_found", 1),
        (("note", "show", "nope"), "not_found", 1),
        (("note", "show", "note-n-"), "ambiguous", 1),
        (("note", "list", "--scope", "world"), "invalid_input", 2),
        (("link", "One", "One"), "invalid_input", 2),
        (("search", "x", "--limit", "0"), "invalid_input", 2),
        (("search", "x", "--limit", "many"), "invalid_input", 2),
        (("graph", "--depth", "-1"), "invalid_input", 2),
        (("clear", "n"), "invalid_input", 2),
        (("status", "nope"), "not_found", 1),
        (("list", "--dir", "sqlit://x"), "settings_error", 1),
        (("list", "--dir", ""), "invalid_input", 2),
        (("completion", "tcsh"), "invalid_input", 2),
        (("bogus",), "invalid_input", 2),
        (("note", "bogus"), "invalid_input", 2),
        (("note",), "invalid_input", 2),
        ((), "invalid_input", 2),
    ],
)
def test_an_error_is_json_too(
    nuggets: Nuggets, arguments: tuple[str, ...], code: str, exit_code: int
) -> None:
    done = nuggets(*arguments, "--json")

    [error] = done.json.values()
    assert error["code"] == code
    assert error["message"]
    assert done.json.keys() == {"error"}
    assert (done.code, done.err) == (exit_code, "")


def test_json_keeps_true_values_and_steers_no_terminal(nuggets: Nuggets) -> None:
    value = "\x1b]8;;http://x\x07 \x7f \x9b31m \u202e \U000e0041 é 設定 👩‍👩‍👧 می‌خواهم"
    nuggets("remember", "n", "key", value)

    done = nuggets("recall", "key", "--json")

    assert done.json["answer"] == value
    assert not {sign for sign in done.out if ord(sign) < 32 and sign != "\n"}
    assert not set("\x7f\x9b\u202e\U000e0041") & set(done.out)
    assert "é 設定 👩‍👩‍👧 می‌خواهم" in done.out


def test_every_call_here_is_a_command() -> None:
    assert CALLS.keys() <= {name for commands in MODULES.values() for name in commands}
