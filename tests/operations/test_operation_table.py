"""The table of operations: a row for every public method of a shelf, and shelves that follow it."""

import inspect

import pytest

from nuggets import NuggetShelf
from nuggets.operations.operation_table import OPERATIONS, ByNotes, Refused
from nuggets.remote.remote_shelf import RemoteShelf
from nuggets.shelf.member_shelf import MemberShelf

ROWS = list(OPERATIONS.values())

# What a member's shelf inherits: it reads no note, or is made of operations that know both shelves.
INHERITED = {
    *("open", "caveats", "invalidity", "is_foreign"),
    *("promotion", "pin", "read_memory_file", "is_promoted"),  # no `memory_path`
    *("recall", "recall_or_search", "search_notes", "count_hit"),  # made of both shelves' finds
}
# What changes nothing that others see, or fails for everyone: a reader may try it.
HARMLESS = {"close", "save_all", "discard_unsaved", "promotion", "pin"}


def test_every_public_name_of_a_shelf_has_one_row() -> None:
    public = {name for name in dir(NuggetShelf) if not name.startswith("_")}

    assert public == OPERATIONS.keys()


def test_what_a_member_changes_needs_a_role() -> None:
    for row in ROWS:
        is_served = not isinstance(row.team, Refused) and row.name not in HARMLESS
        has_effect = row.kind != "read" and not isinstance(row.team, tuple)

        assert not (is_served and has_effect and row.role == "reader"), row.name


def test_a_row_that_says_own_is_written_out_for_members() -> None:
    missing = {row.name for row in ROWS if row.team == "own" and row.name not in vars(MemberShelf)}

    assert missing == {row.name for row in ROWS if row.name in INHERITED}


def test_arguments_that_a_row_names_are_the_methods() -> None:
    for row in ROWS:
        method = getattr(NuggetShelf, row.name)
        named = {*row.text, *(row.team.names if isinstance(row.team, ByNotes) else ())}

        assert not named or named <= inspect.signature(method).parameters.keys(), row.name


@pytest.mark.parametrize("shelf", [RemoteShelf, MemberShelf])
def test_every_shelf_has_the_same_signatures(shelf: type[NuggetShelf]) -> None:
    for row in ROWS:
        here, there = getattr(NuggetShelf, row.name), getattr(shelf, row.name)

        assert isinstance(there, property) == isinstance(here, property), row.name
        if not isinstance(here, property):
            wanted = [*inspect.signature(here).parameters]
            assert [*inspect.signature(there).parameters] == wanted, row.name


def test_what_waits_in_a_queue_is_called_at_the_server() -> None:
    assert {row.remote for row in ROWS if row.kind == "write"} == {"called"}
