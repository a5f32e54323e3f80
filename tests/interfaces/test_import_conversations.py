"""Transcripts of hosts and exports of chats become notes of sessions; memories stay memories."""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import transcript_samples as samples
from command_line import Nuggets
from nuggets.domain.times import now
from nuggets.interfaces.importers import chat_exports

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
    monkeypatch.setattr(chat_exports, "LARGEST_FILE", 1 << 20)
    (tmp_path / "data.zip").write_bytes(archive({"conversations.json": b" " * (1 << 21)}))
    assert "unpacks to more than 1 MB" in nuggets("import", str(tmp_path / "data.zip")).err
