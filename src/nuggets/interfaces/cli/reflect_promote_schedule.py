"""Commands: reflect, promote, and the schedule of the daily reflection."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nuggets.domain import codec
from nuggets.domain.records import DailyRun, HitKind, ReflectionChange, ReflectionResult
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.processes import module_command
from nuggets.filesystem.shelf_location import written_location
from nuggets.interfaces import pluralize, scheduler, summarize_clean_up
from nuggets.interfaces.cli import DRY_RUN_ARGUMENT, Call, Outcome, argument, command, flag
from nuggets.interfaces.cli.terminal_output import (
    TITLE_WIDTH,
    Progress,
    distinct_titles,
    escape_controls,
    fit,
    one_line,
    print_outcome,
    remove_ids,
    style,
    table,
    warn,
)
from nuggets.interfaces.scheduler import Heartbeat, describe_run
from nuggets.settings import SETTINGS, Settings

if TYPE_CHECKING:
    from nuggets.maintenance.promotion.entries import Explanation
    from nuggets.maintenance.promotion.hand_edits import FileEdits
    from nuggets.maintenance.promotion.sections import Promotion


_EXAMPLES = 3  # changes of each of five kinds: a screen of 24 lines holds them
# in the order of the steps
_COLOURS = {"hide": "red", "rewrite": "cyan", "tag": "green", "merge": "yellow", "link": "green"}
_VERBS = {"hide": "archive"}  # the documented kind, in the word of the glossary
_NAMING = ("hide", "merge")  # changes whose details name their notes
_SESSIONS_SHOWN = 5  # of a note, the last; three are enough to be promoted
_HIT_REASONS: dict[HitKind, str] = {
    "recalled": "recalled as a fact",
    "opened": "opened",
    "injected": "injected, because it answered the prompt",
    "cited": "shown, and cited by the agent",
    "answered": "answered a search",
    "": "how is not recorded",
}


@command(
    "reflect",
    argument("--nugget", "only this one"),
    argument(
        "--limit",
        "inspect at most this many notes (default: the setting reflection_max_notes)",
        type=int,
    ),
    flag("--all", "inspect every note, in one pass"),
    flag("--verbose", "show every change, not examples"),
    DRY_RUN_ARGUMENT,
    examples=("nuggets reflect --dry-run", "nuggets reflect", "nuggets reflect --all"),
    summary="put the memory in order: archive rubbish, tidy, tag, merge, link, promote",
)
def _reflect(call: Call) -> Outcome:
    options = call.options
    if options.all and options.limit is not None:
        raise InvalidInput("--all inspects everything; leave --limit out")
    limit = options.limit
    if options.all:  # one pass is one entry of the history
        limit = max(1, len(call.shelf.list_notes(nugget=options.nugget)))
    with Progress(f"Inspecting {pluralize(limit, 'note') if limit else 'notes'} …"):
        result = call.shelf.reflect(options.nugget, limit, options.dry_run)
    note_ids = {note for change in result.changes for note in (change.note_id, *change.partners)}
    names = distinct_titles(call.shelf.get_notes(note_ids).values())
    lines = _change_lines(result, names, None if options.verbose else _EXAMPLES)
    verb = "Would change" if options.dry_run else "Changed"
    inspected = pluralize(result.inspected, "note")
    lines.append(f"Inspected {inspected}. {verb}: {summarize_clean_up(result)}.")
    revision = call.shelf.own_revision  # before promotion adds its own
    lines += _promotion_lines(call)
    if result.changes and not options.dry_run:
        lines.append(f"`nuggets undo {revision}` undoes it.")
    return Outcome(result, lines)


def _promotion_lines(call: Call) -> list[str]:
    """Promote after a reflection, as the daily one does. The reflection is done whatever becomes of
    that."""
    try:
        path = call.shelf.memory_path()
        done = call.shelf.promotion(path, dry_run=call.options.dry_run)
    except NuggetsError as problem:
        return [one_line(f"Not promoted: {problem}.")]
    return [*_edit_lines(call, done.edits), _promoted_line(call, done, path)]


def _change_lines(
    result: ReflectionResult, names: Mapping[str, str], most: int | None
) -> list[str]:
    """The changes by kind, at most so many of each."""
    lines = []
    for kind in _COLOURS:
        changes = [change for change in result.changes if change.type == kind]
        label = style(f"{_VERBS.get(kind, kind):9}", _COLOURS[kind])
        lines += [label + _describe_change(change, names) for change in changes[:most]]
        if len(changes) > len(changes[:most]):
            lines.append(f"{label}and {len(changes) - len(changes[:most])} more (see --verbose)")
    return lines


def _describe_change(change: ReflectionChange, names: Mapping[str, str]) -> str:
    """The note and its change; some details already name the note."""
    detail = one_line(remove_ids(change.detail, (change.note_id, *change.partners), names))
    if change.type in _NAMING:
        return detail
    return f"{one_line(names.get(change.note_id, change.note_id))}  {detail}"


def _check_path(path: str | None) -> None:
    """Promotion would create a missing directory; on the command line it is a mistyped path."""
    if path is None:
        return
    absolute = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(absolute):
        raise InvalidInput(f"{path} is a directory; name a file in it, such as MEMORY.md")
    if not os.path.isdir(os.path.dirname(absolute)):
        raise InvalidInput(
            f"the directory {os.path.dirname(absolute)} does not exist; create it first, or check "
            "the path"
        )


@command(
    "promote",
    argument(
        "--path",
        "the memory file (default: that of the setting memory_file, else the one your agent "
        "reads in this repository, else one in the shelf's directory, which hooks read)",
    ),
    flag("--explain", "show for each note why it is promoted or not, and which sessions count"),
    DRY_RUN_ARGUMENT,
    examples=("nuggets promote --explain", "nuggets promote --path ./MEMORY.md"),
)
def _promote(call: Call) -> Outcome:
    options = call.options
    _check_path(options.path)
    if options.explain:
        return _explain_promotion(call)
    path = call.shelf.memory_path(options.path)
    done = call.shelf.promotion(path, dry_run=options.dry_run)
    shape = {"path": path, "promoted": done.new_count, "edits": _edits_to_json(done.edits)}
    return Outcome(shape, [*_edit_lines(call, done.edits), _promoted_line(call, done, path)])


def _promoted_line(call: Call, done: "Promotion", path: str) -> str:
    verb = "Would promote" if call.options.dry_run else "Promoted"
    return f"{verb} {_new_entries(done)} to {one_line(path)}."


def _edits_to_json(edits: "FileEdits") -> dict[str, Any]:
    return {
        "changed": list(edits.changed),
        "archived": list(edits.retired),
        "restored": list(edits.restored),
        "refused": dict(edits.refused),
        "problem": edits.problem,
    }


def _edit_lines(call: Call, edits: "FileEdits") -> list[str]:
    """What was taken over from the lines that people changed, and what was not."""
    done = [("changed", edits.changed), ("archived", edits.retired), ("restored", edits.restored)]
    notes = call.shelf.get_notes([note_id for _, ids in done for note_id in ids])
    lines = [
        f"Taken over from its lines, {what}: "
        + ", ".join(fit(notes[note_id].title, TITLE_WIDTH) for note_id in ids if note_id in notes)
        for what, ids in done
        if ids
    ]
    lines += [f"Not taken over: {why} ({note_id})." for note_id, why in edits.refused.items()]
    if edits.problem:
        lines.append(f"Not taken over: {edits.problem}. No memory was changed or archived.")
    return [one_line(line) for line in lines]


def _explain_promotion(call: Call) -> Outcome:
    """Why each note is promoted or not."""

    path = call.shelf.memory_path(call.options.path)
    done = call.shelf.promotion(path)
    rows = [(e.outcome, e.title or e.note_id, e.reason) for e in done.explanations]
    lines = table(("OUTCOME", "NOTE", "WHY"), rows) if rows else ["No notes yet."]
    lines += [line for why in done.explanations for line in _session_lines(why)]
    lines.append(f"Would promote {_new_entries(done)} to {one_line(path)}.")
    explanations = codec.to_json(done.explanations)
    return Outcome({"path": path, "promoted": done.new_count, "explanations": explanations}, lines)


def _session_lines(why: "Explanation") -> list[str]:
    """The last sessions that count for a note, and why each does."""
    if not why.sessions:
        return []
    last = why.sessions[-_SESSIONS_SHOWN:]
    lines = [
        f"  {hit.at[:10] or 'earlier':10}  {fit(hit.session, 24)}: {_HIT_REASONS[hit.kind]}"
        for hit in last
    ]
    more = len(why.sessions) - len(last)
    return [
        f"Sessions of {fit(why.title, 60)}:",
        *([f"  {more} earlier ones"] if more else []),
        *lines,
    ]


def _new_entries(done: "Promotion") -> str:
    return pluralize(done.new_count, "new entry", "new entries")


# --- the daily reflection -------------------------------------------------------------------------


_NOT_FOR_TIMER = ("dir", "session", "project")  # dir is an option; the others are of one shell


@command(
    "schedule run",
    flag("--once", "run it if it is due, then exit"),
    examples=("nuggets schedule run", "nuggets schedule run --once"),
    summary="run the daily reflection whenever it is due, until stopped; --json prints a line "
    "for each run",
)
def _run(call: Call) -> Outcome:
    if call.options.once:
        done = call.shelf.run_daily(datetime.now())
        if done is None:
            return Outcome({"ran": False}, ["Not due."])
        return Outcome(_run_to_json(done), [describe_run(done)])
    warn("Running the reflection whenever it is due; stop with Ctrl-C.")

    def report(done: DailyRun | Exception) -> None:
        """One line for each run, as JSON in the form of `--once --json`."""
        shape = (
            codec.error_to_json(getattr(done, "code", "error"), str(done))
            if isinstance(done, Exception)
            else _run_to_json(done)
        )
        print_outcome(
            Outcome(shape, [escape_controls(describe_run(done))]), as_json=call.options.json
        )

    Heartbeat(call.shelf, report=report).run()
    return Outcome(None, [])


def _run_to_json(done: DailyRun) -> codec.Json:
    return {"ran": True, **codec.to_json(done)}


@command("schedule status")
def _status(call: Call) -> Outcome:
    is_on = call.settings["reflection_daily"]
    last, coming = call.shelf.last_run(), call.shelf.next_run(datetime.now())
    shape = {
        "last": codec.to_json(last) if last else None,
        "next": coming.isoformat(timespec="minutes") if is_on else None,
    }
    lines = [
        f"Last run: {describe_run(last) if last else 'never'}",
        f"Next run: {coming:%Y-%m-%d %H:%M}, or as soon as the timer, `nuggets mcp`, "
        "`nuggets serve` or a hook runs after that"
        if is_on
        else "Next run: none; the setting reflection_daily is 0",
    ]
    return Outcome(shape, lines)


@command(
    "schedule install",
    DRY_RUN_ARGUMENT,
    examples=("nuggets schedule install --dry-run", "nuggets schedule install"),
    summary="install a timer of systemd, launchd or cron, which runs it in the hour when it is due",
)
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


@command("schedule uninstall", DRY_RUN_ARGUMENT)
def _uninstall(call: Call) -> Outcome:
    plan = _plan(call)
    installed = scheduler.installed_parts(plan)
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
    return scheduler.plan_timer(program)


def _environment(settings: Settings) -> list[str]:
    """Settings from the environment: a timer does not inherit it, so the command sets them."""
    variables = [
        f"{setting.variable}={settings[setting.name]}"
        for setting in SETTINGS
        if settings.origins[setting.name] == "environment" and setting.name not in _NOT_FOR_TIMER
    ]
    return ["/usr/bin/env", *variables] if variables else []
