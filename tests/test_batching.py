"""Changes that are gathered: decided again on what others wrote meanwhile, let go, or cut back."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from enough_sessions import ENOUGH_SESSIONS
from in_memory import InMemoryStore
from nuggets import NuggetShelf
from nuggets.domain.records import Changes
from nuggets.errors import Conflict, NotFound, StoreBusy, StoreError
from nuggets.stores.sql import store


@pytest.fixture
def other(directory: Path) -> NuggetShelf:
    """As another process would open the directory."""
    return NuggetShelf(directory, project="")


@pytest.fixture
def gathering(directory: Path) -> NuggetShelf:
    return NuggetShelf(directory, auto_save=False, project="")


def titles(shelf: NuggetShelf) -> list[str]:
    return [note.title for note in shelf.list_notes()]


# --- undo ---------------------------------------------------------------------------------------


def test_a_gathered_undo_takes_back_what_it_said_and_nobody_elses_work(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    other.remember("mine", "wrong", "x")

    said = gathering.undo()
    other.remember("theirs", "precious", "x")
    gathering.save_all()

    assert said.revision == 1
    assert titles(gathering) == titles(other) == ["precious"]


def test_a_gathered_undo_of_what_someone_changed_meanwhile_is_refused(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    other.remember("n", "k", "ours")
    gathering.undo()
    other.remember("n", "k", "theirs")

    with pytest.raises(Conflict, match="undo"):
        gathering.save_all()

    assert gathering.recall("k").answer == other.recall("k").answer == "theirs"


def test_a_gathered_undo_is_refused_when_its_revision_means_another_commit_by_now(
    tmp_path: Path,
) -> None:
    for name in ("here", "elsewhere"):
        with NuggetShelf(tmp_path / name, project="") as shelf:
            shelf.remember("n", name, "x")
    gathering = NuggetShelf(tmp_path / "here", auto_save=False, project="")
    gathering.undo()
    shutil.rmtree(tmp_path / "here")
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "here")

    with pytest.raises(Conflict, match="revision 1"):
        gathering.save_all()

    assert titles(gathering) == ["elsewhere"]


def test_what_is_gathered_is_saved_before_the_last_change_can_be_undone(
    gathering: NuggetShelf,
) -> None:
    gathering.remember("n", "old", "x")
    gathering.save_all()
    gathering.remember("n", "new", "x")

    with pytest.raises(Conflict, match="save_all"):
        gathering.undo()

    assert titles(gathering) == ["old", "new"]
    gathering.save_all()
    gathering.undo()
    assert titles(gathering) == ["old"]


def test_a_recall_that_is_gathered_keeps_nobody_from_undoing(gathering: NuggetShelf) -> None:
    gathering.remember("n", "k", "x")
    gathering.save_all()
    gathering.recall("k", session="s1")

    gathering.undo()

    assert titles(gathering) == []


# --- what cannot be done any more ---------------------------------------------------------------


def poisoned(gathering: NuggetShelf, other: NuggetShelf) -> None:
    """Two edits of notes that are gone by the time of saving, and facts around them."""
    first, second = (other.create_note("n", title, "text") for title in ("First", "Second"))
    gathering.remember("n", "before", "x")
    gathering.edit_note(first.id, content="ours")
    gathering.edit_note(second.id, content="ours")
    gathering.remember("n", "after", "x")
    for note in (first, second):
        other.delete_note(note.id, hard=True)


def test_a_step_that_cannot_be_done_any_more_is_named_and_dropped(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    poisoned(gathering, other)

    with pytest.raises(NotFound, match=r"2 pending changes .*edit_note.*dropped"):
        gathering.save_all()
    assert titles(gathering) == ["before", "after"]
    assert titles(other) == []

    gathering.save_all()
    assert titles(other) == ["before", "after"]


def test_closing_saves_what_can_be_saved_and_tells_the_rest(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    poisoned(gathering, other)

    with pytest.raises(NotFound, match="edit_note"):
        gathering.close()

    assert titles(other) == ["before", "after"]
    gathering.close()


def test_others_wait_for_a_batch_that_has_written(
    directory: Path, other: NuggetShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.01)
    shelf = NuggetShelf(directory, project="")

    with shelf.batch():
        other.remember("n", "first", "x")  # nothing is written here yet
        shelf.remember("n", "ours", "x")
        with pytest.raises(StoreBusy, match="process"):
            other.remember("n", "theirs", "x")

    assert titles(shelf) == titles(other) == ["first", "ours"]


class Full(InMemoryStore):
    """A store that refuses to write until there is room."""

    room = False

    def write(self, changes: Changes) -> int:
        if not self.room:
            raise StoreError("no space left; make room")
        return super().write(changes)


def test_nothing_is_let_go_or_out_of_sight_because_a_store_cannot_write() -> None:
    full = Full()
    gathering = NuggetShelf(store=full, auto_save=False, project="")
    gathering.remember("n", "k", "x")

    with pytest.raises(StoreError, match="make room"):
        gathering.save_all()
    assert titles(gathering) == ["k"]

    full.room = True
    gathering.close()
    assert titles(NuggetShelf(store=full, project="")) == ["k"]


# --- a batch that fails -------------------------------------------------------------------------


def test_a_batch_that_fails_inside_another_leaves_nothing_in_it() -> None:
    shelf = NuggetShelf("memory:", project="")

    with shelf.batch():
        shelf.remember("n", "outer", "1")
        with pytest.raises(ZeroDivisionError), shelf.batch():
            shelf.remember("n", "inner", "2")
            _ = 1 / 0
        assert titles(shelf) == ["outer"]
        shelf.remember("n", "later", "3")

    assert titles(shelf) == ["outer", "later"]


def test_a_batch_that_fails_leaves_what_was_gathered_before_it(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    gathering.remember("n", "before", "1")

    with pytest.raises(ZeroDivisionError), gathering.batch():
        gathering.remember("n", "inside", "2")
        _ = 1 / 0
    assert titles(gathering) == ["before"]

    gathering.save_all()
    assert titles(other) == ["before"]


def test_no_memory_file_tells_of_what_a_batch_may_still_take_back(directory: Path) -> None:
    shelf, file = NuggetShelf(directory / "shelf", project=""), directory / "MEMORY.md"

    with pytest.raises(Conflict, match="after the batch"), shelf.batch():
        note = shelf.create_note("n", "Auth", "uses JWT")
        for session in ENOUGH_SESSIONS:
            shelf.get_note(note.id, session=session)
        assert shelf.promote(str(file), dry_run=True) == 1
        shelf.promote(str(file))

    assert not file.exists()


def test_what_is_promoted_is_written_first(directory: Path, gathering: NuggetShelf) -> None:
    note = gathering.create_note("n", "Auth", "uses JWT")
    for session in ENOUGH_SESSIONS:
        gathering.get_note(note.id, session=session)

    assert gathering.promote(str(directory / "MEMORY.md")) == 1
    assert NuggetShelf(directory, project="").get_note(note.id).hits == len(ENOUGH_SESSIONS)


# --- ids and times ------------------------------------------------------------------------------


def test_what_is_decided_again_keeps_its_ids_and_times(
    directory: Path, other: NuggetShelf, clock: Callable[[], str]
) -> None:
    shelf = NuggetShelf(directory, auto_save=False, project="", clock=clock)
    draft = shelf.create_note("n", "Plan", "draft")
    other.remember("n", "k", "x")
    final = shelf.edit_note(draft.id, content="final", expected=draft.updated_at)
    shelf.save_all()

    assert other.get_note(draft.id, session=None) == final
    assert (final.created_at, final.content) == (draft.created_at, "final")


# --- another history ----------------------------------------------------------------------------


def test_what_was_gathered_on_a_history_that_is_gone_is_decided_again(tmp_path: Path) -> None:
    for name in ("here", "elsewhere"):
        with NuggetShelf(tmp_path / name, project="") as shelf:
            shelf.remember("n", "k", name)
    gathering = NuggetShelf(tmp_path / "here", auto_save=False, project="")
    gathering.remember("n", "k", "gathered")
    shutil.rmtree(tmp_path / "here")
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "here")
    gathering.save_all()

    facts = NuggetShelf(tmp_path / "here", project="").facts("n")
    assert [(fact.title, fact.content) for fact in facts] == [("k", "gathered")]
