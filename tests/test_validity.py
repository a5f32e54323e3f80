"""What a memory said and when: versions, times of validity, and what supersedes what."""

from datetime import datetime
from pathlib import Path

import pytest

from nuggets import InvalidInput, NotFound, NuggetShelf
from test_history_days import shelf_at, use_daily


def values(shelf: NuggetShelf, name: str) -> list[tuple[str, str, str | None]]:
    return [
        (version.note.content, version.valid_from[:10], (version.valid_until or "")[:10] or None)
        for version in shelf.versions(name)
    ]


def moved_host(directory: Path) -> None:
    for day, host in (("2024-01-01", "alpha"), ("2024-06-01", "beta"), ("2025-05-01", "gamma")):
        with shelf_at(directory, day) as shelf:
            shelf.remember("project", "deploy host", host)


def test_a_new_value_keeps_the_old_one_as_history(tmp_path: Path) -> None:
    moved_host(tmp_path)
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        assert values(shelf, "deploy host") == [
            ("alpha", "2024-01-01", "2024-06-01"),
            ("beta", "2024-06-01", "2025-05-01"),
            ("gamma", "2025-05-01", None),
        ]


@pytest.mark.parametrize(
    ("day", "host"),
    [("2023-12-31", ""), ("2024-01-01", "alpha"), ("2024-06-02", "beta"), ("2030-01-01", "gamma")],
)
def test_a_recall_as_of_a_day_answers_what_was_true_then(
    tmp_path: Path, day: str, host: str
) -> None:
    moved_host(tmp_path)
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        result = shelf.recall("deploy hst", as_of=day)
        assert (result.answer, result.found) == (host, bool(host))
        assert shelf["project"].recall("deploy host", as_of=day).answer == host


def test_a_recall_as_of_a_day_counts_no_hit(tmp_path: Path) -> None:
    moved_host(tmp_path)
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        shelf.recall("deploy host", session="s", as_of="2024-01-02")
        assert shelf.get_note("deploy host", session=None).hits == 0


def test_what_was_forgotten_was_true_before(tmp_path: Path) -> None:
    moved_host(tmp_path)
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        shelf.forget("project", "deploy host")
        assert shelf.recall("deploy host", as_of="2025-05-02").answer == "gamma"
        assert not shelf.recall("deploy host", as_of="2025-06-16").found
        assert not shelf.recall("some other key", as_of="2025-05-02").found
        with pytest.raises(NotFound):
            shelf.versions("some other key")


def test_earlier_values_outlive_the_history(tmp_path: Path) -> None:
    moved_host(tmp_path)
    use_daily(tmp_path, "2026-11-01")
    with shelf_at(tmp_path, "2026-11-01", history_days=30) as shelf:
        before = values(shelf, "deploy host")
        shelf.create_note("project", "another", "text")  # the last commit is always kept
        shelf.run_daily(datetime(2026, 11, 1, 12))
        assert not [commit for commit in shelf.commits() if commit.at < "2026"]
        assert values(shelf, "deploy host") == before
        assert shelf.recall("deploy host", as_of="2024-02-01").answer == "alpha"


def test_a_purged_memory_leaves_no_earlier_value(tmp_path: Path) -> None:
    moved_host(tmp_path)
    use_daily(tmp_path, "2026-11-01")
    with shelf_at(tmp_path, "2026-11-01", history_days=30) as shelf:
        shelf.create_note("project", "another", "text")
        shelf.run_daily(datetime(2026, 11, 1, 12))
        shelf.purge_fact("project", "deploy host")
        with pytest.raises(NotFound):
            shelf.versions("deploy host")
    assert b"alpha" not in (tmp_path / "nuggets.db").read_bytes()


def test_an_undone_change_was_true_until_it_was_undone(tmp_path: Path) -> None:
    moved_host(tmp_path)
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        shelf.undo()
        assert [value for value, _, _ in values(shelf, "deploy host")] == [
            *("alpha", "beta", "gamma", "beta")
        ]
        assert shelf.recall("deploy host", as_of="2025-05-02").answer == "gamma"


def test_a_change_of_tags_is_no_new_version(tmp_path: Path) -> None:
    moved_host(tmp_path)
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        shelf.edit_note("deploy host", tags=["servers"])
        assert len(shelf.versions("deploy host")) == 3


def test_an_imported_note_is_as_old_as_it_says(tmp_path: Path) -> None:
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        shelf.create_note("project", "Plan", "text", created_at="2020-01-01")
        assert values(shelf, "Plan") == [("text", "2020-01-01", None)]


def test_a_memory_says_when_it_is_valid(tmp_path: Path) -> None:
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        freeze = shelf.remember(
            "project", "freeze", "no deploys", valid_from="2025-06-01", valid_until="2025-06-10"
        )
        assert shelf.invalidity(freeze) == "no longer valid"
        assert shelf.invalidity(shelf.recall("freeze")) == "no longer valid"
        assert shelf.recall("freeze", as_of="2025-06-10").answer == "no deploys"
        assert not shelf.recall("freeze", as_of="2025-06-11").found
        later = shelf.remember("project", "host", "delta", valid_from="2026-01-01")
        assert shelf.invalidity(later) == "not yet valid"
        assert shelf.invalidity(shelf.remember("project", "shell", "fish")) == ""


def test_what_was_said_for_one_session_says_so_and_when(tmp_path: Path) -> None:
    with shelf_at(tmp_path, "2025-06-01") as shelf:
        branch = shelf.remember("work", "session: current branch", "feature/refunds")
        about = shelf.create_note("work", "Refunds", "Done", scope="session", source="system")
    with shelf_at(tmp_path, "2025-06-04") as shelf:
        assert shelf.caveats(branch) == ["said for one session, 3 days ago"]
        assert shelf.caveats(about) == []  # a hook's record of a session is true of it for ever


def test_times_of_validity_go_with_the_text_that_they_are_about(tmp_path: Path) -> None:
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        shelf.remember("project", "freeze", "no deploys", valid_until="2025-07-01")
        assert shelf.edit_note("freeze", tags=["team"]).valid_until is not None
        assert shelf.edit_note("freeze", valid_until="").valid_until is None
        shelf.edit_note("freeze", valid_until="2025-07-01")
        assert shelf.remember("project", "freeze", "over").valid_until is None


def test_a_memory_cannot_end_before_it_begins(tmp_path: Path) -> None:
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        with pytest.raises(InvalidInput, match="must be after valid_from"):
            shelf.remember("p", "k", "v", valid_from="2025-02-01", valid_until="2025-01-01")
        with pytest.raises(InvalidInput, match="is no time"):
            shelf.remember("p", "k", "v", valid_until="some day")


def test_a_note_that_supersedes_another_archives_it_and_has_its_past(tmp_path: Path) -> None:
    with shelf_at(tmp_path, "2025-06-01") as shelf:
        old = shelf.create_note("project", "Use npm", "Install packages with npm.")
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        new = shelf.create_note("project", "Use pnpm", "Install with pnpm.", supersedes=old.id)
        gone = shelf.get_note(old.id, session=None)
        assert new.supersedes == (old.id,)
        assert gone.hidden and gone.valid_until == gone.archived_at
        assert [link.reason for link in gone.links] == ["supersedes"]
        assert [version.note.title for version in shelf.versions("Use pnpm")] == [
            "Use npm",
            "Use pnpm",
        ]
        assert shelf.restore_note(old.id).valid_until is None


def test_superseding_is_undone_as_one_step(tmp_path: Path) -> None:
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        old = shelf.create_note("project", "Use npm", "Install packages with npm.")
        new = shelf.create_note("project", "Use pnpm", "Install with pnpm.")
        shelf.edit_note(new.id, supersedes="Use npm")
        shelf.undo()
        assert shelf.get_note(old.id, session=None) == old
        with pytest.raises(InvalidInput, match="supersede itself"):
            shelf.edit_note(new.id, supersedes=new.id)


def test_validity_survives_a_round_trip_through_the_documented_file(tmp_path: Path) -> None:
    with shelf_at(tmp_path / "a", "2025-06-15") as shelf:
        old = shelf.create_note("project", "Use npm", "Install packages with npm.")
        note = shelf.create_note(
            "project", "Rule", "text", supersedes=old.id, valid_until="2025-07-01"
        )
        shelf.export("json", tmp_path / "copy")
    import json

    graph = json.loads((tmp_path / "copy" / "graph" / "graph.json").read_text())
    shapes = {shape["id"]: shape for shape in graph["notes"]}
    assert shapes[note.id]["supersedes"] == [old.id]
    with shelf_at(tmp_path / "b", "2025-06-16") as other:
        other.import_memories(graph["notes"])
        there = other.get_note(note.id, session=None)
        assert (there.supersedes, there.valid_until) == ((old.id,), note.valid_until)
