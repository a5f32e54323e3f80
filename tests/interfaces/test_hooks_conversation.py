"""What hooks keep of a conversation, what they tell, and what they leave out."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_doors import PATIENT, hook, injected, repository
from enough_sessions import ENOUGH_SESSIONS
from nuggets.domain.records import MemoryNote
from nuggets.filesystem.hook_files import missed_deadlines, recorded_session
from nuggets.interfaces.hooks.prompt_context import prompt_context
from nuggets.shelf import NuggetShelf

Ask = Callable[..., str]


@pytest.fixture
def shelf_directory(tmp_path: Path) -> Path:
    return tmp_path / "shelf"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "here")


@pytest.fixture
def call(shelf_directory: Path, project: Path) -> Ask:
    def called(event: str, session: str = "s", **sent: object) -> str:
        whole = {"session_id": session, "cwd": str(project), **sent}
        return injected(hook(event, whole, shelf_directory))

    return called


def shelf_of(directory: Path, project: Path) -> NuggetShelf:
    return NuggetShelf(directory, project=str(project / ".git"))


def kept(directory: Path, project: Path) -> list[MemoryNote]:
    with shelf_of(directory, project) as shelf:
        return list(shelf.list_notes(nugget="prefs")) if shelf.has("prefs") else []


def private_key() -> str:
    rule, line = "-" * 5, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2
    lines = "\n".join([line] * 25)
    return f"{rule}BEGIN PRIVATE KEY{rule}\n{lines}\n{rule}END PRIVATE KEY{rule}"


# --- credentials --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "secret",
    [
        private_key(),
        "x" * 560 + " ghp_" + "a1B2" * 9,
        f"eyJ{'ab1' * 99}.eyJ{'cd2' * 99}.{'ef3' * 9}",
    ],
)
def test_a_credential_that_was_pasted_is_nowhere_kept(
    secret: str, shelf_directory: Path, call: Ask
) -> None:
    call("user-prompt", prompt=f"why does nginx refuse this key?\n{secret}")
    call("pre-compact", trigger="auto")
    told = call("session-start", source="compact")

    assert "nginx refuse" in told
    for path in [path for path in shelf_directory.rglob("*") if path.is_file()]:
        text = path.read_text(errors="replace")
        assert not any(piece in text for piece in ("MIIE", "ghp_a", "eyJab")), path
    assert not any(piece in told for piece in ("MIIE", "ghp_a", "eyJab"))


def test_of_a_key_that_a_person_stored_not_even_a_part_is_injected(
    shelf_directory: Path, project: Path, call: Ask
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Deploy key", f"for the deploy host: {private_key()}")
        shelf.create_note("project", "Robot token", "r" * 228 + " ghp_" + "a1B2" * 9)

    start = call("session-start")
    prompt = call("user-prompt", "t", prompt="the deploy key?")

    assert "Deploy key" in start and "Robot token" in start and "Deploy key" in prompt
    assert not any(piece in start + prompt for piece in ("MIIE", "ghp_"))


# --- which project, which conversation ----------------------------------------------------------


@pytest.mark.parametrize("elsewhere", ["outside", "there"])
def test_the_project_is_the_one_that_the_host_was_started_in(
    elsewhere: str, tmp_path: Path, shelf_directory: Path, project: Path
) -> None:
    repository(tmp_path / "there")
    (tmp_path / "outside").mkdir()
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth middleware", "JWT with RS256")
    prompt = "Remember: run make fmt before committing. Where is the auth middleware?"
    sent = {"session_id": "s", "cwd": str(tmp_path / elsewhere), "prompt": prompt}

    environ = {"CLAUDE_PROJECT_DIR": str(project)}
    told = injected(hook("user-prompt", sent, shelf_directory, environ=environ))

    assert "JWT" in told
    assert [note.project for note in kept(shelf_directory, project)] == [str(project / ".git")]


def test_the_server_learns_the_conversation_though_a_shell_stands_between(
    shelf_directory: Path, project: Path
) -> None:
    # a shell that has something left to do waits for the hook; dash always does
    subprocess.run(
        ["sh", "-c", '"$0" -m nuggets hook session-start; :', sys.executable],
        input=json.dumps({"session_id": "talk-7", "cwd": str(project)}).encode(),
        env={**os.environ, **PATIENT, "NUGGETS_DIR": str(shelf_directory)},
        check=True,
    )

    assert recorded_session(str(shelf_directory), os.getpid()) == "talk-7"


# --- what a prompt gets -------------------------------------------------------------------------


def test_files_that_were_seen_do_not_push_knowledge_out(
    shelf_directory: Path, project: Path, call: Ask
) -> None:
    with shelf_of(shelf_directory, project) as shelf, shelf.batch():
        shelf.create_note("project", "Payment webhook flow", "Signed, then queued")
        for number in range(60):
            shelf.create_note("project", f"Ticket {number}", f"What was broken in part {number}")
    paths = [f"part{number}/webhook.py" for number in range(30)]
    inbox = shelf_directory / "hooks" / "inbox"
    inbox.parent.mkdir()
    inbox.write_text("".join(json.dumps([str(project), path, False]) + "\n" for path in paths))
    call("stop")

    for session, prompt in (("a", "the payment webhook is broken"), ("b", "webhook")):
        told = call("user-prompt", session, prompt=prompt)
        assert "Signed, then queued" in told
        assert "was read on" not in told


def test_a_prompt_may_begin_with_a_path_but_not_with_a_command(
    shelf_directory: Path, project: Path, call: Ask
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth middleware", "JWT with RS256")

    assert "JWT" in call("user-prompt", "a", prompt="/src/auth.py: where is the auth middleware?")
    assert call("user-prompt", "b", prompt="/auth-middleware:auth middleware") == ""
    assert call("user-prompt", "c", prompt="/review auth middleware") == ""


def test_half_an_emoji_costs_neither_memory_nor_a_preference(
    shelf_directory: Path, project: Path, call: Ask
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth middleware", "JWT with RS256")

    told = call("user-prompt", "s\ud83d", prompt="the auth middleware \ud83d")
    call("user-prompt", prompt="Remember: use pnpm \ud83d")

    assert "JWT" in told
    assert [note.title.split()[0] for note in kept(shelf_directory, project)] == ["Use"]


def test_german_function_words_are_not_what_a_prompt_is_about() -> None:
    with NuggetShelf("memory:") as shelf:
        shelf.create_note(
            "n", "Datenbank", "Die Datenbank ist auf dem Server und wird nachts gesichert."
        )

        def told(prompt: str) -> list[str]:
            return prompt_context(shelf, prompt, frozenset(), "")[1]

        assert told("die Überschrift ist zu groß und wird abgeschnitten") == []
        assert len(told("wann wird die Datenbank gesichert?")) == 1


def test_what_the_memory_file_holds_is_told_neither_at_the_start_nor_on_a_prompt(
    tmp_path: Path, shelf_directory: Path, project: Path
) -> None:
    memory = tmp_path / "MEMORY.md"
    environ = {"NUGGETS_MEMORY_FILE": str(memory)}
    with shelf_of(shelf_directory, project) as shelf:
        for key, value in (("auth middleware", "JWT, RS256"), ("init files", "stay <b>empty</b>")):
            shelf.remember("project", key, value)
            for session in ENOUGH_SESSIONS:
                shelf.recall(key, session=session)
        assert shelf.promote(str(memory)) == 2
    sent = {"session_id": "s", "cwd": str(project), "prompt": "auth middleware and init files?"}

    start = hook("session-start", sent, shelf_directory, "--host=claude-code", environ=environ)
    prompt = hook("user-prompt", sent, shelf_directory, "--host=claude-code", environ=environ)

    assert injected(start) == ""
    assert injected(prompt) == ""


# --- the task in hand ---------------------------------------------------------------------------


def test_a_task_is_told_after_its_compaction_and_to_nobody_else(call: Ask) -> None:
    call("user-prompt", prompt="port the invoice exporter to streaming")
    call("user-prompt", prompt="the invoice exporter runs out of memory")
    call("pre-compact", trigger="auto")

    after = call("session-start", source="compact")

    assert "Goal: port the invoice exporter to streaming" in after
    assert "Asked last: the invoice exporter runs out of memory" in after
    assert call("user-prompt", prompt="go on with the invoice exporter") == ""
    assert call("user-prompt", "other", prompt="where is the invoice exporter?") == ""


# --- preferences --------------------------------------------------------------------------------


def test_preferences_about_different_things_stand_beside_each_other(
    shelf_directory: Path, project: Path, call: Ask
) -> None:
    call("user-prompt", prompt="Remember: write tests for new API endpoints in Python")
    call("user-prompt", prompt="Remember: write tests for new API clients in Go")

    assert len(kept(shelf_directory, project)) == 2


def test_two_rules_about_one_thing_stand_beside_each_other(
    shelf_directory: Path, project: Path, call: Ask
) -> None:
    call("user-prompt", prompt="Remember: always use TypeScript")
    call("user-prompt", prompt="Remember: never use any in TypeScript")

    assert {note.content for note in kept(shelf_directory, project)} == {
        "always use TypeScript",
        "never use any in TypeScript",
    }


def test_a_change_of_mind_takes_the_place_of_what_it_changes(
    shelf_directory: Path, project: Path, call: Ask
) -> None:
    call("user-prompt", prompt="Remember that we use uv instead of pip")
    call("user-prompt", prompt="Remember that we use pip instead of uv")
    (note,) = kept(shelf_directory, project)

    assert note.content == "we use pip instead of uv"
    assert note.hits == 0


@pytest.mark.parametrize("rule_first", [False, True])
def test_a_taste_and_a_rule_of_the_same_words_stand_beside_each_other(
    shelf_directory: Path, project: Path, tmp_path: Path, call: Ask, rule_first: bool
) -> None:
    elsewhere = repository(tmp_path / "elsewhere")
    taste, rule = "I prefer tabs over spaces", "In this project, always use tabs over spaces"
    for prompt in (rule, taste) if rule_first else (taste, rule):
        call("user-prompt", prompt=f"Remember: {prompt}")
    homes = {note.content: note.project for note in kept(shelf_directory, project)}

    assert homes == {taste: "", rule: str(project / ".git")}
    assert rule in call("session-start", "t")
    assert rule not in call("session-start", "t", cwd=str(elsewhere))


def test_a_prompt_that_states_a_preference_recalls_nothing(
    shelf_directory: Path, project: Path, call: Ask
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.remember("prefs", "package manager", "pnpm")

    call("user-prompt", prompt="Remember: use npm as package manager")
    call("user-prompt", "t", prompt="which package manager?")

    assert {note.title: note.hits for note in kept(shelf_directory, project)} == {
        "package manager": 1,
        "Use npm as package manager": 0,
    }


def test_a_long_log_with_one_quote_is_read_in_time(shelf_directory: Path, project: Path) -> None:
    log = 'never "' + "2026-01-31 did it. Failed!\n" * 40_000  # half an hour, each end by each
    hook("user-prompt", {"cwd": str(project), "prompt": log}, shelf_directory)

    assert missed_deadlines(str(shelf_directory)) == 0
