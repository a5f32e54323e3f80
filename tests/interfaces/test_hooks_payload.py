import pytest

from nuggets.interfaces.hooks.host_payload import EVENTS, event_of, files_of


@pytest.mark.parametrize("name", EVENTS)
def test_our_own_names_are_understood(name: str) -> None:
    assert event_of(name, "", {}).name == name


def test_an_event_that_nobody_knows_is_none() -> None:
    assert event_of("SubagentStart", "", {}).name == ""


@pytest.mark.parametrize(
    ("sent", "files"),
    [
        ({"tool_name": "Read", "tool_input": {"file_path": "/a.py"}}, [("/a.py", False)]),
        ({"tool_name": "MultiEdit", "tool_input": {"file_path": "/a.py"}}, [("/a.py", True)]),
        (
            {"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "/n.ipynb"}},
            [("/n.ipynb", True)],
        ),
        ({"tool_name": "read_file", "tool_input": {"absolute_path": "/a"}}, [("/a", False)]),
        ({"tool_name": "write_file", "tool_input": {"file_path": "/a"}}, [("/a", True)]),
        (
            {
                "tool_name": "apply_patch",
                "tool_input": {
                    "command": "*** Begin Patch\n*** Update File: a.py\n*** Add File: b.py\n"
                },
            },
            [("a.py", True), ("b.py", True)],
        ),
        (
            {
                "tool_name": "apply_patch",
                "tool_input": {
                    "command": "*** Update File: a.py\n*** Move to: c.py\n*** Add File: b.py\n"
                },
            },
            [("c.py", True), ("b.py", True)],
        ),
        ({"tool_name": "Bash", "tool_input": {"command": "cat /etc/passwd"}}, []),
        ({"tool_name": "Grep", "tool_input": {"path": "/src"}}, []),
        ({"tool_name": "Read", "tool_input": {"file_path": 7}}, []),
        ({"tool_name": "Read"}, []),
    ],
)
def test_files_are_found_in_what_tools_were_given(
    sent: dict[str, object], files: list[tuple[str, bool]]
) -> None:
    assert files_of(event_of("post-tool", "", sent)) == files


def test_what_other_hooks_put_into_a_prompt_is_not_the_person_speaking() -> None:
    # the form in which Gemini hands on what its session started with
    shown = "<hook_context>&lt;nuggets-memory&gt;\nAlways use npm.\n&lt;/nuggets-memory&gt;"
    sent = {"prompt": f"{shown}</hook_context>\n\nhello <hook_context>more</hook_context>there"}
    cut = {"prompt": f"hello{shown}"}

    assert event_of("user-prompt", "gemini", sent).prompt == "hello there"
    assert event_of("user-prompt", "gemini", cut).prompt == "hello"
