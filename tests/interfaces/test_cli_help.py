"""Help, usage errors and the overview."""

import pytest

from command_line import Nuggets
from nuggets.interfaces.cli import DEFINED, MODULES, find

COMMANDS = [name for commands in MODULES.values() for name in commands]


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(nuggets: Nuggets, command: str, option: str) -> None:
    done = nuggets(*command.split(), option)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: nuggets {command}")
    assert "examples:\n  " in done.out
    assert "--dir DIR" in done.out
    assert "--json" in done.out


def test_a_server_takes_its_shelf_and_opens_the_page_by_an_option(nuggets: Nuggets) -> None:
    told = nuggets("serve", "--help").out

    assert "--store URL" in told
    assert "--open" in told


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_is_about_its_own_command(name: str) -> None:
    command = find(name)

    assert command is not None
    assert all(f"nuggets {name}" in example for example in command.examples)


def test_every_command_that_is_defined_is_listed_and_every_listed_one_is_defined() -> None:
    for name in COMMANDS:
        find(name)

    assert DEFINED.keys() == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_of_itself_what_the_list_says_or_more(name: str) -> None:
    listed = next(c[name][1] for c in MODULES.values() if name in c)
    command = find(name)

    assert command is not None
    assert DEFINED[name].summary != listed
    assert command.summary == (DEFINED[name].summary or listed)


def test_the_overview_names_every_command(nuggets: Nuggets) -> None:
    done = nuggets("--help")

    assert done.code == 0
    assert all(f"  {command} " in done.out for command in COMMANDS)


def test_without_a_command_there_is_what_one_needs_on_a_screen(nuggets: Nuggets) -> None:
    done = nuggets()

    assert done.code == 0  # hosts that drop a hook's arguments take 2 for an order to stop
    assert "Usage: nuggets COMMAND" in done.out and "nuggets --help" in done.out
    needed = ("remember", "recall", "note add", "search", "ui", "connect")
    assert all(f"  {command} " in done.out for command in needed)
    assert len(done.lines) <= 20


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--foo",), "there is no option --foo"),
        (("-V",), "there is no option -V"),
        (("--dir",), "name a directory"),
        (("--dir", ""), "name a directory"),
        (("--foo", "--help"), "there is no option --foo"),
        (("bogus", "--help"), "there is no command 'bogus'"),
        (("help", "bogus"), "there is no command 'bogus'"),
        (("help", "note", "shwo"), "did you mean `nuggets note show`?"),
        (("add", "x"), "did you mean `nuggets remember` or `nuggets note add`"),
        (("edit", "x"), "did you mean `nuggets note edit`?"),
        (("get", "x"), "did you mean `nuggets recall`?"),
        (("rm", "x"), "did you mean `nuggets forget`?"),
        (("serach", "x"), "did you mean `nuggets search`?"),
        (("redo",), "did you mean `nuggets undo`?"),
        (("archive", "x"), "did you mean `nuggets note archive`?"),
    ],
)
def test_a_wrong_option_is_an_error_and_no_overview(
    nuggets: Nuggets, arguments: tuple[str, ...], says: str
) -> None:
    done = nuggets(*arguments)

    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_help_and_version_are_commands_too(nuggets: Nuggets) -> None:
    assert nuggets("help") == nuggets("--help")
    assert nuggets("help", "note") == nuggets("note", "--help")
    assert nuggets("help", "note", "add") == nuggets("note", "add", "--help")
    assert nuggets("version") == nuggets("--version")
    assert nuggets("version", "--json").json.keys() == {"version"}


def test_help_and_version_are_json_for_a_script(nuggets: Nuggets) -> None:
    assert nuggets("--version", "--json") == nuggets("version", "--json")
    assert nuggets("--json", "--help") == nuggets("help", "--json")
    assert nuggets("note", "--help", "--json") == nuggets("help", "note", "--json")
    assert nuggets("note", "add", "--help", "--json") == nuggets("help", "note", "add", "--json")
    assert nuggets("--version", "--json").json.keys() == {"version"}
    assert nuggets("note", "add", "-h", "--json").json.keys() == {"help"}


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_value_that_looks_like_an_option_is_shown_the_way_out(
    nuggets: Nuggets, options: tuple[str, ...]
) -> None:
    short = nuggets("remember", "p", "flag", "-v", *options)
    long = nuggets("remember", "p", "flag", "v", "--verbose=1", *options)
    missing = nuggets("remember", "p", "flag", *options)
    nothing_to_give = nuggets("list", "-v", *options)

    assert "if -v is no option, put -- before it" in short.err + short.out
    assert "if --verbose=1 is no option, put -- before it" in long.err + long.out
    for done in (missing, nothing_to_give):
        assert done.code == 2
        assert "put -- before it" not in done.err + done.out


def test_the_overview_is_two_columns_on_a_screen_of_80(nuggets: Nuggets) -> None:
    lines = nuggets("--help").lines
    entries = [line for line in lines if line.startswith("  ") and "--" not in line]

    assert max(map(len, lines)) <= 80
    assert {len(line) - len(line[20:].lstrip()) for line in entries} == {22}


def test_a_group_lists_its_commands(nuggets: Nuggets) -> None:
    helped, bare = nuggets("note", "--help"), nuggets("note")

    assert (helped.code, bare.code) == (0, 2)
    assert helped.out == bare.out
    assert "note add" in helped.out
    assert "remember" not in helped.out


def test_the_version_is_one_line(nuggets: Nuggets) -> None:
    done = nuggets("--version")

    assert done.code == 0
    assert done.lines[0].startswith("nuggets ")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(("remembr",), "nuggets remember"), (("note", "shwo"), "nuggets note show")],
)
def test_a_misspelt_command_gets_a_suggestion(
    nuggets: Nuggets, typed: tuple[str, ...], meant: str
) -> None:
    done = nuggets(*typed)

    assert (done.code, done.out) == (2, "")
    assert f"did you mean `{meant}`?" in done.err


def test_a_name_like_nothing_points_to_the_help(nuggets: Nuggets) -> None:
    done = nuggets("xyzzy")

    assert done.code == 2
    assert "nuggets --help" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("forget", "n"),
        ("remember", "n", "k", "v", "w"),
        ("remember", "n", "k", "v", "--bogus"),
        ("recall",),
        ("recall", "x", "--nug", "n"),
        ("--bogus", "list"),
        ("list", "extra"),
        ("note", "list", "--kind", "poem"),
        ("graph", "--depth", "101"),
        ("graph", "--depth", "deep"),
        ("list", "--dir"),
    ],
)
def test_wrong_usage_shows_the_usage_and_ends_with_two(
    nuggets: Nuggets, arguments: tuple[str, ...]
) -> None:
    done = nuggets(*arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: nuggets ")
    assert "--help`" in done.err
