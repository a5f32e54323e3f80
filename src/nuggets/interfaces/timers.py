"""The system's own timers: what systemd, launchd or cron needs to start the daily clean-up, and
what they have of it already."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.files import private_directory, replace_file, unwritable

MARK = "# nuggets: daily clean-up"
CRONTAB = "crontab"


class Step(NamedTuple):
    """A command to run, and what it reads."""

    argv: tuple[str, ...]
    input: str = ""


class Plan(NamedTuple):
    """What installing a timer does: files to write, commands to run."""

    kind: str
    start: str  # the part of it that says when
    files: Mapping[str, str]
    enable: Sequence[Step]
    disable: Sequence[Step]


def planned(program: Sequence[str], hour: int, minute: int) -> Plan:
    """The timer of this system that starts the program at this time every day."""
    _refuse_controls(program)
    if sys.platform == "darwin":
        return _launchd(program, hour, minute)
    if _has_systemd():
        return _systemd(program, hour, minute)
    if shutil.which("crontab"):
        return _cron(program, hour, minute)
    raise NotFound(
        "neither a systemd user session, launchd nor crontab is here; keep "
        "`nuggets schedule run` running instead, or let your agent's server do it"
    )


def installed(plan: Plan) -> dict[str, str]:
    """All that the system has of our timer, by where it stands."""
    if plan.kind == CRONTAB:
        ours = [line for line in _crontab() if line.endswith(MARK)]
        return {CRONTAB: "\n".join(("", *ours))} if ours else {}
    return {path: _text(path) for path in plan.files if os.path.lexists(path)}


def install(plan: Plan) -> None:
    for path, text in plan.files.items():
        private_directory(os.path.dirname(path))
        replace_file(path, [text.encode()], durable=False)
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
    """A line break would begin a line of its own, which says what to run."""
    for word in program:
        if any(sign < " " or sign == "\x7f" or "\ud800" <= sign <= "\udfff" for sign in word):
            raise InvalidInput(
                f"{word!r} has a line break or another sign that no timer can hold; choose another "
                "name for it"
            )


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:  # then nobody knows what it says
        return ""


def _has_systemd() -> bool:
    if not shutil.which("systemctl"):
        return False
    return _ran(Step(("systemctl", "--user", "show-environment"))).returncode == 0


def _systemd(program: Sequence[str], hour: int, minute: int) -> Plan:
    folder = os.path.expanduser("~/.config/systemd/user")
    if "$" in program[0]:  # which systemd leaves as it is in the place of a program
        program = ["/usr/bin/env", *program]
    service = f"""\
[Unit]
Description=Nuggets: daily clean-up of the memory

[Service]
Type=oneshot
ExecStart={" ".join(map(_quoted, program))}
"""
    start = f"OnCalendar=*-*-* {hour:02d}:{minute:02d}:00\n"
    timer = f"""\
[Unit]
Description=Nuggets: daily clean-up of the memory

[Timer]
{start}Persistent=true

[Install]
WantedBy=timers.target
"""
    return Plan(
        "systemd user timer",
        start,
        {f"{folder}/nuggets.service": service, f"{folder}/nuggets.timer": timer},
        [
            Step(("systemctl", "--user", "daemon-reload")),
            Step(("systemctl", "--user", "enable", "--now", "nuggets.timer")),
        ],
        [Step(("systemctl", "--user", "disable", "--now", "nuggets.timer"))],
    )


def _quoted(word: str) -> str:
    """A word in a unit, where nothing of it is expanded."""
    guarded = str.maketrans({"\\": r"\\", '"': r"\"", "%": "%%", "$": "$$"})
    return f'"{word.translate(guarded)}"'


def _launchd(program: Sequence[str], hour: int, minute: int) -> Plan:
    import plistlib

    path = os.path.expanduser("~/Library/LaunchAgents/nuggets.daily.plist")
    text = plistlib.dumps(
        {
            "Label": "nuggets.daily",
            "ProgramArguments": list(program),
            "StartCalendarInterval": {"Hour": hour, "Minute": minute},
        }
    ).decode()
    return Plan(
        "launchd agent",
        text.partition("StartCalendarInterval")[2].partition("</dict>")[0],
        {path: text},
        [Step(("launchctl", "load", "-w", path))],
        [Step(("launchctl", "unload", "-w", path))],
    )


def _cron(program: Sequence[str], hour: int, minute: int) -> Plan:
    kept = [line for line in _crontab() if not line.endswith(MARK)]
    start = f"{minute} {hour} * * * "
    # To cron a % is the end of the command, unless a backslash stands before it that no other one
    # guards; to the shell these quotes begin or end what is quoted.
    command = shlex.join(program).replace("%", "'\\%'")
    return Plan(
        CRONTAB,
        f"\n{start}",
        {},
        [_new_crontab([*kept, f"{start}{command} {MARK}"])],
        [_new_crontab(kept)],
    )


def _new_crontab(lines: Sequence[str]) -> Step:
    return Step(("crontab", "-"), "".join(f"{line}\n" for line in lines))


def _crontab() -> list[str]:
    """The lines that are there; what cannot be read is not empty."""
    listed = _ran(Step(("crontab", "-l")))
    said = _decoded(listed.stderr).strip()
    if listed.returncode == 0:
        text = _decoded(listed.stdout)
        return text.removesuffix("\n").split("\n") if text else []
    if "no crontab" in said or ("can't open" in said and "No such file" in said):  # BusyBox
        return []
    raise NuggetsError(
        f"`crontab -l` failed, so nothing was changed: {said}. See to that first, or keep "
        "`nuggets schedule run` running instead"
    )


def _run_all(steps: Sequence[Step]) -> None:
    for step in steps:
        done = _ran(step)
        if done.returncode:
            command = " ".join(step.argv)
            raise NuggetsError(f"`{command}` failed: {_decoded(done.stderr).strip()}")


def _ran(step: Step) -> "subprocess.CompletedProcess[bytes]":
    given = step.input.encode(errors="surrogateescape")
    plainly = {**os.environ, "LC_ALL": "C"}  # we look at what it says
    try:
        return subprocess.run(step.argv, input=given, capture_output=True, check=False, env=plainly)
    except OSError as problem:
        command = " ".join(step.argv)
        raise NuggetsError(f"`{command}` failed: {problem.strerror}") from problem


def _decoded(said: bytes) -> str:
    """As text that becomes the same bytes again: the lines of others are not ours to change."""
    return said.decode(errors="surrogateescape")
