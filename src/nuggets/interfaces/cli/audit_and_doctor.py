"""Commands that check the shelf: audit, doctor."""

import os
import sqlite3
from argparse import ArgumentParser
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from nuggets.domain import credentials
from nuggets.filesystem.hook_files import missed_deadlines
from nuggets.filesystem.shelf_location import directory_of, is_database
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.progress import announce
from nuggets.interfaces.cli.terminal_output import (
    distinct_titles,
    one_line,
    remove_ids,
    style,
    wrap_lines,
)
from nuggets.interfaces.display_text import pluralize
from nuggets.interfaces.hooks.run_hook import DEADLINE_VARIABLE
from nuggets.settings import CONFIG_FILE

if TYPE_CHECKING:
    from nuggets.maintenance.audit import Finding
    from nuggets.settings import Settings
    from nuggets.stores.doctor.defects import Defect


def _audit(call: Call) -> Outcome:
    findings = call.shelf.audit()
    shape = [{"kind": f.kind, "noteIds": list(f.note_ids), "detail": f.detail} for f in findings]
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
    return Outcome(shape, lines or ["No problems found."])


def _other_titles(finding: "Finding", names: Mapping[str, str]) -> str:
    """Some titles that the detail does not name; credentials are redacted."""
    titles = [credentials.redact(names.get(note_id, note_id)) for note_id in finding.note_ids]
    titles = [name for name in titles if repr(name) not in finding.detail]
    return ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")


def _doctor_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--fix", action="store_true", help="repair what can be repaired; nothing is deleted"
    )


def _doctor(call: Call) -> Outcome:
    with announce("Checking the database, its indexes and the files …"):
        defects = [
            *_settings_defects(call.settings),
            *call.shelf.checkup(call.options.fix),
            *_connection_defects(),
        ]
    shape = [defect._asdict() for defect in defects]
    missed = missed_deadlines(call.settings["dir"])
    late = f"{pluralize(missed, 'hook')} ran out of time so far; {DEADLINE_VARIABLE} allows more"
    lines = [late] if missed else []
    if not is_database(call.settings["dir"]):
        lines.append(style(_about_sqlite(), "dim"))
    if not defects:
        return Outcome(shape, [style("No problems found.", "green"), *lines])
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
    ill = any(defect.harmful and not defect.mended for defect in defects)
    return Outcome(shape, lines, 1 if ill else 0)


def _settings_defects(settings: "Settings") -> "list[Defect]":
    """A config.toml that every other command refuses. Only a person can correct it."""
    from nuggets.stores.doctor.defects import Defect

    problem = settings.file_problem
    path = os.path.join(directory_of(settings["dir"]), CONFIG_FILE)
    return [Defect("settings", path, problem, "", harmful=True)] if problem else []


def _connection_defects() -> "list[Defect]":
    """What keeps connected agents from working. `connect` and people repair that."""
    from nuggets.interfaces.connect.connection_check import find_problems
    from nuggets.stores.doctor.defects import Defect

    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = ""
    problems = find_problems(working_directory=folder, home=os.path.expanduser("~"))
    return [
        Defect("connection", problem.path, problem.text, remedy="", harmful=False)
        for problem in problems
    ]


def _about_sqlite() -> str:
    """SQLite's version. Up to 3.51.2, two connections can damage a log without our lock."""
    version = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info >= (3, 51, 3):
        return version
    return f"{version} (its WAL-reset bug does not matter here: nuggets.lock keeps writers apart)"


COMMANDS = {
    "doctor": Command(
        ("nuggets doctor", "nuggets doctor --fix", "nuggets doctor --json"),
        _doctor,
        _doctor_arguments,
        summary="check the files and the links; with --fix repair them",
        reports_broken_settings=True,
    ),
    "audit": Command(
        ("nuggets audit", "nuggets audit --json"),
        _audit,
    ),
}
