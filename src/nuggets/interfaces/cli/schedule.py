"""Commands on the daily clean-up's clock: schedule run, status, install, uninstall."""

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from nuggets import codec
from nuggets.errors import NotFound, NuggetsError
from nuggets.files import replace_file
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import printable, say, warn
from nuggets.interfaces.scheduler import Heartbeat, summary
from nuggets.place import directory_of
from nuggets.settings import SETTINGS, Settings

MARK = "# nuggets: daily clean-up"
_OF_A_SHELL = ("dir", "session", "project")  # the first is an option; the others are of one shell


class Plan(NamedTuple):
    """What installing a timer does: files to write, commands to run."""

    kind: str
    start: str  # the part of it that says when
    files: dict[str, str]
    enable: list[list[str]]
    disable: list[list[str]]


def _run_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="run if it is due, then end")


def _run(call: Call) -> Outcome:
    if call.options.once:
        done = call.shelf.run_daily(datetime.now())
        if done is None:
            return Outcome({"ran": False}, ["Not due."])
        return Outcome({"ran": True, **codec.daily_to_json(done)}, [summary(done)])
    warn("Looking after the memory; stop with Ctrl-C.")
    Heartbeat(call.shelf, report=_report).run()
    return Outcome({}, [])


def _report(text: str) -> None:
    say(printable(text))


def _status(call: Call) -> Outcome:
    last, coming = call.shelf.last_run(), call.shelf.next_run(datetime.now())
    shape = {
        "last": codec.daily_to_json(last) if last else None,
        "next": coming.isoformat(timespec="minutes"),
    }
    lines = [
        f"Last run: {summary(last) if last else 'never'}",
        f"Next run: {coming:%Y-%m-%d %H:%M}, if anything is up then; else when it is",
    ]
    if _is_off(call):
        warn(
            "The installed timer starts at another time than the settings say, and may find "
            "nothing due; `nuggets schedule install` sets it anew."
        )
    return Outcome(shape, lines)


def _is_off(call: Call) -> bool:
    """Whether a timer is installed that does not start when we would have it start."""
    try:
        plan = _plan(call)
    except NotFound:
        return False
    installed = _installed(plan)
    brings_its_own = "MEMORY_REFLECTION_" in installed  # see `_environment`
    return bool(installed) and plan.start not in installed and not brings_its_own


def _installed(plan: Plan) -> str:
    """All that the system has of our timer; "" if there is none."""
    if plan.kind == "crontab":
        return "".join(f"\n{line}" for line in _crontab().splitlines() if line.endswith(MARK))
    texts = []
    for path in plan.files:
        with suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return "".join(texts)


def _install_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only show what would be written")


def _install(call: Call) -> Outcome:
    plan = _plan(call)
    lines = [f"Timer: {plan.kind}"]
    for path, text in plan.files.items():
        lines += [f"{path}:", *(f"  {line}" for line in text.splitlines())]
    lines += [f"$ {' '.join(command)}" for command in plan.enable]
    if not call.options.dry_run:
        for path, text in plan.files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            replace_file(path, [text.encode()], durable=False)
        _run_all(plan.enable)
        lines.append("Installed.")
    return Outcome({"timer": plan.kind, "files": plan.files, "commands": plan.enable}, lines)


def _uninstall(call: Call) -> Outcome:
    plan = _plan(call)
    there = [path for path in plan.files if os.path.exists(path)]
    if plan.kind == "crontab":
        there = ["crontab"] if MARK in _crontab() else []
    if not there:
        return Outcome({"removed": []}, ["Not found: no timer is installed."], 1)
    lines = [f"Removes {path}" for path in there] + [f"$ {' '.join(c)}" for c in plan.disable]
    if not call.options.dry_run:
        _run_all(plan.disable)
        for path in plan.files:
            if os.path.exists(path):
                os.unlink(path)
        lines.append("Uninstalled.")
    return Outcome({"removed": there}, lines)


def _plan(call: Call) -> Plan:
    hour, minute = call.settings["reflection_hour"], call.settings["reflection_minute"]
    program = [*_environment(call.settings), sys.executable, "-m", "nuggets"]
    if call.settings.origins["dir"] != "default":
        program += ["--dir", directory_of(call.settings["dir"])]
    program += ["schedule", "run", "--once"]
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


def _environment(settings: Settings) -> list[str]:
    """A timer starts with hardly any environment: what counts of ours has to be said again."""
    variables = [
        f"{setting.variable}={settings[setting.name]}"
        for setting in SETTINGS
        if settings.origins[setting.name] == "environment" and setting.name not in _OF_A_SHELL
    ]
    return ["/usr/bin/env", *variables] if variables else []


def _has_systemd() -> bool:
    if not shutil.which("systemctl"):
        return False
    probe = ["systemctl", "--user", "show-environment"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def _systemd(program: list[str], hour: int, minute: int) -> Plan:
    folder = os.path.expanduser("~/.config/systemd/user")
    quoted = " ".join(
        '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'
        for word in program
    )
    service = f"""\
[Unit]
Description=Nuggets: daily clean-up of the memory

[Service]
Type=oneshot
ExecStart={quoted}
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
            ["systemctl", "--user", "daemon-reload"],
            ["systemctl", "--user", "enable", "--now", "nuggets.timer"],
        ],
        [["systemctl", "--user", "disable", "--now", "nuggets.timer"]],
    )


def _launchd(program: list[str], hour: int, minute: int) -> Plan:
    import plistlib

    path = os.path.expanduser("~/Library/LaunchAgents/nuggets.daily.plist")
    text = plistlib.dumps(
        {
            "Label": "nuggets.daily",
            "ProgramArguments": program,
            "StartCalendarInterval": {"Hour": hour, "Minute": minute},
        }
    ).decode()
    return Plan(
        "launchd agent",
        text.partition("StartCalendarInterval")[2].partition("</dict>")[0],
        {path: text},
        [["launchctl", "load", "-w", path]],
        [["launchctl", "unload", "-w", path]],
    )


def _cron(program: list[str], hour: int, minute: int) -> Plan:
    import shlex

    kept = [line for line in _crontab().splitlines() if not line.endswith(MARK)]
    start = f"{minute} {hour} * * * "
    entry = f"{start}{shlex.join(program).replace('%', chr(92) + '%')} {MARK}"
    return Plan(
        "crontab",
        f"\n{start}",
        {},
        [["crontab", "-", "\n".join([*kept, entry])]],
        [["crontab", "-", "\n".join(kept)]],
    )


def _crontab() -> str:
    listed = subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=False)
    return listed.stdout if listed.returncode == 0 else ""


def _run_all(commands: list[list[str]]) -> None:
    for command in commands:
        text = None
        if command[:2] == ["crontab", "-"]:
            command, text = command[:2], command[2] + "\n"
        done = subprocess.run(command, capture_output=True, text=True, check=False, input=text)
        if done.returncode:
            raise NuggetsError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")


COMMANDS = {
    "schedule run": Command(
        ("nuggets schedule run", "nuggets schedule run --once"),
        _run,
        _run_arguments,
        summary="look after the memory: run the daily clean-up whenever it is due",
        changes=True,
    ),
    "schedule status": Command(
        ("nuggets schedule status", "nuggets schedule status --json"),
        _status,
    ),
    "schedule install": Command(
        ("nuggets schedule install --dry-run", "nuggets schedule install"),
        _install,
        _install_arguments,
        summary="have the system run it every day: systemd, launchd or cron",
        changes=True,
    ),
    "schedule uninstall": Command(
        ("nuggets schedule uninstall",),
        _uninstall,
        _install_arguments,
        changes=True,
    ),
}
