"""Memories of another machine, or of another program, are taken in."""

import json
import os
from pathlib import Path

import pytest

from agent_doors import repository
from command_line import Nuggets, NuggetsProcess
from journal_samples import busy_shelf, write_journal
from nuggets import NuggetShelf

KNOWLEDGE = [
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Speaks Dutch"]},
    {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
    {"type": "relation", "from": "Ada", "to": "Acme", "relationType": "works_at"},
    {"type": "relation", "from": "Ada", "to": "Nobody", "relationType": "knows"},
]


@pytest.fixture
def laptop(tmp_path: Path) -> Path:
    """The memory of another machine."""
    with NuggetShelf(tmp_path / "laptop", project="") as shelf:
        shelf.remember("prefs", "editor", "helix")
        deploys = shelf.create_note("ops", "Deploys", "By hand.")
        shelf.add_link(deploys.id, shelf.create_note("ops", "Rollback", "make back").id)
    return tmp_path / "laptop"


@pytest.fixture
def memory_file(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, KNOWLEDGE)) + "\n")
    return path


def test_a_shelf_comes_in_whole_and_goes_with_one_undo(nuggets: Nuggets, laptop: Path) -> None:
    nuggets("remember", "prefs", "shell", "fish")
    shown = nuggets("import", str(laptop), "--dry-run")
    assert shown.lines[0] == "Would add 1 fact and 2 notes:"
    assert nuggets("recall", "editor").code == 1

    done = nuggets("import", str(laptop))
    assert done.lines[0] == "Added 1 fact and 2 notes:"
    assert done.lines[1:] == ["  + prefs: editor", "  + ops: Deploys", "  + ops: Rollback"]
    assert "helix" in nuggets("recall", "editor").out
    assert "Rollback" in nuggets("graph", "Deploys").out
    assert "import from cli" in nuggets("history").out

    again = nuggets("import", str(laptop))
    assert again.lines == ["Nothing new.", "Left as it is: 3 known already."]
    nuggets("undo")
    assert [one["title"] for one in nuggets("note", "list", "--json").json] == ["shell"]
    assert nuggets("import", str(laptop)).lines[0] == "Added 1 fact and 2 notes:"


def test_what_was_deleted_here_stays_away(nuggets: Nuggets, laptop: Path) -> None:
    nuggets("import", str(laptop))
    nuggets("note", "delete", "Rollback")

    assert nuggets("import", str(laptop)).lines == [
        "Nothing new.",
        "Left as it is: 2 known already, 1 deleted here since.",
    ]


@pytest.mark.parametrize("has_database", [True, False])
def test_the_source_is_never_written(nuggets: Nuggets, laptop: Path, has_database: bool) -> None:
    if not has_database:  # as another program may have left it
        (laptop / "nuggets.db").unlink()
    before = {path: path.stat().st_mtime_ns for path in laptop.rglob("*")}
    nuggets("import", str(laptop))

    assert "helix" in nuggets("recall", "editor").out
    assert {path: path.stat().st_mtime_ns for path in laptop.rglob("*")} == before


def test_a_shelf_of_an_earlier_version_comes_in_from_where_it_lies(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    write_journal(tmp_path / "old", busy_shelf())
    assert nuggets("import", str(tmp_path / "old")).lines[0].startswith("Added ")
    assert "another value" in nuggets("recall", "key 1").out
    assert sorted(os.listdir(tmp_path / "old")) == ["journal"]


def test_a_shelf_that_is_in_use_comes_in_whole(nuggets: Nuggets, laptop: Path) -> None:
    with NuggetShelf(laptop, project="") as living:
        living.remember("prefs", "last", "written")
        assert (laptop / "nuggets.db-wal").stat().st_size
        nuggets("import", str(laptop))
    assert "written" in nuggets("recall", "last").out


def test_projects_of_the_other_machine_are_spoken_of(nuggets: Nuggets, laptop: Path) -> None:
    with NuggetShelf(laptop) as shelf:
        shelf.remember("locations", "auth", "src/auth.py", project="/gone/webshop/.git")

    assert nuggets("import", str(laptop)).lines[-1] == (
        "Some belong to 1 repository that cannot be found here; see: nuggets project list"
    )


def test_a_memory_file_of_the_reference_server_becomes_notes(
    nuggets: Nuggets, memory_file: Path
) -> None:
    done = nuggets("import", str(memory_file), "--nugget", "people", "--json").json
    ada, acme = done["added"]

    assert (ada["title"], ada["content"]) == ("Ada", "Speaks Dutch")
    assert ada["nuggetName"] == "people"
    assert "person" in ada["tags"]
    assert [(link["to"], link["reason"]) for link in ada["links"]] == [
        (acme["id"], "Ada works at Acme")
    ]
    assert [link["to"] for link in acme["links"]] == [ada["id"]]
    assert acme["content"] == "Acme"
    assert (done["dryRun"], done["relationsLeftOut"]) == (False, 1)
    again = nuggets("import", str(memory_file), "--nugget", "people")
    assert again.lines[-1] == "Left out: 1 relation to what the file says nothing else about."


def test_the_file_again_brings_only_what_it_says_newly(nuggets: Nuggets, memory_file: Path) -> None:
    nuggets("import", str(memory_file))
    assert nuggets("import", str(memory_file)).lines[0] == "Nothing new."

    memory_file.write_text(memory_file.read_text().replace("Speaks Dutch", "Speaks Danish"))
    touch(memory_file)
    assert nuggets("import", str(memory_file)).lines[:2] == [
        "Updated 1 note:",
        "  ~ imported: Ada",
    ]
    assert "Speaks Danish" in nuggets("note", "show", "Ada").out


def touch(path: Path) -> None:
    later = path.stat().st_mtime + 5
    os.utime(path, (later, later))


def test_a_file_that_says_nothing_new_overwrites_nothing(
    nuggets: Nuggets, memory_file: Path
) -> None:
    nuggets("import", str(memory_file))
    nuggets("note", "edit", "Ada", "My own words.")
    nuggets("note", "delete", "Acme")
    touch(memory_file)  # the server does, whenever it writes anything

    assert nuggets("import", str(memory_file)).lines[:2] == [
        "Nothing new.",
        "Left as it is: 1 changed here since, 1 deleted here since.",
    ]


def test_lines_end_where_json_lines_end_and_names_are_told_apart(
    nuggets: Nuggets, memory_file: Path
) -> None:
    entities = [
        {"type": "entity", "name": "plumless", "observations": ["a page\u2028and another"]},
        {"type": "entity", "name": "buckeroo", "observations": []},  # the same checksum
    ]
    lines = (json.dumps(one, ensure_ascii=False) for one in entities)
    memory_file.write_text("\ufeff" + "\r\n".join(lines), newline="")
    done = nuggets("import", str(memory_file), "--json").json

    assert [note["title"] for note in done["added"]] == ["plumless", "buckeroo"]


def test_what_was_done_on_both_machines_is_united(
    nuggets: Nuggets, laptop: Path, tmp_path: Path
) -> None:
    nuggets("import", str(laptop))
    with NuggetShelf(laptop) as there:
        there.delete_note("Rollback")
        there.add_link("Deploys", there.create_note("ops", "Freeze", "On Fridays.").id)
    done = nuggets("import", str(laptop))

    assert done.lines[:4] == [
        "Added 1 note:",
        "  + ops: Freeze",
        "Updated 1 note:",
        "  ~ ops: Rollback",
    ]
    assert done.lines[4] == "Linked 1 note that is here."
    assert "Rollback (archived)" in nuggets("note", "list", "--all").out
    with NuggetShelf(laptop) as there:
        there.undo()
        there.undo()
        there.undo()
    assert "  ~ ops: Rollback" in nuggets("import", str(laptop)).lines
    assert "Rollback (archived)" not in nuggets("note", "list", "--all").out


def test_a_repository_that_lies_elsewhere_stays_where_it_was_moved(
    nuggets: Nuggets, laptop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = "/gone/webshop/.git"
    with NuggetShelf(laptop) as shelf:
        shelf.remember("locations", "auth", "src/auth.py", project=there)
    monkeypatch.chdir(repository(tmp_path / "webshop"))
    nuggets("import", str(laptop))
    nuggets("project", "move", "/gone/webshop")
    with NuggetShelf(laptop) as shelf:
        shelf.remember("locations", "auth", "lib/auth.py", project=there)
        shelf.remember("locations", "tests", "tests/", project=there)
    done = nuggets("import", str(laptop))

    assert not [line for line in done.lines if "cannot be found here" in line]
    for key in ("auth", "tests"):
        assert "another project" not in nuggets("recall", key).out


def test_nothing_is_left_behind(
    nuggets_process: NuggetsProcess, laptop: Path, tmp_path: Path
) -> None:
    (tmp_path / "tmp").mkdir()
    env = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    assert nuggets_process("import", str(laptop), env=env).code == 0

    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_source_that_is_damaged_is_named(nuggets: Nuggets, laptop: Path) -> None:
    (laptop / "graph" / "graph.json").write_text("{")
    warned = nuggets("import", str(laptop))
    (laptop / "nuggets.db").unlink()
    refused = nuggets("import", str(laptop))

    assert f"{laptop}/graph/graph.json cannot be read" in warned.err
    assert f"{laptop}/graph/graph.json cannot be read" in refused.err
    assert f"with --dir {laptop}" in refused.err
    assert refused.code == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not json\n", "line 1 is no entity and no relation"),
        ('{"type": "entity"}\n', "line 1: 'name' is a text that is not empty"),
        ('{"type": "entity", "name": "a", "observations": [1]}\n', "'observations' is a list"),
        ('{"type": "entity", "name": "\\ud800"}\n', "half a character"),
        ("[" * 100_000 + "\n", "line 1 is no entity"),
        ('{"type": "entity", "name": "' + "a" * 600 + '"}\n', "512 characters"),
    ],
)
def test_what_cannot_be_read_is_named_and_nothing_comes_in(
    nuggets: Nuggets, memory_file: Path, text: str, said: str
) -> None:
    memory_file.write_text(memory_file.read_text() + text if "line" not in said else text)
    done = nuggets("import", str(memory_file))

    assert done.code == 2
    assert said in done.err
    assert nuggets("note", "list", "--json").json == []


def test_a_source_that_is_none_is_refused(nuggets: Nuggets, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    nuggets("remember", "prefs", "shell", "fish")

    assert "there is no memory in" in nuggets("import", str(tmp_path / "empty")).err
    assert "there is no" in nuggets("import", str(tmp_path / "nowhere")).err
    assert "this very shelf" in nuggets("import", os.environ["NUGGETS_DIR"]).err
    part = Path(os.environ["NUGGETS_DIR"]) / "prefs.nugget.json"
    assert "name the directory" in nuggets("import", str(part)).err
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert "cannot be read" in nuggets("import", str(tmp_path / "binary")).err
