"""One record that cannot be read hides no other: readers pass it over and tell of it, and it can be
deleted, purged and taken out by the doctor."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from nuggets import NuggetShelf
from nuggets.errors import StoreCorrupt
from nuggets.filesystem.shelf_location import DatabaseUrl

RECORDS = ['["half', "[]", '["w","t","c","note"]', "null", '{"a":1}', "[1,2,3,4,5,6,7,8,9,1,2,3,4]"]


class Shelf:
    """A shelf whose rows can be damaged behind its back."""

    def __init__(self, place: str) -> None:
        self.place = place

    def opened(self) -> NuggetShelf:
        return NuggetShelf(self.place, project="")

    def execute(self, sql: str, *values: str) -> None:
        if not self.place.startswith("postgresql"):
            path = Path(self.place) / "nuggets.db"
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute(sql, values)
            return
        address = DatabaseUrl(self.place).address
        statement = sql.replace("UPDATE ", "UPDATE nuggets.").replace("?", "%s")
        with psycopg.connect(address, autocommit=True) as server:
            last = server.execute("SELECT max(number)::text FROM nuggets.shelves").fetchone()
            server.execute("SELECT set_config('nuggets.shelf', %s, false)", last)
            assert server.execute(statement, values).rowcount

    def damage(self, note_id: str, record: str = RECORDS[0]) -> None:
        self.execute("UPDATE notes SET record = ? WHERE id = ?", record, note_id)


@pytest.fixture(params=["directory", "postgresql"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    if request.param == "postgresql":
        return Shelf(request.getfixturevalue("postgresql_url"))
    return Shelf(str(tmp_path / "shelf"))


@pytest.fixture
def damaged(shelf: Shelf) -> str:
    """The id of the one of three notes whose record is damaged."""
    with shelf.opened() as opened:
        bad = opened.create_note("work", "Deploys", "Never on Fridays.", ["rules"])
        good = opened.create_note("work", "Releases", "On Tuesdays.", ["rules"])
        opened.add_link(bad.id, good.id, "same rule")
        opened.remember("work", "port", "8080")
    shelf.damage(bad.id)
    return bad.id


def test_readers_pass_it_over_and_tell_of_it(shelf: Shelf, damaged: str) -> None:
    with shelf.opened() as opened:
        assert [note.title for note in opened.list_notes(kind="note")] == ["Releases"]
        assert opened.recall("port").answer == "8080"
        assert [hit.note.title for hit in opened.search_notes("releases tuesdays")] == ["Releases"]
        assert damaged not in [hit.note.id for hit in opened.search_notes("deploys fridays")]
        assert len(opened.history()) == 4
        assert len(opened.commits()) == 4
        assert opened.audit() is not None
        assert opened.list()[0].note_count >= 1
        assert opened.get_notes([damaged]) == {}
        with pytest.raises(StoreCorrupt, match=r"damaged.*doctor"):
            opened.get_note(damaged)
        assert any(damaged in warning for warning in opened.warnings)


@pytest.mark.parametrize("record", RECORDS)
def test_whatever_it_looks_like(shelf: Shelf, damaged: str, record: str) -> None:
    shelf.damage(damaged, record)
    with shelf.opened() as opened:
        assert [note.title for note in opened.list_notes(kind="note")] == ["Releases"]


def test_writers_go_on(shelf: Shelf, damaged: str) -> None:
    with shelf.opened() as opened:
        opened.remember("work", "port", "9090")
        opened.edit_note("Releases", "On Mondays.")
        opened.create_note("work", "More", "Text.")
        opened.undo()
        opened.reflect()
        opened.delete_note("Releases")
        assert opened.recall("port").answer == "9090"


def test_it_can_be_purged_by_its_id(shelf: Shelf, damaged: str) -> None:
    with shelf.opened() as opened:
        opened.purge(damaged)
        assert len(opened.list_notes()) == 2
        assert opened.history()
    with shelf.opened() as opened:
        assert [note.title for note in opened.list_notes(kind="note")] == ["Releases"]


def test_the_doctor_takes_it_out(shelf: Shelf, damaged: str) -> None:
    with shelf.opened() as opened:
        opened.list_notes()
        assert any(defect.harmful for defect in opened.checkup())
        assert all(defect.mended for defect in opened.checkup(fix=True) if defect.harmful)
    with shelf.opened() as opened:
        assert opened.recall("port").answer == "8080"
        assert "Releases" in [note.title for note in opened.list_notes(kind="note")]
        assert [defect for defect in opened.checkup() if defect.harmful] == []


@pytest.mark.parametrize(("was", "became"), [('Z"', 'k"'), ('"Never', '7,"Never')])
def test_the_doctor_takes_out_what_can_be_read_and_makes_no_sense(
    tmp_path: Path, was: str, became: str
) -> None:
    """A time that is none, or a field of another kind: the documented files could not be read."""
    shelf = Shelf(str(tmp_path))
    with shelf.opened() as opened:
        opened.create_note("work", "Releases", "On Tuesdays.")
        bad = opened.create_note("work", "Deploys", "Never on Fridays.")
    shelf.execute(
        "UPDATE notes SET record = replace(record, ?, ?) WHERE id = ?", was, became, bad.id
    )
    (tmp_path / "graph" / "graph.json").unlink()
    with shelf.opened() as opened:
        opened.edit_note("Releases", tags=["rules"])  # the file is written from what is damaged
    with shelf.opened() as opened:
        assert any(defect.harmful for defect in opened.checkup())
        assert all(defect.mended for defect in opened.checkup(fix=True) if defect.harmful)
    with shelf.opened() as opened:
        assert opened.get_note("Releases").content == "On Tuesdays."
        assert opened.checkup() == []


def test_a_damaged_version_hides_no_other(shelf: Shelf, damaged: str) -> None:
    with shelf.opened() as opened:
        edited = opened.edit_note("Releases", "On Mondays.")
    shelf.execute(
        "UPDATE changes SET before = ? WHERE note = ? AND before IS NOT NULL", "[", edited.id
    )
    with shelf.opened() as opened:
        assert [step.revision for step in opened.history()] == [5, 4, 1]  # with notes that are left
        assert len(opened.commit_summaries()) == 5
        assert opened.versions("Releases")[-1].note.content == "On Mondays."
        assert opened.get_note("Releases").content == "On Mondays."
        assert all(defect.mended for defect in opened.checkup(fix=True) if defect.harmful)


def test_a_damaged_commit_hides_no_other(shelf: Shelf, damaged: str) -> None:
    shelf.execute("UPDATE commits SET rest = ? WHERE revision = 2", "[[[")
    with shelf.opened() as opened:
        assert [step.revision for step in opened.history()] == [4, 3, 2, 1]
        assert len(opened.commit_summaries()) == 4


def test_a_damaged_nugget_hides_no_fact(shelf: Shelf, damaged: str) -> None:
    shelf.execute("UPDATE nuggets SET config = ?", "[")
    with shelf.opened() as opened:
        assert opened.recall("port").answer == "8080"
        opened.remember("work", "host", "localhost")
        assert len(opened.facts("work")) == 2
