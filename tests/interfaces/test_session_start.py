"""What a session starts with, within its budget."""

import json
from pathlib import Path

import pytest

from agent_doors import hook, injected, repository
from enough_sessions import ENOUGH_SESSIONS
from nuggets.interfaces.hooks.session_start import CHANGED, start_context
from nuggets.language.text import estimate_tokens
from nuggets.operations.session_notes import SessionRecord
from nuggets.settings import load
from nuggets.shelf import NuggetShelf

PROJECT = "/home/me/shop/.git"
AREAS = ("billing", "search", "mail", "deploy", "frontend", "queue", "cache", "login")


@pytest.fixture
def shelf() -> NuggetShelf:
    """80 memories of eight areas, none recalled, the first areas oldest."""
    shelf = NuggetShelf("memory:", project=PROJECT, at_work=True)
    fill(shelf)
    return shelf


def fill(shelf: NuggetShelf) -> None:
    with shelf.batch():
        for area in AREAS:
            for number in range(10):
                text = f"The {area} part number {number} keeps its own table and worker process."
                shelf.create_note("learnings", f"{area} lesson {number}", text)


def start(shelf: NuggetShelf, branch: str = "") -> str:
    return start_context(shelf, loads_memory_file=False, session=None, branch=branch)[0]


def see_file(shelf: NuggetShelf, path: str) -> None:
    shelf.create_note(
        "files",
        f"file: {path}",
        f"{path} was edited on 2026-01-31",
        source="tool_observation",
        stability="temporary",
    )


def keep_session(shelf: NuggetShelf, goal: str) -> None:
    record = SessionRecord(
        *("s", "codex", PROJECT, f"2026-01-30 {goal}", f"Goal\n- {goal}"),
        *("2026-01-30T09:00:00Z", "2026-01-30T10:00:00Z"),
    )
    shelf.keep_session(record)


def test_a_session_starts_with_at_most_800_tokens_by_default(shelf: NuggetShelf) -> None:
    text = start(shelf)

    assert 600 < estimate_tokens(text) <= 800


def test_the_setting_says_how_many_tokens_and_0_turns_it_off(
    tmp_path: Path, shelf: NuggetShelf
) -> None:
    notes = [note._asdict() for note in shelf.list_notes()]
    sizes = {}
    for budget in (0, 200, 1500):
        settings = load({}, {"dir": "memory:", "start_tokens": budget})
        with NuggetShelf("memory:", project=PROJECT, settings=settings) as other:
            for note in notes:
                other.create_note(note["nugget_name"], note["title"], note["content"])
            sizes[budget] = estimate_tokens(start(other))

    assert sizes[0] == 0
    assert 120 < sizes[200] <= 200
    assert 1200 < sizes[1500] <= 1500


@pytest.mark.parametrize("hint", ["branch", "file", "session"])
def test_what_someone_works_on_comes_first(shelf: NuggetShelf, hint: str) -> None:
    assert "- **billing lesson" not in start(shelf)  # the oldest

    if hint == "file":
        see_file(shelf, "services/billing/charge.ts")
    if hint == "session":
        keep_session(shelf, "Find out why billing charges twice")
    text = start(shelf, branch="fix/billing-twice" if hint == "branch" else "trunk")

    changed = CHANGED if hint == "session" else 0  # since that session
    assert text.splitlines()[2 + changed].startswith("- **billing lesson")
    assert text.count("- **billing lesson") >= 8
    assert "- **login lesson 9" in text  # the newest: half of the room is for everything else


def test_commands_and_conventions_come_before_what_is_merely_known() -> None:
    shelf = NuggetShelf("memory:", project=PROJECT, at_work=True)
    words = {"project": PROJECT, "source": "explicit_user"}
    shelf.remember("project", "unit tests", "make check", **words)  # type: ignore[arg-type]
    shelf.remember("project", "floats", "we never store prices as floats", **words)  # type: ignore[arg-type]
    for number in range(60):
        shelf.remember("project", f"tea supplier {number}", "Assam and Darjeeling", **words)  # type: ignore[arg-type]

    lines = [line for line in start(shelf).splitlines() if line.startswith("- ")]

    assert {line.partition("**: ")[2] for line in lines[:2]} == {
        "make check",
        "we never store prices as floats",
    }


def test_what_does_not_fit_is_counted_and_named_as_far_as_there_is_room(
    shelf: NuggetShelf,
) -> None:
    text, known = start_context(shelf, loads_memory_file=False, session=None)

    told = sum(line.startswith("- ") for line in text.splitlines())
    [rest] = [line for line in text.splitlines() if line.startswith("and ")]
    count, _, titles = rest.partition(": ")
    named = titles.split("; ")
    assert count == f"and {80 - told} more in memory (search_notes)"
    assert len(named) > told  # a title takes a fifth of the room of a line
    left_out = {note.title for note in shelf.list_notes() if note.id not in known}
    assert len(set(named)) == len(named) and left_out.issuperset(named)


def test_few_memories_are_told_in_full_and_only_the_others_by_title() -> None:
    shelf = NuggetShelf("memory:", project=PROJECT, at_work=True)
    text = "One of some words that say it all. " * 2
    for number in range(30):
        shelf.create_note("learnings", f"lesson {number}", text)

    text, known = start_context(shelf, loads_memory_file=False, session=None)

    rest = next(line for line in text.splitlines() if line.startswith("and "))
    assert len(known) > 20
    assert len(rest.split("; ")) == 30 - len(known)


def test_a_preference_is_told_in_full_before_others_are_named(shelf: NuggetShelf) -> None:
    for number in range(40):
        text = f"Prefers answer style number {number} with short words and no summary at the end."
        shelf.remember("prefs", f"pref:style{number}", text)

    text = start(shelf)

    assert text.count("Prefers answer style number") > 25
    assert 700 < estimate_tokens(text) <= 800


def test_a_session_is_told_what_the_last_one_left_open_and_what_changed_since() -> None:
    shelf = NuggetShelf("memory:", project=PROJECT, at_work=True)
    fill(shelf)
    record = SessionRecord(
        *("s", "codex", PROJECT, "2026-01-30 coupons", "Goal: coupons\nOpen:\n- expiry\n- refunds"),
        *("2026-01-30T09:00:00Z", "2026-01-30T10:00:00Z"),
    )
    shelf.keep_session(record)

    text = start(shelf)

    assert "Left open by the last session: expiry" in text
    assert "Left open by the last session: refunds" in text
    assert "login lesson 9" in text


def test_preferences_are_told_beside_the_work(shelf: NuggetShelf) -> None:
    shelf.remember("prefs", "short answers", "I prefer short answers", source="explicit_user")

    text = start(shelf, branch="billing")

    assert "\n- I prefer short answers\n" in text
    assert "billing lesson" in text


def test_an_id_is_given_only_to_open_a_text_that_was_cut(shelf: NuggetShelf) -> None:
    whole = shelf.remember("project", "deploy command", "make ship", source="explicit_user")
    long = shelf.create_note("learnings", "Deploy story", "Once we deployed on Friday. " * 30)

    text = start(shelf, branch="deploy-story")

    assert "\n- **deploy command**: make ship\n" in text
    assert whole.id not in text
    assert long.id in text


def test_a_source_is_named_unless_it_is_the_person(shelf: NuggetShelf) -> None:
    shelf.remember("project", "deploy day", "Tuesday", source="agent_reflection")

    assert "\n- **deploy day**: Tuesday (agent)\n" in start(shelf, branch="deploy")


def test_the_hook_reads_the_branch_also_of_a_worktree(tmp_path: Path) -> None:
    here = repository(tmp_path / "here")
    with NuggetShelf(tmp_path / "shelf", project=str(here / ".git"), at_work=True) as shelf:
        fill(shelf)
    registered = here / ".git" / "worktrees" / "there"
    registered.mkdir(parents=True)
    (registered / "HEAD").write_text("ref: refs/heads/feature/billing\n")
    (registered / "commondir").write_text("../..\n")
    there = tmp_path / "there"
    there.mkdir()
    (there / ".git").write_text(f"gitdir: {registered}\n")
    (registered / "gitdir").write_text(f"{there / '.git'}\n")

    text = injected(hook("session-start", {"cwd": str(there)}, tmp_path / "shelf"))

    assert text.splitlines()[2].startswith("- **billing lesson")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("pnpm test", 2), ("a\nb", 3), ("internationalization", 3), ("2026-01-31", 6)],
)
def test_tokens_are_estimated_by_words_digits_and_signs(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_letters_beyond_ascii_are_a_token_each() -> None:
    assert estimate_tokens("我们使用 pnpm") == 5


def promoted_file(tmp_path: Path, project: Path) -> Path:
    """A memory file with four lines of ours."""
    memory = tmp_path / "MEMORY.md"
    with NuggetShelf(tmp_path / "shelf", project=str(project / ".git"), at_work=True) as shelf:
        for number in range(4):
            note = shelf.create_note("learnings", f"Lesson {number}", f"port 500{number}")
            for session in "abc":
                shelf.get_note(note.id, session=session)
        shelf.promote(memory)
    return memory


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_session_starts_with_what_a_person_wrote_into_the_file(tmp_path: Path, host: str) -> None:
    project = repository(tmp_path / "here")
    memory = promoted_file(tmp_path, project)
    text = memory.read_text()
    memory.write_text(
        text.replace("port 5001", "port 6001").replace("- **Lesson 2**: port 5002\n", "")
    )
    sent = {"session_id": "s", "cwd": str(project)}

    start = injected(hook("session-start", sent, tmp_path / "shelf", "--host", host))

    assert "port 6001" in start
    assert "port 5001" not in start
    assert "Lesson 2" not in start
    with NuggetShelf(tmp_path / "shelf", project=str(project / ".git")) as shelf:
        assert shelf.get_note("Lesson 1", session=None).content == "port 6001"


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_person_is_told_once_that_a_file_lost_much(tmp_path: Path, host: str) -> None:
    project = repository(tmp_path / "here")
    memory = promoted_file(tmp_path, project)
    memory.write_text("# Another branch\n")
    sent = {"session_id": "s", "cwd": str(project)}

    first, again = (
        hook("session-start", sent, tmp_path / "shelf", "--host", host) for _ in range(2)
    )

    message = json.loads(first.stdout)["systemMessage"]
    assert str(memory) in message
    assert "4 lines of Nuggets are gone at once" in message
    assert "systemMessage" not in json.loads(again.stdout)
    assert all(f"Lesson {n}" in injected(first) for n in range(4))


def test_a_host_that_reads_the_block_is_not_told_it_twice(tmp_path: Path) -> None:
    project = repository(tmp_path / "here")
    promoted_file(tmp_path, project)
    with NuggetShelf(tmp_path / "shelf", project=str(project / ".git"), at_work=True) as shelf:
        shelf.promote(project / "AGENTS.md")
        shelf.create_note("learnings", "Not promoted", "told at the start")
    sent = {"session_id": "s", "cwd": str(project)}

    codex, gemini = (
        injected(hook("session-start", sent, tmp_path / "shelf", "--host", host))
        for host in ("codex", "gemini")
    )

    assert "Lesson" not in codex
    assert "told at the start" in codex
    assert "Lesson 1" in gemini


def test_a_promoted_memory_that_is_gone_or_changed_is_not_told(tmp_path: Path) -> None:
    project = repository(tmp_path / "here")
    with NuggetShelf(tmp_path / "shelf", project=str(project / ".git"), at_work=True) as shelf:
        for key in ("vpn name", "deploy host", "api base", "queue"):
            shelf.remember("project", key, f"old {key}")
            for session in ENOUGH_SESSIONS:
                shelf.recall(key, session=session)
        assert shelf.promote() == 4
        shelf.forget("project", "vpn name")
        shelf.remember("project", "deploy host", "new host")
        shelf.delete_note("api base")
    sent = {"session_id": "s", "cwd": str(project)}

    start = injected(hook("session-start", sent, tmp_path / "shelf", "--host", "codex"))

    assert "old queue" in start and "new host" in start
    assert not any(old in start for old in ("old vpn name", "old deploy host", "old api base"))
