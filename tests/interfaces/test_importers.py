"""Memories of other programs, in the forms that these document; and what hostile ones can do."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from command_line import Nuggets

VAULT = {
    "People/Ada.md": (
        "---\ntitle: Ada Lovelace\ntags: [person, math]\naliases:\n  - Ada\ncreated: 2026-01-02\n"
        "---\n- [fact] Speaks Dutch #languages\n- works at [[Acme]]\n- knows [[Nobody]]\n"
    ),
    "Acme.md": "Acme makes rockets. Ask [[Ada|her]].\n\n```\n[[Ada]] #code\n```\n",
    "CLAUDE.md": "# Style\n\n- Two spaces\n- No semicolons\n  in scripts\n",
    ".obsidian/app.md": "no note",
}
RECORDS: dict[str, Any] = {
    "memories of mem0": {
        "results": [
            {"id": "1", "memory": "Likes green tea", "categories": ["food"], "hash": "x"},
            {"id": "2", "hash": "y"},
        ],
        "count": 2,
    },
    "memories of mcp-memory-service": {
        "export_metadata": {"total_memories": 1},
        "memories": [
            {
                **{"content": "Likes green tea", "content_hash": "ab", "tags": ["food"]},
                **{"created_at": 1700000000.5, "updated_at": 1700000001, "memory_type": "note"},
            },
            {"content": 3, "content_hash": "cd"},
        ],
    },
    "memories of Claude": [
        {"conversations_memory": "Likes green tea", "project_memories": {}, "account_uuid": "u"},
        3,
    ],
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, text in VAULT.items():
        (tmp_path / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / name).write_text(text)
    return tmp_path / "vault"


def test_a_vault_comes_in_with_its_links_tags_and_times(nuggets: Nuggets, vault: Path) -> None:
    done = nuggets("import", str(vault), "--json").json
    notes = {note["title"]: note for note in done["added"]}
    ada, acme = notes["Ada Lovelace"], notes["Acme"]

    assert notes.keys() == {"Ada Lovelace", "Acme", "Two spaces", "No semicolons"}
    assert {"person", "math", "languages", "people"} <= set(ada["tags"])
    assert "code" not in acme["tags"]
    assert ada["createdAt"].startswith("2026-01-02")
    assert ("works at", acme["id"]) in {(link["reason"], link["to"]) for link in ada["links"]}
    assert done["relationsLeftOut"] == 1
    assert notes["No semicolons"]["content"] == "No semicolons\n  in scripts"
    assert "style" in notes["No semicolons"]["tags"]
    assert nuggets("import", str(vault)).lines[0] == "Nothing new."
    nuggets("undo")
    assert nuggets("note", "list", "--json").json == []


def test_a_changed_file_changes_its_note(nuggets: Nuggets, vault: Path) -> None:
    nuggets("import", str(vault))
    (vault / "Acme.md").write_text("Acme makes bicycles.")
    os.utime(vault / "Acme.md", (4_000_000_000, 4_000_000_000))

    assert "~ imported: Acme" in nuggets("import", str(vault)).out
    assert "bicycles" in nuggets("note", "show", "Acme").out


@pytest.mark.parametrize("form", RECORDS)
def test_json_of_other_programs_is_recognised_by_its_fields(
    nuggets: Nuggets, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "anything"
    path.write_text(json.dumps(RECORDS[form]))
    shown = nuggets("import", str(path), "--dry-run")
    done = nuggets("import", str(path), "--json").json

    assert shown.lines[0] == f"Recognised: {form}."
    assert [note["title"] for note in done["added"]] == ["Likes green tea"]
    assert done["form"] == form
    if form != "memories of Claude":
        assert "food" in done["added"][0]["tags"]
        assert len(done["refused"]) == 1 and "record 2" in done["refused"][0]
    assert nuggets("import", str(path)).lines[0] == "Nothing new."


def test_rules_of_a_repository_belong_to_it_and_say_where_they_stood(
    nuggets: Nuggets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    rules = tmp_path / "shop" / ".cursor" / "rules"
    rules.mkdir(parents=True)
    (rules / "tests.mdc").write_text("---\ndescription: test files\n---\nRun one test at a time.\n")
    monkeypatch.chdir(tmp_path / "shop")
    [note] = nuggets("import", ".cursor/rules/tests.mdc", "--json").json["added"]

    assert note["project"] == str(tmp_path / "shop" / ".git")
    assert note["content"] == "Run one test at a time.\n\nApplies to: test files"
    assert note["importedFrom"] == "tests.mdc"


def test_the_database_of_claude_mem_is_read_by_its_columns(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    path = tmp_path / "claude-mem.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE observations (id, title, facts, narrative, concepts, type)")
        row = (1, "Cart fixed", '["a", "b"]', "It was a race.", '["gotcha"]', "bugfix")
        database.execute("INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?)", row)
    before = path.read_bytes()
    [note] = nuggets("import", str(path), "--json").json["added"]

    assert (note["title"], note["content"]) == ("Cart fixed", "It was a race.\n- a\n- b")
    assert {"gotcha", "bugfix"} <= set(note["tags"])
    assert path.read_bytes() == before


def test_a_view_is_no_table_of_claude_mem(nuggets: Nuggets, tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE VIEW observations AS SELECT 1 AS id, 'x' AS title")
    assert "another program" in nuggets("import", str(path)).err


def test_rows_of_a_table_are_named_by_their_line(nuggets: Nuggets, tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text('Title,Text,Tags\nTea,"green,\nor black",food;hot\n,,\nShort,row\n')
    done = nuggets("import", str(path), "--json").json

    assert [(note["title"], note["content"]) for note in done["added"]] == [
        ("Tea", "green,\nor black")
    ]
    assert {"food", "hot"} <= set(done["added"][0]["tags"])
    assert done["refused"] == ["notes.csv, line 5: 2 values for 3 columns"]


def test_a_credential_is_named_and_left_out(nuggets: Nuggets, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    (tmp_path / "AGENTS.md").write_text(f"- Two spaces\n- The token is {token[:40]}\n")
    shown = nuggets("import", str(tmp_path / "AGENTS.md"), "--dry-run")
    done = nuggets("import", str(tmp_path / "AGENTS.md"), "--json").json

    assert "AGENTS.md, line 2: " in shown.out and token[:40] not in shown.out
    assert [note["title"] for note in done["added"]] == ["Two spaces"]
    assert len(done["credentials"]) == 1
    again = nuggets("import", str(tmp_path / "AGENTS.md"), "--allow-secret")
    assert again.lines[0] == "Added 1 note:"


def test_several_sources_are_one_step(nuggets: Nuggets, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps({"memory": "Likes green tea"}))
    assert nuggets("import", str(vault), str(tmp_path / "m.json")).lines[0] == "Added 5 notes:"
    assert len(nuggets("history", "--json").json) == 1


# --- hostile ------------------------------------------------------------------------------------


def test_links_pipes_and_deep_folders_lead_nowhere(nuggets: Nuggets, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("outside")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "folder").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    (folder / "note.md").write_text("---\ntitle: ../../escape\nid: 3\n---\n[[../secret]] inside")
    deep = folder
    for _ in range(60):
        deep /= "d"
        deep.mkdir()
    (deep / "deep.md").write_text("too deep")
    done = nuggets("import", str(folder), "--json").json

    assert [note["content"] for note in done["added"]] == ["[[../secret]] inside"]
    assert any("pipe.md': it is no file" in problem for problem in done["refused"])


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"results": ' + "[" * 200_000,
        '{"memories": [[], 1, null, {"content": {}, "content_hash": []}]}',
        '{"facts": [1, {"key": [], "value": {}}], "name": "../x"}',
        '[{"id": "../../x", "nuggetName": "../x", "content": "y"}]',
        '[{"id": "n", "nuggetName": 3, "links": {"to": 1}, "tags": 5}]',
        '{"memory": "x", "created_at": 1e308, "updated_at": -1e308, "categories": [{}, 3]}',
        '[{"conversations_memory": "x", "project_memories": {"a": [1]}}]',
        "title,content\n" + '"' + "x" * 9_000_000,
        "---\n" + "a: [" * 50_000 + "\n---\n",
        "title,content\na,\x00b\n",
    ],
    ids=range(11),
)
def test_what_is_hostile_ends_with_a_message_and_no_file_elsewhere(
    nuggets: Nuggets, tmp_path: Path, text: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "memories").write_text(text)
    (tmp_path / "in" / "note.md").write_text(text)
    for name in ("memories", "note.md"):
        done = nuggets("import", str(tmp_path / "in" / name))
        assert done.code in (0, 1, 2)
        assert "Traceback" not in done.err
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["memories", "note.md"]
    assert nuggets("doctor").code == 0


def test_a_folder_of_the_typescript_program_comes_in_but_for_what_is_broken(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    facts = [{"key": "editor", "value": "helix", "hits": 4, "last_hit_session": "s1"}]
    facts += [{"key": "x"}, {"key": " ", "value": "y"}]
    shape = {"version": 3, "name": "prefs", "D": 16384, "facts": facts}
    (tmp_path / "prefs.nugget.json").write_text(json.dumps(shape))
    (tmp_path / "broken.nugget.json").write_text('{"version": 3,\n "name": "b", "facts": [')
    done = nuggets("import", str(tmp_path), "--json").json

    (editor,) = done["added"]
    assert (editor["kind"], editor["nuggetName"], editor["hits"]) == ("fact", "prefs", 4)
    assert [problem.split(":")[0] for problem in done["refused"]] == [
        "broken.nugget.json, line 1",
        "broken.nugget.json, line 2",
        "prefs.nugget.json, record 2",
        "prefs.nugget.json, record 3",
    ]
    assert nuggets("import", str(tmp_path)).lines[0] == "Nothing new."
