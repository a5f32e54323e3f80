"""Transcripts of hosts and exports of chats become notes of sessions; memories stay memories."""

import io
import json
import os
import sqlite3
import time
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import transcript_samples as samples
from command_line import Nuggets
from nuggets.domain.times import now
from nuggets.interfaces.importers import past_sessions

TODAY = now()[:10]
GOAL = "Plan the migration of the orders table to UUIDs"


def chatgpt(**changes: Any) -> dict[str, Any]:
    def node(key: str, parent: str | None, role: str, text: str, *children: str) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text, {"image": 1}]}
        message = {
            "author": {"role": role},
            "create_time": None,
            "content": content,
            "metadata": {},
        }
        return {"id": key, "parent": parent, "children": list(children), "message": message}

    mapping = {
        "root": {"id": "root", "parent": None, "children": ["a"], "message": None},
        "a": node("a", "root", "user", GOAL, "b", "c"),
        "b": node("b", "a", "assistant", "A first answer that was thrown away."),
        "c": node("c", "a", "assistant", "Use UUIDv7. Next step: backfill.", "d"),
        "d": node("d", "c", "user", "No, use UUIDv4 instead of UUIDv7."),
    }
    about = {"title": "UUIDs", "create_time": None, "update_time": f"{TODAY}T08:00:00Z"}
    return {**about, "conversation_id": "c1", "current_node": "d", "mapping": mapping, **changes}


def claude(**changes: Any) -> dict[str, Any]:
    messages = [
        {"sender": "human", "text": GOAL, "created_at": f"{TODAY}T00:00:01Z"},
        {
            **{"sender": "assistant", "text": "", "created_at": f"{TODAY}T00:00:02Z"},
            "content": [{"type": "text", "text": "Use UUIDv7."}, {"type": "tool_use"}],
        },
    ]
    about = {"uuid": "u1", "name": "UUIDs", "created_at": f"{TODAY}T00:00:00Z"}
    return {**about, "updated_at": f"{TODAY}T00:00:03Z", "chat_messages": messages, **changes}


MEMORIES = [
    {
        "conversations_memory": "**Work**\n\nMoves a shop to UUIDs.",
        "project_memories": {"p": "The shop is in Ghent."},
        "memory_files": [{"path": "tea.md", "content": "# Tea\n\nLikes green tea."}, 3],
        "account_uuid": "x",
    }
]
PROJECTS = [
    {
        **{"uuid": "p", "name": "Shop", "description": "", "prompt_template": "Answer briefly."},
        "docs": [{"uuid": "d", "filename": "style.md", "content": "Two spaces."}, None],
    }
]


def archive(files: Mapping[str, Any]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in files.items():
            file.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return packed.getvalue()


def session_titles(nuggets: Nuggets) -> list[str]:
    return [note["title"] for note in nuggets("sessions", "list", "--all", "--json").json]


@pytest.mark.parametrize(("conversation", "host"), [(chatgpt, "chatgpt"), (claude, "claude")])
def test_a_conversation_becomes_the_note_of_a_session(
    nuggets: Nuggets, tmp_path: Path, conversation: Any, host: str
) -> None:
    idle = conversation(conversation_id="c2", uuid="u2", mapping={}, chat_messages=[])
    if host == "claude":
        del idle["mapping"]
    else:
        del idle["chat_messages"]
    (tmp_path / "conversations.json").write_text(json.dumps([conversation(), idle, 3]))
    done = nuggets("import", str(tmp_path / "conversations.json"), "--json").json
    [note] = done["added"]

    assert (note["nuggetName"], note["hidden"], note["source"]) == ("sessions", True, "system")
    assert note["title"] == f"{TODAY} {GOAL}" and host in note["tags"]
    assert "thrown away" not in note["content"]
    assert done["sessionsLeftOut"] == 1
    assert len(done["refused"]) == 1
    assert nuggets("note", "list", "--json").json == []
    assert nuggets("import", str(tmp_path / "conversations.json")).lines[0] == "Nothing new."


def test_an_export_of_claude_comes_in_from_its_archive(nuggets: Nuggets, tmp_path: Path) -> None:
    inner = archive({"conversations.json": [claude()]})
    files = {
        **{"conversations-000.zip": inner, "projects/p.json": PROJECTS[0], "users.json": [{}]},
        "memories.json": MEMORIES,
    }
    (tmp_path / "data.zip").write_bytes(archive(files))
    done = nuggets("import", str(tmp_path / "data.zip"), "--json").json
    titles = [note["title"] for note in done["added"]]

    assert done["refused"] == []
    assert sorted(titles) == sorted(
        [
            *("Moves a shop to UUIDs", "The shop is in Ghent", "Likes green tea"),
            *("Shop: instructions", "Shop: style.md", f"{TODAY} {GOAL}"),
        ]
    )
    assert session_titles(nuggets) == [f"{TODAY} {GOAL}"]


def test_an_unpacked_export_comes_in_as_a_folder(nuggets: Nuggets, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "memories.json").write_text(json.dumps(MEMORIES))
    (folder / "conversations.json").write_text(json.dumps([claude()]))
    (folder / "users.json").write_text("[{}]")
    done = nuggets("import", str(folder), "--json").json

    assert done["refused"] == []
    assert [note["nuggetName"] for note in done["added"]][-1] == "sessions"
    assert "work" in done["added"][0]["tags"]
    assert len(done["added"]) == 4


def test_sessions_of_long_ago_are_left_out_and_said_so(nuggets: Nuggets, tmp_path: Path) -> None:
    old = claude(created_at="2020-01-01T00:00:00Z", updated_at="2020-01-01T00:00:00Z")
    for message in old["chat_messages"]:
        message["created_at"] = "2020-01-01T00:00:00Z"
    (tmp_path / "c.json").write_text(json.dumps([old]))
    done = nuggets("import", str(tmp_path / "c.json"))
    assert any("days ago (setting session_days)" in line for line in done.lines)


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        ("claude-code", "abc.jsonl", lambda at: samples.lines(samples.claude_code(at))),
        ("codex", "rollout-1.jsonl", lambda at: samples.lines(samples.codex(at))),
        ("pi", "s.jsonl", lambda at: samples.lines(samples.pi(at))),
    ],
)
def test_a_transcript_becomes_the_note_that_its_session_would_have_had(
    nuggets: Nuggets, tmp_path: Path, host: str, name: str, text: Any
) -> None:
    nuggets("config", "set", "session_days", "0")
    (tmp_path / name).write_text(text(tmp_path / "shop"))
    done = nuggets("import", str(tmp_path / name), "--json").json
    [note] = done["added"]

    assert host in note["tags"]
    assert note["nuggetName"] == "sessions" and samples.GOAL[:40] in note["title"]
    assert samples.CORRECTION in note["content"]
    assert nuggets("import", str(tmp_path / name)).lines[0] == "Nothing new."
    nuggets("undo")
    assert session_titles(nuggets) == []


# --- hostile ------------------------------------------------------------------------------------


def hostile() -> Iterable[bytes]:
    cycle = chatgpt()
    cycle["mapping"]["a"]["parent"] = "d"
    yield json.dumps([cycle]).encode()
    yield json.dumps([chatgpt(mapping={"a": 3, "b": {"parent": [], "message": 5}})]).encode()
    wrong = {"author": [], "content": {"parts": {}, "text": 3}}
    yield json.dumps([chatgpt(mapping={"d": {"message": wrong}})]).encode()
    yield json.dumps([claude(chat_messages=[3, {"sender": [], "content": [None]}])]).encode()
    yield json.dumps([{"memory_files": [{"path": [], "content": {}}]}]).encode()
    yield archive({"../../conversations.json": [claude()], "/memories.json": MEMORIES})
    yield archive({"conversations.json": b"\xff\xfe"})
    yield archive({"conversations-0.zip": archive({"memories-0.zip": archive({"a.json": 1})})})
    yield archive({"conversations.json": [claude()]})[:-30]
    yield b"PK\x03\x04" + bytes(100)
    yield b'{"type": "session", "cwd": 5, "id": []}\n{"type": "message", "message": {"role": []}}'
    yield b'{"sessionId": 1, "type": "user", "message": {"content": [{"type": "text", "text": 3}]}}'


@pytest.mark.parametrize("content", [*hostile()], ids=range(12))
def test_what_is_hostile_ends_with_a_message(
    nuggets: Nuggets, tmp_path: Path, content: bytes
) -> None:
    folder = tmp_path / "in" / "deep"
    folder.mkdir(parents=True)
    (folder / "export").write_bytes(content)
    done = nuggets("import", str(folder / "export"))

    assert done.code in (0, 1, 2)
    assert "Traceback" not in done.err
    assert [path.name for path in (tmp_path / "in").rglob("*")] == ["deep", "export"]


def test_an_archive_that_unpacks_to_too_much_is_refused(
    nuggets: Nuggets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_sessions, "LARGEST_FILE", 1 << 20)
    (tmp_path / "data.zip").write_bytes(archive({"conversations.json": b" " * (1 << 21)}))
    assert "unpacks to more than 1 MB" in nuggets("import", str(tmp_path / "data.zip")).err


# --- sessions of opencode and Cursor --------------------------------------------------------------

NOW_MS = int(time.time() * 1000)


def opencode_1(path: Path, folder: Path) -> None:
    """As versions from 1.2 on keep it."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text,"
            " directory text NOT NULL, title text, version text, time_created integer,"
            " time_updated integer);"
            "CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer,"
            " time_updated integer, data text NOT NULL);"
            "CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text,"
            " time_created integer, data text NOT NULL);"
        )
        for name, parent in (("ses_1", None), ("ses_2", "ses_1")):
            row = (name, "p", parent, "s", str(folder), "t", "1.2.0", NOW_MS - 60_000, NOW_MS)
            database.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?)", row)
        edit = {"status": "completed", "input": {"filePath": str(folder / "cart.py")}}
        test = {"status": "completed", "input": {"command": "pytest"}, "metadata": {"exit": 0}}
        messages: list[tuple[str, list[Any]]] = [
            ("user", [{"type": "text", "text": "Fix the cart of the shop"}]),
            (
                "assistant",
                [
                    {"type": "step-start"},
                    {"type": "tool", "tool": "edit", "state": edit},
                    {"type": "tool", "tool": "bash", "state": {**test, "output": "2 passed"}},
                    {"type": "text", "text": "The cart is fixed."},
                ],
            ),
        ]
        for number, (role, parts) in enumerate(messages):
            message = (f"msg_{number}", "ses_1", NOW_MS, NOW_MS, json.dumps({"role": role}))
            database.execute("INSERT INTO message VALUES (?,?,?,?,?)", message)
            for place, part in enumerate(parts):
                name = f"prt_{number}_{place}"
                told = (name, f"msg_{number}", "ses_1", NOW_MS, json.dumps(part))
                database.execute("INSERT INTO part VALUES (?,?,?,?,?)", told)


def opencode_2(path: Path, folder: Path) -> None:
    """As versions from 2.0 on keep it."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text, parent_id text,"
            " directory text NOT NULL, title text, time_created integer, time_updated integer);"
            "CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text,"
            " seq integer, time_created integer, data text NOT NULL);"
        )
        session = ("ses_1", "p", None, str(folder), "t", NOW_MS - 60_000, NOW_MS)
        database.execute("INSERT INTO session_v2 VALUES (?,?,?,?,?,?,?)", session)
        edit = {"status": "completed", "input": {"filePath": str(folder / "cart.py")}}
        test = {"status": "completed", "input": {"command": "pytest"}}
        told = [{"type": "text", "text": "2 passed"}]
        messages: list[tuple[str, Any]] = [
            ("system", {"text": "Be brief"}),
            ("user", {"text": "Fix the cart of the shop"}),
            (
                "assistant",
                {
                    "content": [
                        {"type": "reasoning", "text": "Where is it?"},
                        {"type": "tool", "name": "edit", "state": edit},
                        {"type": "tool", "name": "bash", "state": {**test, "content": told}},
                        {"type": "text", "text": "The cart is fixed."},
                    ]
                },
            ),
        ]
        for number, (kind, data) in enumerate(messages):
            row = (f"msg_{number}", "ses_1", kind, number, NOW_MS, json.dumps(data))
            database.execute("INSERT INTO session_message VALUES (?,?,?,?,?,?)", row)


def cursor(home: Path, folder: Path) -> None:
    project = home / ".cursor" / "projects" / "tmp-shop"
    (project / "agent-transcripts" / "abc" / "subagents").mkdir(parents=True)
    (project / ".workspace-trusted").write_text(json.dumps({"workspacePath": str(folder)}))
    asked = "<timestamp>Tuesday</timestamp>\n<user_query>\nFix the cart of the shop\n</user_query>"
    path = str(folder / "cart.py")
    parts = [
        {"type": "text", "text": "The cart is fixed."},
        {"type": "tool_use", "name": "StrReplace", "input": {"path": path, "old_string": "a"}},
        {"type": "tool_use", "name": "Shell", "input": {"command": "pytest"}},
    ]
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}},
        {"role": "assistant", "message": {"content": parts}},
        {"type": "turn_ended", "status": "success"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (project / "agent-transcripts" / "abc" / "abc.jsonl").write_text(text)
    (project / "agent-transcripts" / "abc" / "subagents" / "x.jsonl").write_text(text)


def test_sessions_of_before_an_update_of_opencode_come_in_too(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    path = tmp_path / "opencode.db"
    opencode_1(path, tmp_path)
    opencode_2(path, tmp_path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE session_v2 SET id = 'ses_9'")
        database.execute("UPDATE session_message SET session_id = 'ses_9'")

    assert len(nuggets("import", str(path), "--json").json["added"]) == 2


@pytest.mark.parametrize("host", ["opencode 1", "opencode 2", "cursor"])
def test_past_sessions_of_other_hosts_are_found_and_become_notes(
    nuggets: Nuggets, tmp_path: Path, host: str
) -> None:
    home = Path(os.path.expanduser("~"))
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    data = home / ".local" / "share" / "opencode"
    data.mkdir(parents=True)
    if host == "cursor":
        cursor(home, shop)
    else:
        (opencode_1 if host == "opencode 1" else opencode_2)(data / "opencode.db", shop)
    [offer] = nuggets("import", "--discover", "--json").json
    assert offer["what"] == f"past sessions of {host.split()[0]}"
    done = nuggets("import", "--discover", "--all", "--json").json
    [note] = done["added"]

    assert "Fix the cart of the shop" in note["title"]
    for told in ("Files changed: cart.py", "The cart is fixed."):
        assert told in note["content"]
    assert (note["nuggetName"], note["project"]) == ("sessions", str(shop / ".git"))
    assert str(shop) not in note["content"]
    assert nuggets("import", "--discover", "--all").lines[0] == "Nothing new."


def test_a_database_of_opencode_with_anything_in_it_ends_with_a_message(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    path = tmp_path / "opencode.db"
    opencode_1(path, tmp_path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE part SET data = '[1' WHERE id = 'prt_1_1'")
        database.execute("UPDATE part SET data = 'null' WHERE id = 'prt_1_2'")
        database.execute("UPDATE session SET time_updated = 'soon', directory = x'00ff'")
        database.execute("UPDATE message SET data = '7' WHERE id = 'msg_1'")
        big = ("prt_x", "msg_0", "ses_1", 0, "x" * 9_000_000)
        database.execute("INSERT INTO part VALUES (?,?,?,?,?)", big)
    done = nuggets("import", str(path), "--json").json

    assert ["too big" in problem for problem in done["refused"]] == [True]
    assert done["added"] == []


def test_parts_of_an_export_come_in_from_the_folder_that_they_were_unpacked_to(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    (tmp_path / "projects").mkdir()
    (tmp_path / "projects" / "p.json").write_text(json.dumps(PROJECTS[0]))
    (tmp_path / "memories-000.zip").write_bytes(archive({"memories.json": MEMORIES}))
    (tmp_path / "conversations-000.zip").write_bytes(archive({"conversations.json": [claude()]}))
    done = nuggets("import", str(tmp_path), "--json").json

    assert done["refused"] == []
    assert any(note["title"].endswith(": instructions") for note in done["added"])
    assert [note["nuggetName"] for note in done["added"]].count("sessions") == 1
    assert nuggets("import", str(tmp_path)).lines[0] == "Nothing new."


def test_a_broken_file_of_an_archive_is_named_and_the_others_come_in(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    files = {"memories.json": MEMORIES, "projects.json": b"\n\xff", "conversations-0.zip": b"PK"}
    (tmp_path / "data.zip").write_bytes(archive({**files, "conversations.json": [claude()]}))
    done = nuggets("import", str(tmp_path / "data.zip"), "--json").json

    assert [note["nuggetName"] for note in done["added"]].count("sessions") == 1
    assert len(done["added"]) > 1
    projects, conversations = sorted(done["refused"], reverse=True)
    assert projects == "data.zip, projects.json, line 2: not valid UTF-8; convert it first"
    assert conversations.startswith("data.zip, conversations-0.zip: cannot be read as an archive")


def test_a_project_of_claude_without_a_memory_gets_no_note(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    projects = {"a": None, "b": "Invoices move to Postgres.", "c": {"text": 1}}
    account = {"conversations_memory": "", "project_memories": projects}
    (tmp_path / "memories.json").write_text(json.dumps([account]))
    done = nuggets("import", str(tmp_path / "memories.json"), "--json").json

    assert [note["content"] for note in done["added"]] == ["Invoices move to Postgres."]
    assert [place.split(":")[0] for place in done["refused"]] == ["memories.json, record 1, c"]
