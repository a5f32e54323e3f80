import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import transcript_samples as samples
from agent_doors import hook, injected, repository
from command_line import Nuggets
from nuggets.domain.records import MemoryNote
from nuggets.filesystem.hook_files import hook_path
from nuggets.interfaces.hooks.transcript_reader import HEAD_BYTES, TAIL_BYTES
from nuggets.shelf import NuggetShelf


@pytest.fixture
def shelf_directory(tmp_path: Path) -> Path:
    return tmp_path / "shelf"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "webshop")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


class Host:
    """A host that calls hooks from a home directory with its transcripts."""

    def __init__(self, name: str, home: Path, project: Path, shelf: Path, session: str) -> None:
        self.name, self.home, self.shelf = name, home, shelf
        self.days = "0"
        self.sent: dict[str, Any] = {"session_id": session, "cwd": str(project)}

    def write(self, folder: str, text: str) -> Path:
        """A transcript in the host's own folder."""
        path = self.home / folder / f"{self.sent['session_id']}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.sent["transcript_path"] = str(path)
        return path

    def call(self, event: str, **more: Any) -> str:
        # the samples are old; 0: sessions are kept for ever
        environ = {"HOME": str(self.home), "NUGGETS_SESSION_DAYS": self.days}
        sent = {**self.sent, **more}
        return injected(hook(event, sent, self.shelf, "--host", self.name, environ=environ))


def claude(home: Path, project: Path, shelf: Path, session: str = "claude-1") -> Host:
    host = Host("claude-code", home, project, shelf, session)
    host.write(".claude/projects/webshop", samples.lines(samples.claude_code(project)))
    return host


def notes_of(shelf_directory: Path, project: Path) -> list[MemoryNote]:
    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        return list(shelf.sessions())


def logged(shelf_directory: Path) -> str:
    path = Path(hook_path(str(shelf_directory), "log"))
    return path.read_text() if path.exists() else ""


def test_a_session_becomes_one_dated_note(home: Path, project: Path, shelf_directory: Path) -> None:
    claude(home, project, shelf_directory).call("stop")

    (note,) = notes_of(shelf_directory, project)
    assert note.title.startswith("2026-03-04 Migrate the orders table from integer ids to UUIDs")
    assert note.project == str(project / ".git")
    assert note.nugget_name == "sessions"
    assert "claude-code" in note.tags
    assert note.content == (
        f"Goal: {samples.GOAL}\n"
        "Asked last:\n"
        f"- {samples.CORRECTION}\n"
        "- Also write down how to roll back the migration\n"
        f"Decided or corrected: {samples.CORRECTION}\n"
        "Open:\n"
        "- Backfill the invoices table\n"
        "- still fails: make lint\n"
        "- Next step: backfill the invoices table.\n"
        "Commits: 3f2a91c orders: ids are UUIDv7\n"
        "Files changed: migrations/0042_uuid.py, src/orders.py\n"
        "Failed, then passed: uv run pytest tests/orders -q\n"
        f"The agent's last words: {samples.REPLY}"
    )


def codex_host(home: Path, project: Path, shelf: Path) -> Host:
    host = Host("codex", home, project, shelf, "s")
    host.write(".codex/sessions/2026/03/05", samples.lines(samples.codex(project)))
    return host


def codex_scripts_host(home: Path, project: Path, shelf: Path) -> Host:
    host = Host("codex", home, project, shelf, "s")
    host.write(".codex/sessions/2026/03/05", samples.lines(samples.codex_with_scripts(project)))
    return host


def gemini_host(home: Path, project: Path, shelf: Path) -> Host:
    host = Host("gemini", home, project, shelf, "s")
    host.write(".gemini/tmp/0/chats", json.dumps(samples.gemini(project), indent=2))
    return host


def gemini_lines_host(home: Path, project: Path, shelf: Path) -> Host:
    host = Host("gemini", home, project, shelf, "s")
    host.write(".gemini/tmp/0/chats", samples.lines(samples.gemini(project)["messages"]))
    return host


def pi_host(home: Path, project: Path, shelf: Path) -> Host:
    host = Host("pi", home, project, shelf, "s")
    host.write(".pi/agent/sessions/--webshop--", samples.lines(samples.pi(project)))
    return host


def opencode_host(home: Path, project: Path, shelf: Path) -> Host:
    host = Host("opencode", home, project, shelf, "s")
    host.sent["messages"] = samples.opencode(project)
    return host


@pytest.mark.parametrize(
    "connect",
    [codex_host, codex_scripts_host, gemini_host, gemini_lines_host, pi_host, opencode_host],
)
def test_transcripts_of_every_host_are_understood(
    connect: Callable[[Path, Path, Path], Host], home: Path, project: Path, shelf_directory: Path
) -> None:
    host = connect(home, project, shelf_directory)

    host.call("stop")

    (note,) = notes_of(shelf_directory, project)
    assert host.name in note.tags
    for line in (
        f"Goal: {samples.GOAL}",
        f"Asked last: {samples.CORRECTION}",
        "still fails: make lint",
        "backfill the invoices table",
        "Commits: 3f2a91c orders: ids are UUIDv7",
        "Files changed: src/orders.py",
        "Failed, then passed: uv run pytest tests/orders -q",
        f"The agent's last words: {samples.REPLY}",
    ):
        assert line in note.content
    assert logged(shelf_directory) == ""


def test_the_next_day_another_agent_finds_the_session(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    first = claude(home, project, shelf_directory)
    first.call("user-prompt", prompt=samples.GOAL)
    first.call("stop")
    codex = Host("codex", home, project, shelf_directory, "codex-1")
    codex.call("session-start", source="startup")

    answer = codex.call("user-prompt", prompt="Where were we?")
    again = codex.call("user-prompt", prompt="where did we leave off?")

    assert samples.GOAL in answer
    assert "Backfill the invoices table" in answer
    assert answer.startswith("<nuggets-memory>")
    assert again == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "continue the UUID migration",
        "let's pick up where we left off with the orders table",
        "what did we do last time?",
        "Wo waren wir stehengeblieben?",
        "¿dónde lo dejamos?",
        "我们上次做到哪了?",
        "continue",
    ],
)
def test_a_prompt_that_asks_for_the_session_gets_it(
    prompt: str, home: Path, project: Path, shelf_directory: Path
) -> None:
    claude(home, project, shelf_directory).call("stop")
    codex = Host("codex", home, project, shelf_directory, "codex-1")

    assert samples.GOAL in codex.call("user-prompt", prompt=prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "how do we migrate the orders table to UUIDs?",
        "what is the last step of a release?",
        "continue the parser rewrite in Rust",
        "where is the invoices table defined?",
        "finish the login form",
    ],
)
def test_other_prompts_do_not_meet_it(
    prompt: str, home: Path, project: Path, shelf_directory: Path
) -> None:
    claude(home, project, shelf_directory).call("stop")

    codex = Host("codex", home, project, shelf_directory, "codex-1")
    assert codex.call("user-prompt", prompt=prompt) == ""


def test_going_on_in_the_middle_of_a_session_asks_for_no_other(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    claude(home, project, shelf_directory).call("stop")
    codex = Host("codex", home, project, shelf_directory, "codex-1")
    codex.call("user-prompt", prompt="write a parser for invoices")

    assert codex.call("user-prompt", prompt="go on") == ""


def test_another_project_has_no_part_in_it(
    tmp_path: Path, home: Path, project: Path, shelf_directory: Path
) -> None:
    claude(home, project, shelf_directory).call("stop")
    other = Host("codex", home, repository(tmp_path / "other"), shelf_directory, "codex-1")
    nowhere = Host("codex", home, tmp_path, shelf_directory, "codex-2")

    assert other.call("user-prompt", prompt="where were we?") == ""
    assert nowhere.call("user-prompt", prompt="where were we?") == ""


def test_search_recall_start_and_promotion_do_not_meet_it(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    claude(home, project, shelf_directory).call("stop")

    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        assert list(shelf.search_notes("orders table UUID migration")) == []
        assert list(shelf.recall_or_search("orders table UUID")[1]) == []
        assert list(shelf.list_notes()) == []
        (note,) = shelf.sessions()
        for session in map(str, range(5)):
            shelf.get_note(note.id, session=session)
        shelf.reflect()
        assert shelf.sessions()[0].content == note.content
        assert shelf.promote(str(shelf_directory / "m" / "MEMORY.md")) == 0
    fresh = Host("claude-code", home, project, shelf_directory, "next")
    assert "UUID" not in fresh.call("session-start", source="startup")


def test_a_session_keeps_one_note_that_grows_with_it(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = claude(home, project, shelf_directory)
    host.call("pre-compact", trigger="auto")
    request = {"role": "user", "content": "Then document the rollback in the handbook"}
    more = samples.lines([{"type": "user", "message": request}])
    path = Path(host.sent["transcript_path"])
    path.write_text(path.read_text() + more)

    host.call("pre-compact", trigger="auto")

    (note,) = notes_of(shelf_directory, project)
    assert note.title.startswith("2026-03-04 Migrate the orders table")
    assert "Then document the rollback in the handbook" in note.content


def test_a_stop_soon_after_another_leaves_the_rest_to_the_next_start(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = claude(home, project, shelf_directory)
    host.call("stop")
    host.call("user-prompt", prompt="Then document the rollback in the handbook")
    request = {"role": "user", "content": "Then document the rollback in the handbook"}
    path = Path(host.sent["transcript_path"])
    path.write_text(path.read_text() + samples.lines([{"type": "user", "message": request}]))
    host.call("stop")
    (before,) = notes_of(shelf_directory, project)
    host.call("session-end", reason="exit")

    Host("codex", home, project, shelf_directory, "codex-1").call("session-start")

    (after,) = notes_of(shelf_directory, project)
    assert "handbook" not in before.content
    assert "handbook" in after.content


def test_prompts_alone_do_not_replace_a_note_that_says_more(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = opencode_host(home, project, shelf_directory)
    host.call("stop")
    (before,) = notes_of(shelf_directory, project)
    del host.sent["messages"]
    host.call("user-prompt", prompt="Then document the rollback in the handbook")

    Host("codex", home, project, shelf_directory, "codex-1").call("session-start")

    assert notes_of(shelf_directory, project) == [before]


def test_what_a_host_sent_soon_after_a_note_waits_for_the_next_start(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = opencode_host(home, project, shelf_directory)
    host.call("stop")
    host.call("user-prompt", prompt="Then document the rollback in the handbook")
    said = {"type": "text", "text": "Then document the rollback in the handbook"}
    host.sent["messages"] += [{"info": {"role": "user"}, "parts": [said]}]
    host.call("stop")
    (before,) = notes_of(shelf_directory, project)

    Host("codex", home, project, shelf_directory, "codex-1").call("session-start")
    Host("codex", home, project, shelf_directory, "codex-2").call("session-start")

    (after,) = notes_of(shelf_directory, project)
    assert "handbook" not in before.content
    assert "handbook" in after.content
    assert "Failed, then passed" in after.content


def test_later_prompts_of_a_host_without_transcripts_are_noted_at_the_next_start(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = Host("cursor", home, project, shelf_directory, "s")
    host.call("user-prompt", prompt=samples.GOAL)
    host.call("stop")
    host.call("user-prompt", prompt="Then document the rollback in the handbook")
    host.call("stop")

    Host("codex", home, project, shelf_directory, "codex-1").call("session-start")

    (note,) = notes_of(shelf_directory, project)
    assert f"Goal: {samples.GOAL}" in note.content
    assert "handbook" in note.content


@pytest.mark.parametrize(
    "question",
    [
        "where were we?",
        "Wo waren wir?",
        "¿Dónde estábamos?",
        "上次我们做到哪了？",
        "前回どこまで？",
    ],
)
def test_asking_for_the_last_session_makes_no_session(
    home: Path, project: Path, shelf_directory: Path, question: str
) -> None:
    claude(home, project, shelf_directory).call("stop")
    asking = Host("cursor", home, project, shelf_directory, "s")
    asking.call("user-prompt", prompt=question)
    asking.call("stop")

    told = Host("codex", home, project, shelf_directory, "t").call("user-prompt", prompt=question)

    assert len(notes_of(shelf_directory, project)) == 1
    assert f"Goal: {samples.GOAL}" in told


def test_work_that_only_goes_on_is_noted_too(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = Host("claude-code", home, project, shelf_directory, "day-two")
    entries = [
        {"type": "user", "message": {"role": "user", "content": "where were we?"}},
        {"type": "user", "message": {"role": "user", "content": "ok, go on"}},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "t1",
                        "name": "Edit",
                        "input": {"file_path": str(project / "src/orders.py")},
                    }
                ],
            },
        },
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}],
            },
        },
    ]
    host.write(".claude/projects/webshop", samples.lines(entries))
    host.call("stop")

    (note,) = notes_of(shelf_directory, project)
    assert "src/orders.py" in note.content


def test_a_compaction_leaves_the_summary_in_the_context(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = claude(home, project, shelf_directory)
    host.call("pre-compact", trigger="auto")

    after = host.call("session-start", source="compact")

    assert f"Goal: {samples.GOAL}" in after
    assert "still fails: make lint" in after


def test_sessions_of_a_project_are_linked_in_order(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    claude(home, project, shelf_directory, "one").call("stop")
    claude(home, project, shelf_directory, "two").call("stop")

    second, first = sorted(notes_of(shelf_directory, project), key=lambda note: len(note.links))
    assert [link.to for link in second.links] == [first.id]
    assert [link.to for link in first.links] == [second.id]
    assert {link.reason for link in first.links} == {"previous session"}


def test_memories_that_were_used_are_named(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        note = shelf.create_note("project", "Orders table", "Lives in the schema billing")
    host = claude(home, project, shelf_directory)
    host.call("user-prompt", prompt="where is the orders table?")

    host.call("stop")

    (session,) = notes_of(shelf_directory, project)
    assert f"Memories used: Orders table ({note.id})" in session.content


def counted_hits(shelf_directory: Path, project: Path) -> dict[str, list[str]]:
    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        explanations = shelf.promotion().explanations
    return {why.title: [hit.kind for hit in why.sessions] for why in explanations if why.sessions}


def test_of_the_notes_that_were_listed_only_the_cited_one_counts(
    home: Path,
    project: Path,
    shelf_directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    nuggets: Nuggets,
) -> None:
    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        named, *_ = [
            shelf.create_note("project", title, content, stability="durable")
            for title, content in (
                ("Naming of migrations", "Four digits, then the table"),
                ("Release train", "Every second Tuesday"),
                ("Mail relay", "relay.shop.example, port 587"),
            )
        ]
    host = claude(home, project, shelf_directory)
    listed = host.call("session-start", source="startup")
    assert "Naming of migrations" in listed
    assert "Release train" in listed
    entries = samples.claude_code(project)
    text = f"Named 0042 by {named.id}; the release train and the mail relay do not matter."
    entries.append({"type": "assistant", "message": {"role": "assistant", "content": text}})
    host.write(".claude/projects/webshop", samples.lines(entries))

    host.call("stop")

    assert counted_hits(shelf_directory, project) == {"Naming of migrations": ["cited"]}
    monkeypatch.setenv("NUGGETS_DIR", str(shelf_directory))
    monkeypatch.chdir(project)
    assert "shown, and cited by the agent" in nuggets("promote", "--explain").out


def test_the_last_reply_may_cite_a_title_in_quotation_marks(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        shelf.create_note("project", "Release train", "Every second Tuesday", stability="durable")
    host = Host("cursor", home, project, shelf_directory, "s")
    host.call("session-start", source="startup")

    host.call("stop", last_assistant_message="It ships on Tuesday, see \u201cRelease train\u201d.")

    assert counted_hits(shelf_directory, project) == {"Release train": ["cited"]}


def test_without_a_transcript_the_prompts_tell_what_it_was_about(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = Host("cursor", home, project, shelf_directory, "s")
    hook("user-prompt", {**host.sent, "prompt": samples.GOAL}, shelf_directory)
    hook("user-prompt", {**host.sent, "prompt": "go on"}, shelf_directory)
    hook("stop", {**host.sent, "last_assistant_message": samples.REPLY}, shelf_directory)

    (note,) = notes_of(shelf_directory, project)
    assert f"Goal: {samples.GOAL}" in note.content
    assert samples.REPLY in note.content


BROKEN = {
    "an unknown format": samples.lines([{"version": 9, "turns": ["x"]}]),
    "nested without end": "[" * 200_000 + "\n",
    "no JSON": "\x00\x01 not json\n" * 50,
    "wrong types": samples.lines(
        [
            {"type": "user", "message": 3},
            {"type": "assistant", "message": {"content": {"a": 1}}},
            {"type": "user", "message": {"content": [3, None, {"type": "tool_result"}]}},
            {"type": "assistant", "message": {"content": [{"type": "tool_use", "input": []}]}},
            {"type": ["user"], "message": {"content": [{"type": "text", "text": {}}]}},
            {"timestamp": 5, "type": "user", "message": {"content": None}},
        ]
    ),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_transcript_is_a_warning_and_the_prompts_still_tell(
    text: str, home: Path, project: Path, shelf_directory: Path
) -> None:
    host = Host("claude-code", home, project, shelf_directory, "s")
    host.write(".claude/projects/webshop", text)
    host.call("user-prompt", prompt=samples.GOAL)

    host.call("stop")

    (note,) = notes_of(shelf_directory, project)
    assert note.content.startswith(f"Goal: {samples.GOAL}")
    assert "the transcript of claude-code: its format is unknown" in logged(shelf_directory)


def test_a_line_that_is_cut_does_not_cost_the_others(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = claude(home, project, shelf_directory)
    path = Path(host.sent["transcript_path"])
    path.write_text('{"type": "user", "mess\n' + path.read_text()[:-20])

    host.call("stop")

    assert "Commits: 3f2a91c" in notes_of(shelf_directory, project)[0].content


def test_of_a_huge_transcript_the_beginning_and_the_end_are_read(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = claude(home, project, shelf_directory)
    path = Path(host.sent["transcript_path"])
    filler = samples.lines([{"type": "progress", "data": "x" * 10_000}])
    entries = path.read_text().splitlines(keepends=True)
    times = (HEAD_BYTES + 2 * TAIL_BYTES) // len(filler)
    path.write_text("".join([*entries[:6], filler * times, *entries[6:]]))

    host.call("stop")

    (note,) = notes_of(shelf_directory, project)
    assert note.content.startswith(f"Goal: {samples.GOAL}")
    assert samples.REPLY in note.content


def test_a_path_outside_of_the_hosts_folder_is_not_read(
    tmp_path: Path, home: Path, project: Path, shelf_directory: Path
) -> None:
    host = claude(home, project, shelf_directory)
    inside = Path(host.sent["transcript_path"])
    outside = tmp_path / "elsewhere.jsonl"
    inside.rename(outside)
    inside.symlink_to(outside)

    host.call("stop")
    host.sent["transcript_path"] = str(outside)
    host.call("pre-compact")

    assert notes_of(shelf_directory, project) == []
    assert logged(shelf_directory).count("it lies in no folder of a known host") == 2
    assert "UUID" not in logged(shelf_directory)


def test_one_setting_turns_it_off(home: Path, project: Path, shelf_directory: Path) -> None:
    shelf_directory.mkdir()
    (shelf_directory / "config.toml").write_text("session_notes = 0\n")
    host = claude(home, project, shelf_directory)

    host.call("pre-compact")
    host.call("stop")

    assert notes_of(shelf_directory, project) == []


def test_it_can_be_undone_but_is_not_what_undo_takes_back_first(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        shelf.remember("project", "deploy", "make deploy")
    claude(home, project, shelf_directory).call("stop")
    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        kept = shelf.history()[0]
        undone = shelf.undo()
        shelf.undo(kept.revision)

        assert kept.changes.action == "keep_session"
        assert undone.changes.action == "remember"
        assert list(shelf.sessions()) == []


def test_after_a_purge_what_was_said_before_is_not_noted_again(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    host = claude(home, project, shelf_directory)
    host.call("stop")
    with NuggetShelf(shelf_directory, project=str(project / ".git")) as shelf:
        later = "2026-03-04T23:30:00Z"  # the same day: the conversation may have stated it
        note = shelf.create_note("project", "Orders", "Orders have UUIDs", created_at=later)
        shelf.purge(note.id)
        assert list(shelf.sessions()) == []

    host.call("pre-compact")
    Host("codex", home, project, shelf_directory, "codex-1").call("session-start")

    assert notes_of(shelf_directory, project) == []


def test_old_sessions_are_dropped_when_a_new_one_is_noted(
    home: Path, project: Path, shelf_directory: Path
) -> None:
    claude(home, project, shelf_directory, "old").call("stop")
    new = Host("pi", home, project, shelf_directory, "new")
    new.days = "90"
    new.call("user-prompt", prompt="Write the handbook for the warehouse")
    new.call("stop")

    (note,) = notes_of(shelf_directory, project)
    assert "handbook" in note.title
    assert note.links == ()


def test_the_command_shows_also_what_no_stop_has_noted(
    nuggets: Nuggets, home: Path, project: Path, shelf_directory: Path
) -> None:
    host = Host("cursor", home, project, shelf_directory, "s")
    host.call("user-prompt", prompt=samples.GOAL)
    host.call("stop")
    host.call("user-prompt", prompt="Then document the rollback in the handbook")

    listed = nuggets("--dir", str(shelf_directory), "sessions", "list", "--all", "--json").json

    assert ["handbook" in note["content"] for note in listed] == [True]


def test_the_command_lists_shows_and_searches(
    nuggets: Nuggets, home: Path, project: Path, shelf_directory: Path
) -> None:
    at = ("--dir", str(shelf_directory))
    none_yet = nuggets(*at, "sessions")
    claude(home, project, shelf_directory).call("stop")

    listed = nuggets(*at, "sessions", "--all")
    (as_json,) = nuggets(*at, "sessions", "list", "--all", "--json").json
    shown = nuggets(*at, "sessions", "show", as_json["id"])
    found = nuggets(*at, "sessions", "search", "--all", "uuid", "orders")
    not_found = nuggets(*at, "sessions", "search", "--all", "kubernetes")
    last_here = nuggets(*at, "sessions", "show")

    assert none_yet.lines[0].startswith("There is no note of a session in this project yet")
    assert "claude-code" in listed.lines[1]
    assert last_here.code == 1
    assert "Migrate the orders table" in listed.lines[1]
    assert as_json["nuggetName"] == "sessions"
    assert f"Goal: {samples.GOAL}" in shown.lines
    assert "Migrate the orders table" in found.lines[0]
    assert not_found.lines == ["Nothing found."]
