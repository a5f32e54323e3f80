"""Runs a command and prints its outcome, with the arguments and receipts that commands share; the
one place where errors become exit codes."""

import gc
import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.domain import codec
from nuggets.domain.records import (
    KINDS,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    MemoryNote,
    RecallResult,
    WrittenNote,
)
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.atomic_files import unreadable
from nuggets.filesystem.current_project import name_of
from nuggets.filesystem.hook_files import waiting_order_paths
from nuggets.interfaces import TRUST_QUESTION, explain_recognition, open_shelf, pluralize
from nuggets.interfaces.cli import Call, Command, Outcome, argument
from nuggets.interfaces.cli.terminal_output import (
    escape_controls,
    fit,
    format_minute,
    one_line,
    print_outcome,
    report_lost_output,
    style,
    warn,
)
from nuggets.operations.permissions import COMMAND
from nuggets.settings import Settings, load
from nuggets.shelf import NuggetShelf

if TYPE_CHECKING:
    from nuggets.maintenance.purge import Purged


# --- arguments that several commands share -----------------------------------------------------


NAME_HELP = "its id, its exact title, or the beginning of its id"
METADATA_VALUES = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}


SESSION_ARGUMENT = argument(
    "--session", help="the session that asks (default: NUGGETS_SESSION, else today)"
)
PURGE_ARGUMENT = argument(
    "--purge", action="store_true", help="erase it from the history too; this cannot be undone"
)
_INFERRED = "metadata (inferred if not given)"


def _confidence(text: str) -> float:
    """The shelf would clamp a number out of range; on the command line it is a mistake."""
    with suppress(ValueError):
        if 0 <= float(text) <= 1:
            return float(text)
    raise ArgumentTypeError(f"confidence is a number from 0 to 1, not {text!r}")


METADATA_ARGUMENTS = (
    *(
        argument(f"--{field}", help=", ".join(allowed), group=_INFERRED)
        for field, allowed in METADATA_VALUES.items()
    ),
    argument("--subject", help="whom or what it is about, e.g. user:primary", group=_INFERRED),
    argument("--confidence", type=_confidence, help="from 0 to 1", group=_INFERRED),
    argument(
        "--valid-from",
        help="when it became true: a day, or a moment in ISO 8601",
        group=_INFERRED,
    ),
    argument("--valid-until", help='the last day it is true; "" takes that away', group=_INFERRED),
    argument(
        "--supersedes", help="the memory that it replaces; that one is archived", group=_INFERRED
    ),
    argument(
        "--allow-secret", action="store_true", help="store it although it looks like a credential"
    ),
)
_SELECTED = "only notes of"
FILTER_ARGUMENTS = (  # a note must match all of them
    argument("--nugget", help="only notes of this one", group=_SELECTED),
    argument("--subject", help="only about this one, e.g. user:primary", group=_SELECTED),
    argument("--tag", help="only with this tag", group=_SELECTED),
    *(
        argument(
            f"--{field}",
            choices=allowed,
            metavar=field.upper(),
            help=", ".join(allowed),
            group=_SELECTED,
        )
        for field, allowed in (("scope", SCOPES), ("type", TYPES), ("kind", KINDS))
    ),
    argument("--all", action="store_true", help="archived ones too", group=_SELECTED),
)


def metadata(call: Call) -> dict[str, Any]:
    """The metadata from the command line."""
    more = ("subject", "confidence", "valid_from", "valid_until", "supersedes")
    values = {field: getattr(call.options, field) for field in (*METADATA_VALUES, *more)}
    return {field: value for field, value in values.items() if value is not None}


def text_or_stdin(value: str) -> str:
    """The value itself, or all of standard input for ``-``."""
    if value != "-":
        return value
    if sys.stdin is None:
        raise InvalidInput("standard input is closed; pipe the text in, or write it as an argument")
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise InvalidInput("standard input is not valid UTF-8; convert it first") from None


def filters(call: Call) -> dict[str, Any]:
    """The filters from the command line."""
    options = call.options
    names = ("nugget", "subject", "tag", "scope", "type", "kind")
    values = {name: getattr(options, name) for name in names}
    return {**values, "include_hidden": options.all}


# --- receipts, when and where a memory is valid, caveats ---------------------------------------


def written_note_outcome(call: Call, note: WrittenNote, done: str = "Noted") -> Outcome:
    """The receipt of a new note, `done` before its name, or of one that existed already."""
    from nuggets.interfaces import json_responses

    name = f"{one_line(note.title)} ({one_line(note.id)})"
    if not note.is_new:
        done = "Already stored, with other metadata now" if note.replaced else "Already stored"
        return Outcome(codec.note_to_json(note), [f"{done}: {name}.", *caution_lines(call, note)])
    lines = [f"{done} {name}, {where_valid(note)}.", *caution_lines(call, note)]
    lines += contradiction_lines(note)
    namesakes = call.shelf.namesakes(note)
    if namesakes:
        lines.append(
            f"Another note has the same title: {one_line(namesakes[0].id)}. Name them by id, "
            "or merge them with `nuggets note merge`."
        )
    return Outcome(json_responses.written_note(note), lines)


def contradiction_lines(note: WrittenNote) -> list[str]:
    """What a written memory contradicts, and the commands that settle it."""
    lines = []
    for other in note.contradicts:
        new, old = one_line(note.id), one_line(other.id)
        lines += [
            f"Contradicts {style(fit(other.title, 80), 'bold')} ({old}): {one_line(other.content)}",
            f"  Only the new one holds: nuggets note edit {new} --supersedes {old}",
            f"  Both hold: nuggets unlink {new} {old}",
        ]
    return lines


def where_valid(note: MemoryNote) -> str:
    """Where a memory is valid that was just written, for a receipt."""
    if note.scope == "session":
        return "valid in this session"
    if note.project:
        return f"valid in this project ({one_line(name_of(note.project))})"
    return "valid everywhere"


def caution_lines(call: Call, note: MemoryNote) -> list[str]:
    """That what was just written is not valid today, is archived or will be soon, or may hold a
    secret that no form betrays: all are seldom meant. A third of harmless texts about passwords
    name one too, so it is kept."""
    from nuggets.domain.credentials import names_secret
    from nuggets.operations.metadata_inference import passes_unless_recalled

    why = call.shelf.invalidity(note)
    lines = [f"Caution: it is {why}.", *validity_lines(note)] if why else []
    if note.hidden:
        back = f"nuggets note restore {one_line(note.id)}"
        lines.append(f"Caution: it is archived, so nothing finds it. To bring it back: {back}")
    elif passes_unless_recalled(note):
        lines.append(
            "Caution: by its title it is temporary; the next reflection archives it unless it is "
            "recalled before. To keep it: --stability durable"
        )
    if not call.options.allow_secret and names_secret(f"{note.title}: {note.content}"):
        erase = f"nuggets note delete {one_line(note.id)} --purge"
        lines.append(f"Caution: it names a password, PIN or code. If that is in it too: {erase}")
    return lines


def validity_lines(memory: MemoryNote | RecallResult) -> list[str]:
    """When a memory is valid, if that is said."""
    if memory.valid_from is None and memory.valid_until is None:
        return []
    start, end = memory.valid_from, memory.valid_until
    times = [f"from {format_minute(start)}"] if start else []
    times += [f"until {format_minute(end)}"] if end else []
    return [f"Valid: {' '.join(times)}"]


def caveat_lines(shelf: NuggetShelf, note: MemoryNote | None) -> list[str]:
    """What speaks against relying on a memory."""
    caveats = shelf.caveats(note) if note is not None else ()
    return [f"Caution: {one_line(caveat)}" for caveat in caveats]


def purge_outcome(done: "Purged") -> Outcome:
    """What a purge erased; places are named by kind, and files by path."""
    from nuggets.interfaces import json_responses

    where = [*(["the shelf"] if done.memories else []), "its history"]
    where += map(one_line, done.memory_files)
    if done.of_conversations:
        where.append(pluralize(len(done.of_conversations), "session record"))
    what = one_line(done.erased_items[0]) if done.memories else "its remains"
    places = " and ".join(filter(None, (", ".join(where[:-1]), where[-1])))
    lines = [f"Erased {what} from {places}."]
    if done.history[1:]:
        lines.append("Also deleted or written again, because they may have contained it:")
        lines += [f"  {one_line(path)}" for path in done.history[1:]]
    if done.merged_with:
        lines.append("Its text may also be in these notes; check them:")
        lines += [
            f"  {one_line(f'{note.kind} {note.title!r} ({note.id})')}" for note in done.merged_with
        ]
    if done.backups:
        lines.append("These backups cannot be read or written; delete them yourself:")
        lines += [f"  {one_line(path)}" for path in done.backups]
    lines.append(f"Not reached: {'; '.join(done.not_reached)}.")
    return Outcome(json_responses.purge_result(done), lines)


# --- running a command ----------------------------------------------------------------------------


_OBJECTS = 50_000  # new ones before garbage is collected: most commands make fewer


def run(command: Command, options: Namespace) -> int:
    """Open the shelf, run, print, close."""
    gc.set_threshold(_OBJECTS)
    gc.enable()  # see `run_process`
    try:
        _check_unicode(vars(options))
        settings = load(
            os.environ,
            {"dir": options.dir},
            ignore_broken_file=command.reports_broken_settings,
        )
        for warning in settings.warnings:
            warn(f"Warning: {escape_controls(warning)}")
        session = get_session(options, settings)
        _check_unicode({"session": session})
        insists = getattr(options, "allow_secret", False)
        client = COMMAND._replace(refuses_credentials=False) if insists else COMMAND
        with open_shelf(settings, client=client, short_lived=True) as shelf:
            try:
                _sync_shared(shelf)
                _take_in_orders(shelf, settings["dir"])
                before = shelf.own_revision
                outcome = command.run(Call(options, settings, shelf, session))
                problem = print_outcome(outcome, as_json=options.json)
                has_written = shelf.own_revision != before
                if has_written:
                    _sync_shared(shelf, has_written=True)
            finally:  # a warning may explain why something was not found
                for warning in shelf.warnings:
                    warn(f"Warning: {escape_controls(warning)}")
                _report_recognition(shelf)
        if not problem:
            return outcome.exit_code
        if has_written and not outcome.exit_code:
            warn(f"Warning: this was done, but the receipt could not be written: {problem}")
            return 0
        return max(report_lost_output(problem), outcome.exit_code)
    except NuggetsError as error:
        return report_error(error, as_json=options.json)
    except OSError as problem:  # something else stands where a file or a directory belongs
        path = str(problem.filename or "a file")
        return report_error(unreadable(path, problem), as_json=options.json)


def _take_in_orders(shelf: NuggetShelf, directory: str) -> None:
    """Carry out what a person ordered through a hook that had no time for it."""
    if waiting_order_paths(directory):
        from nuggets.interfaces.hooks.prompt_answer import take_in_waiting

        for receipt in take_in_waiting(shelf, directory):
            warn(escape_controls(receipt))


def _sync_shared(shelf: NuggetShelf, *, has_written: bool = False) -> None:
    """Bring the shelf and the memories that the repository carries together, if that is allowed."""
    done = shelf.sync_shared(has_written=has_written)
    for problem in done.problems if done else ():
        warn(f"Warning: .nuggets: {escape_controls(problem)}")


def _report_recognition(shelf: NuggetShelf) -> None:
    """Say once that a repository was recognized, or ask which one it is."""
    if shelf.recognition is not None:
        warn(escape_controls(explain_recognition(shelf.recognition)))
        with suppress(NuggetsError):  # then it is said again
            shelf.record_location()
    with suppress(NuggetsError):
        if shelf.needs_trust():
            warn(TRUST_QUESTION)
            shelf.sharing.record_question()


def get_session(options: Namespace, settings: Settings) -> str:
    """The session that asks: as configured, else one per calendar day."""
    session = getattr(options, "session", None) or settings["session"]
    if session:
        return str(session)
    from datetime import date

    return f"day-{date.today().isoformat()}"


def report_error(error: NuggetsError, *, as_json: bool) -> int:
    """Print an error, as JSON to stdout or as text to stderr; returns its exit code."""
    if as_json:
        print_outcome(Outcome(codec.error_to_json(error.code, str(error)), []), as_json=True)
    else:
        warn(f"Error: {escape_controls(str(error))}")
    return 2 if isinstance(error, InvalidInput) else 1


def _check_unicode(values: Mapping[str, object]) -> None:
    """Refuse bytes that are not UTF-8, which reach Python as lone surrogates."""
    for name, value in values.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise InvalidInput(f"{name} is not valid UTF-8; check the encoding") from None
