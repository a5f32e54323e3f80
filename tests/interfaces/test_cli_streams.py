"""Standard files that are full, closed or cut off: what is said about a write stays true."""

import os
import pty
import re
import subprocess
import termios
from pathlib import Path
from signal import SIGINT

import pytest

from command_line import COMMAND, Done, Nuggets


def shell(line: str) -> Done:
    """A line of shell in which $N is the command."""
    done = subprocess.run(
        ["bash", "-c", line.replace("$N", " ".join(COMMAND))],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def on_a_screen(columns: int, *arguments: str, interrupted_at: str = "") -> Done:
    """In a terminal so wide, by someone who interrupts it as soon as they read a text."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, columns))
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux says that the other side is closed
                break
            seen += part
            if interrupted_at and interrupted_at.encode() in seen:
                process.send_signal(SIGINT)
                interrupted_at = ""
        code = process.wait()
    os.close(ours)
    return Done(code, re.sub("\x1b\\[[0-9;]*m", "", seen.decode()).replace("\r\n", "\n"), "")


# --- nobody is listening ------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["--help", "help", "remember --help", "completion bash"])
def test_a_reader_of_help_who_has_seen_enough_is_no_error(command: str) -> None:
    done = shell(f"$N {command} | head -1 >/dev/null; exit ${{PIPESTATUS[0]}}")

    assert (done.code, done.err) == (0, "")


def test_a_reader_of_an_export_who_has_seen_enough_is_no_error(nuggets: Nuggets) -> None:
    for number in range(4):  # more than a pipe holds
        text = f"note {number}: {'many words ' * 9000}"
        nuggets("note", "add", "n", f"Note {number}", text)
    done = shell("$N export jsonl - | head -c 10 >/dev/null; exit ${PIPESTATUS[0]}")

    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("options", ["", "--json"])
def test_a_write_whose_receipt_is_lost_is_still_done(nuggets: Nuggets, options: str) -> None:
    done = shell(f"$N remember n k v {options} >/dev/full")

    assert done.code == 0
    assert done.err.startswith("Warning: this was done, but")
    assert "No space left" in done.err
    assert nuggets("recall", "k", "--json").json["answer"] == "v"


@pytest.mark.parametrize(
    "command", ["recall k", "config", "list --json", "--help", "recall --help", "help"]
)
def test_an_answer_that_is_lost_is_a_failure(nuggets: Nuggets, command: str) -> None:
    nuggets("remember", "n", "k", "v")

    done = shell(f"$N {command} >/dev/full")

    assert done.code == 1
    assert done.err == "Error: the answer could not be written: No space left on device\n"


@pytest.mark.parametrize(
    "command", ["forget n nothing", "reflect --dry-run", "connect pi --dry-run", "demo"]
)
def test_nothing_is_said_to_be_done_that_was_not(nuggets: Nuggets, command: str) -> None:
    nuggets("remember", "n", "k", "v")

    done = shell(f"$N {command} >/dev/full")

    assert done.code == 1
    assert done.err.startswith("Error: the answer could not be written")


def test_a_refusal_stays_one_when_nothing_can_be_said() -> None:
    assert shell("$N remember n '' v >/dev/full 2>/dev/full").code == 2
    assert shell("$N remember n '' v --json >/dev/full").code == 2
    assert shell("$N remember n '' v >&- 2>&-").code == 2


def test_what_goes_into_a_pipe_is_whole(nuggets: Nuggets) -> None:
    title, value = "t" * 200 + " end", "v" * 500 + " end"
    nuggets("remember", "n", title, value)
    nuggets("remember", "n", title, f"{value} of it")

    for command in (("facts", "n"), ("search", "t" * 200), ("history",), ("note", "list")):
        assert title in nuggets(*command).out
    for command in (("facts", "n"), ("search", "t" * 200)):
        assert f"{value} of it" in nuggets(*command).out


# --- nobody is there ----------------------------------------------------------------------------


def test_a_closed_output_is_nobody_listening(nuggets: Nuggets) -> None:
    written = shell("$N remember n k v >&-")
    found, missed = shell("$N recall k >&-"), shell("$N recall 'other thing' >&-")
    silent = shell("$N remember n k2 v <&- >&- 2>&-")

    assert (written.code, written.err) == (0, "")
    assert (found.code, missed.code, silent.code) == (0, 1, 0)
    assert len(nuggets("facts", "n", "--json").json) == 2


@pytest.mark.parametrize("command", ["remember n other w >&-", "hook user-prompt </dev/null >&-"])
def test_what_is_said_to_a_closed_output_never_lands_in_a_file_of_ours(
    nuggets: Nuggets, command: str
) -> None:
    nuggets("remember", "n", "k", "v")

    done = shell(f"$N {command}")

    assert (done.code, done.err) == (0, "")
    assert nuggets("doctor").lines[0] == "No problems found."


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("remember n k -", "standard input is closed"),
        ("note add n t -", "standard input is closed"),
        ("note add n t", "set $EDITOR"),
        ("clear n", "--yes"),
    ],
)
def test_a_closed_input_is_said_and_nothing_is_written(
    nuggets: Nuggets, command: str, says: str
) -> None:
    nuggets("remember", "n", "k", "v")

    done = shell(f"$N {command} <&-")

    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err
    assert [note["title"] for note in nuggets("note", "list", "--json").json] == ["k"]


def test_an_editor_that_is_set_but_has_no_terminal_is_told_so(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")

    done = nuggets("note", "add", "n", "t")

    assert done.code == 2
    assert "needs a terminal" in done.err
    assert "set $EDITOR" not in done.err


# --- an MCP server in a terminal ----------------------------------------------------------------


def test_one_interrupt_ends_the_server_quietly(directory: Path) -> None:
    done = on_a_screen(80, "mcp", "--dir", str(directory), interrupted_at="Ctrl-C ends it")

    assert done.code == 130
    assert "Traceback" not in done.out


def test_nothing_but_the_protocol_is_in_its_stream(directory: Path) -> None:
    done = shell(f"$N mcp --json --dir '{directory}'")

    assert (done.code, done.out) == (0, "")


# --- a narrow screen ----------------------------------------------------------------------------


def test_settings_and_findings_fit_a_screen_of_80_columns(nuggets: Nuggets) -> None:
    for number in range(3):
        title = f"Twin {number} of a note with quite a long title"
        nuggets("note", "add", "a-nugget-with-a-long-name", title, "the same words")

    config, audit = on_a_screen(80, "config"), on_a_screen(80, "audit")
    explained = on_a_screen(80, "promote", "--explain", "--path", "MEMORY.md")
    shown = config.out + audit.out + explained.out
    audited = " ".join(audit.out.split())

    assert [line for line in shown.splitlines() if len(line) > 80 and "/" not in line] == []
    assert "reflection_hour = 9  (default)\n    MEMORY_REFLECTION_HOUR: hour of" in config.out
    assert all(f"Twin {number} of a note with" in audited for number in range(3))
