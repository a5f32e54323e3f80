"""Commands on the daily clean-up's clock: schedule run, status, install, uninstall."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime

from nuggets import codec
from nuggets.errors import NuggetsError
from nuggets.interfaces import timers
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import inert_json, printable, say, warn
from nuggets.interfaces.scheduler import Heartbeat, summary, told
from nuggets.place import directory_of
from nuggets.records import DailyRun
from nuggets.settings import SETTINGS, Settings

_OF_A_SHELL = ("dir", "session", "project")  # the first is an option; the others are of one shell


def _run_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="run if it is due, then end")


def _run(call: Call) -> Outcome:
    if call.options.once:
        done = call.shelf.run_daily(datetime.now())
        if done is None:
            return Outcome({"ran": False}, ["Not due."])
        return Outcome(_ran(done), [summary(done)])
    warn("Looking after the memory; stop with Ctrl-C.")
    Heartbeat(call.shelf, report=_report_json if call.options.json else _report).run()
    return Outcome(None, [])


def _report(done: DailyRun | Exception) -> None:
    say(printable(told(done)))


def _report_json(done: DailyRun | Exception) -> None:
    """A line for each run, as `--once` says it."""
    if isinstance(done, Exception):
        shape = codec.error_to_json(getattr(done, "code", "error"), str(done))
    else:
        shape = _ran(done)
    say(inert_json(codec.dumps(shape)))


def _ran(done: DailyRun) -> codec.Json:
    return {"ran": True, **codec.daily_to_json(done)}


def _status(call: Call) -> Outcome:
    last, coming = call.shelf.last_run(), call.shelf.next_run(datetime.now())
    shape = {
        "last": codec.daily_to_json(last) if last else None,
        "next": coming.isoformat(timespec="minutes"),
    }
    lines = [
        f"Last run: {summary(last) if last else 'never'}",
        f"Next run: {coming:%Y-%m-%d %H:%M}, or as soon as the timer, `nuggets mcp` or "
        "`nuggets serve` is up after that",
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
        there = "".join(timers.installed(plan).values())
    except NuggetsError:  # there can be none, or nobody can tell
        return False
    brings_its_own = "MEMORY_REFLECTION_" in there  # see `_environment`
    return bool(there) and plan.start not in there and not brings_its_own


def _install_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only show what would be written")


def _install(call: Call) -> Outcome:
    plan = _plan(call)
    lines = [f"Timer: {plan.kind}"]
    for path, text in plan.files.items():
        lines += [f"{path}:", *_indented(text)]
    lines += _command_lines(plan.enable)
    if not call.options.dry_run:
        timers.install(plan)
        lines.append("Installed.")
    shape = {
        "timer": plan.kind,
        "files": plan.files,
        "commands": [step._asdict() for step in plan.enable],
    }
    return Outcome(shape, [printable(line) for line in lines])


def _uninstall(call: Call) -> Outcome:
    plan = _plan(call)
    there = list(timers.installed(plan))
    if not there:
        return Outcome({"removed": []}, ["Not found: no timer is installed."], 1)
    lines = [*(f"Removes {path}" for path in there), *_command_lines(plan.disable)]
    if not call.options.dry_run:
        timers.uninstall(plan)
        lines.append("Uninstalled.")
    return Outcome({"removed": there}, [printable(line) for line in lines])


def _command_lines(steps: Sequence[timers.Step]) -> list[str]:
    return [line for step in steps for line in (f"$ {' '.join(step.argv)}", *_indented(step.input))]


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _plan(call: Call) -> timers.Plan:
    program = [*_environment(call.settings), sys.executable, "-m", "nuggets"]
    if call.settings.origins["dir"] != "default":
        program += ["--dir", directory_of(call.settings["dir"])]
    program += ["schedule", "run", "--once"]
    return timers.planned(
        program, call.settings["reflection_hour"], call.settings["reflection_minute"]
    )


def _environment(settings: Settings) -> list[str]:
    """A timer starts with hardly any environment: what counts of ours has to be said again."""
    variables = [
        f"{setting.variable}={settings[setting.name]}"
        for setting in SETTINGS
        if settings.origins[setting.name] == "environment" and setting.name not in _OF_A_SHELL
    ]
    return ["/usr/bin/env", *variables] if variables else []


COMMANDS = {
    "schedule run": Command(
        ("nuggets schedule run", "nuggets schedule run --once"),
        _run,
        _run_arguments,
        summary="look after the memory: run the daily clean-up whenever it is due; "
        "--json prints a line for each run",
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
