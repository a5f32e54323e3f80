"""The table of operations: a row for every public method of a shelf, and shelves that follow it."""

import inspect

import pytest

from nuggets import NuggetShelf
from nuggets.operations.operation_table import OPERATIONS, Operation, Refused
from nuggets.remote.remote_shelf import RemoteShelf
from nuggets.shelf.member_shelf import MemberShelf

ROWS = list(OPERATIONS.values())

# What a member's shelf inherits: it reads no note, or is made of operations that know both shelves.
INHERITED = {
    *("open", "caveats", "invalidity", "is_foreign", "namesakes"),
    *("promotion", "pin", "memory_text", "read_memory_file", "is_promoted"),  # no `memory_path`
}
# What changes nothing that others see, or fails for everyone: a reader may try it.
HARMLESS = {"close", "save_all", "discard_unsaved", "promotion", "pin"}


def is_named(row: Operation) -> str:
    return row.name


def test_every_public_name_of_a_shelf_has_one_row() -> None:
    public = {name for name in dir(NuggetShelf) if not name.startswith("_")}

    assert public == OPERATIONS.keys()


@pytest.mark.parametrize("row", ROWS, ids=is_named)
def test_what_a_member_changes_needs_a_role(row: Operation) -> None:
    is_served = not isinstance(row.team, Refused) and row.name not in HARMLESS
    has_effect = row.kind != "read" and not isinstance(row.team, tuple)

    assert not (is_served and has_effect and row.role == "reader")


@pytest.mark.parametrize("row", ROWS, ids=is_named)
def test_a_row_that_says_own_is_written_out_for_members(row: Operation) -> None:
    assert (row.team == "own" and row.name not in vars(MemberShelf)) == (row.name in INHERITED)


@pytest.mark.parametrize("row", ROWS, ids=is_named)
def test_arguments_that_a_row_names_are_the_methods(row: Operation) -> None:
    method = getattr(NuggetShelf, row.name)
    named = {*row.notes, *row.text}

    assert not named or named <= inspect.signature(method).parameters.keys()
    assert bool(row.notes) == (row.team == "by_note")


@pytest.mark.parametrize("shelf", [RemoteShelf, MemberShelf])
@pytest.mark.parametrize("row", ROWS, ids=is_named)
def test_every_shelf_has_the_same_signatures(row: Operation, shelf: type[NuggetShelf]) -> None:
    here, there = getattr(NuggetShelf, row.name), getattr(shelf, row.name)

    assert isinstance(there, property) == isinstance(here, property)
    if not isinstance(here, property):
        wanted = [*inspect.signature(here).parameters]
        assert [*inspect.signature(there).parameters] == wanted


def test_what_waits_in_a_queue_is_called_at_the_server() -> None:
    assert {row.remote for row in ROWS if row.kind == "write"} == {"called"}
