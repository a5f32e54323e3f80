"""Reflection, promotion and the daily run, through the shelf."""

import json
import multiprocessing
import os
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from nuggets import PROMOTE_THRESHOLD, NuggetShelf, promote_facts, reflect_and_clean_memory
from nuggets.domain.marks import RejectedChange, read_rejected
from nuggets.domain.records import LeftNote, MemoryNote
from nuggets.errors import Conflict, InvalidInput, NotFound, StoreError
from nuggets.maintenance import reflection
from nuggets.settings import load
from nuggets.stores.process_lock import hold_shelf_lock
from store_samples import open_directory, state_of

NINE = datetime(2026, 3, 10, 9, 0)


def contents(shelf: NuggetShelf) -> dict[str, MemoryNote]:
    return {
        note.id: note._replace(last_accessed_at="")
        for note in shelf.list_notes(include_hidden=True)
    }


def recalled(shelf: NuggetShelf, key: str, sessions: int = PROMOTE_THRESHOLD) -> None:
    for session in range(sessions):
        assert shelf.recall(key, session=f"s{session}").found


def test_reflection_cleans_up_and_says_what_it_did(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Auth", "Uses JWT tokens.\nUses JWT tokens.")
    result = shelf.reflect()

    assert (result.inspected, result.rewritten) == (1, 1)
    assert shelf.get_note("Auth").content == "Uses JWT tokens."
    assert {change.type for change in result.changes} == {"rewrite", "tag"}


def test_recalls_that_met_a_locked_shelf_count_before_hits_decide(tmp_path: Path) -> None:
    directory = tmp_path / "shelf"
    with NuggetShelf(directory, project="") as shelf:
        shelf.remember("kb", "tmp port", "8080")
        shelf.remember("kb", "release branch", "main")
        with hold_shelf_lock(str(directory)):
            recalled(shelf, "tmp port", 1)
        assert shelf.reflect().hidden == 0
        with hold_shelf_lock(str(directory)):
            recalled(shelf, "release branch")
        assert shelf.promote(tmp_path / "MEMORY.md") == 1


def test_a_dry_run_changes_nothing(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Auth", "Uses JWT tokens.\nUses JWT tokens.")
    before = shelf.list_notes()
    planned = shelf.reflect(dry_run=True)

    assert planned.rewritten == 1
    assert shelf.list_notes() == before


def test_a_second_pass_finds_nothing_to_do(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Auth", "Uses JWT tokens.\nUses JWT tokens.")
    shelf.create_note("project", "Login", "The login page uses JWT tokens too.")
    shelf.reflect()

    assert shelf.reflect().changes == ()


def test_a_pass_inspects_ten_notes_unless_told(shelf: NuggetShelf) -> None:
    with shelf.batch():
        for number in range(15):
            shelf.create_note("project", f"Note {number}", f"Text number {number}.")

    assert shelf.reflect().inspected == 10
    assert shelf.reflect(limit=3).inspected == 3


def test_the_setting_says_how_many_sessions_promotion_takes(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_file = directory / "MEMORY.md"
    (directory / "config.toml").write_text("promote_after = 5\n")
    with NuggetShelf(directory) as shelf:
        shelf.remember("project", "test cmd", "pytest")
        recalled(shelf, "test cmd", 4)
        (explained,) = shelf.promotion(memory_file).explanations
        assert explained.reason == "recalled in 4 of 5 sessions"
        assert shelf.promote(memory_file) == 0
    monkeypatch.setenv("NUGGETS_PROMOTE_AFTER", "4")
    with NuggetShelf(directory) as shelf:
        assert shelf.promote(memory_file) == 1


def test_a_memory_leaves_the_file_when_the_setting_asks_for_more_sessions(directory: Path) -> None:
    memory_file = directory / "MEMORY.md"
    with NuggetShelf(directory) as shelf:
        shelf.remember("project", "test cmd", "pytest")
        recalled(shelf, "test cmd")
        assert shelf.promote(memory_file) == 1
    (directory / "config.toml").write_text(f"promote_after = {PROMOTE_THRESHOLD + 1}\n")
    with NuggetShelf(directory) as shelf:
        shelf.promote(memory_file)
    assert "test cmd" not in memory_file.read_text()


def test_the_default_number_of_sessions_is_the_exported_one() -> None:
    assert load({}, {})["promote_after"] == PROMOTE_THRESHOLD


def test_the_variable_sets_the_limit(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_MAX_NOTES", "2")
    with NuggetShelf(directory) as shelf:
        for number in range(4):
            shelf.create_note("project", f"Note {number}", f"Text number {number}.")

        assert shelf.reflect().inspected == 2


@pytest.mark.parametrize("limit", [0, -1, True])
def test_a_limit_below_one_is_refused(shelf: NuggetShelf, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        shelf.reflect(limit=limit)


def test_reflection_of_an_unknown_nugget_is_refused(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound):
        shelf.reflect(nugget="nowhere")


def test_a_pass_is_one_entry_and_undo_restores_all_of_it(shelf: NuggetShelf) -> None:
    with shelf.batch():
        for number in range(30):
            text = f"The payment service talks to gateway number {number}.\nSame line.\nSame line."
            shelf.create_note("project", f"Gateway {number}", text)
    before = shelf.list_notes(include_hidden=True)
    result = shelf.reflect(limit=30)
    shelf.undo()

    assert result.rewritten == 30
    assert shelf.list_notes(include_hidden=True) == before


def test_what_others_write_while_a_pass_thinks_is_kept(
    shelf: NuggetShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = shelf.create_note("project", "Auth", "Uses JWT tokens.\nUses JWT tokens.")
    other = shelf.create_note("project", "Login", "One line.\nOne line.")
    think = reflection.reflect

    def slowly(*args: object) -> object:
        plan = think(*args)  # type: ignore[arg-type]
        writer = threading.Thread(target=shelf.edit_note, args=(note.id, "Uses sessions now."))
        writer.start()
        writer.join()  # a pass that thinks must not hold anyone up
        return plan

    monkeypatch.setattr(reflection, "reflect", slowly)
    result = shelf.reflect()

    assert shelf.get_note(note.id).content == "Uses sessions now."
    assert shelf.get_note(other.id).content == "One line."
    assert result.rewritten == 1


def test_a_pass_leaves_what_is_recalled_meanwhile_and_its_partners_to_the_next_one(
    shelf: NuggetShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "The nightly job of the payments team cleans all merged branches on the build box"
    note = shelf.create_note("project", "Cleaning", text)
    copy = shelf.create_note("project", "Cleaning", f"{text}.")
    other = shelf.create_note("project", "Login", "One line.\nOne line.")
    assert shelf.reflect(dry_run=True).merged == 1
    think = reflection.reflect

    def with_a_recall(*args: object) -> object:
        plan = think(*args)  # type: ignore[arg-type]
        shelf.get_note(note.id, session="s")
        return plan

    monkeypatch.setattr(reflection, "reflect", with_a_recall)
    result = shelf.reflect()

    assert (result.inspected, result.merged, result.rewritten) == (1, 0, 1)
    assert not shelf.get_note(note.id).hidden and not shelf.get_note(copy.id).hidden
    assert shelf.get_note(other.id).content == "One line."
    assert shelf.checkup() == []
    monkeypatch.setattr(reflection, "reflect", think)
    assert shelf.reflect().merged == 1


def test_what_three_sessions_recalled_is_promoted(shelf: NuggetShelf, directory: Path) -> None:
    shelf.remember("learn", "jwt", "Tokens use RS256.")
    recalled(shelf, "jwt")
    path = directory / "MEMORY.md"

    assert shelf.promote(str(path)) == 1
    assert "- **jwt**: Tokens use RS256." in path.read_text()
    assert path.read_text().startswith("# Memory\n\nAuto-promoted from nuggets graph notes")


def test_one_session_less_is_not_enough(shelf: NuggetShelf, directory: Path) -> None:
    shelf.remember("learn", "jwt", "Tokens use RS256.")
    recalled(shelf, "jwt", sessions=PROMOTE_THRESHOLD - 1)
    shelf.recall("jwt", session="s0")

    assert shelf.promote(str(directory / "MEMORY.md")) == 0


def test_a_line_deleted_by_hand_stays_gone(shelf: NuggetShelf, directory: Path) -> None:
    shelf.remember("learn", "jwt", "Tokens use RS256.")
    shelf.remember("learn", "port", "It listens on 8080.")
    recalled(shelf, "jwt")
    recalled(shelf, "port")
    path = directory / "MEMORY.md"
    shelf.promote(str(path))
    kept = [line for line in path.read_text().splitlines(keepends=True) if "jwt" not in line]
    path.write_text("".join(kept))

    assert shelf.promote(str(path)) == 0
    assert "jwt" not in path.read_text()
    assert "port" in path.read_text()


def test_a_forgotten_fact_leaves_the_file(shelf: NuggetShelf, directory: Path) -> None:
    shelf.remember("learn", "jwt", "Tokens use RS256.")
    recalled(shelf, "jwt")
    path = directory / "MEMORY.md"
    shelf.promote(str(path))
    shelf.forget("learn", "jwt")
    shelf.promote(str(path))

    assert "jwt" not in path.read_text()


def test_a_dry_promotion_writes_nothing(shelf: NuggetShelf, directory: Path) -> None:
    shelf.remember("learn", "jwt", "Tokens use RS256.")
    recalled(shelf, "jwt")
    path = directory / "MEMORY.md"

    assert shelf.promote(str(path), dry_run=True) == 1
    assert not path.exists()


def test_another_projects_memories_are_not_promoted(directory: Path) -> None:
    path = directory / "MEMORY.md"
    with NuggetShelf(directory / "shelf", project="/a/.git") as shelf:
        shelf.remember("project", "test cmd", "pytest")
        recalled(shelf, "test cmd")
    with NuggetShelf(directory / "shelf", project="/b/.git") as shelf:
        promoted = shelf.promote(str(path))

    assert promoted == 0


def test_the_variable_names_the_memory_file(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = directory / "notes" / "MEMORY.md"
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", str(path))
    with NuggetShelf(directory / "shelf") as shelf:
        shelf.remember("prefs", "editor", "helix")
        recalled(shelf, "editor")

        assert promote_facts(shelf) == 1
    assert "## preferences" in path.read_text()


def test_without_a_memory_file_promotion_says_what_to_do(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound, match="NUGGETS_MEMORY_FILE"):
        shelf.promote()


def test_the_documented_functions_do_the_same(shelf: NuggetShelf, directory: Path) -> None:
    shelf.create_note("project", "Auth", "Uses JWT tokens.\nUses JWT tokens.")

    assert reflect_and_clean_memory(shelf, limit=5).rewritten == 1
    assert promote_facts(shelf, str(directory / "MEMORY.md")) == 0


def test_the_daily_run_reflects_then_promotes(directory: Path) -> None:
    path = directory / "m" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    with NuggetShelf(directory / "shelf") as shelf:
        shelf.create_note("project", "Auth", "Uses JWT tokens.\nUses JWT tokens.")
        shelf.remember("prefs", "editor", "helix")
        shelf.promote(str(path))
        recalled(shelf, "editor")
        run = shelf.run_daily(NINE)

        assert run is not None
        assert (run.date, run.result.rewritten, run.promoted) == ("2026-03-10", 1, 2)
        assert shelf.last_run() == run
        assert "helix" in shelf.read_memory_file()[0]
    assert "helix" in path.read_text()


def test_a_day_has_one_run(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Auth", "Uses JWT tokens.")

    assert shelf.run_daily(NINE) is not None
    assert shelf.run_daily(NINE + timedelta(hours=1)) is None
    assert shelf.run_daily(NINE + timedelta(days=1)) is not None
    assert shelf.next_run(NINE + timedelta(days=1, hours=1)) == NINE + timedelta(days=2)


def test_an_empty_shelf_has_its_run_too(shelf: NuggetShelf) -> None:
    assert shelf.run_daily(NINE) is not None
    assert shelf.run_daily(NINE) is None


def test_a_pass_that_only_looked_at_a_note_blocks_no_undo(shelf: NuggetShelf) -> None:
    note = shelf.create_note("project", "Auth middleware", "Uses JWT.")
    shelf.edit_note(note.id, "Uses JWT with RS256.")
    shelf.reflect()
    shelf.reflect()
    assert shelf.get_note(note.id).last_inspected_at

    while shelf.get_note(note.id).content != "Uses JWT.":
        shelf.undo()
    shelf.undo()

    assert shelf.list_notes() == []


GATEWAY = "The payment service talks to the gateway over a private network"


def create_alike(shelf: NuggetShelf) -> tuple[str, str]:
    """Two notes that a pass merges, or links if it may not."""
    return (
        shelf.create_note("project", "Payment gateway", f"{GATEWAY}.").id,
        shelf.create_note("project", "Payment gateway network", f"{GATEWAY}!").id,
    )


@pytest.fixture
def alike(shelf: NuggetShelf) -> tuple[str, str]:
    return create_alike(shelf)


def test_what_was_taken_back_is_not_done_again(shelf: NuggetShelf, alike: tuple[str, str]) -> None:
    assert shelf.reflect().merged == 1
    shelf.undo()
    first = shelf.reflect()
    shelf.edit_note(alike[0], f"{GATEWAY}, always.")
    shelf.edit_note(alike[1], f"{GATEWAY}, always!", tags=[])

    assert (first.merged, first.tagged) == (0, 0)
    assert [one for one in shelf.audit() if "would merge" in one.detail] == []
    assert shelf.reflect().merged == 0
    assert "payment" not in shelf.get_note(alike[1]).tags


def test_a_pass_is_undone_done_again_and_undone(shelf: NuggetShelf, alike: tuple[str, str]) -> None:
    shelf.reflect()
    for merged in (False, True, False):
        last = shelf.history()[0].revision
        shelf.undo(last)
        assert any(shelf.get_note(note).hidden for note in alike) is merged

    assert shelf.reflect().merged == 0


def refused_in(directory: Path) -> frozenset[RejectedChange]:
    store = open_directory(directory)
    try:
        return read_rejected(state_of(store))
    finally:
        store.close()


def test_what_is_done_again_after_an_undo_is_welcome(directory: Path) -> None:
    with NuggetShelf(directory, project="") as shelf:
        alike = create_alike(shelf)
        shelf.reflect()
        gone = next(note for note in alike if shelf.get_note(note).hidden)
        shelf.undo()
        shelf.undo(shelf.history()[0].revision)
        assert refused_in(directory) == frozenset()

        shelf.restore_note(gone)

    assert refused_in(directory) == {
        RejectedChange("hide", gone),
        RejectedChange.of_pair("merge", *alike),
    }


def test_notes_that_were_parted_are_not_merged_with_each_other_instead(
    shelf: NuggetShelf, alike: tuple[str, str]
) -> None:
    shelf.create_note("project", "Payment network gateway", f"{GATEWAY}")
    assert shelf.reflect().merged == 2
    shelf.undo()

    assert shelf.reflect().merged == 0


def test_what_someone_wrote_otherwise_after_a_rewrite_stays_so(shelf: NuggetShelf) -> None:
    twice = "Wait for the green light to come on again.\n" * 2
    note = shelf.create_note("project", "Reset", f"{twice}Then open the door.")
    assert shelf.reflect().rewritten == 1
    again = shelf.edit_note(note.id, f"{twice}Then open the door slowly.")

    assert shelf.reflect().rewritten == 0
    assert shelf.get_note(note.id).content == again.content


def test_what_grew_old_and_is_news_again_may_grow_old_again(directory: Path) -> None:
    with NuggetShelf(directory, project="") as shelf:
        note = shelf.remember("files", "a.py", "read on Monday", stability="temporary")
        shelf.delete_note(note.id)
        shelf.remember("files", "a.py", "read on Friday", stability="temporary")

        assert not shelf.get_note(note.id).hidden
    assert refused_in(directory) == frozenset()


def test_a_note_that_someone_brings_back_stays(shelf: NuggetShelf) -> None:
    note = shelf.create_note("project", "Hotel code", "47")
    assert shelf.reflect().hidden == 1
    shelf.restore_note(note.id)

    assert shelf.reflect().hidden == 0
    assert shelf.reflect(limit=1).inspected == 1


def test_a_link_that_someone_takes_away_stays_away_and_others_are_made(shelf: NuggetShelf) -> None:
    one = shelf.create_note("project", "Invoices", "Billing prints invoices by weasyprint.")
    two = shelf.create_note("project", "Invoice host", "Billing: weasyprint makes invoices on it.")
    assert shelf.reflect().linked == 1
    shelf.remove_link(one.id, two.id)
    late = shelf.create_note("project", "Invoice fonts", "Weasyprint: fonts of invoices.")

    assert shelf.reflect().linked == 2
    assert {link.to for link in shelf.get_note(late.id).links} == {one.id, two.id}


def test_of_a_pass_that_was_taken_back_other_care_goes_on(shelf: NuggetShelf) -> None:
    note = shelf.create_note("project", "Demo port", "Port 8080 today.", stability="temporary")
    assert shelf.reflect().tagged == 1
    shelf.undo()
    shelf.edit_note(note.id, "Port 8080 today.\nPort 8080 today.")

    assert shelf.reflect().rewritten == 1


def test_a_pass_inside_a_batch_is_taken_back_like_any_other(
    shelf: NuggetShelf, alike: tuple[str, str]
) -> None:
    with shelf.batch():
        assert shelf.reflect().merged == 1
    shelf.undo()

    assert not any(shelf.get_note(note).hidden for note in alike)
    assert shelf.reflect().merged == 0


def test_a_link_that_is_cut_in_the_file_is_not_made_again(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        one = shelf.create_note("project", "Invoices", "Billing prints invoices by weasyprint.")
        shelf.create_note("project", "Invoice host", "Billing: weasyprint makes invoices on it.")
        assert shelf.reflect().linked == 1
    file = directory / "graph" / "graph.json"
    graph = json.loads(file.read_text())
    for note in graph["notes"]:
        note["links"] = []
    file.write_text(json.dumps(graph))
    with NuggetShelf(directory) as shelf:
        assert shelf.get_note(one.id).links == ()
        assert shelf.reflect().linked == 0


def test_a_pass_is_undone_though_one_of_its_notes_was_purged_since(shelf: NuggetShelf) -> None:
    auth = shelf.create_note("project", "Auth middleware", "Uses JWT.")
    mail = shelf.create_note("project", "Mail worker", "Sends in batches.")
    shelf.reflect()
    reflected = shelf.history()[0].revision
    shelf.purge(auth.id)
    shelf.undo(reflected)

    assert shelf.list_notes() == [mail]
    assert shelf.reflect().tagged == 0


# --- a pass that is taken back in part -----------------------------------------------------------


@pytest.fixture
def passed(shelf: NuggetShelf, alike: tuple[str, str]) -> tuple[int, dict[str, MemoryNote]]:
    """A pass that merged two notes, and linked, tagged and rewrote others: its revision, and the
    notes before it."""
    shelf.create_note("project", "Invoices", "Billing prints invoices by weasyprint.")
    shelf.create_note("project", "Invoice host", "Billing: weasyprint makes invoices on it.")
    shelf.create_note("project", "Port", "Port 8080 today.\nPort 8080 today.")
    before = contents(shelf)
    result = shelf.reflect()
    assert min(result.merged, result.linked, result.tagged, result.rewritten) == 1
    return shelf.history()[0].revision, before


def test_an_edit_since_leaves_one_note_and_the_rest_is_undone(
    shelf: NuggetShelf, passed: tuple[int, dict[str, MemoryNote]]
) -> None:
    revision, before = passed
    edited = shelf.edit_note("Port", "Port 9090 today.")
    undone = shelf.undo(revision)

    assert undone.left == (LeftNote(edited.id, "Port", "changed since", revision + 1),)
    assert edited.id not in [note.id for note in undone.changes.put]
    assert contents(shelf) == before | {edited.id: edited._replace(last_accessed_at="")}


def test_a_partial_undo_is_one_entry_and_can_be_undone(
    shelf: NuggetShelf, passed: tuple[int, dict[str, MemoryNote]]
) -> None:
    revision, before = passed
    shelf.edit_note("Port", "Port 9090 today.")
    reflected = contents(shelf)
    assert shelf.undo(revision, dry_run=True).left
    assert contents(shelf) == reflected
    shelf.undo(revision)
    assert [one.changes.action for one in shelf.history(limit=2)] == [
        f"undo {revision}",
        "edit_note",
    ]
    shelf.undo(shelf.history()[0].revision)
    assert contents(shelf) == reflected

    shelf.undo(shelf.history()[0].revision)
    shelf.undo(revision + 1)  # now the rest of the pass can go, too
    assert shelf.undo(revision).left == ()
    assert {note.id: note.content for note in shelf.list_notes()} == {
        note.id: note.content for note in before.values()
    }


@pytest.mark.parametrize("which", ["survivor", "source"])
def test_a_merge_stays_as_a_whole(
    shelf: NuggetShelf,
    alike: tuple[str, str],
    passed: tuple[int, dict[str, MemoryNote]],
    which: str,
) -> None:
    revision, before = passed
    gone, kept = sorted(alike, key=lambda note_id: not shelf.get_note(note_id).hidden)
    changed, other = (kept, gone) if which == "survivor" else (gone, kept)
    shelf.edit_note(changed, "Something else.")
    reflected = contents(shelf)
    left = {note.note_id: note for note in shelf.undo(revision).left}

    assert contents(shelf) == before | {note_id: reflected[note_id] for note_id in alike}
    assert left[changed].reason == "changed since"
    assert left[other].reason == "merged with a note that changed since"
    assert left.keys() == set(alike)
    assert not shelf.checkup()


def test_a_link_with_a_note_that_is_left_stays_at_both_ends(
    shelf: NuggetShelf, passed: tuple[int, dict[str, MemoryNote]]
) -> None:
    revision, before = passed
    edited = shelf.edit_note("Invoice host", "Billing: weasyprint makes invoices on db7.")
    undone = shelf.undo(revision)
    after = contents(shelf)
    other = next(note for note in after.values() if note.title == "Invoices")

    assert [link.to for link in other.links] == [edited.id]
    assert [note.links for note in undone.before.put if note.id == other.id] == [other.links]
    assert [link.to for link in after[edited.id].links] == [other.id]
    assert after | {other.id: other._replace(links=())} == before | {edited.id: after[edited.id]}
    assert not shelf.checkup()


def test_a_note_that_a_pass_only_looked_at_is_not_named(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Host", "It is db7.")
    shelf.reflect()
    port = shelf.create_note("project", "Port", "Port 8080 today.\nPort 8080 today.")
    shelf.reflect()
    assert len(shelf.history()[0].changes.put) == 2
    host = shelf.edit_note("Host", "It is db8.")

    assert shelf.undo(shelf.history()[1].revision).left == ()
    assert shelf.list_notes() == [host, port]


def test_a_key_that_was_remembered_anew_keeps_only_its_fact_away(directory: Path) -> None:
    with NuggetShelf(directory, project="", clock=lambda: "2026-03-01T09:00:00.000Z") as shelf:
        shelf.remember("project", "port", "80", valid_until="2026-02-01")
        note = shelf.create_note("project", "Mail", "Sends in batches.\nSends in batches.")
        shelf.reflect()
        revision = shelf.history()[0].revision
        shelf.remember("project", "port", "9090")

        assert [left.title for left in shelf.undo(revision).left] == ["port"]
        assert shelf.get_note(note.id) == note
        assert shelf.recall("port").answer == "9090"


def test_if_every_note_changed_since_a_pass_is_not_undone(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Port", "Port 8080 today.\nPort 8080 today.")
    shelf.reflect()
    shelf.edit_note("Port", "Port 9090 today.")

    assert shelf.undoable([2]) == set()
    with pytest.raises(Conflict, match="Undo revision 3 first"):
        shelf.undo(2)


def test_undoing_the_daily_pass_does_not_run_it_again(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Auth", "Uses JWT tokens.\nUses JWT tokens.")
    shelf.run_daily(NINE)
    shelf.undo(2)

    assert shelf.run_daily(NINE + timedelta(hours=1)) is None
    assert "\n" in shelf.get_note("Auth").content


def _race(directory: str, gate: "multiprocessing.synchronize.Event", runs: object) -> None:
    with NuggetShelf(directory, short_lived=True) as shelf:
        shelf.load_all()
        gate.wait()
        runs.put(shelf.run_daily(NINE) is not None)  # type: ignore[attr-defined]


@pytest.mark.faults
def test_processes_racing_at_nine_make_one_run(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        for number in range(20):
            shelf.create_note("project", f"Note {number}", "Same line.\nSame line.")
    context = multiprocessing.get_context("spawn")
    gate, runs = context.Event(), context.Queue()
    racers = [
        context.Process(target=_race, args=(os.fspath(directory), gate, runs)) for _ in range(4)
    ]
    for racer in racers:
        racer.start()
    gate.set()
    for racer in racers:
        racer.join()

    assert [racer.exitcode for racer in racers] == [0] * 4
    ran = [runs.get() for _ in racers]
    assert sorted(ran) == [False, False, False, True]
    with NuggetShelf(directory) as shelf:
        assert [c.changes.action for c in shelf.history()].count("reflect") == 1


def test_a_memory_file_that_cannot_be_read_does_not_hold_up_the_others(directory: Path) -> None:
    broken, sound = directory / "a" / "MEMORY.md", directory / "b" / "MEMORY.md"
    for path in (broken, sound):
        path.parent.mkdir(parents=True)
    with NuggetShelf(directory / "shelf", project="") as shelf:
        shelf.promote(str(broken))
        shelf.promote(str(sound))
        shelf.remember("learn", "port", "8080")
        recalled(shelf, "port")
        broken.write_bytes(b"\xff not UTF-8")
        with pytest.raises(StoreError, match="not UTF-8"):
            shelf.run_daily(NINE)
        run = shelf.last_run()

    assert "8080" in sound.read_text()
    assert run is not None
    assert run.promoted == 2  # with the shelf's own file


def test_the_daily_run_can_be_turned_off(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_DAILY", "0")
    with NuggetShelf(directory) as shelf:
        shelf.create_note("project", "Auth", "Uses JWT tokens.")
        assert shelf.run_daily(NINE) is None
        assert shelf.reflect().inspected == 1


def test_a_daily_run_that_changes_nothing_leaves_no_entry_in_the_history(
    shelf: NuggetShelf,
) -> None:
    assert shelf.run_daily(NINE) is not None

    assert shelf.history() == []
    assert shelf.last_run() is not None
