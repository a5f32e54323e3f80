"""Changes that are gathered: saved beside what others wrote meanwhile, or in conflict with it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from enough_sessions import ENOUGH_SESSIONS
from in_memory import InMemoryStore
from nuggets import NuggetShelf
from nuggets.domain.records import Changes
from nuggets.errors import Conflict, NotFound, StoreBusy, StoreError
from nuggets.stores import process_lock


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

    with pytest.raises(Conflict, match=r"undo .* 'k'"):
        gathering.save_all()

    assert other.recall("k").answer == "theirs"
    gathering.discard_unsaved()
    assert gathering.recall("k").answer == "theirs"


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

    with pytest.raises(Conflict, match="undo 1 'here'"):
        gathering.save_all()

    assert titles(NuggetShelf(tmp_path / "here", project="")) == ["elsewhere"]


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


# --- conflicts ----------------------------------------------------------------------------------


def poisoned(gathering: NuggetShelf, other: NuggetShelf) -> list[str]:
    """Two edits of notes that are gone by the time of saving, and facts around them; their ids."""
    first, second = (other.create_note("n", title, "text") for title in ("First", "Second"))
    gathering.remember("n", "before", "x")
    gathering.edit_note(first.id, content="ours")
    gathering.edit_note(second.id, content="ours")
    gathering.remember("n", "after", "x")
    for note in (first, second):
        other.delete_note(note.id, hard=True)
    return [first.id, second.id]


def test_a_conflict_names_the_notes_writes_nothing_and_loses_nothing(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    gone = poisoned(gathering, other)

    with pytest.raises(Conflict, match=rf"edit_note 'First' \({gone[0]}\); edit_note 'Second'"):
        gathering.save_all()
    assert sorted(titles(gathering)) == ["First", "Second", "after", "before"]
    assert titles(other) == []

    gathering.discard_unsaved(gone[0])
    with pytest.raises(Conflict, match=r"meanwhile \(edit_note 'Second'"):
        gathering.save_all()
    gathering.discard_unsaved(gone[1])
    gathering.save_all()
    assert titles(gathering) == titles(other) == ["before", "after"]


def test_what_is_discarded_takes_with_it_what_builds_on_it_and_nothing_else(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    plan, base, rest = (other.create_note("n", name, "old").id for name in ("Plan", "Base", "Rest"))
    gathering.edit_note(rest, content="new")
    gathering.add_link(plan, base, "rests on it")
    gathering.edit_note(base, content="new")
    other.edit_note(plan, content="theirs")

    with pytest.raises(Conflict, match="add_link 'Plan'"):
        gathering.save_all()
    gathering.discard_unsaved(plan)
    gathering.save_all()

    contents = {note.title: note.content for note in other.list_notes()}
    assert contents == {"Plan": "theirs", "Base": "old", "Rest": "new"}


def test_all_that_is_unsaved_can_be_discarded(gathering: NuggetShelf, other: NuggetShelf) -> None:
    other.remember("n", "stored", "x")
    gathering.remember("n", "unsaved", "x")
    assert titles(gathering) == ["stored", "unsaved"]

    gathering.discard_unsaved()

    assert titles(gathering) == ["stored"]
    gathering.save_all()
    assert titles(other) == ["stored"]


def test_to_discard_what_is_not_unsaved_is_an_error_and_drops_nothing(
    gathering: NuggetShelf,
) -> None:
    gathering.remember("n", "unsaved", "x")

    for name in ("", "note-n-00000000", "unsaved"):
        with pytest.raises(NotFound, match="by its id"):
            gathering.discard_unsaved(name)

    assert titles(gathering) == ["unsaved"]


def test_a_recall_by_someone_else_is_no_conflict_and_counts(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    note = other.create_note("n", "Plan", "old")
    gathering.edit_note(note.id, content="new")
    gathering.get_note(note.id, session="ours")
    other.get_note(note.id, session="theirs")
    gathering.save_all()

    after = other.get_note(note.id, session=None)
    assert (after.content, after.hits) == ("new", 2)
    assert set(after.hit_sessions) == {"ours", "theirs"}


def test_a_nugget_that_others_removed_or_filled_is_a_conflict(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    other.create("gone")
    other.create("filled")
    note = gathering.create_note("gone", "Plan", "text")
    gathering.remove("filled")
    other.remove("gone")
    other.remember("filled", "k", "theirs")

    with pytest.raises(Conflict, match=rf"\({note.id}\); remove \(filled\)"):
        gathering.save_all()
    gathering.discard_unsaved("filled")
    gathering.get_or_create("gone")
    gathering.save_all()

    assert sorted(titles(other)) == ["Plan", "k"]


def test_a_nugget_that_both_made_with_settings_is_a_conflict(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    gathering.create("n", max_facts=3)
    other.create("n", max_facts=7)

    with pytest.raises(Conflict, match=r"create \(n\)"):
        gathering.save_all()
    assert other.status("n").max_facts == 7


def test_closing_saves_what_can_be_saved_and_tells_the_rest(
    gathering: NuggetShelf, other: NuggetShelf
) -> None:
    poisoned(gathering, other)

    with pytest.raises(Conflict, match=r"edit_note .* The rest was saved"):
        gathering.close()

    assert titles(other) == ["before", "after"]
    assert sorted(titles(gathering)) == ["First", "Second", "after", "before"]
    gathering.discard_unsaved()
    gathering.close()


def test_others_wait_for_a_batch_that_has_written(
    directory: Path, other: NuggetShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_lock, "LOCK_SECONDS", 0.01)
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


def test_what_is_saved_after_others_wrote_keeps_its_ids_and_times(
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


def test_what_was_gathered_on_a_history_that_is_gone_is_a_conflict(tmp_path: Path) -> None:
    for name in ("here", "elsewhere"):
        with NuggetShelf(tmp_path / name, project="") as shelf:
            shelf.remember("n", "k", name)
    gathering = NuggetShelf(tmp_path / "here", auto_save=False, project="")
    gathering.remember("n", "k", "gathered")
    shutil.rmtree(tmp_path / "here")
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "here")

    with pytest.raises(Conflict, match="remember 'k'"):
        gathering.save_all()

    facts = NuggetShelf(tmp_path / "here", project="").facts("n")
    assert [(fact.title, fact.content) for fact in facts] == [("k", "elsewhere")]
