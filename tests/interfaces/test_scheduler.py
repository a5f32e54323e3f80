"""The heartbeat of long-lived doors, and timers that are installed."""

import json
import os
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from command_line import HARMFUL, Nuggets
from nuggets import NuggetShelf
from nuggets.domain.records import DailyRun
from nuggets.errors import StoreBusy
from nuggets.interfaces import scheduler
from nuggets.interfaces.scheduler import Heartbeat, describe_run
from nuggets.settings import load

NINE = datetime(2026, 3, 10, 9, 0)


class Said:
    """What was reported, and that something was."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.something = threading.Event()

    def __call__(self, done: DailyRun | Exception) -> None:
        self.texts.append(describe_run(done))
        self.something.set()


def test_a_heartbeat_runs_what_is_due_and_reports_it(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Auth", "Twice.\nTwice.")
    said = Said()
    beat = Heartbeat(shelf, now=lambda: NINE, report=said)
    beat.start()

    said.something.wait()
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

    said.something.wait()
    beat.stop()
    assert said.texts == ["the daily run went wrong: someone is writing"]


@pytest.fixture
def tools(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for stubs, which are found before all other programs."""
    folder = directory / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder


def write_stub(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def crontab(directory: Path, tools: Path) -> Path:
    """A machine that has cron and no systemd session; the table is a file."""
    table = directory / "table"
    table.write_text("5 4 * * * backup\n")
    write_stub(tools / "crontab", f'[ "$1" = -l ] && cat {table} || cat > {table}')
    write_stub(tools / "systemctl", "exit 1")
    return table


@pytest.fixture
def systemctl(directory: Path, tools: Path) -> Path:
    """A machine with a systemd session; its calls are the lines of a file."""
    calls = directory / "calls"
    write_stub(tools / "systemctl", f'echo "$*" >> {calls}')
    return calls


def become(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nuggets.interfaces.scheduler.sys", SimpleNamespace(platform=system))


def test_install_adds_a_line_once_and_keeps_the_others(nuggets: Nuggets, crontab: Path) -> None:
    nuggets("schedule", "install")
    nuggets("schedule", "install")
    lines = crontab.read_text().splitlines()

    assert lines[0] == "5 4 * * * backup"
    assert len(lines) == 2
    assert lines[1].startswith("59 * * * * ")
    assert "-P -m nuggets" in lines[1]  # no module of the folder that a timer starts in
    assert "schedule run --once" in lines[1]


def test_the_timer_names_the_directory_of_a_url(nuggets: Nuggets, crontab: Path) -> None:
    nuggets("schedule", "install", "--dir", "file:///srv/my shelf")

    assert "--dir '/srv/my shelf' schedule run" in crontab.read_text()


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
    nuggets: Nuggets, systemctl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "7")
    done = nuggets("schedule", "install")
    folder = Path(os.environ["HOME"]) / ".config/systemd/user"

    assert done.code == 0
    assert "OnCalendar=*:59\nPersistent=true" in (folder / "nuggets.timer").read_text()
    assert '"schedule" "run" "--once"' in (folder / "nuggets.service").read_text()
    assert systemctl.read_text().splitlines()[-1] == "--user enable --now nuggets.timer"


def test_a_crontab_that_cannot_be_read_is_not_taken_for_an_empty_one(
    nuggets: Nuggets, crontab: Path, tools: Path
) -> None:
    refusal = '[ "$1" = -l ] && echo "crontab: I/O error" >&2 && exit 1'
    write_stub(tools / "crontab", f"{refusal}\ncat > {crontab}")
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
    nuggets: Nuggets, crontab: Path, tools: Path, said: str
) -> None:
    refusal = f'[ "$1" = -l ] && echo "{said}" >&2 && exit 1'
    write_stub(tools / "crontab", f"{refusal}\ncat > {crontab}")

    assert nuggets("schedule", "install").code == 0
    assert crontab.read_text().startswith("59 * * * * ")


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
@pytest.mark.usefixtures("crontab")
def test_a_timer_holds_no_line_breaks_or_other_controls(
    nuggets: Nuggets, tools: Path, monkeypatch: pytest.MonkeyPatch, system: str, name: str
) -> None:
    write_stub(tools / "systemctl", "exit 0" if system == "systemd" else "exit 1")
    become("darwin" if system == "launchd" else "linux", monkeypatch)
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", name)
    done = nuggets("schedule", "install", "--dry-run")

    assert done.code == 2
    assert "a timer cannot hold" in done.err
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
    program = ["sh", "-c", 'echo silent; printf %s "$1" >&2', "-", word]
    [step] = scheduler.plan_timer(program).enable
    entry = step.input.splitlines()[-1]
    done = subprocess.run(["/bin/sh", "-c", as_cron_reads(entry)], capture_output=True, check=True)

    assert done.stderr.decode() == word
    assert done.stdout == b""  # else cron mails it every day


@pytest.mark.usefixtures("systemctl")
def test_systemd_expands_nothing_in_a_word() -> None:
    plan = scheduler.plan_timer(["/bin/python", "--dir", '/srv/50% "$HOME" \\'])
    service = next(text for path, text in plan.files.items() if path.endswith(".service"))

    assert 'ExecStart="/bin/python" "--dir" "/srv/50%% \\"$$HOME\\" \\\\"\n' in service


@pytest.mark.usefixtures("systemctl")
def test_a_dollar_in_the_place_of_python_is_left_to_env() -> None:
    plan = scheduler.plan_timer(["/opt/$x/python", "-m"])

    assert any('ExecStart="/usr/bin/env" "/opt/$$x/python" "-m"' in t for t in plan.files.values())


@pytest.mark.usefixtures("systemctl")
def test_a_file_in_the_way_of_a_timer_is_named(nuggets: Nuggets) -> None:
    config = Path(os.environ["HOME"]) / ".config"
    config.write_text("in the way")
    done = nuggets("schedule", "install")

    assert done.code == 1
    assert f"{config} is a file" in done.err
    assert nuggets("schedule", "status").code == 0


@pytest.mark.usefixtures("systemctl")
def test_a_timer_that_cannot_be_taken_away_is_named(nuggets: Nuggets) -> None:
    service = Path(os.environ["HOME"]) / ".config/systemd/user/nuggets.service"
    service.mkdir(parents=True)
    done = nuggets("schedule", "uninstall")

    assert done.code == 1
    assert str(service) in done.err


@pytest.mark.usefixtures("crontab")
def test_what_a_timer_needs_and_does_not_run_is_told(
    nuggets: Nuggets, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tools / "crontab").write_text("no program at all")
    monkeypatch.setenv("PATH", str(tools))  # or the next one in it would be run
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

    clock.enough.wait()
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

    said.something.wait()
    beat.stop()
    assert said.texts == ["the daily run went wrong: OSError"]


def test_a_timer_knows_the_hour_that_the_environment_said(
    nuggets: Nuggets, crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "6")
    nuggets("schedule", "install")
    entry = crontab.read_text().splitlines()[1]

    assert entry.startswith("59 * * * * /usr/bin/env MEMORY_REFLECTION_HOUR=6 ")


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

    days = iter([NINE, NINE + timedelta(days=1)])

    def failing(shelf: NuggetShelf, now: datetime) -> None:
        raise StoreBusy("someone is \x9b writing")

    def heartbeat_of_two_days(
        shelf: NuggetShelf, report: Callable[[DailyRun | Exception], None]
    ) -> Heartbeat:
        def look() -> datetime:
            now = next(days)
            if now > NINE:
                monkeypatch.setattr(NuggetShelf, "run_daily", failing)
                beat.stop()
            return now

        beat = Heartbeat(shelf, now=look, report=report)
        return beat

    monkeypatch.setattr("nuggets.interfaces.scheduler.LONGEST_PAUSE", 0.0)
    monkeypatch.setattr(
        "nuggets.interfaces.cli.reflect_promote_schedule.Heartbeat", heartbeat_of_two_days
    )
    done = nuggets("schedule", "run", "--json")
    first, second = map(json.loads, done.lines)

    assert (first["ran"], first["date"]) == (True, "2026-03-10")
    assert first["result"]["rewritten"] == 1
    assert second == {"error": {"code": "store_busy", "message": "someone is \x9b writing"}}
    assert not HARMFUL & set(done.out)
