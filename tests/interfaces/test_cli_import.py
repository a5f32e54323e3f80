"""Memories of another machine, or of another program, are taken in."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_doors import repository
from command_line import Nuggets, NuggetsProcess
from nuggets import MemoryNote, NuggetShelf

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
    assert again.lines == ["Nothing new.", "Left as it is: 3 already here."]
    nuggets("undo")
    assert [one["title"] for one in nuggets("note", "list", "--json").json] == ["shell"]
    assert nuggets("import", str(laptop)).lines[0] == "Added 1 fact and 2 notes:"


def test_what_was_deleted_here_stays_away(nuggets: Nuggets, laptop: Path) -> None:
    nuggets("import", str(laptop))
    nuggets("note", "delete", "Rollback", "--hard")

    assert nuggets("import", str(laptop)).lines == [
        "Nothing new.",
        "Left as it is: 2 already here, 1 deleted here since.",
    ]


@pytest.mark.parametrize("has_database", [True, False])
def test_the_source_is_never_written(nuggets: Nuggets, laptop: Path, has_database: bool) -> None:
    if not has_database:  # as another program may have left it
        (laptop / "nuggets.db").unlink()
    before = {path: path.stat().st_mtime_ns for path in laptop.rglob("*")}
    nuggets("import", str(laptop))

    assert "helix" in nuggets("recall", "editor").out
    assert {path: path.stat().st_mtime_ns for path in laptop.rglob("*")} == before


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
    assert again.lines[-1] == "Left out: 1 link to what is not there."


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
    nuggets("note", "delete", "Acme", "--hard")
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
        ("not json\n", "memory.jsonl, line 5: not valid JSON"),
        ('{"type": "entity"}\n', "line 5: 'name' is a text that is not empty"),
        ('{"type": "entity", "name": "a", "observations": [1]}\n', "'observations' is a list"),
        ('{"type": "entity", "name": "\\ud800"}\n', "half a character"),
        ("[" * 100_000 + "\n", "line 5: not valid JSON"),
        ('{"type": "entity", "name": "' + "a" * 600 + '"}\n', "line 5 ("),
        ('{"other": 1}\n', "line 5: no memory of any program that is known here"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line_and_the_rest_comes_in(
    nuggets: Nuggets, memory_file: Path, text: str, said: str
) -> None:
    memory_file.write_text(memory_file.read_text() + text)
    done = nuggets("import", str(memory_file), "--json").json

    [refused] = done["refused"]
    assert said in refused
    assert [note["title"] for note in done["added"]] == ["Ada", "Acme"]


def test_a_source_that_is_none_is_refused(nuggets: Nuggets, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    nuggets("remember", "prefs", "shell", "fish")

    assert "contains no shelf" in nuggets("import", str(tmp_path / "empty")).err
    assert "there is no" in nuggets("import", str(tmp_path / "nowhere")).err
    assert "the current shelf" in nuggets("import", os.environ["NUGGETS_DIR"]).err
    (tmp_path / "binary").write_bytes(b"a\n\xff\xfe")
    assert "binary, line 2: not valid UTF-8" in nuggets("import", str(tmp_path / "binary")).err
    (tmp_path / "words").write_text("no table\n")
    assert "no form that is known here" in nuggets("import", str(tmp_path / "words")).err


def test_links_and_pipes_inside_another_shelf_are_left_out(
    nuggets: Nuggets, laptop: Path, tmp_path: Path
) -> None:
    (laptop / "endless.json").symlink_to("/dev/zero")
    (laptop / "elsewhere").symlink_to(tmp_path)
    os.mkfifo(laptop / "waiting.json")

    assert nuggets("import", str(laptop)).lines[0] == "Added 1 fact and 2 notes:"


def test_what_could_fill_the_disk_is_not_copied(nuggets: Nuggets, laptop: Path) -> None:
    deep = laptop
    for _ in range(600):
        deep /= "d"
        deep.mkdir()
    (laptop / "film.mkv").touch()
    os.truncate(laptop / "film.mkv", 1 << 43)  # all of it a hole
    assert nuggets("import", str(laptop), "--dry-run").lines[0] == "Would add 1 fact and 2 notes:"

    os.truncate(laptop / "ops.nugget.json", 1 << 43)
    done = nuggets("import", str(laptop))
    assert done.code == 1
    assert "nothing was changed" in done.err


def test_of_a_file_with_holes_only_what_is_there_is_copied(
    nuggets: Nuggets, laptop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, copies = laptop / "nuggets.db", tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setenv("TMPDIR", str(copies))
    monkeypatch.setattr("tempfile.tempdir", None)
    os.truncate(database, database.stat().st_size + (2 << 30))
    free, least = shutil.disk_usage(copies).free, []
    read = os.read

    def watched(descriptor: int, size: int) -> bytes:
        least.append(shutil.disk_usage(copies).free)
        return read(descriptor, size)

    monkeypatch.setattr("os.read", watched)
    nuggets("import", str(laptop))

    assert free - min(least) < 1 << 30


def test_a_documented_file_with_holes_and_a_huge_one_are_refused(
    nuggets: Nuggets, laptop: Path, tmp_path: Path
) -> None:
    path = laptop / "ops.nugget.json"
    os.truncate(path, path.stat().st_size + (8 << 20))
    done = nuggets("import", str(laptop))
    assert (done.code, "has holes" in done.err) == (2, True)
    (tmp_path / "memory.jsonl").touch()
    os.truncate(tmp_path / "memory.jsonl", (1 << 30) + 1)
    done = nuggets("import", str(tmp_path / "memory.jsonl"))
    assert (done.code, "in parts" in done.err) == (2, True)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_source_that_never_ends_is_refused(nuggets: Nuggets, tmp_path: Path, kind: str) -> None:
    source = tmp_path / "memory.jsonl"
    if kind == "pipe":
        os.mkfifo(source)
    else:
        source.symlink_to("/dev/zero")

    done = nuggets("import", str(source))
    assert done.code == 1
    assert "cannot be read" in done.err


FIELDS = MemoryNote._fields[1:]  # of a record; the id has a column of its own
DEFAULTS: list[Any] = [  # of the last fields
    *([], [], False, None, 0, "", [], None, None, None, "", {}, None, None, [], []),
    False,
]
INVALID: dict[str, list[Any]] = {
    "content": [None, 7, ["x"], "x" * 3_000_000],
    "title": ["", "x" * 600, {"a": 1}, "nul \0"],
    "nugget_name": ["../../evil", "", "x" * 500],
    "kind": ["thing", None],
    "confidence": ["high", True, [1]],
    "created_at": ["yesterday", 5, "99999-01-01T00:00:00.000Z"],
    "updated_at": ["soon", ["2026-01-01"]],
    "tags": [[f"tag{n}" for n in range(100)], ["x" * 100]],
    "links": [[[1, 2, 3]], [["a", "r", "never"]]],
    "hits": ["x", -1, 1.5, 2**70],
    "hit_sessions": [["x" * 1000], [5]],
    "hidden": ["no", 1],
    "project": [5, None, "nul \0"],
    "extra": [5, ["x"], {"hits": "x"}, {"fact": 5}],
}


def set_field(database: sqlite3.Connection, title: str, field: str, value: object) -> None:
    """Write a value into the stored record of a note."""
    for place, record in database.execute("select place, record from notes").fetchall():
        fields = json.loads(record)
        if fields[FIELDS.index("title")] == title:
            fields += DEFAULTS[len(DEFAULTS) - len(FIELDS) + len(fields) :]
            fields[FIELDS.index(field)] = value
            update = "update notes set record=? where place=?"
            database.execute(update, (json.dumps(fields), place))


@pytest.mark.parametrize("field", INVALID)
def test_records_that_no_shelf_could_have_written_are_refused_by_name_and_no_others(
    nuggets: Nuggets, laptop: Path, tmp_path: Path, field: str
) -> None:
    with NuggetShelf(laptop, project="") as shelf:
        for number, _ in enumerate(INVALID[field]):
            shelf.create_note("ops", f"Crafted {number}", "Looks harmless.")
    with sqlite3.connect(laptop / "nuggets.db") as database:
        for number, value in enumerate(INVALID[field]):
            set_field(database, f"Crafted {number}", field, value)
    database.close()

    shown = nuggets("import", str(laptop), "--dry-run", "--json").json
    assert len(shown["refused"]) == len(INVALID[field])
    assert nuggets("note", "list", "--all", "--json").json == []
    done = nuggets("import", str(laptop))
    assert done.lines[0] == "Added 1 fact and 2 notes:"
    assert sum("! note " in line for line in done.lines) == len(INVALID[field])
    assert "helix" in nuggets("recall", "editor").out
    assert nuggets("promote", "--path", str(tmp_path / "MEMORY.md")).code == 0
    assert nuggets("graph", "Rollback").code == 0
    assert nuggets("doctor").code == 0
    nuggets("undo")
    assert nuggets("note", "list", "--json").json == []


DAMAGE = (
    "update notes set record='{' where kind='note'",
    "update notes set record=x'ff00' where kind='note'",
    "update notes set record=cast(x'ff5b5d' as text) where kind='note'",
    "update notes set record='[]' where kind='note'",
    "update notes set record=replace(record, '[\"', '[3, \"') where kind='note'",
    "update notes set id=cast(x'ff' as text) || place where kind='note'",
    "insert into recalls select place, 'x', '', '[]', '' from notes where kind='note'",
    "insert into recalls select place, 3, 's', '{', '' from notes where kind='note'",
    "update commits set at='never'",
    "update commits set rest='{'",
    "update commits set rest='[1, 2, 3, 4, 5, 6]'",
    "update commits set revision=9223372036854775807 where revision=1",
    "update changes set before='[1]'",
    "update changes set recalls='x'",
    "insert into marks values ('last_run', '[[')",
    "insert into touches values (null, null, 'nobody', 's', 'never', 'opened')",
    "update nuggets set config='[1, 2]'",
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_database_with_rows_that_cannot_be_read_is_refused_and_the_doctor_named(
    nuggets: Nuggets, laptop: Path, damage: str
) -> None:
    craft(laptop, damage)

    done = nuggets("import", str(laptop))
    assert done.code == 1
    assert "doctor" in done.err
    assert f"with --dir {laptop}" in done.err
    assert nuggets("note", "list", "--all", "--json").json == []


def test_what_the_doctor_saved_comes_in(nuggets: Nuggets, laptop: Path) -> None:
    craft(laptop, "update notes set record='{' where kind='note'")
    for export in (laptop / "graph" / "graph.json", *laptop.glob("*.nugget.json")):
        export.unlink()  # which the doctor would complete it from
    nuggets("doctor", "--fix", "--dir", str(laptop))

    assert nuggets("import", str(laptop)).lines[0] == "Added 1 fact:"


@pytest.mark.parametrize(
    "harmless",
    [
        "update changes set note=5",
        "update nuggets set config=replace(config, 'prefs', '../evil')",
        "update meta set value='0' where name like 'index %'",
    ],
)
def test_what_concerns_no_note_keeps_none_of_them_out(
    nuggets: Nuggets, laptop: Path, harmless: str
) -> None:
    craft(laptop, harmless)

    assert nuggets("import", str(laptop)).lines[0] == "Added 1 fact and 2 notes:"
    assert "helix" in nuggets("recall", "editor").out
    assert nuggets("doctor").code == 0


def craft(directory: Path, sql: str) -> None:
    """Change the database of a shelf past the shelf."""
    with closing(sqlite3.connect(directory / "nuggets.db")) as database, database:
        database.execute(sql)


ENDLESS = "with recursive r (n) as (select 1 union all select n from r) select n from r"


@pytest.mark.parametrize(
    ("table", "program"),
    [
        ("notes", f"create view notes as {ENDLESS}"),
        ("meta", f"create view meta as {ENDLESS}"),
        ("", "create trigger t after insert on recalls begin delete from notes; end"),
        ("", "create virtual table v using fts5(words)"),
    ],
    ids=["view", "view that is read first", "trigger", "virtual table"],
)
def test_a_database_that_runs_programs_is_no_shelf_and_runs_none(
    nuggets: Nuggets, laptop: Path, tmp_path: Path, table: str, program: str
) -> None:
    """However it is opened: imported, copied, as a shelf of its own, or by the doctor."""
    if table:
        craft(laptop, f"alter table {table} rename to others")
    craft(laptop, program)

    for words in (
        ("import", str(laptop)),
        ("copy", str(laptop), str(tmp_path / "copy")),
        ("list", "--dir", str(laptop)),
        ("remember", "prefs", "editor", "vi", "--dir", str(laptop)),
    ):
        done = nuggets(*words)
        assert done.code == 1, words
        assert "is not the database of a shelf" in done.err, words
    before = (laptop / "nuggets.db").read_bytes()
    assert "is not the database of a shelf" in nuggets("doctor", "--fix", "--dir", str(laptop)).out
    assert (laptop / "nuggets.db").read_bytes() == before
    assert nuggets("note", "list", "--json").json == []


@pytest.mark.parametrize(
    "content", [b"", b"no database" * 1000, b"SQLite format 3\0" + bytes(9000)]
)
def test_a_file_that_is_no_database_is_refused(
    nuggets: Nuggets, laptop: Path, content: bytes
) -> None:
    (laptop / "nuggets.db").write_bytes(content)

    done = nuggets("import", str(laptop))
    assert done.code == 1
    assert f"{laptop}/nuggets.db" in done.err
    assert nuggets("note", "list", "--json").json == []


def test_the_library_refuses_the_records_of_another_shelf_that_are_out_of_limits(
    laptop: Path, tmp_path: Path
) -> None:
    with sqlite3.connect(laptop / "nuggets.db") as database:
        set_field(database, "Deploys", "hits", "x")
    database.close()
    with (
        NuggetShelf(laptop, project="") as other,
        NuggetShelf(tmp_path / "home", project="") as shelf,
    ):
        done = shelf.import_memories(other)
        assert [note.title for note in done.added] == ["editor", "Rollback"]
        assert len(done.refused) == 1
        assert "'hits' must be a whole number" in done.refused[0]


def test_a_link_needs_no_more_than_its_other_end(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path / "shelf", project="") as shelf:
        shelf.import_memories(
            [
                {"id": "note-a-1", "title": "One", "content": "x", "links": [{"to": "note-a-2"}]},
                {"id": "note-a-2", "title": "Two", "content": "y"},
            ]
        )
        [link] = shelf.get_note("Two").links
        assert (link.to, link.reason) == ("note-a-1", "related")


def test_a_nuggets_name_in_another_shelf_leads_to_no_file_outside(
    nuggets: Nuggets, laptop: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    database = sqlite3.connect(laptop / "nuggets.db")
    for table, column in (("nuggets", "config"), ("notes", "nugget"), ("notes", "record")):
        database.execute(f"update {table} set {column}=replace({column}, 'prefs', '../../evil')")
    database.commit()
    database.close()
    (laptop / "prefs.nugget.json").unlink()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))

    assert len(nuggets("import", str(laptop), "--dry-run", "--json").json["refused"]) == 2
    assert nuggets("import", str(laptop)).lines[0] == "Added 2 notes:"
    assert not [path for path in tmp_path.rglob("*evil*") if path.is_file()]
