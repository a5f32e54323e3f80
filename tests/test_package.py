"""The package as Python programs and their tools see it: names, types, docstrings, errors."""

import ast
import inspect
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import nuggets
from nuggets.domain import records, type_check
from nuggets.shelf import NuggetShelf
from nuggets.shelf.nugget import Nugget

SOURCE = ast.parse(inspect.getsource(nuggets))


def for_checkers() -> set[str]:
    """The names that a type checker finds in the package."""
    [block] = [
        one for one in SOURCE.body if isinstance(one, ast.If) and ast.unparse(one.test)[:3] != "not"
    ]
    imports = (one for one in block.body if isinstance(one, ast.ImportFrom))
    return {alias.name for one in imports for alias in one.names}


def test_a_type_checker_knows_every_exported_name() -> None:
    assert for_checkers() == set(nuggets.__all__)


def test_a_type_checker_does_not_believe_in_any_other_name() -> None:
    assert not [one for one in SOURCE.body if getattr(one, "name", "") == "__getattr__"]


def test_every_error_can_be_imported_from_the_package() -> None:
    tree = [one for one in vars(nuggets.errors).values() if isinstance(one, type)]

    assert nuggets.errors.StoreBusy in tree
    assert all(getattr(nuggets, error.__name__) is error for error in tree)


def test_the_errors_are_there_without_importing_them() -> None:
    code = "import nuggets; print(nuggets.errors.NotFound is nuggets.NotFound)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "True\n"


@pytest.mark.parametrize(
    "name",
    [
        *("Changes", "Commit", "DailyRun", "Defect", "Finding", "Intake", "NuggetStatus"),
        *("ProjectMove", "ProjectStatus", "Promotion", "Settings", "WrittenNote"),
    ],
)
def test_what_methods_give_can_be_imported_from_the_package(name: str) -> None:
    assert inspect.isclass(getattr(nuggets, name))


@pytest.mark.parametrize("of", [Nugget, NuggetShelf])
def test_every_public_method_says_what_it_does(of: type) -> None:
    public = {name: member for name, member in vars(of).items() if not name.startswith("_")}

    assert [
        name for name, member in public.items() if callable(member) and not inspect.getdoc(member)
    ] == []


@pytest.mark.parametrize(
    ("named", "record", "more"),
    [
        (type_check.NoteMeta, records.GraphNoteMetaInput, set()),
        (type_check.NoteFilters, records.NoteFilterOptions, set()),
        (type_check.NuggetOptions, records.NuggetConfig, {"name", "extra"}),
    ],
)
def test_what_may_be_given_by_name_are_the_fields_of_a_record(
    named: type, record: type, more: set[str]
) -> None:
    fields, names = get_type_hints(record), get_type_hints(named)

    whole = names.pop("meta", None)  # the record itself, that of a note, or a mapping
    assert whole in (None, record | records.NoteMetadata | Mapping[str, Any] | None)
    assert names == {name: fields[name] for name in fields if name not in more}


def pins(name: str) -> dict[str, str]:
    """The versions in a file of requirements, by name."""
    lines = (Path(__file__).parent.parent / name).read_text().splitlines()
    found = (line.split("==") for line in lines if "==" in line)
    return {one.lower().replace("_", "-"): rest.split(" ")[0] for one, rest in found}


def test_what_is_pinned_by_hash_is_what_the_tests_run_with() -> None:
    text = (Path(__file__).parent.parent / "hashes.txt").read_text()

    assert pins("hashes.txt") == pins("constraints.txt")
    assert text.count("==") <= text.count("--hash=sha256:")
    assert "://" not in text
