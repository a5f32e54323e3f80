"""The memory tool of the Claude API, stored on a shelf."""

from collections.abc import Iterator
from typing import Any

import pytest

from nuggets import NuggetShelf
from nuggets.errors import InvalidInput, NotFound
from nuggets.interfaces.memory_tool import DEFINITION, MemoryTool


@pytest.fixture
def shelf() -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project="") as shelf:
        yield shelf


@pytest.fixture
def tool(shelf: NuggetShelf) -> MemoryTool:
    tool = MemoryTool(shelf)
    run(tool, "create", path="/memories/todo.md", file_text="first\nsecond\nthird")
    run(tool, "create", path="/memories/people/ann.md", file_text="Ann likes tea.")
    return tool


def run(tool: MemoryTool, command: str, **given: Any) -> str:
    return tool.run({"command": command, **given})


def test_files_and_directories_are_shown(tool: MemoryTool) -> None:
    listed = run(tool, "view", path="/memories").splitlines()[1:]

    assert listed == [
        "32\t/memories",
        "14\t/memories/people",
        "14\t/memories/people/ann.md",
        "18\t/memories/todo.md",
    ]
    assert run(tool, "view", path="/memories/people/") == (
        "Files below /memories/people, 2 levels deep:\n"
        "14\t/memories/people\n14\t/memories/people/ann.md"
    )
    shown = run(tool, "view", path="/memories/todo.md", view_range=[2, -1])
    assert shown == "/memories/todo.md:\n     2\tsecond\n     3\tthird"


def test_an_empty_memory_can_be_viewed(shelf: NuggetShelf) -> None:
    assert run(MemoryTool(shelf), "view", path="/memories").endswith("\n0\t/memories")


def test_a_file_is_edited(tool: MemoryTool, shelf: NuggetShelf) -> None:
    run(tool, "str_replace", path="/memories/todo.md", old_str="second", new_str="2nd")
    run(tool, "insert", path="/memories/todo.md", insert_line=0, insert_text="zeroth\n")
    run(tool, "insert", path="/memories/todo.md", insert_line=4, insert_text="last")

    assert shelf.get_note("todo.md").content == "zeroth\nfirst\n2nd\nthird\nlast"


def test_files_and_directories_are_moved_and_deleted(tool: MemoryTool, shelf: NuggetShelf) -> None:
    run(tool, "rename", old_path="/memories/people", new_path="/memories/friends/old")
    assert shelf.get_note("friends/old/ann.md").content == "Ann likes tea."
    run(tool, "delete", path="/memories/friends")
    assert [note.title for note in shelf.list_notes()] == ["todo.md"]
    shelf.undo()
    assert len(shelf.list_notes()) == 2


def test_what_it_stores_is_memory(tool: MemoryTool, shelf: NuggetShelf) -> None:
    [found, *_] = shelf.search_notes("what does Ann like")

    assert found.note.title == "people/ann.md"


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("create", {"path": "/memories/todo.md", "file_text": "x"}),
        ("create", {"path": "/memories/people", "file_text": "x"}),
        ("create", {"path": "/memories/todo.md/x", "file_text": "x"}),
        ("create", {"path": "/memories", "file_text": "x"}),
        ("create", {"path": "/memories/x"}),
        ("create", {"path": "/memories/x", "file_text": 5}),
        ("view", {"path": "/memories/todo.md", "view_range": [3, 2]}),
        ("view", {"path": "/memories/todo.md", "view_range": [1]}),
        ("str_replace", {"path": "/memories/todo.md", "old_str": "nothing", "new_str": "x"}),
        ("str_replace", {"path": "/memories/todo.md", "old_str": "ir", "new_str": "x"}),
        ("str_replace", {"path": "/memories/todo.md", "old_str": "", "new_str": "x"}),
        ("insert", {"path": "/memories/todo.md", "insert_line": 9, "insert_text": "x"}),
        ("insert", {"path": "/memories/todo.md", "insert_line": -1, "insert_text": "x"}),
        ("delete", {"path": "/memories"}),
        ("rename", {"old_path": "/memories/todo.md", "new_path": "/memories/people"}),
        ("rename", {"old_path": "/memories/people", "new_path": "/memories/people/x"}),
        ("rename", {"old_path": "/memories", "new_path": "/memories/x"}),
        ("format", {"path": "/memories"}),
        ("view", {}),
        ("view", {"path": "/memories", "more": 1}),
    ],
)
def test_what_cannot_be_done_changes_nothing(
    command: str, given: dict[str, Any], tool: MemoryTool, shelf: NuggetShelf
) -> None:
    before = shelf.revision
    with pytest.raises(InvalidInput):
        run(tool, command, **given)

    assert shelf.revision == before


@pytest.mark.parametrize(
    "path",
    [
        *("/memories/../etc/passwd", "/etc/passwd", "memories/x", "/memoriesx", "/memories//x"),
        *("/memories/./x", "/memories/..\\x", "/memories/a\nb", "/memories/x\0", "/memories/ x"),
        *("/memories/...", "/memories/a/../../b", "", "/", "/memories/" + "x" * 600),
    ],
)
def test_no_path_leads_out_of_the_memories(path: str, tool: MemoryTool) -> None:
    for command, more in (
        ("view", {}),
        ("create", {"file_text": "x"}),
        ("delete", {}),
        ("insert", {"insert_line": 0, "insert_text": "x"}),
    ):
        with pytest.raises(InvalidInput):
            run(tool, command, path=path, **more)
    with pytest.raises(InvalidInput):
        run(tool, "rename", old_path="/memories/todo.md", new_path=path)


def test_the_model_is_told_of_an_error(tool: MemoryTool) -> None:
    done = tool.tool_result("toolu_1", {"command": "delete", "path": "/memories/todo.md"})
    failed = tool.tool_result("toolu_2", {"command": "delete", "path": "/memories/todo.md"})

    assert DEFINITION == {"type": "memory_20250818", "name": "memory"}
    assert done == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "Deleted /memories/todo.md",
    }
    assert failed["is_error"]
    assert "there is no file" in failed["content"]
    with pytest.raises(NotFound):
        run(tool, "view", path="/memories/nothing.md")
