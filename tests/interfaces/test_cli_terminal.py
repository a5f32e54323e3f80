"""In a real terminal: nothing stored can steer it, and $EDITOR writes notes."""

import json
import pty
import re
import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from command_line import HARMFUL, Nuggets, NuggetsProcess, run_in_terminal
from nuggets.interfaces.cli.notes import save_from_editor
from nuggets.stores.process_lock import hold_shelf_lock

HOSTILE = {
    "CSI": "\x1b[2J\x1b[31m",
    "OSC 8": "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "OSC 52": "\x1b]52;c;ZXZpbA==\x07",
    "BEL": "a\x07b",
    "BS": "safe\x08\x08\x08\x08evil",
    "CR": "safe\revil",
    "VT and FF": "a\x0bb\x0cc",
    "C1 CSI": "\x9b31m",
    "C1 OSC": "\x9d0;title\x9c",
    "DEL": "a\x7fb",
    "bidi override": "\u202egpj.exe",
    "bidi isolate": "\u2066a\u2069",
    "direction marks": "\u200e\u200f\u061c",
    "zero width": "pass\u200bword",
    "line separator": "a\u2028b\u2029c",
    "tags": "\U000e0041\U000e0042",
    "selectors": "\U000e0100\U000e0101",
    "byte order mark": "\ufeffa",
}
COMMANDS = (
    ("facts", "n"),
    ("note", "list"),
    ("note", "show", "titled"),
    ("search", "findable"),
    ("graph",),
    ("graph", "--dot"),
    ("export", "dot", "-"),
    ("list",),
    ("status",),
    ("history",),
    ("history", "titled"),
    ("audit",),
    ("promote", "--dry-run"),
    ("doctor",),
    ("project", "list"),
    ("sessions", "list"),
)


def harmful(text: str) -> set[str]:
    return set(text) & HARMFUL


@pytest.mark.parametrize("name", HOSTILE)
def test_stored_text_is_shown_and_cannot_act(nuggets: Nuggets, name: str) -> None:
    text = HOSTILE[name]
    nuggets("remember", "n", f"key x{text}x", f"value x{text}x")
    nuggets("note", "add", "n", "titled", f"findable x{text}x", "--tag", f"t{text}g")
    nuggets("link", "titled", f"key x{text}x", f"because x{text}x")
    said = [nuggets(*command) for command in COMMANDS]
    said.append(nuggets("recall", f"key x{text}x"))
    said.append(nuggets("recall", f"key x{text}x", "--json"))
    said.append(nuggets("note", "show", f"no such x{text}x"))
    said.append(nuggets("forget", "n", f"no such x{text}x"))
    said.append(nuggets("remember", f"n{text}", "k", "v"))
    said.append(nuggets("bogus" + text))
    said.append(nuggets("list", "--bogus" + text))

    assert {sign for done in said for sign in harmful(done.out + done.err)} == set()


@pytest.mark.parametrize("name", HOSTILE)
def test_as_json_the_value_is_true(nuggets: Nuggets, name: str) -> None:
    value = f"x{HOSTILE[name]}x"
    nuggets("remember", "n", "k", value)

    assert nuggets("recall", "k", "--json").json["answer"] == value


def test_a_real_terminal_sees_only_our_own_colours(nuggets: Nuggets) -> None:
    everything = "x".join(HOSTILE.values())
    nuggets("remember", "n", "evil key", everything, "--allow-secret")  # it has "password"
    nuggets("note", "add", "n", "titled", f"findable {everything}", "--allow-secret")

    for command in (("recall", "evil key"), ("recall", "evil key", "--json"), ("facts", "n")):
        code, seen = run_in_terminal(*command)

        ours = seen.decode().replace("\r\n", "\n")
        for colour in ("0", "1", "2", "36"):
            ours = ours.replace(f"\x1b[{colour}m", "")
        assert code == 0
        assert harmful(ours) == set()


def test_colours_are_for_people_who_want_them(nuggets: Nuggets) -> None:
    nuggets("remember", "n", "k", "v")

    coloured = run_in_terminal("recall", "k")[1]
    plain = run_in_terminal("recall", "k", NO_COLOR="1")[1]
    dumb = run_in_terminal("recall", "k", TERM="dumb")[1]

    assert b"\x1b[1mv\x1b[0m" in coloured
    assert b"\x1b" not in plain
    assert b"\x1b" not in dumb
    assert "\x1b" not in nuggets("recall", "k").out


def test_emoji_and_letters_of_every_script_are_left_alone(nuggets: Nuggets) -> None:
    text = "é 設定 👩‍👩‍👧 ❤️ می‌خواهم שלום नमस्ते"
    nuggets("remember", "n", "k", text)

    assert f"Value: {text}" in nuggets("recall", "k").lines


def test_ids_from_an_edited_file_cannot_act_either(nuggets: Nuggets) -> None:
    nuggets("note", "add", "n", "titled", "findable words")
    directory = Path(nuggets("config", "--json").json[0]["value"])
    graph = directory / "graph" / "graph.json"
    shape = json.loads(graph.read_text())
    shape["notes"][0]["id"] = "note-n-\x1b[31m"
    graph.write_text(json.dumps(shape))

    care = (("audit",), ("reflect", "--dry-run"), ("reflect",), ("history",), ("undo",))
    said = [nuggets(*command) for command in (*COMMANDS, *care)]
    said.append(nuggets("note", "archive", "titled"))

    assert {sign for done in said for sign in harmful(done.out + done.err)} == set()


def test_output_is_utf8_whatever_the_locale_says(
    nuggets: Nuggets, nuggets_process: NuggetsProcess
) -> None:
    nuggets("remember", "é", "k", "é 設定")
    latin = {"PYTHONIOENCODING": "ascii"}

    said = nuggets_process("recall", "k", env=latin)
    error = nuggets_process("recall", "k", "--nugget", "nope", "--json", env=latin)

    assert "Value: é 設定" in said.lines
    assert error.json["error"]["message"] == "there is no nugget 'nope'; there are: é"


def test_a_reader_who_has_seen_enough_is_no_error(nuggets: Nuggets) -> None:
    import subprocess
    import sys

    nuggets("remember", "n", "k", "x" * 1_000_000)
    pipe = f"{sys.executable} -m nuggets recall k --json | head -c 1; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("{0\n", "")


# --- the editor ---------------------------------------------------------------------------------


def editor(directory: Path, script: str) -> str:
    path = directory / "my editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"'{path}' --flag"


@pytest.mark.parametrize(
    ("command", "announcement"),
    [(("reflect",), "Inspecting notes"), (("doctor", "--fix"), "Checking the database")],
)
def test_a_command_that_takes_long_says_what_it_does(
    nuggets: Nuggets, command: tuple[str, ...], announcement: str
) -> None:
    directory = Path(nuggets("config", "--json").json[0]["value"])
    nuggets("note", "add", "n", "Title", "The same line.\nThe same line.")
    (directory / "graph" / "graph.json").chmod(0o644)  # something to repair
    with ExitStack() as lock:
        lock.enter_context(hold_shelf_lock(str(directory)))  # until they have read it
        code, seen = run_in_terminal(*command, after=announcement, react=lock.close)

    assert code == 0
    assert re.search(announcement + r"[^\r]* … \d+ s so far", seen.decode())


def test_edit_opens_the_editor_with_the_content(nuggets: Nuggets, directory: Path) -> None:
    nuggets("note", "add", "n", "Title", "old words")

    code, _ = run_in_terminal(
        "note", "edit", "Title", EDITOR=editor(directory, 'sed -i s/old/new/ "$2"')
    )

    assert code == 0
    assert nuggets("note", "show", "Title", "--json").json["content"] == "new words"


def test_add_opens_the_editor_with_nothing(nuggets: Nuggets, directory: Path) -> None:
    code, _ = run_in_terminal(
        "note", "add", "n", "Title", EDITOR=editor(directory, 'echo written >> "$2"')
    )

    assert code == 0
    assert nuggets("note", "show", "Title", "--json").json["content"] == "written"


@pytest.mark.parametrize(
    "command",
    ["exit 3", ': > "$2"', 'rm "$2"', r"""printf '\377\376' > "$2" """],
    ids=["fails", "empties", "removes", "writes no text"],
)
def test_an_editor_that_goes_wrong_changes_nothing(
    nuggets: Nuggets, directory: Path, command: str
) -> None:
    nuggets("note", "add", "n", "Title", "old words")

    code, seen = run_in_terminal(
        "note", "edit", "Title", EDITOR=editor(directory, command), TMPDIR=str(directory)
    )

    assert code == 2
    assert b"Error:" in seen
    assert b"Traceback" not in seen
    assert nuggets("note", "show", "Title", "--json").json["content"] == "old words"


@pytest.mark.parametrize("command", ["/no/such/editor", "unbalanced 'quote", " "])
def test_an_editor_that_is_none_is_a_clear_error(nuggets: Nuggets, command: str) -> None:
    nuggets("note", "add", "n", "Title", "old words")

    code, seen = run_in_terminal("note", "edit", "Title", EDITOR=command)

    assert code == 2
    assert b"Error:" in seen
    assert b"Traceback" not in seen


def test_an_edit_that_is_refused_is_kept_in_a_file(nuggets: Nuggets, directory: Path) -> None:
    nuggets("note", "add", "n", "Title", "old words")
    meanwhile = 'nuggets_python -m nuggets note edit Title "of someone else" > /dev/null'
    import sys

    script = f'{meanwhile.replace("nuggets_python", sys.executable)}; echo mine > "$2"'

    code, seen = run_in_terminal(
        "note", "edit", "Title", EDITOR=editor(directory, script), TMPDIR=str(directory)
    )

    [kept] = directory.glob("nuggets-*/note.md")
    assert code == 1
    assert kept.read_text() == "mine\n"
    assert str(kept).encode() in seen.replace(b"\r\n", b"")
    assert nuggets("note", "show", "Title", "--json").json["content"] == "of someone else"


def test_no_draft_is_left_behind(nuggets: Nuggets, directory: Path) -> None:
    nuggets("note", "add", "n", "Title", "old words")

    run_in_terminal(
        *("note", "edit", "Title"), EDITOR=editor(directory, "exit 0"), TMPDIR=str(directory)
    )
    run_in_terminal(
        *("note", "edit", "Title"), EDITOR=editor(directory, "exit 1"), TMPDIR=str(directory)
    )

    assert list(directory.glob("nuggets-*")) == []


def test_an_interrupt_is_for_the_editor_to_heed(nuggets: Nuggets, directory: Path) -> None:
    """A shell can only trap what was not ignored when it began."""
    script = """trap 'echo written > "$2"' INT; echo ready; until [ -s "$2" ]; do :; done"""

    code, _ = run_in_terminal(
        *("note", "add", "n", "Title"),
        typed="\x03",
        after="ready",
        EDITOR=editor(directory, script),
    )

    assert code == 0
    assert nuggets("note", "show", "Title", "--json").json["content"] == "written"


def test_what_was_written_outlives_an_interrupt_while_it_is_saved(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    monkeypatch.setenv("EDITOR", editor(directory, 'echo mine > "$2"'))
    ours, theirs = pty.openpty()

    def save(text: str) -> None:
        raise KeyboardInterrupt

    with open(ours, "rb"), open(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        with pytest.raises(KeyboardInterrupt):
            save_from_editor("", save)

    [kept] = directory.glob("nuggets-*/note.md")
    assert kept.read_text() == "mine\n"
    assert str(kept) in capsys.readouterr().err


def test_what_is_wrong_with_a_note_is_told_before_the_editor_opens(
    nuggets: Nuggets, directory: Path
) -> None:
    opened = directory / "opened"
    command = editor(directory, f'touch {opened}; echo text > "$2"')

    for wrong, says in (
        (("n", "Title", "--scope", "bogus"), b"scope must be one of"),
        (("n", "Title", "--tag", "t" * 99), b"a tag may have at most"),
        (("a/b", "Title"), b"a nugget's name has only"),
        (("n", " "), b"a title must not be empty"),
    ):
        code, seen = run_in_terminal("note", "add", *wrong, EDITOR=command)

        assert (code, opened.exists()) == (2, False)
        assert says in seen
    assert nuggets("history").lines == ["The history is empty."]
