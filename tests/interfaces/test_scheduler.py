"""The heartbeat of long-lived doors, and timers that are installed."""

import json
import os
import stat
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from command_line import HARMFUL, Nuggets
from nuggets import NuggetShelf
from nuggets.errors import StoreBusy
from nuggets.interfaces import timers
from nuggets.interfaces.scheduler import Heartbeat, told
from nuggets.records import DailyRun
from nuggets.settings import load

NINE = datetime(2026, 3, 10, 9, 0)


class Said:
    """What was reported, and that something was."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.something = threading.Event()

    def __call__(self, done: DailyRun | Exception) -> None:
        self.texts.append(told(done))
        self.something.set()


def test_a_heartbeat_runs_what_is_due_and_reports_it(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Auth", "Twice.\nTwice.")
    said = Said()
    beat = Heartbeat(shelf, now=lambda: NINE, report=said)
    beat.start()

    assert said.something.wait(20)
    beat.stop()
    assert said.texts == [
        "2026-03-10: inspected 1, rewritten 1, merged 0, archived 0, tagged 1, linked 0, promoted 0"
    ]


def test_a_failing_pass_is_reported_and_does_not_end_the_heartbeat(
    shelf: NuggetShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Said()

    def busy(now: datetime) -> None:
        raise StoreBusy("someone is writing")

    monkeypatch.setattr(shelf, "run_daily", busy)
    beat = Heartbeat(shelf, report=said)
    beat.start()

    assert said.something.wait(20)
    beat.stop()
    assert said.texts == ["the daily run went wrong: someone is writing"]


@pytest.fixture
def crontab(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has cron and nothing else; the table is a file."""
    tools, table = directory / "bin", directory / "table"
    tools.mkdir()
    script = tools / "crontab"
    script.write_text(f'#!/bin/sh\n[ "$1" = -l ] && cat {table} || cat > {table}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    table.write_text("5 4 * * * backup\n")
    monkeypatch.setenv("PATH", f"{tools}:/bin")
    monkeypatch.setattr("nuggets.interfaces.timers._has_systemd", lambda: False)
    return table


def test_install_adds_a_line_once_and_keeps_the_others(nuggets: Nuggets, crontab: Path) -> None:
    nuggets("schedule", "install")
    nuggets("schedule", "install")
    lines = crontab.read_text().splitlines()

    assert lines[0] == "5 4 * * * backup"
    assert len(lines) == 2
    assert lines[1].startswith("0 9 * * * ")
    assert "schedule run --once" in lines[1]


def test_the_timer_names_the_directory_of_a_url(nuggets: Nuggets, crontab: Path) -> None:
    nuggets("schedule", "install", "--dir", "file:///srv/my shelf")

    assert "--dir '/srv/my shelf' schedule run" in crontab.read_text()


def configure(line: str) -> None:
    file = Path(os.environ["NUGGETS_DIR"]) / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(line)


def test_the_status_tells_of_a_timer_that_was_installed_for_another_time(
    nuggets: Nuggets, crontab: Path
) -> None:
    without = nuggets("schedule", "status").err
    nuggets("schedule", "install")
    fitting = nuggets("schedule", "status").err
    configure("reflection_hour = 12")
    off = nuggets("schedule", "status").err
    nuggets("schedule", "install")
    anew = nuggets("schedule", "status").err

    assert (without, fitting, anew) == ("", "", "")
    assert "another time" in off
    assert "`nuggets schedule install`" in off


def test_a_timer_that_brings_its_own_hour_is_not_off(
    nuggets: Nuggets, crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "6")
    nuggets("schedule", "install")
    monkeypatch.delenv("MEMORY_REFLECTION_HOUR")

    assert nuggets("schedule", "status").err == ""


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_timers_of_every_system_know_their_time(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr("nuggets.interfaces.timers._has_systemd", lambda: True)
    monkeypatch.setattr("nuggets.interfaces.timers._run_all", lambda commands: None)
    monkeypatch.setattr("nuggets.interfaces.timers.sys", SimpleNamespace(platform=system))
    nuggets("schedule", "install")
    fitting = nuggets("schedule", "status").err
    configure("reflection_minute = 30")

    assert fitting == ""
    assert "another time" in nuggets("schedule", "status").err


def test_a_dry_run_installs_nothing(nuggets: Nuggets, crontab: Path) -> None:
    done = nuggets("schedule", "install", "--dry-run")

    assert "Timer: crontab" in done.out
    assert crontab.read_text() == "5 4 * * * backup\n"


def test_uninstall_takes_only_our_line(nuggets: Nuggets, crontab: Path) -> None:
    nuggets("schedule", "install")

    assert nuggets("schedule", "uninstall").code == 0
    assert crontab.read_text() == "5 4 * * * backup\n"
    assert nuggets("schedule", "uninstall").code == 1


def test_systemd_gets_a_persistent_timer(
    nuggets: Nuggets, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[timers.Step] = []
    monkeypatch.setattr("nuggets.interfaces.timers._has_systemd", lambda: True)
    monkeypatch.setattr("nuggets.interfaces.timers._run_all", called.extend)
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "7")
    done = nuggets("schedule", "install")
    folder = Path(os.environ["HOME"]) / ".config/systemd/user"

    assert done.code == 0
    assert "OnCalendar=*-*-* 07:00:00\nPersistent=true" in (folder / "nuggets.timer").read_text()
    assert '"schedule" "run" "--once"' in (folder / "nuggets.service").read_text()
    assert called[-1].argv == ("systemctl", "--user", "enable", "--now", "nuggets.timer")


def test_a_crontab_that_cannot_be_read_is_not_taken_for_an_empty_one(
    nuggets: Nuggets, crontab: Path, directory: Path
) -> None:
    script = directory / "bin" / "crontab"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = -l ] && echo "crontab: I/O error" >&2 && exit 1\ncat > {crontab}\n'
    )
    done = nuggets("schedule", "install")

    assert done.code == 1
    assert "I/O error" in done.err
    assert "nothing was changed" in done.err
    assert crontab.read_text() == "5 4 * * * backup\n"
    assert nuggets("schedule", "uninstall").code == 1
    assert nuggets("schedule", "status").code == 0


@pytest.mark.parametrize(
    "said", ["no crontab for me", "crontab: can't open 'me': No such file or directory"]
)
def test_whoever_has_no_crontab_yet_gets_one(
    nuggets: Nuggets, crontab: Path, directory: Path, said: str
) -> None:
    script = directory / "bin" / "crontab"
    script.write_text(f'#!/bin/sh\n[ "$1" = -l ] && echo "{said}" >&2 && exit 1\ncat > {crontab}\n')

    assert nuggets("schedule", "install").code == 0
    assert crontab.read_text().startswith("0 9 * * * ")


def test_the_lines_of_others_keep_every_byte(nuggets: Nuggets, crontab: Path) -> None:
    others = "1 2 * * * a\u2028b \x0b\r\n\n".encode() + b"3 4 * * * caf\xe9\n"
    crontab.write_bytes(others)
    nuggets("schedule", "install")
    installed = crontab.read_bytes()
    nuggets("schedule", "uninstall")

    assert installed.startswith(others)
    assert installed.count(b"\n") == others.count(b"\n") + 1
    assert crontab.read_bytes() == others


@pytest.mark.parametrize("system", ["cron", "systemd", "launchd"])
@pytest.mark.parametrize("name", ["two\n* * * * * lines", "\x1b]0;mine\x07", "caf\udce9"])
def test_a_timer_holds_no_line_breaks_or_other_controls(
    nuggets: Nuggets, crontab: Path, monkeypatch: pytest.MonkeyPatch, system: str, name: str
) -> None:
    monkeypatch.setattr("nuggets.interfaces.timers._has_systemd", lambda: system == "systemd")
    platform = "darwin" if system == "launchd" else "linux"
    monkeypatch.setattr("nuggets.interfaces.timers.sys", SimpleNamespace(platform=platform))
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", name)
    done = nuggets("schedule", "install", "--dry-run")

    assert done.code == 2
    assert "no timer can hold" in done.err
    assert "\x1b" not in done.err


def test_what_a_dry_run_shows_steers_no_terminal(
    nuggets: Nuggets, crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crontab.write_text("5 4 * * * \x1b]0;theirs\x07\n")
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", "/srv/\u202egnorts/MEMORY.md")
    done = nuggets("schedule", "install", "--dry-run")

    assert done.code == 0
    assert not HARMFUL & set(done.out)


WORDS = ("/srv/50%/a b", "back\\%slash", "it's $HOME %h", '"$x" \\\\%', "%%")


def as_cron_reads(entry: str) -> str:
    """The command of a line: a backslash guards the sign after it, a bare % would end it."""
    kept, signs = "", iter(entry.split(" ", 5)[5])
    for sign in signs:
        if sign == "\\":
            following = next(signs)
            sign = "%" if following == "%" else sign + following
        else:
            assert sign != "%", entry
        kept += sign
    return kept


@pytest.mark.parametrize("word", WORDS)
def test_cron_hands_every_word_on_as_it_is(crontab: Path, word: str) -> None:
    [step] = timers.planned(["printf", "%s", word], 9, 0).enable
    entry = step.input.splitlines()[-1]
    done = subprocess.run(["/bin/sh", "-c", as_cron_reads(entry)], capture_output=True, check=True)

    assert done.stdout.decode() == word


def test_systemd_expands_nothing_in_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nuggets.interfaces.timers._has_systemd", lambda: True)
    plan = timers.planned(["/bin/python", "--dir", '/srv/50% "$HOME" \\'], 9, 0)
    service = next(text for path, text in plan.files.items() if path.endswith(".service"))

    assert 'ExecStart="/bin/python" "--dir" "/srv/50%% \\"$$HOME\\" \\\\"\n' in service


def test_a_dollar_in_the_place_of_python_is_left_to_env(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nuggets.interfaces.timers._has_systemd", lambda: True)
    plan = timers.planned(["/opt/$x/python", "-m"], 9, 0)

    assert any('ExecStart="/usr/bin/env" "/opt/$$x/python" "-m"' in t for t in plan.files.values())


def test_a_file_in_the_way_of_a_timer_is_named(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuggets.interfaces.timers._has_systemd", lambda: True)
    config = Path(os.environ["HOME"]) / ".config"
    config.write_text("in the way")
    done = nuggets("schedule", "install")

    assert done.code == 1
    assert f"{config} is a file" in done.err
    assert nuggets("schedule", "status").code == 0


def test_a_timer_that_cannot_be_taken_away_is_named(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuggets.interfaces.timers._has_systemd", lambda: True)
    monkeypatch.setattr("nuggets.interfaces.timers._run_all", lambda steps: None)
    service = Path(os.environ["HOME"]) / ".config/systemd/user/nuggets.service"
    service.mkdir(parents=True)
    done = nuggets("schedule", "uninstall")

    assert done.code == 1
    assert str(service) in done.err


def test_what_a_timer_needs_and_does_not_run_is_told(
    nuggets: Nuggets, crontab: Path, directory: Path
) -> None:
    (directory / "bin" / "crontab").write_text("no program at all")
    done = nuggets("schedule", "install")

    assert done.code == 1
    assert "`crontab -l` failed" in done.err


class Days:
    """Every look at it is a minute later; at the end it stops who looks."""

    def __init__(self, start: datetime, days: int) -> None:
        self.now = start
        self.end = start + timedelta(days=days)
        self.stop: Callable[[], None]

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        if self.now >= self.end:
            self.stop()
        return self.now


@pytest.mark.parametrize("began", [10, 24], ids=lambda minute: f"began at 9:{minute}")
@pytest.mark.parametrize(("hour", "minute"), [(21, 50), (22, 50), (23, 45), (23, 59)])
def test_a_heartbeat_runs_at_its_minute_whenever_it_began(
    monkeypatch: pytest.MonkeyPatch, hour: int, minute: int, began: int
) -> None:
    monkeypatch.setattr("nuggets.interfaces.scheduler.LONGEST_PAUSE", 0.0)
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", str(hour))
    monkeypatch.setenv("MEMORY_REFLECTION_MINUTE", str(minute))
    clock = Days(NINE.replace(minute=began), days=2)
    runs: list[datetime] = []
    with NuggetShelf("memory:", project="") as shelf:
        beat = Heartbeat(shelf, now=clock, report=lambda done: runs.append(clock.now))
        clock.stop = beat.stop
        beat.run()

    first = NINE.replace(hour=hour, minute=minute)
    assert runs == [first, first + timedelta(days=1)]


class Clock:
    """Moves on by half an hour at every look, and says when it was looked at often enough."""

    def __init__(self, looks: int) -> None:
        self.left = looks
        self.enough = threading.Event()

    def __call__(self) -> datetime:
        self.left -= 1
        if not self.left:
            self.enough.set()
        return NINE - timedelta(minutes=30 * self.left)


def test_a_heartbeat_keeps_to_its_interval(
    shelf: NuggetShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuggets.interfaces.scheduler.LONGEST_PAUSE", 0.0)
    shelf.settings = load({"HEARTBEAT_INTERVAL_MS": "7200000"}, {"dir": "memory:"})
    ticks: list[datetime] = []
    monkeypatch.setattr(shelf, "run_daily", ticks.append)
    clock = Clock(looks=9)
    beat = Heartbeat(shelf, now=clock)
    beat.start()

    assert clock.enough.wait(20)
    beat.stop()
    assert ticks[:3] == [NINE - timedelta(hours=hours) for hours in (4, 2, 0)]


def test_an_unexpected_error_does_not_end_the_heartbeat(
    shelf: NuggetShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Said()

    def broken(now: datetime) -> None:
        raise OSError

    monkeypatch.setattr(shelf, "run_daily", broken)
    beat = Heartbeat(shelf, report=said)
    beat.start()

    assert said.something.wait(20)
    beat.stop()
    assert said.texts == ["the daily run went wrong: OSError"]


def test_a_timer_knows_the_hour_that_the_environment_said(
    nuggets: Nuggets, crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "6")
    nuggets("schedule", "install")
    entry = crontab.read_text().splitlines()[1]

    assert entry.startswith("0 6 * * * /usr/bin/env MEMORY_REFLECTION_HOUR=6 ")


def test_a_run_that_nobody_listens_to_is_in_the_log(directory: Path) -> None:
    log = directory / "hooks" / "log"
    with NuggetShelf(directory) as shelf:
        shelf.create_note("project", "Auth", "Twice.\nTwice.")

        def last_look() -> datetime:
            beat.stop()
            return NINE

        beat = Heartbeat(shelf, now=last_look)
        beat.run()

    assert "2026-03-10: inspected 1" in log.read_text()


def test_what_a_program_hears_of_the_runs_is_json_line_by_line(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    nuggets("note", "add", "project", "Auth", "Twice.\nTwice.")

    def run(beat: Heartbeat) -> None:
        beat._beat(NINE)
        monkeypatch.setattr(NuggetShelf, "run_daily", failing)
        beat._beat(NINE)

    def failing(shelf: NuggetShelf, now: datetime) -> None:
        raise StoreBusy("someone is \x9b writing")

    monkeypatch.setattr(Heartbeat, "run", run)
    done = nuggets("schedule", "run", "--json")
    first, second = map(json.loads, done.lines)

    assert (first["ran"], first["date"]) == (True, "2026-03-10")
    assert first["result"]["rewritten"] == 1
    assert second == {"error": {"code": "store_busy", "message": "someone is \x9b writing"}}
    assert not HARMFUL & set(done.out)
