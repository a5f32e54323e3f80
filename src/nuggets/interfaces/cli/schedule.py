"""Commands that schedule the daily reflection: schedule run, status, install, uninstall."""

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime

from nuggets.domain import codec
from nuggets.domain.records import DailyRun
from nuggets.errors import NuggetsError
from nuggets.filesystem.processes import module_command
from nuggets.filesystem.shelf_location import written_location
from nuggets.interfaces import scheduler
from nuggets.interfaces.cli.command_table import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import escape_controls, inert_json, print_text, warn
from nuggets.interfaces.scheduler import Heartbeat, describe_run, summary
from nuggets.settings import SETTINGS, Settings

_NOT_FOR_TIMER = ("dir", "session", "project")  # dir is an option; the others are of one shell


def _run_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="run it if it is due, then exit")


def _run(call: Call) -> Outcome:
    if call.options.once:
        done = call.shelf.run_daily(datetime.now())
        if done is None:
            return Outcome({"ran": False}, ["Not due."])
        return Outcome(_run_to_json(done), [summary(done)])
    warn("Running the reflection whenever it is due; stop with Ctrl-C.")
    Heartbeat(call.shelf, report=_report_json if call.options.json else _report).run()
    return Outcome(None, [])


def _report(done: DailyRun | Exception) -> None:
    print_text(escape_controls(describe_run(done)))


def _report_json(done: DailyRun | Exception) -> None:
    """One line for each run, in the form of `--once --json`."""
    if isinstance(done, Exception):
        shape = codec.error_to_json(getattr(done, "code", "error"), str(done))
    else:
        shape = _run_to_json(done)
    print_text(inert_json(codec.dumps(shape)))


def _run_to_json(done: DailyRun) -> codec.Json:
    return {"ran": True, **codec.to_json(done)}


def _status(call: Call) -> Outcome:
    is_on = call.settings["reflection_daily"]
    last, coming = call.shelf.last_run(), call.shelf.next_run(datetime.now())
    shape = {
        "last": codec.to_json(last) if last else None,
        "next": coming.isoformat(timespec="minutes") if is_on else None,
    }
    lines = [
        f"Last run: {summary(last) if last else 'never'}",
        f"Next run: {coming:%Y-%m-%d %H:%M}, or as soon as the timer, `nuggets mcp`, "
        "`nuggets serve` or a hook runs after that"
        if is_on
        else "Next run: none; the setting reflection_daily is 0",
    ]
    if _has_outdated_timer(call):
        warn(
            "The installed timer starts at another time than the settings say; "
            "`nuggets schedule install` updates it."
        )
    return Outcome(shape, lines)


def _has_outdated_timer(call: Call) -> bool:
    """Is a timer installed that starts at another time than the settings say?"""
    try:
        plan = _plan(call)
        installed = "".join(scheduler.installed_parts(plan).values())
    except NuggetsError:  # no timer is possible, or it cannot be read
        return False
    has_own_time = "MEMORY_REFLECTION_" in installed  # see `_environment`
    return bool(installed) and plan.start not in installed and not has_own_time


def _install_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def _install(call: Call) -> Outcome:
    plan = _plan(call)
    lines = [f"Timer: {plan.kind}"]
    for path, text in plan.files.items():
        lines += [f"{path}:", *_indent(text)]
    lines += _command_lines(plan.enable)
    if not call.options.dry_run:
        scheduler.install(plan)
        lines.append("Installed.")
    shape = {
        "timer": plan.kind,
        "files": plan.files,
        "commands": [step._asdict() for step in plan.enable],
    }
    return Outcome(shape, [escape_controls(line) for line in lines])


def _uninstall(call: Call) -> Outcome:
    plan = _plan(call)
    installed = list(scheduler.installed_parts(plan))
    if not installed:
        return Outcome({"removed": []}, ["Not found: no timer is installed."], 1)
    lines = [*(f"Removes {path}" for path in installed), *_command_lines(plan.disable)]
    if not call.options.dry_run:
        scheduler.uninstall(plan)
        lines.append("Uninstalled.")
    return Outcome({"removed": installed}, [escape_controls(line) for line in lines])


def _command_lines(commands: Sequence[scheduler.Command]) -> list[str]:
    return [
        line
        for command in commands
        for line in (f"$ {' '.join(command.argv)}", *_indent(command.input))
    ]


def _indent(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _plan(call: Call) -> scheduler.Plan:
    program = [*_environment(call.settings), *module_command("nuggets")]
    if call.settings.origins["dir"] != "default":
        program += ["--dir", written_location(call.settings["dir"])]
    program += ["schedule", "run", "--once"]
    return scheduler.plan_timer(
        program, call.settings["reflection_hour"], call.settings["reflection_minute"]
    )


def _environment(settings: Settings) -> list[str]:
    """Settings from the environment: a timer does not inherit it, so the command sets them."""
    variables = [
        f"{setting.variable}={settings[setting.name]}"
        for setting in SETTINGS
        if settings.origins[setting.name] == "environment" and setting.name not in _NOT_FOR_TIMER
    ]
    return ["/usr/bin/env", *variables] if variables else []


COMMANDS = {
    "schedule run": Command(
        ("nuggets schedule run", "nuggets schedule run --once"),
        _run,
        _run_arguments,
        summary="run the daily reflection whenever it is due, until stopped; --json prints a line "
        "for each run",
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
        summary="install a daily timer: systemd, launchd or cron",
        changes=True,
    ),
    "schedule uninstall": Command(
        ("nuggets schedule uninstall",),
        _uninstall,
        _install_arguments,
        changes=True,
    ),
}
