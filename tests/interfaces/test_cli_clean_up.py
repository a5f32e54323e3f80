"""reflect, promote, history, undo, audit and schedule on the command line."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from shutil import copytree

import pytest

from command_line import Nuggets, NuggetsProcess
from enough_sessions import ENOUGH_SESSIONS
from nuggets import PROMOTE_THRESHOLD, NuggetShelf


def seen_in_enough_sessions(nuggets: Nuggets, key: str) -> None:
    for session in ENOUGH_SESSIONS:
        assert nuggets("recall", key, "--session", session).code == 0


def test_reflect_shows_each_change_and_how_to_undo(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.\nUses JWT.")
    done = nuggets("reflect")

    assert done.code == 0
    assert "content: repeated lines removed: 'Uses JWT.'" in done.out
    assert "rewritten 1" in done.out
    assert done.lines[-1] == "`nuggets undo 2` undoes it."  # others may write meanwhile


def test_reflect_shows_examples_of_many_changes_and_all_if_asked(nuggets: Nuggets) -> None:
    for number in range(8):
        nuggets("note", "add", "project", f"Note {number}", f"Text {number}.\nText {number}.")
    short = nuggets("reflect", "--dry-run")
    whole = nuggets("reflect", "--dry-run", "--verbose")

    assert short.out.count("repeated lines removed") == 3
    assert "and 5 more (see --verbose)" in short.out
    assert whole.out.count("repeated lines removed") == 8
    assert "Would change: rewritten 8" in short.out


def test_reflect_without_writing(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.\nUses JWT.")

    assert "Would change: rewritten 1" in nuggets("reflect", "--dry-run").out
    assert "Uses JWT.\nUses JWT." in nuggets("note", "show", "Auth").out


def test_reflect_all_gives_every_note_its_turn(nuggets: Nuggets) -> None:
    for number in range(12):
        nuggets("note", "add", "project", f"Note {number}", f"Text {number}.\nText {number}.")
    shape = json.loads(nuggets("reflect", "--all", "--json").out)

    assert (shape["inspected"], shape["rewritten"]) == (12, 12)
    assert shape["changes"][0].keys() == {"type", "nuggetName", "noteId", "detail"}


def test_undo_takes_back_all_that_reflect_all_did(nuggets: Nuggets) -> None:
    with NuggetShelf(nuggets("config", "--json").json[0]["value"]) as shelf, shelf.batch():
        for number in range(230):
            shelf.create_note("project", f"Note {number}", f"word{number} thing{number}")
    before = nuggets("note", "list", "--json").json
    done = nuggets("reflect", "--all").lines
    nuggets("undo")

    assert done[-3].startswith("Inspected 230 notes. Changed: rewritten 0, merged 0, archived 0, ")
    assert done[-1] == "`nuggets undo 2` undoes it."
    assert nuggets("note", "list", "--json").json == before


def test_all_and_a_limit_exclude_each_other(nuggets: Nuggets) -> None:
    assert nuggets("reflect", "--all", "--limit", "3").code == 2


def test_promote_writes_and_explains(nuggets: Nuggets, directory: Path) -> None:
    path = directory / "MEMORY.md"
    nuggets("remember", "prefs", "editor", "helix")
    nuggets("remember", "prefs", "font", "mono")
    seen_in_enough_sessions(nuggets, "editor")
    explained = nuggets("promote", "--path", str(path), "--explain")
    done = nuggets("promote", "--path", str(path))

    assert f"recalled in 0 of {PROMOTE_THRESHOLD} sessions" in explained.out
    assert "Promoted 1 new entry" in done.out
    assert "- **editor**: helix" in path.read_text()


def test_promote_says_what_it_took_over_from_the_lines(nuggets: Nuggets, directory: Path) -> None:
    path = directory / "MEMORY.md"
    for key in ("editor", "shell"):
        nuggets("remember", "prefs", key, f"{key} of mine")
        seen_in_enough_sessions(nuggets, key)
    nuggets("promote", "--path", str(path))
    lines = path.read_text().splitlines(keepends=True)
    kept = [line.replace("editor of", "editors of") for line in lines if "shell" not in line]
    path.write_text("".join(kept))
    done = nuggets("promote", "--path", str(path))
    again = nuggets("promote", "--path", str(path), "--json").json

    assert done.lines[:2] == [
        "Taken over from its lines, changed: editor",
        "Taken over from its lines, archived: shell",
    ]
    assert "Value: editors of mine" in nuggets("recall", "editor").out
    assert nuggets("recall", "shell").code == 1
    assert again["edits"]["changed"] == again["edits"]["archived"] == []


def test_status_and_doctor_name_a_memory_file_that_lost_much(
    nuggets: Nuggets, directory: Path
) -> None:
    path = directory / "MEMORY.md"
    for key in ("editor", "shell", "font"):
        nuggets("remember", "prefs", key, f"{key} of mine")
        seen_in_enough_sessions(nuggets, key)
    nuggets("promote", "--path", str(path))
    path.write_text("# Another branch\n")
    done = nuggets("promote", "--path", str(path))

    assert "Not taken over: 3 lines of Nuggets are gone at once" in done.out
    assert "3 lines of Nuggets are gone at once" in nuggets("status").out
    assert "memory file" in nuggets("doctor").out
    assert nuggets("recall", "font").code == 0
    for note in nuggets("note", "list", "--json").json:
        assert note["id"] in nuggets("doctor").out
        nuggets("note", "archive", note["id"])
    nuggets("promote", "--path", str(path))
    assert "memory file" not in nuggets("doctor").out


def test_a_refusal_is_told_once_with_all_its_memories(nuggets: Nuggets, directory: Path) -> None:
    path = directory / "MEMORY.md"
    for key in ("editor", "shell", "font"):
        nuggets("remember", "prefs", key, f"{key} of mine")
        seen_in_enough_sessions(nuggets, key)
    nuggets("promote", "--path", str(path))
    path.write_text("# Another branch\n")
    ids = [note["id"] for note in nuggets("note", "list", "--json").json]

    for _ in range(3):
        told = [
            line
            for line in nuggets("promote", "--path", str(path)).lines
            if line.startswith("Not taken over")
        ]
        assert len(told) == 1
        assert [told[0].count(note_id) for note_id in ids] == [1, 1, 1]
        assert told[0].lower().count("no memory was changed or archived") == 1
        assert all(nuggets("doctor").out.count(note_id) == 1 for note_id in ids)


def test_explaining_writes_nothing(nuggets: Nuggets, directory: Path) -> None:
    path = directory / "MEMORY.md"
    nuggets("remember", "prefs", "editor", "helix")
    seen_in_enough_sessions(nuggets, "editor")
    shape = json.loads(nuggets("promote", "--path", str(path), "--explain", "--json").out)

    assert shape["promoted"] == 1
    assert shape["explanations"][0]["outcome"] == "new"
    assert not path.exists()


def test_promotion_is_explained_before_there_is_a_memory_file(
    nuggets: Nuggets, directory: Path
) -> None:
    nuggets("remember", "prefs", "editor", "helix")
    seen_in_enough_sessions(nuggets, "editor")
    done = nuggets("promote", "--explain")
    shape = nuggets("promote", "--explain", "--json").json

    assert done.code == 0
    assert "Sessions of editor:" in done.lines
    assert done.out.count("recalled as a fact") == PROMOTE_THRESHOLD
    path = Path(shape["path"])
    assert done.lines[-1] == f"Would promote 1 new entry to {path}."
    assert shape["promoted"] == 1
    assert not path.parent.exists()
    [why] = shape["explanations"]
    assert [hit["kind"] for hit in why["sessions"]] == ["recalled"] * PROMOTE_THRESHOLD
    assert nuggets("promote").code == 0
    assert "helix" in path.read_text()


def test_of_many_sessions_the_last_are_shown(nuggets: Nuggets) -> None:
    nuggets("remember", "prefs", "editor", "helix")
    for number in range(7):
        nuggets("recall", "editor", "--session", f"session {number}")
    lines = nuggets("promote", "--explain").lines

    first = lines.index("Sessions of editor:")
    assert lines[first + 1] == "  2 earlier ones"
    assert "session 6" in lines[first + 6]


@pytest.mark.parametrize("option", [(), ("--dry-run",), ("--explain",)])
def test_promote_to_a_path_that_cannot_be_a_file_is_refused(
    nuggets: Nuggets, directory: Path, option: tuple[str, ...]
) -> None:
    nowhere = nuggets("promote", "--path", str(directory / "none" / "MEMORY.md"), *option)
    folder = nuggets("promote", "--path", str(directory), *option)

    assert (nowhere.code, folder.code) == (2, 2)
    assert f"{directory / 'none'} does not exist; create it first" in nowhere.err
    assert "is a directory; name a file in it" in folder.err
    assert not (directory / "none").exists()


def test_history_tells_and_undo_takes_back(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "port", "80")
    nuggets("remember", "project", "port", "8080")

    assert "80 → 8080" in nuggets("history").out
    assert nuggets("undo").code == 0
    assert "Value: 80\n" in nuggets("recall", "port").out


def test_undo_shows_what_is_gone_now_and_what_is_back(nuggets: Nuggets) -> None:
    nuggets("remember", "ops", "deploy cmd", "fly deploy")
    nuggets("note", "add", "project", "Auth", "Uses JWT.")
    nuggets("note", "archive", "Auth")
    shown = nuggets("undo")
    gone = nuggets("undo", "1")
    back = nuggets("undo", str(json.loads(nuggets("history", "--json").out)[0]["revision"]))

    assert shown.lines[0].startswith("Undone: archive of ")
    assert shown.lines[1:] == ["  + Auth: back from the archive"]
    assert gone.lines[1:] == ["  - deploy cmd: fly deploy"]
    assert back.lines[1:] == ["  + deploy cmd: fly deploy"]


def test_a_changed_text_is_shown_where_it_changed(nuggets: Nuggets) -> None:
    same = "RS256 signing. The public key that everybody needs is at the address of "
    nuggets("note", "add", "project", "Auth", f"{same}old.example, port 1")
    nuggets("note", "edit", "Auth", f"{same}new.example, port 1")

    assert "~ Auth: …the address of old.example, port 1 → …the address of new.example, port 1" in (
        nuggets("history").out
    )


def test_the_history_says_which_links_tags_and_titles_changed(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.", "--tag", "old")
    nuggets("note", "add", "project", "Keys", "In the vault.")
    nuggets("link", "Auth", "Keys")
    nuggets("note", "edit", "Keys", "In the vault.\n\nOr not.", "--title", "Key places")
    nuggets("note", "edit", "Auth", "--tag", "new")
    said = nuggets("history").out

    assert "~ Auth: links +Keys\n" in said
    assert "~ Keys → Key places: In the vault. → In the vault. Or not.\n" in said
    assert "~ Auth: tags +new -old\n" in said


def test_the_history_calls_what_was_done_as_the_commands_do(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.")
    nuggets("note", "add", "project", "Keys", "In the vault.")
    nuggets("link", "Auth", "Keys")
    nuggets("unlink", "Auth", "Keys")
    nuggets("note", "edit", "Auth", "Uses no JWT.")
    nuggets("note", "archive", "Auth")
    nuggets("note", "restore", "Auth")
    nuggets("note", "merge", "Auth", "Keys")
    nuggets("note", "delete", "Auth", "--hard")
    said = nuggets("history")
    verbs = [line.split()[3] for line in said.lines if line.endswith(" from cli")]
    stored = [step["action"] for step in nuggets("history", "--json").json]

    assert verbs[::-1] == [
        *("add", "add", "link", "unlink", "edit", "archive", "restore", "merge", "delete")
    ]
    assert stored.count("delete_note") == 2


def test_people_read_their_own_clock_and_scripts_the_moment(
    nuggets: Nuggets, nuggets_process: NuggetsProcess
) -> None:
    nuggets("remember", "project", "port", "80")
    at = nuggets("history", "--json").json[0]["at"]
    local = datetime.fromisoformat(at) + timedelta(hours=9)
    said = nuggets_process("history", env={"TZ": "JST-9"})

    assert at.endswith("Z")
    assert f"    1  {local:%Y-%m-%d %H:%M}  remember from cli" in said.lines


def test_what_a_clean_up_only_looked_at_is_not_in_the_history(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.\nUses JWT.")
    nuggets("reflect")
    before = nuggets("history", "--note", "Auth").lines
    nuggets("note", "add", "project", "Lists", "Milk, eggs.\nMilk, eggs.")
    nuggets("reflect")
    entry = nuggets("history", "--limit", "1").lines

    assert "reflect" in entry[0]
    assert not any("Auth" in line or "inspected" in line for line in entry)
    assert nuggets("history", "--note", "Auth").lines == before
    told = nuggets("history", "--note", "Auth", "--limit", "2", "--json").json
    assert [entry["action"] for entry in told] == ["reflect", "create_note"]


def test_the_history_names_what_the_daily_pass_archived_and_how_to_bring_it_back(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "0")
    monkeypatch.setenv("QUIET_HOURS_START", "-1")
    nuggets("note", "add", "project", "tmp thing", "Only for the demonstration.")
    nuggets("schedule", "run", "--once")
    told = nuggets("history").lines
    at = next(i for i, line in enumerate(told) if "upkeep: " in line)

    assert told[at + 1].strip() == "- tmp thing: archived"
    undo = told[at + 2].strip().removeprefix("`nuggets ").partition("`")[0]
    assert nuggets(*undo.split()).code == 0
    assert "tmp thing" in nuggets("note", "list").out


def test_the_history_of_one_note_speaks_of_no_other(nuggets: Nuggets) -> None:
    for number in range(8):
        nuggets("note", "add", "project", f"Note {number}", f"Text {number}.\nText {number}.")
    nuggets("reflect")

    for number in range(8):
        first, line, *_ = nuggets("history", "--note", f"Note {number}", "--limit", "1").lines
        assert " reflect from cli" in first
        assert line.strip().startswith(f"~ Note {number}: ")


def test_a_note_that_is_gone_still_has_its_history(nuggets: Nuggets) -> None:
    gone = nuggets("note", "add", "project", "Auth", "Uses JWT.", "--json").json["id"]
    nuggets("note", "delete", gone, "--hard")

    assert [line.split(maxsplit=1)[0] for line in nuggets("history", "--note", gone).lines] == [
        *("2", "-", "1", "+")
    ]


def test_a_note_that_is_gone_is_known_by_the_title_it_last_had(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.")
    nuggets("note", "edit", "Auth", "--title", "Sign-in")
    nuggets("note", "delete", "Sign-in", "--hard")
    told = nuggets("history", "--note", "sign-in", "--json").json

    assert [entry["revision"] for entry in told] == [3, 2, 1]
    assert nuggets("history", "--note", "Auth").code == 1


@pytest.mark.parametrize("limit", ["0", "-1"])
def test_a_history_of_no_entries_is_refused(nuggets: Nuggets, limit: str) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.")

    assert nuggets("history", "--limit", limit).code == 2
    assert nuggets("history", "--note", "Auth", "--limit", limit).code == 2


def test_the_history_names_the_project_that_an_entry_is_about(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    nuggets("remember", "prefs", "style", "tabs")
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    nuggets("remember", "project", "port", "80")
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/blog/.git")
    nuggets("remember", "project", "port", "81")
    nuggets("remove", "project", "--yes")
    heads = [line for line in nuggets("history").lines if " from cli" in line]

    assert [head.partition(" from cli")[2] for head in heads] == [
        *(" in 2 projects", " in blog", " in webshop", "")
    ]


def test_a_command_that_changes_nothing_leaves_no_entry(nuggets: Nuggets, tmp_path: Path) -> None:
    directory = nuggets("config", "--json").json[0]["value"]
    nuggets("note", "add", "project", "Auth", "Uses JWT.")
    nuggets("reflect")
    before = nuggets("history", "--json").json
    copytree(directory, tmp_path / "copy")
    for command in (
        ("reflect",),
        ("import", str(tmp_path / "copy")),
        ("note", "add", "project", "Auth", "Uses JWT."),
        ("note", "edit", "Auth", "Uses JWT."),
        ("note", "edit", "Auth", "--title", "Auth"),
        ("promote", "--path", str(tmp_path / "MEMORY.md")),
    ):
        done = nuggets(*command)
        assert done.code == 0, (command, done.err)
        assert nuggets("history", "--json").json == before, command


def test_undo_names_what_others_and_other_projects_did_since(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    nuggets("remember", "project", "port", "80")
    nuggets("remember", "project", "host", "localhost")
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/blog/.git")
    nuggets("remember", "project", "theme", "dark")
    with NuggetShelf(nuggets("config", "--json").json[0]["value"], client="mcp") as shelf:
        shelf.remember("prefs", "style", "tabs")
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    done = nuggets("undo")
    again = nuggets("undo", "--json").json

    assert done.lines[0].endswith(" (2 in the history)")
    assert done.lines[1] == "  - host: localhost"
    assert done.lines[2].startswith("By others or in other projects since then, and kept")
    assert [line.split()[0] for line in done.lines[3:]] == ["4", "3"]
    assert done.lines[3].endswith("remember from mcp")
    assert done.lines[4].endswith("remember from cli in blog")
    assert (again["undone"]["revision"], again["kept"][0]["revision"]) == (1, 4)
    assert "kept" not in nuggets("undo", "3", "--json").json


def test_undo_of_a_reflection_says_what_it_left_and_why(nuggets: Nuggets) -> None:
    for title in ("Port", "Mail"):
        nuggets("note", "add", "project", title, "Sends in batches.\nSends in batches.")
    nuggets("reflect")
    nuggets("note", "edit", "Port", "Port 9090 today.")
    tried = nuggets("undo", "3", "--dry-run", "--json")
    done = nuggets("undo", "3")

    assert (tried.code, done.code) == (0, 0)
    assert [(left["title"], left["reason"], left["revision"]) for left in tried.json["left"]] == [
        ("Port", "changed since", 5)
    ]
    assert done.lines[-2:] == [
        "Left as it is now:",
        "  Port: changed since (`nuggets undo 5` first)",
    ]
    assert [line.split(":")[0] for line in done.lines[1:-2]] == ["  ~ Mail"]
    assert nuggets("undo", "--json").json["left"] == []


def test_undo_says_that_a_change_reached_beyond_the_project(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project in ("webshop", "blog"):
        monkeypatch.setenv("NUGGETS_PROJECT", f"/home/me/{project}/.git")
        nuggets("remember", "project", "port", "80")
    nuggets("remove", "project", "--yes")

    assert nuggets("undo").lines[0].endswith(" (3 in the history) in 2 projects")


def test_the_history_as_json_has_both_versions(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "port", "80")
    nuggets("remember", "project", "port", "8080")
    entry = json.loads(nuggets("history", "--limit", "1", "--json").out)[0]

    assert entry["client"] == "cli"
    assert entry["notes"][0]["before"]["content"] == "80"
    assert entry["notes"][0]["after"]["content"] == "8080"


def test_nothing_to_undo_is_said(nuggets: Nuggets) -> None:
    done = nuggets("undo")

    assert done.code == 1
    assert "nothing to undo" in done.err


def test_audit_reports_by_kind(nuggets: Nuggets) -> None:
    nuggets("remember", "a", "port", "80")
    nuggets("remember", "b", "port", "81")

    assert "contradiction" in nuggets("audit").out
    assert json.loads(nuggets("audit", "--json").out)[0]["kind"] == "contradiction"


def test_a_clean_up_and_its_plan_call_notes_by_their_titles(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "cart test", "pytest tests/cart checkout basket")
    nuggets("note", "add", "project", "Cart", "The basket checkout is in tests. Basket checkout.")
    nuggets("note", "add", "project", "tmp scribble", "no")
    audited = nuggets("audit").out
    planned = nuggets("reflect", "--dry-run").out
    done = nuggets("reflect").out

    assert "would link: linked with 'Cart': " in audited
    assert "    cart test\n" in audited
    assert "-project-" not in audited

    for told in (planned, done):
        assert "Cart  tags added: " in told
        assert "cart test  linked with 'Cart': " in told
        assert "archive  archived 'tmp scribble': " in told
        assert "-project-" not in told


def test_notes_of_one_title_are_told_apart_by_how_their_ids_end(nuggets: Nuggets) -> None:
    for text in ("Basket checkout. Basket.", "Something else. Something."):
        nuggets("note", "add", "project", "Cart", text)
    tails = {one["id"][-8:] for one in nuggets("note", "list", "--json").json}
    audited = nuggets("audit").out
    done = nuggets("reflect").out

    assert all(f"Cart ({tail})" in audited for tail in tails)
    assert all(f"Cart ({tail})  tags added" in done for tail in tails)


def test_a_title_that_is_a_word_of_the_finding_is_still_named(nuggets: Nuggets) -> None:
    with NuggetShelf(os.environ["NUGGETS_DIR"]) as shelf:
        shelf.create_note("project", "days", "Long ago.", created_at="2020-01-01")

    assert nuggets("audit").lines[:3] == [
        *("never recalled", "  never recalled and older than 30 days: 1", "    days")
    ]


def test_audit_repeats_no_credential_in_a_title(nuggets: Nuggets) -> None:
    token = "ghp_" + "a1B2" * 9
    nuggets("note", "add", "project", token, "The token of the build.", "--allow-secret")

    assert "secret" in nuggets("audit").lines
    assert token not in nuggets("audit").out


def test_the_schedule_has_a_last_and_a_next_run(
    nuggets: Nuggets, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(directory))  # a machine that has no timers
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "0")
    monkeypatch.setenv("QUIET_HOURS_START", "-1")

    assert "Last run: never" in nuggets("schedule", "status").out
    assert json.loads(nuggets("schedule", "run", "--once", "--json").out)["ran"] is True
    assert json.loads(nuggets("schedule", "run", "--once", "--json").out)["ran"] is False
    assert "inspected 0" in nuggets("schedule", "status").out


def test_the_history_shows_that_something_was_purged_and_not_what(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "port", "80")
    nuggets("remember", "project", "code", "swordfish")
    nuggets("forget", "project", "code")
    [dropped] = nuggets("history", "--limit", "1", "--json").json[0]["notes"]
    nuggets("note", "delete", dropped["id"], "--purge")
    done = nuggets("history")

    assert done.code == 0
    assert "- purged" in done.out
    assert "swordfish" not in done.out


def test_a_purge_says_in_one_line_what_is_gone_and_not_that_the_database_is(
    nuggets: Nuggets,
) -> None:
    nuggets("remember", "project", "ci token", "swordfish")
    nuggets("remember", "project", "old token", "marlin")
    directory = Path(nuggets("config", "--json").json[0]["value"])
    (directory / "hooks" / "sessions").mkdir(parents=True)
    for name in "ab":
        (directory / "hooks" / "sessions" / name).write_text("{}")
    first = nuggets("forget", "project", "ci token", "--purge")
    second = nuggets("forget", "project", "old token", "--purge", "--json")

    assert first.lines[0] == (
        "Erased fact 'ci token' in project from the shelf, its history and 2 session records."
    )
    assert [Path(place).name for place in second.json["erased"][1:]] == ["nuggets.db"]


@pytest.mark.parametrize("folder", ["backups", "hooks/sessions"])
def test_a_purge_names_a_memory_file_in_whatever_folder(
    nuggets: Nuggets, directory: Path, folder: str
) -> None:
    path = directory / folder / "MEMORY.md"
    path.parent.mkdir(parents=True)
    nuggets("remember", "prefs", "editor", "helix")
    seen_in_enough_sessions(nuggets, "editor")
    nuggets("promote", "--path", str(path))
    said = nuggets("forget", "prefs", "editor", "--purge")

    assert said.lines[0] == f"Erased fact 'editor' in prefs from the shelf, its history and {path}."


def test_a_purge_of_what_was_long_gone_does_not_name_a_note_of_a_conversation(
    nuggets: Nuggets,
) -> None:
    gone = nuggets("note", "add", "prefs", "Gone", "Long ago.", "--json").json["id"]
    nuggets("note", "delete", gone, "--hard")
    meta = ("--scope", "session", "--source", "system")
    nuggets("note", "add", "tasks", "task of session 1", "Do it.", *meta)
    said = nuggets("note", "delete", gone, "--purge")

    assert said.lines[0] == "Erased its remains from its history and 1 session record."


def test_a_purge_names_the_memory_file_and_what_was_long_gone(
    nuggets: Nuggets, directory: Path
) -> None:
    path = directory / "MEMORY.md"
    nuggets("remember", "prefs", "editor", "helix")
    seen_in_enough_sessions(nuggets, "editor")
    nuggets("promote", "--path", str(path))
    gone = nuggets("note", "add", "prefs", "Gone", "Long ago.", "--json").json["id"]
    nuggets("note", "delete", gone, "--hard")
    said = nuggets("forget", "prefs", "editor", "--purge")
    left = nuggets("note", "delete", gone, "--purge")

    assert said.lines[0] == f"Erased fact 'editor' in prefs from the shelf, its history and {path}."
    assert left.lines[0] == "Erased its remains from its history."
