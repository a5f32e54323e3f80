"""The daily reflection: run by a long-lived process when it is due, or by a timer of the system."""

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

from nuggets.domain.records import DailyRun
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.atomic_files import unwritable, write_private_file
from nuggets.filesystem.hook_files import log
from nuggets.interfaces import summarize_clean_up
from nuggets.named_tuple import NamedTuple
from nuggets.operations.shelf_encoder import SECONDS_PER_MINUTE
from nuggets.shelf import NuggetShelf

LONGEST_PAUSE = 60.0  # seconds: after a suspend, a due run starts within a minute


class Heartbeat:
    """A thread that runs the daily reflection when it is due, until it is stopped. Every minute it
    also encodes notes that have no vector, if a sentence encoder is installed.

    The servers use it, so that the daily pass runs without a system timer. Reports go to the log
    beside the shelf, unless `report` is given.
    """

    def __init__(
        self,
        shelf: NuggetShelf,
        *,
        now: Callable[[], datetime] = datetime.now,
        others: Callable[[], Iterable[AbstractContextManager[NuggetShelf]]] = tuple,
        report: Callable[[DailyRun | Exception], None] | None = None,
    ) -> None:
        """`others`: shelves that are cleaned up as well, such as those of a team's members."""
        self._shelf = shelf
        self._others = others
        self._now = now
        self._report = report or (lambda done: log(shelf.settings["dir"], describe_run(done)))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self.run, name="nuggets-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; a running pass is finished first."""
        self._stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=LONGEST_PAUSE)

    def run(self) -> None:
        """Check at every heartbeat until stopped, by wall-clock time, so that suspends count."""
        last = again = datetime.min
        while not self._stopped.is_set():
            now = self._now()
            if not last <= now < again:  # the clock may have been set back
                last, again = now, self._beat(now)
            if self._shelf.has_encoder:
                self._shelf.encoder.update_waiting(SECONDS_PER_MINUTE)
            self._stopped.wait(min((again - now).total_seconds(), LONGEST_PAUSE))

    def _beat(self, now: datetime) -> datetime:
        """Run if due; the time of the next check, which is not after the next due time.

        Errors are reported and do not end the thread.
        """
        again = now + timedelta(milliseconds=self._shelf.settings["heartbeat_interval_ms"])
        try:
            done = self._shelf.run_daily(now)
            for opened in self._others():
                with opened as shelf:
                    shelf.run_daily(now)
            coming = self._shelf.next_run(now)
        except Exception as problem:
            self._report(problem)
            return again
        if done is not None:
            self._report(done)
        return coming if now < coming < again else again


def describe_run(done: DailyRun | Exception) -> str:
    """The counts of a run, or its error, in one line."""
    if isinstance(done, Exception):
        return f"the daily run went wrong: {str(done) or type(done).__name__}"
    result = done.result
    counts = f"inspected {result.inspected}, {summarize_clean_up(result)}, promoted {done.promoted}"
    return f"{done.date}: {counts}"


# --- timers of the system -------------------------------------------------------------------------
#
# They ask at the end of every hour whether the pass is due: so they know no time, a changed setting
# needs no new timer, and a machine that slept catches up the same day.


MARK = "# nuggets: daily reflection"
CRONTAB = "crontab"


class Command(NamedTuple):
    """A command to run, and its standard input."""

    argv: tuple[str, ...]
    input: str = ""


class Plan(NamedTuple):
    """What installing a timer does: files to write, commands to run."""

    kind: str
    files: Mapping[str, str]
    enable: Sequence[Command]
    disable: Sequence[Command]


def plan_timer(program: Sequence[str]) -> Plan:
    """The timer that starts the program every hour on this system."""
    _refuse_controls(program)
    if sys.platform == "darwin":
        return _launchd(program)
    if _has_systemd():
        return _systemd(program)
    if shutil.which("crontab"):
        return _cron(program)
    raise NotFound(
        "this system has no systemd user session, launchd or crontab; keep "
        "`nuggets schedule run` running instead, or let your agent's server do it"
    )


def installed_parts(plan: Plan) -> list[str]:
    """The parts of our timer that are installed: paths, or the crontab."""
    if plan.kind == CRONTAB:
        return [CRONTAB] if any(line.endswith(MARK) for line in _crontab()) else []
    return [path for path in plan.files if os.path.lexists(path)]


def install(plan: Plan) -> None:
    for path, text in plan.files.items():
        write_private_file(path, text.encode(), durable=False)
    _run_all(plan.enable)


def uninstall(plan: Plan) -> None:
    _run_all(plan.disable)
    for path in plan.files:
        try:
            if os.path.lexists(path):
                os.unlink(path)
        except OSError as problem:
            raise unwritable(path, problem) from problem


def _refuse_controls(program: Sequence[str]) -> None:
    """Refuse control characters: a line break could add a command to the timer."""
    for word in program:
        if any(sign < " " or sign == "\x7f" or "\ud800" <= sign <= "\udfff" for sign in word):
            raise InvalidInput(
                f"{word!r} contains a line break or control character, which a timer cannot hold; "
                "rename it"
            )


def _has_systemd() -> bool:
    if not shutil.which("systemctl"):
        return False
    return _run(Command(("systemctl", "--user", "show-environment"))).returncode == 0


def _systemd(program: Sequence[str]) -> Plan:
    folder = os.path.expanduser("~/.config/systemd/user")
    if "$" in program[0]:  # systemd does not expand $$ in the path of the program
        program = ["/usr/bin/env", *program]
    service = f"""\
[Unit]
Description=Nuggets: daily reflection of the memory

[Service]
Type=oneshot
ExecStart={" ".join(map(_quote_unit_word, program))}
"""
    timer = """\
[Unit]
Description=Nuggets: daily reflection of the memory

[Timer]
OnCalendar=*:59
Persistent=true

[Install]
WantedBy=timers.target
"""
    return Plan(
        "systemd user timer",
        {f"{folder}/nuggets.service": service, f"{folder}/nuggets.timer": timer},
        [
            Command(("systemctl", "--user", "daemon-reload")),
            Command(("systemctl", "--user", "enable", "--now", "nuggets.timer")),
        ],
        [Command(("systemctl", "--user", "disable", "--now", "nuggets.timer"))],
    )


def _quote_unit_word(word: str) -> str:
    """Quote a word for a unit file, without expansion."""
    guarded = str.maketrans({"\\": r"\\", '"': r"\"", "%": "%%", "$": "$$"})
    return f'"{word.translate(guarded)}"'


def _launchd(program: Sequence[str]) -> Plan:
    import plistlib

    path = os.path.expanduser("~/Library/LaunchAgents/nuggets.daily.plist")
    text = plistlib.dumps(
        {
            "Label": "nuggets.daily",
            "ProgramArguments": list(program),
            "StartCalendarInterval": {"Minute": 59},
        }
    ).decode()
    return Plan(
        "launchd agent",
        {path: text},
        [Command(("launchctl", "load", "-w", path))],
        [Command(("launchctl", "unload", "-w", path))],
    )


def _cron(program: Sequence[str]) -> Plan:
    other_lines = [line for line in _crontab() if not line.endswith(MARK)]
    # cron ends the command at a %, unless a backslash precedes it. The quotes around it close and
    # open the shell's quotation, so that the shell does not see the backslash.
    command = shlex.join(program).replace("%", "'\\%'")
    return Plan(
        CRONTAB,
        {},
        # cron mails what a command prints, and the daily pass is silent; errors are mailed
        [_new_crontab([*other_lines, f"59 * * * * {command} >/dev/null {MARK}"])],
        [_new_crontab(other_lines)],
    )


def _new_crontab(lines: Sequence[str]) -> Command:
    return Command(("crontab", "-"), "".join(f"{line}\n" for line in lines))


def _crontab() -> list[str]:
    """The lines of the crontab; an error if it cannot be read."""
    listed = _run(Command(("crontab", "-l")))
    message = _decode(listed.stderr).strip()
    if listed.returncode == 0:
        text = _decode(listed.stdout)
        return text.removesuffix("\n").split("\n") if text else []
    if "no crontab" in message or (
        "can't open" in message and "No such file" in message
    ):  # BusyBox
        return []
    raise NuggetsError(
        f"`crontab -l` failed, so nothing was changed: {message}. Fix that first, or keep "
        "`nuggets schedule run` running instead"
    )


def _run_all(commands: Sequence[Command]) -> None:
    for command in commands:
        done = _run(command)
        if done.returncode:
            line = " ".join(command.argv)
            raise NuggetsError(f"`{line}` failed: {_decode(done.stderr).strip()}")


def _run(command: Command) -> "subprocess.CompletedProcess[bytes]":
    stdin = command.input.encode(errors="surrogateescape")
    environment = {**os.environ, "LC_ALL": "C"}  # the messages are parsed, so they must be English
    try:
        return subprocess.run(
            command.argv, input=stdin, capture_output=True, check=False, env=environment
        )
    except OSError as problem:
        line = " ".join(command.argv)
        raise NuggetsError(f"`{line}` failed: {problem.strerror}") from problem


def _decode(message: bytes) -> str:
    """Decode losslessly, because other lines of the crontab are written back unchanged."""
    return message.decode(errors="surrogateescape")
