import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_doors import PATIENT, hook, injected, repository
from enough_sessions import ENOUGH_SESSIONS
from forked_processes import start_module
from nuggets.domain.limits import MEMORY_FILE_BYTES, MEMORY_FILE_LINES, SESSION_CHARACTERS
from nuggets.domain.records import WrittenNote
from nuggets.filesystem.hook_files import missed_deadlines, recorded_session
from nuggets.interfaces.hooks.observed_files import LONGEST_PATH, import_inbox
from nuggets.maintenance.promotion.sections import Budget
from nuggets.shelf import NuggetShelf


@pytest.fixture
def shelf_directory(tmp_path: Path) -> Path:
    return tmp_path / "shelf"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "here")


def shelf_of(directory: Path, project: Path | str) -> NuggetShelf:
    told = str(project / ".git") if isinstance(project, Path) else project
    return NuggetShelf(directory, project=told)


def test_a_session_starts_with_what_matters_here_and_nothing_of_other_projects(
    tmp_path: Path, shelf_directory: Path, project: Path
) -> None:
    other = repository(tmp_path / "there")
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth", "JWT with RS256")
        shelf.remember("prefs", "style", "2-space indent")
        shelf.create_note("project", "scratch thought", "only for now", stability="temporary")
    with shelf_of(shelf_directory, other) as shelf:
        shelf.create_note("project", "Alien", "belongs elsewhere")

    text = injected(
        hook("session-start", {"session_id": "s", "cwd": str(project)}, shelf_directory)
    )

    assert "JWT with RS256" in text
    assert "2-space indent" in text
    assert "elsewhere" not in text
    assert "only for now" not in text
    assert text.startswith("<nuggets-memory>")


def test_a_session_start_stays_below_what_hosts_cut(shelf_directory: Path, project: Path) -> None:
    with shelf_of(shelf_directory, project) as shelf, shelf.batch():
        for number in range(300):
            shelf.create_note("project", f"note {number}", "many words " * 200)

    text = injected(hook("session-start", {"cwd": str(project)}, shelf_directory))

    assert 2000 < len(text) < 10_000


def test_a_host_that_loads_the_memory_file_is_not_told_twice(
    tmp_path: Path, shelf_directory: Path, project: Path
) -> None:
    memory = tmp_path / "MEMORY.md"
    memory.write_text("# Memory\n\n- **Auth**: JWT with RS256\n")
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth", "JWT with RS256")
        shelf.create_note("project", "Release", "make release")
    environ = {"NUGGETS_MEMORY_FILE": str(memory)}
    sent = {"cwd": str(project)}

    loads = hook("session-start", sent, shelf_directory, "--host", "claude-code", environ=environ)
    does_not = hook("session-start", sent, shelf_directory, "--host", "codex", environ=environ)

    assert "JWT" not in injected(loads)
    assert "make release" in injected(loads)
    assert "JWT" in injected(does_not)


def test_hosts_load_as_much_of_the_memory_file_as_promotion_writes() -> None:
    assert Budget() == (MEMORY_FILE_LINES, MEMORY_FILE_BYTES)


def test_a_prompt_gets_what_memory_has_on_it_once_and_silence_otherwise(
    shelf_directory: Path, project: Path
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        note = shelf.create_note("project", "Auth middleware", "JWT, see src/auth/middleware.ts:47")
        shelf.create_note("project", "Release steps", "Bump, tag, then make release")
    sent = {"session_id": "s", "cwd": str(project), "hook_event_name": "UserPromptSubmit"}

    def asked(prompt: str) -> str:
        return injected(hook("user-prompt", {**sent, "prompt": prompt}, shelf_directory))

    first = asked("where does the auth middleware live?")
    again = asked("and the auth middleware, how is it tested?")
    other = asked("what is the capital of Mongolia?")

    assert "src/auth/middleware.ts:47" in first
    assert "Release" not in first
    assert again == ""
    assert other == ""
    assert shelf_of(shelf_directory, project).get_note(note.id, session=None).hits == 1


@pytest.mark.parametrize(
    ("event", "sent"),
    [
        ("user-prompt", {"hook_event_name": "UserPromptSubmit"}),  # Claude Code, Codex
        ("user-prompt", {"hook_event_name": "BeforeAgent"}),  # Gemini
        ("session-start", {"hook_event_name": "SessionStart", "source": "startup"}),
        ("user-prompt", {"hook_event_name": "beforeSubmitPrompt", "cursor_version": "3.2"}),
        ("session-start", {"hook_event_name": "sessionStart", "cursor_version": "3.2"}),
    ],
)
def test_every_host_is_answered_in_the_form_that_it_takes(
    event: str, sent: dict[str, str], shelf_directory: Path, project: Path
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.remember("project", "deploy command", "make zebra")
    asked = {**sent, "session_id": "s", "cwd": str(project), "prompt": "the deploy command?"}

    # not a field more: hosts refuse what they do not know
    answer = json.loads(hook(event, asked, shelf_directory).stdout)

    if "cursor_version" in sent:
        assert answer.keys() == {"continue", "additional_context"}
        assert answer["continue"] is True
        text = answer["additional_context"]
    else:
        assert answer.keys() == {"hookSpecificOutput"}
        inner = answer["hookSpecificOutput"]
        assert inner.keys() == {"hookEventName", "additionalContext"}
        assert inner["hookEventName"] == sent["hook_event_name"]
        text = inner["additionalContext"]
    assert "make zebra" in text


def test_a_prompt_never_gets_memories_of_another_project(
    tmp_path: Path, shelf_directory: Path, project: Path
) -> None:
    with shelf_of(shelf_directory, repository(tmp_path / "there")) as shelf:
        shelf.create_note("project", "Auth middleware", "handled in src/alien.ts")

    sent = {"session_id": "s", "cwd": str(project), "prompt": "where is the auth middleware?"}

    assert injected(hook("user-prompt", sent, shelf_directory)) == ""


def test_what_enough_sessions_were_told_moves_into_the_memory_file_of_its_project_only(
    tmp_path: Path, shelf_directory: Path
) -> None:
    said = {
        repository(tmp_path / "shop"): ("Checkout tokens", "How are checkout tokens signed?"),
        repository(tmp_path / "blog"): ("Feed generator", "How does the feed generator sort?"),
    }
    files = {}
    for project, (title, prompt) in said.items():
        with NuggetShelf(shelf_directory, project=str(project / ".git"), at_work=True) as shelf:
            shelf.create_note("learnings", title, f"{title} are explained in docs/{title}.md")
        for session in ENOUGH_SESSIONS:
            sent = {"session_id": session, "cwd": str(project), "prompt": prompt}
            assert title in injected(hook("user-prompt", sent, shelf_directory))
    for project, (title, _) in said.items():
        with NuggetShelf(shelf_directory, project=str(project / ".git"), at_work=True) as shelf:
            shelf.promote(project / "MEMORY.md")
        files[title] = (project / "MEMORY.md").read_text()

    assert {t: [title for title in files if f"**{title}**" in files[t]] for t in files} == {
        title: [title] for title in files
    }


def test_preferences_are_kept_where_they_belong_and_without_credentials(
    shelf_directory: Path, project: Path
) -> None:
    token = "ghp_" + "a1B2" * 9
    prompt = (
        "Remember that I prefer short answers. Remember: use pnpm in this repo! Use tabs? "
        f"Remember that the deploy token is {token}."
    )
    injected(
        hook(
            "user-prompt",
            {"session_id": "s", "cwd": str(project), "prompt": prompt},
            shelf_directory,
        )
    )
    found = {n.content: n for n in shelf_of(shelf_directory, project).list_notes(nugget="prefs")}

    assert found["I prefer short answers"].project == ""
    assert found["use pnpm in this repo"].project == str(project / ".git")
    assert not any("tabs" in text for text in found)
    assert not any("deploy token" in text for text in found)
    assert found["I prefer short answers"].title == "I prefer short answers"
    for path in shelf_directory.rglob("*"):
        assert path.is_dir() or token.encode() not in path.read_bytes()


def test_a_preference_is_told_once_not_with_a_title_that_repeats_it(
    shelf_directory: Path, project: Path
) -> None:
    sent = {
        "session_id": "s",
        "cwd": str(project),
        "prompt": "Remember: always use pnpm, never npm.",
    }
    hook("user-prompt", sent, shelf_directory)

    start = injected(hook("session-start", {**sent, "session_id": "t"}, shelf_directory))

    assert start.count("pnpm") == 1
    assert "\n- always use pnpm, never npm\n" in start


def test_memories_of_one_title_are_told_apart_by_their_nuggets(
    shelf_directory: Path, project: Path
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        for nugget in ("staging", "production"):
            shelf.remember(nugget, "Postgres host", f"{nugget}.internal")
    sent = {"session_id": "s", "cwd": str(project), "prompt": "what is the Postgres host?"}
    told = injected(hook("user-prompt", sent, shelf_directory))

    assert "nugget staging" in told and "nugget production" in told


def test_what_was_injected_is_not_learnt_again(shelf_directory: Path, project: Path) -> None:
    prompt = "<nuggets-memory>\nRemember: use the old server.\n</nuggets-memory>\nhello friend"
    hook("user-prompt", {"session_id": "s", "cwd": str(project), "prompt": prompt}, shelf_directory)

    assert not shelf_of(shelf_directory, project).has("prefs")


def test_a_credential_that_a_person_stored_is_not_injected(
    shelf_directory: Path, project: Path
) -> None:
    token = "ghp_" + "a1B2" * 9
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Deploy token", f"the deploy token is {token}")
    sent = {"session_id": "s", "cwd": str(project)}

    start = injected(hook("session-start", sent, shelf_directory))
    sent["session_id"] = "t"
    prompt = injected(
        hook("user-prompt", {**sent, "prompt": "what is the deploy token?"}, shelf_directory)
    )

    assert "Deploy token" in start
    assert "Deploy token" in prompt
    assert token not in start + prompt


def test_everything_a_hook_makes_is_private(shelf_directory: Path, project: Path) -> None:
    touched = {"tool_name": "Edit", "tool_input": {"file_path": str(project / "a.py")}}
    before = os.umask(0)
    try:
        hook("post-tool", {"cwd": str(project), **touched}, shelf_directory)
        hook(
            "user-prompt",
            {"cwd": str(project), "session_id": "s", "prompt": "hello you"},
            shelf_directory,
        )
    finally:
        os.umask(before)
    made = [shelf_directory, *(shelf_directory / "hooks").rglob("*"), shelf_directory / "hooks"]

    assert len(made) > 4
    assert not [path for path in made if path.stat().st_mode & 0o077]


def test_files_touched_become_temporary_observations_of_this_project(
    tmp_path: Path, shelf_directory: Path, project: Path
) -> None:
    there = repository(tmp_path / "there")

    def touched(tool: str, path: Path, cwd: Path) -> None:
        sent = {"cwd": str(cwd), "tool_name": tool, "tool_input": {"file_path": str(path)}}
        answer = hook("post-tool", sent, shelf_directory)
        assert answer.stdout == b""

    touched("Read", project / "src" / "a.py", project)
    touched("Edit", project / "src" / "a.py", project)
    touched("Read", tmp_path / "outside.txt", project)
    touched("Grep", project / "b.py", project)
    touched("Write", there / "c.py", there)

    assert not (shelf_directory / "graph").exists()  # nothing was rewritten yet

    hook("stop", {"cwd": str(project)}, shelf_directory)
    notes = shelf_of(shelf_directory, project).list_notes(nugget="files")
    projects = {note.title: note.project for note in notes}

    assert projects == {
        "file: src/a.py": str(project / ".git"),
        "file: c.py": str(there / ".git"),
    }
    assert all(note.stability == "temporary" for note in notes)
    assert all(note.source == "tool_observation" for note in notes)
    assert all("edited" in note.content for note in notes)


def test_files_of_a_worktree_count_by_their_place_in_it(
    tmp_path: Path, shelf_directory: Path, project: Path
) -> None:
    (project / ".git" / "worktrees" / "side").mkdir(parents=True)
    side = tmp_path / "side"
    (project / ".git" / "worktrees" / "side" / "commondir").write_text("../..\n")
    (project / ".git" / "worktrees" / "side" / "gitdir").write_text(f"{side / '.git'}\n")
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {project / '.git' / 'worktrees' / 'side'}\n")
    sent = {"cwd": str(side), "tool_name": "Edit", "tool_input": {"file_path": "src/a.py"}}

    hook("post-tool", sent, shelf_directory)
    hook("stop", {"cwd": str(side)}, shelf_directory)
    (note,) = shelf_of(shelf_directory, project).list_notes(nugget="files")

    assert note.title == "file: src/a.py"
    assert note.project == str(project / ".git")


def test_at_most_200_files_are_kept_for_a_project(shelf_directory: Path, project: Path) -> None:
    def seen(numbers: range) -> None:
        lines = [json.dumps([str(project), f"f{n}.py", False]) + "\n" for n in numbers]
        inbox = shelf_directory / "hooks" / "inbox"
        inbox.parent.mkdir(parents=True, exist_ok=True)
        inbox.write_text("".join(lines))
        hook("stop", {"cwd": str(project)}, shelf_directory)

    seen(range(150))
    seen(range(100, 290))
    titles = {note.title for note in shelf_of(shelf_directory, project).list_notes(nugget="files")}

    assert len(titles) == 200
    assert "file: f289.py" in titles
    assert "file: f120.py" in titles


def test_what_a_killed_hook_had_claimed_is_taken_in_later(
    shelf_directory: Path, project: Path
) -> None:
    claimed = shelf_directory / "hooks" / "inbox.12345"
    claimed.parent.mkdir(parents=True)
    claimed.write_text(json.dumps([str(project), "a.py", True]) + "\nhalf a li")
    os.utime(claimed, (1, 1))
    (claimed.parent / "inbox").write_text(json.dumps([str(project), "b.py", True]) + "\n")

    hook("stop", {"cwd": str(project)}, shelf_directory)
    titles = {note.title for note in shelf_of(shelf_directory, project).list_notes(nugget="files")}

    assert titles == {"file: a.py", "file: b.py"}
    assert [path.name for path in claimed.parent.glob("inbox*")] == []


@pytest.mark.parametrize("idle", ["inbox", "inbox.12345"])
def test_a_file_is_noted_once_though_another_hook_comes_while_it_is_taken_in(
    idle: str, shelf_directory: Path, project: Path
) -> None:
    class Overtaken(NuggetShelf):
        def create_note(self, *given: Any, **meta: Any) -> WrittenNote:
            hook("pre-compact", {"cwd": str(project)}, shelf_directory)
            return super().create_note(*given, **meta)

    waiting = shelf_directory / "hooks" / idle
    waiting.parent.mkdir(parents=True)
    waiting.write_text(json.dumps([str(project), "a.py", True]) + "\n")
    os.utime(waiting, (1, 1))

    with Overtaken(shelf_directory) as shelf:
        import_inbox(shelf, str(shelf_directory))
    notes = shelf_of(shelf_directory, project).list_notes(nugget="files")

    assert [note.title for note in notes] == ["file: a.py"]
    assert list(waiting.parent.glob("inbox*")) == []


def test_a_file_whose_name_is_no_text_holds_up_no_other(
    shelf_directory: Path, project: Path
) -> None:
    waiting = shelf_directory / "hooks" / "inbox"
    waiting.parent.mkdir(parents=True)
    seen = [[str(project), name, False] for name in ("half\ud83d.py", "a.py")]
    waiting.write_text("".join(json.dumps(line) + "\n" for line in seen))

    with NuggetShelf(shelf_directory) as shelf:
        import_inbox(shelf, str(shelf_directory))
    notes = shelf_of(shelf_directory, project).list_notes(nugget="files")

    assert [note.title for note in notes] == ["file: a.py"]


def test_a_path_is_kept_as_long_as_it_fits_a_title(shelf_directory: Path, project: Path) -> None:
    fits = ("folder/" * LONGEST_PATH)[: LONGEST_PATH - 4] + "a.py"
    for path in (fits, f"{fits}x"):
        sent = {"cwd": str(project), "tool_name": "Edit", "tool_input": {"file_path": path}}
        hook("post-tool", sent, shelf_directory)
    hook("stop", {"cwd": str(project)}, shelf_directory)
    notes = shelf_of(shelf_directory, project).list_notes(nugget="files")

    assert [note.title for note in notes] == [f"file: {fits}"]


def test_the_task_survives_a_compaction(shelf_directory: Path, project: Path) -> None:
    sent = {"session_id": "s", "cwd": str(project)}
    hook("user-prompt", {**sent, "prompt": "port the importer to asyncio"}, shelf_directory)
    hook("pre-compact", {**sent, "trigger": "auto"}, shelf_directory)
    hook("user-prompt", {**sent, "prompt": "and add tests for the importer"}, shelf_directory)
    hook("pre-compact", {**sent, "trigger": "auto"}, shelf_directory)

    after = injected(hook("session-start", {**sent, "source": "compact"}, shelf_directory))
    fresh = injected(hook("session-start", {**sent, "source": "startup"}, shelf_directory))

    assert "Goal: port the importer to asyncio" in after
    assert "Asked last: and add tests for the importer" in after
    assert "importer" not in fresh


def test_what_left_the_context_is_shown_again(shelf_directory: Path, project: Path) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth middleware", "JWT with RS256", source="tool_observation")
    sent = {"session_id": "s", "cwd": str(project), "prompt": "how does the auth middleware work?"}

    first = injected(hook("user-prompt", sent, shelf_directory))
    hook("session-start", {**sent, "source": "compact"}, shelf_directory)
    second = injected(hook("user-prompt", sent, shelf_directory))

    assert first == second != ""


@pytest.mark.parametrize(
    ("event", "sent"),
    [
        ("user-prompt", b""),
        ("user-prompt", b"{not json"),
        ("post-tool", b"[1, 2]"),
        ("user-prompt", b"\xff\xfe"),
        ("user-prompt", b'{"prompt": 3, "cwd": [], "session_id": {}, "tool_input": "x"}'),
        ("post-tool", b'{"tool_name": 3, "cwd": [], "session_id": {}, "tool_input": "x"}'),
        ("user-prompt", b'{"prompt": "\\ud800 lone", "session_id": "\\udfff"}'),
        ("session-start", b"[" * 100_000),
        ("nonsense", b'{"prompt": "hello"}'),
        ("../../etc/passwd", b"{}"),
        ("", b"{}"),
    ],
)
def test_bad_input_is_silence_and_success(event: str, sent: bytes, shelf_directory: Path) -> None:
    answer = hook(event, sent, shelf_directory)

    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")


def test_ten_megabytes_of_prompt_are_no_problem(shelf_directory: Path, project: Path) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth middleware", "JWT with RS256")
    sent = {"session_id": "s", "cwd": str(project), "prompt": "auth middleware? " + "x" * 10**7}

    answer = hook("user-prompt", sent, shelf_directory)

    assert "JWT" in injected(answer)
    assert missed_deadlines(str(shelf_directory)) == 0


def test_a_broken_shelf_is_logged_privately_and_fails_nobody(
    shelf_directory: Path, project: Path
) -> None:
    shelf_directory.mkdir()
    (shelf_directory / "config.toml").write_text("this is [not toml")

    answer = hook("user-prompt", {"cwd": str(project), "prompt": "secret plan?"}, shelf_directory)
    log = shelf_directory / "hooks" / "log"

    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")
    assert "SettingsError" in log.read_text()
    assert "secret plan" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("in_the_way", ["hooks", "hooks/sessions", "hooks/hosts"])
@pytest.mark.parametrize("event", ["session-start", "user-prompt"])
def test_an_agent_is_told_though_no_diary_can_be_kept(
    event: str, in_the_way: str, shelf_directory: Path, project: Path
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth middleware", "JWT with RS256")
    (shelf_directory / in_the_way).parent.mkdir(exist_ok=True)
    (shelf_directory / in_the_way).touch()
    sent = {"session_id": "s", "cwd": str(project), "prompt": "where is the auth middleware?"}

    assert "JWT" in injected(hook(event, sent, shelf_directory))


@pytest.mark.parametrize("event", ["session-start", "user-prompt"])
def test_an_agent_is_told_though_the_disk_is_full(
    event: str, shelf_directory: Path, project: Path
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth middleware", "JWT with RS256")
    touched = {"cwd": str(project), "tool_name": "Edit", "tool_input": {"file_path": "a.py"}}
    hook("post-tool", touched, shelf_directory)
    sent = {"session_id": "s", "cwd": str(project), "prompt": "where is the auth middleware?"}

    # no file may grow, which is what a full disk comes to
    full = 'ulimit -f 0; exec "$0" -m nuggets hook "$1"'
    done = subprocess.run(
        ["sh", "-c", full, sys.executable, event],
        input=json.dumps(sent).encode(),
        capture_output=True,
        env={**os.environ, **PATIENT, "NUGGETS_DIR": str(shelf_directory)},
        check=False,
    )

    assert "JWT" in injected(done)


def test_a_long_name_of_a_conversation_is_cut_to_what_a_shelf_takes(
    shelf_directory: Path, project: Path
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        note = shelf.create_note("project", "Auth middleware", "JWT with RS256")
    name = "s" * 1000
    sent = {"session_id": name, "cwd": str(project), "prompt": "where is the auth middleware?"}

    text = injected(hook("user-prompt", sent, shelf_directory, run=start_module))
    known = recorded_session(str(shelf_directory), os.getpid())
    again = shelf_of(shelf_directory, project).get_note(note.id, session=known)

    assert "JWT" in text
    assert known == name[:SESSION_CHARACTERS]
    assert again.hits == 1


def test_a_host_that_never_closes_its_pipe_waits_one_second_and_the_miss_is_counted(
    shelf_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUGGETS_HOOK_SECONDS")
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "nuggets", "hook", "user-prompt"],
            stdin=reading,
            capture_output=True,
            env={**os.environ, "NUGGETS_DIR": str(shelf_directory)},
            check=False,
        )
    finally:
        os.close(reading)
        os.close(writing)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert missed_deadlines(str(shelf_directory)) == 1


def test_a_host_that_stopped_listening_is_no_error(shelf_directory: Path, project: Path) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth", "JWT with RS256")
    with subprocess.Popen(
        [sys.executable, "-m", "nuggets", "hook", "session-start"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **PATIENT, "NUGGETS_DIR": str(shelf_directory)},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(json.dumps({"cwd": str(project)}).encode())
        process.stdin.close()
        code = process.wait()
        complaint = process.stderr.read()

    assert code == 0
    assert complaint == b""


def test_the_server_of_the_same_host_learns_the_conversation(
    shelf_directory: Path, project: Path
) -> None:
    sent = {"session_id": "talk-7", "cwd": str(project)}
    hook("session-start", sent, shelf_directory, run=start_module)

    assert recorded_session(str(shelf_directory), os.getpid()) == "talk-7"
    assert recorded_session(str(shelf_directory), 1) == ""


def test_the_command_itself_answers_hooks(shelf_directory: Path, project: Path) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Auth", "JWT with RS256")
    done = subprocess.run(
        [sys.executable, "-m", "nuggets", "hook", "session-start", "--host", "cursor"],
        input=json.dumps({"workspace_roots": [str(project)]}).encode(),
        capture_output=True,
        env={**os.environ, **PATIENT, "NUGGETS_DIR": str(shelf_directory)},
        check=False,
    )
    answer: dict[str, Any] = json.loads(done.stdout)

    assert done.returncode == 0
    assert "JWT" in answer["additional_context"]
    assert answer["continue"] is True


@pytest.mark.parametrize(
    "words",
    [
        ("--dir={}", "hook", "user-prompt", "--host=cursor"),
        ("hook", "user-prompt", "--host", "cursor", "--dir={}"),
        ("hook", "--host=cursor", "--dir", "{}", "user-prompt"),
    ],
)
def test_options_are_understood_however_they_are_written(
    words: tuple[str, ...], tmp_path: Path, shelf_directory: Path, project: Path
) -> None:
    sent = {"cwd": str(project), "prompt": "Remember: use pnpm. Which deploy command?"}
    with shelf_of(shelf_directory, project) as shelf:
        shelf.remember("project", "deploy command", "make zebra")
    inherited = {name: value for name, value in os.environ.items() if name != "NUGGETS_DIR"}
    done = subprocess.run(
        [sys.executable, "-m", "nuggets", *(word.format(shelf_directory) for word in words)],
        input=json.dumps(sent).encode(),
        capture_output=True,
        env={**inherited, **PATIENT, "HOME": str(tmp_path / "home")},
        check=False,
    )

    assert "make zebra" in json.loads(done.stdout)["additional_context"]
    assert shelf_of(shelf_directory, project).has("prefs")
    assert not (tmp_path / "home").exists()


def test_where_only_hooks_run_the_next_one_starts_the_daily_pass_and_does_not_wait(
    shelf_directory: Path, project: Path
) -> None:
    with shelf_of(shelf_directory, project) as shelf:
        shelf.create_note("project", "Twice", "the same line\nthe same line\nanother")
    at_once = {
        **{"MEMORY_REFLECTION_DAILY": "1", "MEMORY_REFLECTION_HOUR": "0"},
        **{"MEMORY_REFLECTION_MINUTE": "0", "QUIET_HOURS_START": "-1"},
    }
    sent = {"session_id": "s", "cwd": str(project), "prompt": "what now?"}

    for _ in range(2):
        assert hook("user-prompt", sent, shelf_directory, environ=at_once).returncode == 0
    with shelf_of(shelf_directory, project) as shelf:
        while not shelf.last_run():
            pass
        run = shelf.last_run()

    assert run is not None
    assert run.result.rewritten == 1


def test_a_hook_starts_no_daily_pass_that_is_turned_off(
    shelf_directory: Path, project: Path
) -> None:
    shelf_of(shelf_directory, project).close()
    sent = {"session_id": "s", "cwd": str(project), "prompt": "what now?"}

    at_once = {"MEMORY_REFLECTION_HOUR": "0", "QUIET_HOURS_START": "-1"}
    hook("user-prompt", sent, shelf_directory, environ=at_once)

    assert not (shelf_directory / "hooks" / "daily").exists()
