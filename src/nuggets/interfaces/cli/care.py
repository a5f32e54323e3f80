"""Commands that look after the shelf: audit, doctor, config."""

import sqlite3
from argparse import ArgumentParser
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from nuggets import secrets
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import one_line, styled, titles, without_ids, wrapped
from nuggets.interfaces.hooks.running import DEADLINE_VARIABLE
from nuggets.interfaces.words import counted
from nuggets.settings import SETTINGS
from nuggets.traces import missed_deadlines

if TYPE_CHECKING:
    from nuggets.audit import Finding


def _audit(call: Call) -> Outcome:
    findings = call.shelf.audit()
    shape = [{"kind": f.kind, "noteIds": list(f.note_ids), "detail": f.detail} for f in findings]
    concerned = {note_id for finding in findings for note_id in finding.note_ids}
    names = titles(call.shelf.get_notes(concerned).values())
    lines = []
    for kind, of_kind in groupby(findings, key=lambda finding: finding.kind):
        lines.append(styled(kind, "bold"))
        for finding in of_kind:
            detail = without_ids(finding.detail, finding.note_ids, names)
            lines += wrapped(detail, "  ")
            lines += [styled(line, "dim") for line in wrapped(_others(finding, names), "    ")]
    return Outcome(shape, lines or ["Nothing to complain about."])


def _others(finding: "Finding", names: Mapping[str, str]) -> str:
    """A few of the notes it is about, but for those that its detail names; no credential is told
    again."""
    unsaid = [secrets.redacted(names.get(one, one)) for one in finding.note_ids]
    unsaid = [name for name in unsaid if repr(name) not in finding.detail]
    return ", ".join(unsaid[:3]) + (f" and {len(unsaid) - 3} more" if len(unsaid) > 3 else "")


def _doctor_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="mend what can be; no byte is deleted")


def _doctor(call: Call) -> Outcome:
    found = call.shelf.checkup(call.options.fix)
    shape = [defect._asdict() for defect in found]
    missed = missed_deadlines(call.settings["dir"])
    late = f"{counted(missed, 'hook')} ran out of time so far; {DEADLINE_VARIABLE} allows more"
    lines = [late] if missed else []
    lines.append(styled(_about_sqlite(), "dim"))
    if not found:
        return Outcome(shape, [styled("All is well.", "green"), *lines])
    for defect in found:
        mark = styled("mended", "green") if defect.mended else styled("found", "yellow")
        lines.append(f"{mark} {styled(defect.kind, 'bold')} {one_line(defect.path)}")
        problem = one_line(defect.problem.removeprefix(f"{defect.path} "))
        if defect.mended:  # what its reader might do about it comes after the first sentence
            problem = problem.partition(". ")[0]
        lines.append(f"    {problem}")
        if defect.remedy:
            lines.append(
                f"    {'done' if defect.mended else 'with --fix'}: {one_line(defect.remedy)}"
            )
    ill = any(defect.harmful and not defect.mended for defect in found)
    return Outcome(shape, lines, 1 if ill else 0)


def _about_sqlite() -> str:
    """Its version; up to 3.51.2 two connections may damage a log, if nothing keeps them apart."""
    version = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info >= (3, 51, 3):
        return version
    return f"{version} (its WAL-reset bug does not matter here: nuggets.lock keeps writers apart)"


def _config(call: Call) -> Outcome:
    settings = call.settings
    shape = [
        {
            "name": setting.name,
            "value": settings[setting.name],
            "origin": settings.origins[setting.name],
            "variable": setting.variable,
            "meaning": setting.meaning,
        }
        for setting in SETTINGS
    ]
    lines = []
    for setting in SETTINGS:
        value = one_line(str(settings[setting.name])) or '""'
        origin = one_line(f"({settings.origins[setting.name]})")
        lines.append(f"{setting.name} = {styled(value, 'bold')}  {styled(origin, 'dim')}")
        lines += wrapped(f"{setting.variable}: {setting.meaning}", "    ")
    return Outcome(shape, lines)


COMMANDS = {
    "doctor": Command(
        ("nuggets doctor", "nuggets doctor --fix", "nuggets doctor --json"),
        _doctor,
        _doctor_arguments,
        summary="check the files and the links; with --fix repair what can be",
    ),
    "audit": Command(
        ("nuggets audit", "nuggets audit --json"),
        _audit,
    ),
    "config": Command(
        ("nuggets config", "NUGGETS_DIR=/tmp/other nuggets config --json"),
        _config,
    ),
}
