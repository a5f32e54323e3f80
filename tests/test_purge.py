"""A purge leaves nothing: not in the files, not in the history, not in MEMORY.md."""

import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agent_doors import hook, injected, repository
from command_line import Nuggets
from enough_sessions import ENOUGH_SESSIONS
from nuggets import NuggetShelf
from nuggets.domain.type_check import NoteMeta
from nuggets.errors import Conflict, NotFound, StoreError
from nuggets.maintenance.promotion.entries import line_hash

SECRET = "the launch code is 00000000"


def files_with(directory: Path, text: str) -> list[str]:
    found = []
    for folder, _, names in os.walk(directory):
        for name in names:
            path = Path(folder) / name
            if text.encode() in path.read_bytes():
                found.append(str(path.relative_to(directory)))
    return sorted(found)


def test_nothing_of_it_is_left_in_any_file(directory: Path) -> None:
    memory = directory / "m" / "MEMORY.md"
    with NuggetShelf(directory / "shelf") as shelf:
        shelf.remember("learn", "code", SECRET)
        other = shelf.create_note("learn", "Other", "Something that stays.")
        shelf.add_link("code", other.id, f"because {SECRET}")
        shelf.remember("learn", "code", SECRET + " (old)")
        for session in ENOUGH_SESSIONS:
            shelf.recall("code", session=session)
        shelf.promote(str(memory))
    before = files_with(directory, SECRET)
    with NuggetShelf(directory / "shelf") as shelf:
        places = shelf.purge("code", "learn").erased_items

        assert shelf.get_note("Other").links == ()
        assert not shelf.recall("code").found
    assert "m/MEMORY.md" in before
    assert files_with(directory, SECRET) == []
    assert str(memory) in places
    assert any("nuggets.db" in place for place in places)


def test_what_was_forgotten_long_ago_can_still_be_purged(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        note = shelf.remember("learn", "code", SECRET)
        shelf.forget("learn", "code")
        shelf.purge(note.id)

    assert files_with(directory, SECRET) == []


def test_nothing_is_purged_while_a_file_that_cannot_be_read_may_hold_it(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        note = shelf.remember("learn", "code", SECRET)
    path = directory / "learn.nugget.json"
    path.write_bytes(path.read_bytes()[:-3])
    with NuggetShelf(directory) as shelf:
        with pytest.raises(StoreError, match=r"Nothing was erased.*learn\.nugget\.json cannot"):
            shelf.purge(note.id)
        left = shelf.recall("code").answer
        shelf.checkup(fix=True)
        shelf.purge(note.id)

    assert left == SECRET
    assert files_with(directory, SECRET) == []


def test_others_go_on_after_a_purge(directory: Path) -> None:
    with NuggetShelf(directory) as shelf, NuggetShelf(directory) as other:
        shelf.remember("learn", "code", SECRET)
        assert other.recall("code").found
        shelf.purge("code", "learn")
        other.remember("learn", "port", "80")

        assert not other.recall("code").found
        assert shelf.recall("port").answer == "80"


def test_the_rest_of_the_history_can_still_be_undone(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "port", "80")
        shelf.remember("learn", "code", SECRET)
        shelf.remember("learn", "port", "8080")
        revision = shelf.history()[0].revision
        shelf.purge("code", "learn")
        shelf.undo(revision)

        assert shelf.recall("port").answer == "80"


def test_a_purge_cannot_be_undone(shelf: NuggetShelf) -> None:
    shelf.remember("learn", "port", "80")
    shelf.remember("learn", "code", SECRET)
    shelf.purge("code", "learn")

    with pytest.raises(Conflict, match="purged"):
        shelf.undo(shelf.history(limit=1)[0].revision)
    assert not shelf.recall("code").found


def test_what_was_never_there_is_said(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound):
        shelf.purge("nothing")


def test_a_memory_file_that_cannot_be_read_keeps_nothing_in_the_history(directory: Path) -> None:
    memory = directory / "m" / "MEMORY.md"
    with NuggetShelf(directory / "shelf") as shelf:
        shelf.remember("learn", "code", SECRET)
        for session in ENOUGH_SESSIONS:
            shelf.recall("code", session=session)
        shelf.promote(str(memory))
        memory.write_bytes(b"\xff not UTF-8")
        with pytest.raises(StoreError, match="perhaps not here"):
            shelf.purge("code", "learn")

    assert files_with(directory, SECRET) == []


@pytest.mark.parametrize("name", ["Key", "note-learn", "Other"])
def test_purging_a_fact_takes_nothing_that_is_only_called_alike(directory: Path, name: str) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.create_note("learn", "Key", "A note about keys.")
        shelf.create_note("far", "Other", "A note elsewhere.")
        with pytest.raises(NotFound, match="no fact"):
            shelf.purge_fact("learn", name)

        assert len(shelf.list_notes()) == 2


def test_a_fact_is_purged_by_its_key_beside_a_note_of_that_title(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.create_note("learn", "Code", "A note about codes.")
        shelf.remember("learn", "code", SECRET)
        shelf.purge_fact("learn", "CODE")

        assert [note.kind for note in shelf.list_notes()] == ["note"]
    assert files_with(directory, SECRET) == []


def test_the_history_goes_on_after_a_purge_which_has_no_undo(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "port", "80")
        shelf.remember("learn", "code", SECRET)
        shelf.remember("learn", "host", "here")
        shelf.clear("learn")
        shelf.undo()
        shelf.purge("code", "learn")

        assert [commit.changes.action for commit in shelf.history()][:2] == ["purge", "undo 4"]
        with pytest.raises(Conflict, match="purged"):
            shelf.undo(shelf.history()[0].revision)
        with pytest.raises(NotFound, match="cannot be undone"):
            shelf.undo()
        assert [fact.title for fact in shelf.facts("learn")] == ["port", "host"]


def test_undo_brings_back_what_was_not_purged_since(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "port", "80")
        code = shelf.remember("learn", "code", SECRET)
        shelf.clear("learn")
        shelf.purge(code.id)
        shelf.undo()

        assert [fact.title for fact in shelf.facts("learn")] == ["port"]


def test_what_conversations_said_is_purged_too(directory: Path) -> None:
    """Hooks keep the last prompts of each conversation; one may have stated the memory."""
    sent = {"session_id": "s1", "cwd": str(directory), "prompt": f"Remember that {SECRET}."}
    for event in ("user-prompt", "pre-compact"):
        injected(hook(event, {**sent, "session_id": event}, directory / "shelf"))
    before = files_with(directory / "shelf" / "hooks", SECRET)
    with NuggetShelf(directory / "shelf", project="") as shelf:
        [stated] = shelf.facts("prefs")
        places = shelf.purge(stated.id).erased_items

    assert len(before) == 1
    assert files_with(directory, SECRET) == []
    assert any(os.path.join("hooks", "sessions") in place for place in places)


def test_a_purge_without_conversations_speaks_of_none(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "code", SECRET)

        assert shelf.purge("code", "learn").of_conversations == ()


def test_a_diary_that_cannot_be_taken_away_is_said_and_keeps_nothing_elsewhere(
    directory: Path,
) -> None:
    (directory / "hooks" / "sessions" / "a folder").mkdir(parents=True)
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "code", SECRET)
        with pytest.raises(StoreError, match=r"perhaps not here: .*a folder"):
            shelf.purge("code", "learn")

    assert files_with(directory, SECRET) == []


def test_a_file_that_waits_to_be_noted_does_not_come_back(directory: Path) -> None:
    project = repository(directory / "here")
    shelf_directory = directory / "shelf"
    touched = {"tool_name": "Edit", "tool_input": {"file_path": str(project / "launch-code.txt")}}
    sent = {"cwd": str(project), "session_id": "s", **touched}
    hook("post-tool", sent, shelf_directory)
    hook("stop", sent, shelf_directory)
    hook("post-tool", sent, shelf_directory)  # seen again, and not taken in yet
    with NuggetShelf(shelf_directory) as shelf:
        (note,) = shelf.list_notes(nugget="files")
        shelf.purge(note.id)
    hook("stop", sent, shelf_directory)

    assert files_with(shelf_directory, "launch-code") == []


@pytest.mark.parametrize("then", ["nothing", "again", "nugget removed"])
def test_a_key_is_purged_of_all_that_was_ever_known_by_it(directory: Path, then: str) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "code", SECRET)
        if then == "nugget removed":
            shelf.remove("learn")
        else:
            shelf.forget("learn", "code")
        if then == "again":
            shelf.remember("learn", "code", "kept in the vault")
        shelf.remember("other", "code", "stays")
        shelf.purge_fact("learn", "Code")

    assert files_with(directory, SECRET) == []
    assert files_with(directory, "kept in the vault") == []
    assert files_with(directory, "stays") != []


def promoted(shelf: NuggetShelf, memory: Path, key: str, value: str) -> str:
    """The id of a fact that stands in a memory file."""
    fact = shelf.remember("learn", key, value)
    for session in ENOUGH_SESSIONS:
        shelf.recall(key, "learn", session=session)
    shelf.promote(str(memory))
    assert f"- **{key}**: {value}\n" in memory.read_text()
    return fact.id


@pytest.mark.parametrize(
    "line", [f"- **code**: {SECRET} (old)", f"- Remember: {SECRET}", "- **code**: ask Maria"]
)
@pytest.mark.parametrize("since", ["nothing", "edited", "forgotten"])
def test_a_line_that_someone_changed_is_not_said_to_be_gone(
    directory: Path, line: str, since: str
) -> None:
    memory = directory / "m" / "MEMORY.md"
    with NuggetShelf(directory / "shelf") as shelf:
        code = promoted(shelf, memory, "code", SECRET)
        changed = memory.read_text().replace(f"- **code**: {SECRET}", line)
        memory.write_text(changed)
        if since == "edited":
            shelf.edit_note(code, "Not to be said.", "pin")
        elif since == "forgotten":
            shelf.forget("learn", "code")
        if since != "nothing":
            shelf.promote(str(memory))
        with pytest.raises(StoreError, match=r"perhaps not here: .*MEMORY\.md has its title"):
            shelf.purge(code)

    assert memory.read_text() == changed
    assert files_with(directory / "shelf", SECRET) == []


@pytest.mark.parametrize(
    "line", [f"- **code**: {SECRET} (old)", f"- Remember: {SECRET}", "- **code**: ask Maria"]
)
def test_a_changed_line_that_was_taken_over_goes_with_its_memory(
    directory: Path, line: str
) -> None:
    memory = directory / "m" / "MEMORY.md"
    with NuggetShelf(directory / "shelf") as shelf:
        code = promoted(shelf, memory, "code", SECRET)
        memory.write_text(memory.read_text().replace(f"- **code**: {SECRET}", line))
        shelf.promote(str(memory))
        shelf.purge(code)

    assert line not in memory.read_text()
    assert files_with(directory, SECRET) == []


def test_a_memory_file_is_named_only_if_a_line_went_from_it(directory: Path) -> None:
    memory = directory / "m" / "MEMORY.md"
    with NuggetShelf(directory / "shelf") as shelf:
        promoted(shelf, memory, "port", "8080")
        code = promoted(shelf, memory, "code", SECRET)
        memory.write_text(memory.read_text().replace(f"- **code**: {SECRET}\n", ""))
        done = shelf.purge(code)

    assert done.memory_files == ()
    assert "- **port**: 8080" in memory.read_text()


def test_what_another_memory_says_in_the_same_words_is_no_trace(directory: Path) -> None:
    memory = directory / "m" / "MEMORY.md"
    with NuggetShelf(directory / "shelf") as shelf:
        promoted(shelf, memory, "vault", SECRET)
        code = promoted(shelf, memory, "code", SECRET)

        assert shelf.purge(code).memory_files == (str(memory),)
    assert f"- **vault**: {SECRET}" in memory.read_text()


def test_nothing_that_could_be_guessed_is_kept_of_a_line(directory: Path) -> None:
    """With four digits there are only 10,000 lines that a hash can be of."""
    memory = directory / "m" / "MEMORY.md"
    with NuggetShelf(directory / "shelf") as shelf:
        code = promoted(shelf, memory, "door", "7731")
        shelf.promote(str(directory / "gone" / "m" / "MEMORY.md"))
        promoted(shelf, memory, "port", "8080")
        shelf.purge(code)

    assert files_with(directory, line_hash("- **door**: 7731")) == []
    assert "8080" in memory.read_text()


NINE = datetime(2099, 1, 31, 9)


@pytest.mark.parametrize("then", ["nothing", "a new run"])
def test_what_a_clean_up_told_of_it_is_gone_too(directory: Path, then: str) -> None:
    with NuggetShelf(directory) as shelf:
        gone = shelf.create_note("project", "tmp Wombat layoffs", "no")
        text = "The build takes ten long minutes: each package is compiled again on every machine."
        kept = shelf.create_note("project", "Build", text)
        twin = shelf.create_note("project", "Build of Wombat", text)
        shelf.run_daily(NINE)
        before = shelf.last_run()
        if then == "a new run":
            shelf.run_daily(NINE + timedelta(days=1))
        assert shelf.get_note(gone.id).hidden
        assert shelf.get_note(twin.id).hidden
        shelf.purge(gone.id)
        shelf.purge(twin.id)
        after = shelf.last_run()

    assert before is not None
    assert after is not None
    assert any("Wombat" in change.detail for change in before.result.changes)
    assert {change.note_id for change in after.result.changes} <= {kept.id}
    assert [name for name in files_with(directory, "Wombat") if "damaged" not in name] == []


def test_notes_that_it_was_merged_with_are_named(shelf: NuggetShelf) -> None:
    source = shelf.create_note("project", "Codes", SECRET)
    target = shelf.create_note("project", "Vault", "Where it is.")
    linked = shelf.create_note("project", "Other", "Something else.")
    shelf.add_link(source.id, linked.id)
    shelf.merge_notes(target.id, source.id)

    done = shelf.purge(source.id)

    assert [note.id for note in done.merged_with] == [target.id]
    assert done.erased_items[:1] == ["note 'Codes' in project"]
    assert not any("Vault" in place for place in done.erased_items)
    assert SECRET in shelf.get_note(target.id).content


def test_so_are_those_that_went_into_it_and_none_that_it_was_only_linked_with(
    shelf: NuggetShelf,
) -> None:
    source = shelf.create_note("project", "Codes", SECRET)
    target = shelf.create_note("project", "Vault", "Where it is.")
    linked = shelf.create_note("project", "Other", "Something else.")
    shelf.add_link(target.id, linked.id)
    shelf.delete_note(linked.id)
    shelf.merge_notes(target.id, source.id)
    done = shelf.purge(target.id)

    assert [note.id for note in done.merged_with] == [source.id]
    assert shelf.purge(linked.id).merged_with == ()


def test_a_person_is_told_to_look_at_those(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Codes", SECRET)
    kept = nuggets("note", "add", "project", "Vault", "Where it is.", "--json").json["id"]
    nuggets("note", "merge", "Vault", "Codes")
    said = nuggets("note", "delete", "Codes", "--purge")

    *lines, not_reached = said.lines
    assert lines == [
        "Erased note 'Codes' in project from the shelf and its history.",
        "Its text may also be in these notes; check them:",
        f"  note 'Vault' ({kept})",
    ]
    assert "Not reached: backups and exports in other places" in not_reached


def test_what_a_killed_promotion_left_goes_too(directory: Path) -> None:
    memory = directory / "m" / "MEMORY.md"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with NuggetShelf(directory / "shelf") as shelf:
        promoted(shelf, memory, "code", SECRET)
        (memory.parent / f"MEMORY.md.{ended.pid:x}-0123abcd.tmp").write_text(SECRET)
        shelf.purge("code", "learn")

    assert files_with(directory, SECRET) == []


def test_what_hooks_noted_of_conversations_goes_too(directory: Path) -> None:
    told: NoteMeta = {"scope": "session", "source": "system", "stability": "temporary"}
    with NuggetShelf(directory) as shelf:
        shelf.remember("prefs", "customers", SECRET)
        shelf.create_note("tasks", "task of session 1", f"Never say {SECRET}", ["task"], **told)
        shelf.create_note("tasks", "Mine", "Buy milk.")
        shelf.purge_fact("prefs", "customers")

        assert [note.title for note in shelf.list_notes()] == ["Mine"]
    assert files_with(directory, SECRET) == []


def test_all_by_one_key_is_erased_though_a_line_of_the_first_stays(directory: Path) -> None:
    memory = directory / "m" / "MEMORY.md"
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "code", SECRET)
        shelf.forget("learn", "code")
        shelf.remember("learn", "code", f"{SECRET} again")
        for session in ENOUGH_SESSIONS:
            shelf.recall("code", session=session)
        shelf.promote(str(memory))
        memory.write_text(memory.read_text().replace("again", "again (mine)"))

        with pytest.raises(StoreError, match="perhaps not here"):
            shelf.purge_fact("learn", "code")
    assert files_with(directory, SECRET) == ["m/MEMORY.md"]


@pytest.mark.parametrize("file", ["learn.nugget.json", "graph/graph.json"])
@pytest.mark.parametrize("then", ["purged", "forgotten and purged"])
def test_an_export_that_is_put_back_does_not_bring_it_back(
    directory: Path, file: str, then: str
) -> None:
    with NuggetShelf(directory / "shelf", project="", short_lived=True) as shelf:
        shelf.remember("learn", "port", "80")
        shelf.remember("learn", "code", SECRET)
    (directory / "copy").write_bytes((directory / "shelf" / file).read_bytes())
    with NuggetShelf(directory / "shelf", project="", short_lived=True) as shelf:
        if then != "purged":
            shelf.forget("learn", "code")
        shelf.purge_fact("learn", "code")
    (directory / "shelf" / file).write_bytes((directory / "copy").read_bytes())
    with NuggetShelf(directory / "shelf", project="", short_lived=True) as shelf:
        shelf.remember("learn", "host", "here")

        assert not shelf.recall("code", session=None).found
        assert shelf.recall("port", session=None).answer == "80"
    assert files_with(directory / "shelf", SECRET) == []


def test_the_same_key_can_be_used_again_after_a_purge(directory: Path) -> None:
    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        shelf.remember("learn", "code", SECRET)
        shelf.purge_fact("learn", "code")
        shelf.remember("learn", "port", "80")
    path = directory / "learn.nugget.json"
    path.write_text(path.read_text().replace('"key":"port"', '"key":"code"'))
    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        shelf.remember("learn", "host", "here")

        assert shelf.recall("code", session=None).answer == "80"


@pytest.mark.parametrize(
    "name", ["graph/graph.json~", "graph/.graph.json.swp", "#learn.nugget.json#", "copy of mine"]
)
def test_what_editors_left_in_the_directory_is_named(directory: Path, name: str) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "code", SECRET)
    path = directory / name
    path.write_bytes(b"\0" * 5000 + SECRET.encode() + b"\0")
    with NuggetShelf(directory) as shelf, pytest.raises(StoreError, match="by hand") as told:
        shelf.purge("code", "learn")

    assert str(path) in str(told.value)
    assert files_with(directory, SECRET) == [name]
    path.unlink()
    with NuggetShelf(directory) as shelf:
        shelf.remember("learn", "code", SECRET)
        shelf.purge("code", "learn")
    assert files_with(directory, SECRET) == []


def test_another_memory_with_the_same_text_is_named(shelf: NuggetShelf) -> None:
    shelf.remember("learn", "code", SECRET)
    other = shelf.create_note("ops", "Launches", f"Call the base. Remember: {SECRET}!")
    shelf.remember("learn", "short", "fish")
    same, longer = shelf.remember("prefs", "shell", "fish"), "I like fish a lot"
    shelf.create_note("ops", "Food", longer)

    assert [note.id for note in shelf.purge("code", "learn").merged_with] == [other.id]
    assert [note.id for note in shelf.purge("short", "learn").merged_with] == [same.id]
