"""The daily clean-up and promotion as documented, through the public API."""

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from command_line import Nuggets
from nuggets import (
    PROMOTE_THRESHOLD,
    MemoryNote,
    MemoryScope,
    NuggetShelf,
    ReflectionChange,
    ReflectionResult,
    promote_facts,
    reflect_and_clean_memory,
)
from nuggets.domain.records import MemoryStability
from nuggets.domain.type_check import NoteMeta

NINE = datetime(2026, 1, 31, 9, 0)


def all_notes(shelf: NuggetShelf) -> dict[str, MemoryNote]:
    return {note.id: note for note in shelf.list_notes(include_hidden=True)}


def of_type(result: ReflectionResult, wanted: str) -> list[ReflectionChange]:
    return [change for change in result.changes if change.type == wanted]


def inspected(shelf: NuggetShelf) -> list[str]:
    return [n.title for n in all_notes(shelf).values() if n.last_inspected_at is not None]


def fill_messy(shelf: NuggetShelf) -> NuggetShelf:
    """Something to do for every step."""
    shelf.create_note("n", "Slip of the hand", "x")
    shelf.create_note("n", "Twice", "the same line\nthe same line\nanother")
    shelf.create_note("n", "Copies", "one two three four five six seven eight nine ten")
    shelf.create_note("n", "Copy", "One, two, three, four, five; six, seven, eight, nine, ten!")
    shelf.create_note("n", "Kite shop", "paper, red")
    shelf.create_note("n", "Kite club", "red string")
    return shelf


@pytest.fixture
def messy(shelf: NuggetShelf) -> NuggetShelf:
    return fill_messy(shelf)


# --- the pass as a whole ------------------------------------------------------------------------


def test_a_pass_returns_the_documented_counts(messy: NuggetShelf) -> None:
    result = reflect_and_clean_memory(messy)

    assert ReflectionResult._fields == (
        *("ran_at", "inspected", "rewritten", "merged", "hidden", "tagged", "linked", "changes"),
    )
    assert result.ran_at.startswith("2026-01-31T")
    assert (result.inspected, result.rewritten, result.merged, result.hidden) == (6, 1, 1, 1)
    assert result.tagged > 0
    assert result.linked > 0


def test_counts_and_the_list_of_changes_agree(messy: NuggetShelf) -> None:
    result = messy.reflect()

    count = Counter(change.type for change in result.changes)

    assert count == {
        "rewrite": result.rewritten,
        "merge": result.merged,
        "hide": result.hidden,
        "tag": result.tagged,
        "link": result.linked,
    }


def test_every_change_names_type_nugget_note_and_says_what_it_was(messy: NuggetShelf) -> None:
    notes = all_notes(messy)

    result = messy.reflect()

    assert {change.type for change in result.changes} == {
        *("rewrite", "merge", "hide", "tag", "link"),
    }
    for change in result.changes:
        assert change.nugget_name == "n"
        assert change.note_id in notes
        assert len(change.detail) > 5


def test_the_steps_come_in_the_documented_order(messy: NuggetShelf) -> None:
    result = messy.reflect()

    order = list(dict.fromkeys(change.type for change in result.changes))

    assert order == ["hide", "rewrite", "tag", "merge", "link"]


def test_the_command_gives_the_documented_names(nuggets: Nuggets) -> None:
    nuggets("note", "add", "n", "Slip of the hand", "x")

    result = nuggets("reflect", "--json").json

    assert set(result) >= {
        *("ranAt", "inspected", "rewritten", "merged", "hidden", "tagged", "linked", "changes"),
    }
    assert result["changes"][0].keys() >= {"type", "nuggetName", "noteId", "detail"}


def test_nothing_is_ever_deleted(messy: NuggetShelf) -> None:
    before = all_notes(messy)

    for _ in range(3):
        messy.reflect()

    after = all_notes(messy)
    assert after.keys() == before.keys()
    assert any(note.hidden for note in after.values())


def test_whatever_a_pass_did_can_be_taken_back(messy: NuggetShelf) -> None:
    messy.get_note("Copy", session="s1")
    before = all_notes(messy)
    result = messy.reflect()

    messy.undo()

    assert result.merged == 1
    assert all_notes(messy) == before


def test_one_nugget_can_be_looked_after_alone(shelf: NuggetShelf) -> None:
    shelf.create_note("a", "Slip", "x")
    shelf.create_note("b", "Another slip", "y")

    result = reflect_and_clean_memory(shelf, nugget_name="b")

    assert [(change.nugget_name, change.type) for change in result.changes] == [("b", "hide")]
    assert inspected(shelf) == ["Another slip"]


# --- selection ----------------------------------------------------------------------------------


def crowd(shelf: NuggetShelf, count: int) -> None:
    with shelf.batch():
        for number in range(count):
            shelf.create_note("n", f"Note {number:02}", f"word{number} thing{number}")


def test_at_most_ten_notes_are_inspected(shelf: NuggetShelf) -> None:
    crowd(shelf, 25)

    assert shelf.reflect().inspected == 10


def test_the_environment_sets_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_MAX_NOTES", "4")
    shelf = NuggetShelf("memory:", project="")
    crowd(shelf, 25)

    assert shelf.reflect().inspected == 4
    assert shelf.reflect(limit=7).inspected == 7


def test_a_large_graph_is_done_in_several_passes(shelf: NuggetShelf) -> None:
    crowd(shelf, 25)

    seen = []
    for _ in range(3):
        shelf.reflect()
        seen.append(len(inspected(shelf)))

    assert seen == [10, 20, 25]


@pytest.mark.parametrize("lack", ["age", "tags", "links"])
def test_the_most_needy_note_comes_first(shelf: NuggetShelf, lack: str) -> None:
    born = "2026-01-20T00:00:00.000Z"
    notes = [
        shelf.create_note("n", f"Note {n}", f"word{n} thing{n}", ["own"], created_at=born)
        for n in range(3)
    ]
    shelf.add_link(notes[0].id, notes[1].id, "a")
    shelf.add_link(notes[1].id, notes[2].id, "b")
    if lack == "age":
        old = shelf.create_note("n", "needy", "c d", ["own"], created_at="2024-01-01T00:00:00.000Z")
        shelf.add_link(old.id, notes[0].id, "c")
    elif lack == "tags":
        bare = shelf.create_note("n", "needy", "c d", created_at=born)
        shelf.add_link(bare.id, notes[0].id, "c")
    else:
        shelf.create_note("n", "needy", "c d", ["own"], created_at=born)

    shelf.reflect(limit=1)

    assert inspected(shelf) == ["needy"]


# --- archiving ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "content", "hidden"),
    [
        ("Empty", "", True),
        ("Short", "ok", True),
        ("Three", "yes", False),
        ("tmp branch", "some words", True),
    ],
)
def test_low_value_notes_are_archived(
    shelf: NuggetShelf, title: str, content: str, hidden: bool
) -> None:
    note = shelf.create_note("n", title, content)

    result = shelf.reflect()
    after = all_notes(shelf)[note.id]

    assert after.hidden is hidden
    assert (after.archived_at is not None) is hidden
    assert result.hidden == int(hidden)


@pytest.mark.parametrize(
    ("title", "stability", "hidden"),
    [
        ("tmp branch", None, True),
        ("Scratch: pad", None, True),
        ("tmp branch", "durable", False),
        ("Temp credentials for staging", None, True),
        ("Temp credentials for staging", "durable", False),
        ("Template engine", None, False),
        ("Temperature", None, False),
    ],
)
def test_a_title_that_says_temporary_is_archived_unless_someone_said_durable(
    directory: Path, title: str, stability: MemoryStability | None, hidden: bool
) -> None:
    with NuggetShelf(directory, project="") as shelf:
        note = shelf.create_note("n", title, "some words", stability=stability)
    with NuggetShelf(directory, project="") as shelf:
        shelf.reflect()

        assert all_notes(shelf)[note.id].hidden is hidden


def test_that_someone_said_durable_is_known_in_the_files_and_after_an_undo(
    directory: Path, tmp_path: Path
) -> None:
    with NuggetShelf(directory, project="") as shelf:
        note = shelf.create_note("n", "Temp unit", "celsius")
        shelf.edit_note(note.id, stability="durable")
        shelf.edit_note(note.id, content="kelvin")
        shelf.undo()
        assert shelf.get_note(note.id).stability_given
    (tmp_path / "other" / "graph").mkdir(parents=True)
    copy = tmp_path / "other" / "graph" / "graph.json"
    copy.write_bytes((directory / "graph" / "graph.json").read_bytes())
    with NuggetShelf(tmp_path / "other", project="") as shelf:
        shelf.reflect()
        assert not shelf.get_note("Temp unit").hidden


def test_a_restored_memory_is_not_archived_again(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "tmp branch", "some words")
    shelf.reflect()
    shelf.restore_note(note.id)

    assert shelf.reflect().hidden == 0


def test_an_expired_memory_is_archived_and_said() -> None:
    times = ["2026-01-31T09:00:00.000Z"]
    shelf = NuggetShelf("memory:", project="", clock=lambda: times[-1])
    note = shelf.create_note("n", "Sale", "Ten percent off", valid_until="2026-02-03")
    assert shelf.reflect().hidden == 0
    times.append("2026-02-08T09:00:00.000Z")

    [change] = of_type(shelf.reflect(), "hide")

    assert (change.note_id, "valid until 2026-02-03" in change.detail) == (note.id, True)


def test_what_was_recalled_is_not_of_low_value(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Short", "ok")
    shelf.get_note(note.id, session="s1")

    shelf.reflect()

    assert not all_notes(shelf)[note.id].hidden


def test_a_fact_whose_key_says_temporary_is_archived_unless_recalled_or_said_durable(
    shelf: NuggetShelf,
) -> None:
    shelf.remember("prefs", "temp unit", "celsius", stability="durable")
    shelf.remember("prefs", "temp folder", "/var/cache")
    shelf.remember("prefs", "scratch disk", "/scratch")
    shelf.recall("temp folder", session="s1")

    assert shelf.reflect().hidden == 1

    assert shelf.recall("temp unit").answer == "celsius"
    assert shelf.recall("temp folder").answer == "/var/cache"
    assert not shelf.recall("scratch disk").found


def test_a_short_fact_is_no_rubbish(shelf: NuggetShelf) -> None:
    shelf.remember("n", "port", "80")

    shelf.reflect()

    assert shelf.recall("port").answer == "80"


def test_an_archived_note_stays_in_the_file_and_is_recovered_by_showing_it(
    directory: Path,
) -> None:
    with NuggetShelf(directory, project="") as shelf:
        note = shelf.create_note("n", "Slip of the hand", "x")
        shelf.reflect()
    [kept] = json.loads((directory / "graph" / "graph.json").read_text())["notes"]
    again = NuggetShelf(directory, project="").edit_note(note.id, hidden=False)

    assert kept["hidden"] is True
    assert kept["archivedAt"]
    assert (again.hidden, again.archived_at, again.content) == (False, None, "x")


# --- rewriting ----------------------------------------------------------------------------------


def test_blanks_empty_stretches_and_repeated_lines_go(directory: Path) -> None:
    with NuggetShelf(directory, project="") as shelf:
        note = shelf.create_note("n", "Steps", "first step")
    path = directory / "graph" / "graph.json"
    again = "ask Ada before you deploy"
    said = (
        f"first step   \\n\\n\\n\\nsecond step\\nsecond step\\n{again}\\n{again} \\nthird\\n{again}"
    )
    path.write_text(path.read_text().replace('"first step"', f'"{said}"'))

    with NuggetShelf(directory, project="") as shelf:
        shelf.reflect()
        after = shelf.get_note(note.id)

    assert after.content == f"first step\n\nsecond step\n{again}\nthird"
    assert after.last_rewritten_at is not None


def test_only_a_note_that_changed_was_rewritten(shelf: NuggetShelf) -> None:
    tidy = shelf.create_note("n", "Tidy", "one line\nanother line")
    untidy = shelf.create_note("n", "Untidy", "one thing\none thing")

    result = shelf.reflect()

    assert [change.note_id for change in of_type(result, "rewrite")] == [untidy.id]
    assert shelf.get_note(tidy.id).last_rewritten_at is None
    assert shelf.get_note(untidy.id).last_rewritten_at == result.ran_at


def test_repeated_lines_stay_where_they_mean_something(shelf: NuggetShelf) -> None:
    code = "Try it:\n\n```\nstep()\nstep()\n```"
    steps = "1. Press it\n2. Wait\n\nFor long:\n\n1. Press it\n2. Hold"
    note = shelf.create_note("n", "Code", code)
    restart = shelf.create_note("n", "Restart", steps)
    shelf.remember("n", "countdown", "three\nthree\ntwo")

    shelf.reflect()

    assert shelf.get_note(note.id).content == code
    assert shelf.get_note(restart.id).content == steps
    assert shelf.recall("countdown").answer == "three\nthree\ntwo"


@pytest.mark.parametrize(
    "content",
    [
        "Q: May guests post?\nA: Only members may do so.\nQ: Edit?\nA: Only members may do so.",
        "Can guests post?\nNo, only members can.\n\nCan guests edit?\nNo, only members can.",
        "Server: alpha\nState: runs in the cellar\nServer: beta\nState: runs in the cellar",
        "- **Host:** a\n- **State:** in the cellar\n- **Host:** b\n- **State:** in the cellar",
        "Name: Ada\nReports to the head of sales\nName: Bo\nReports to the head of sales",
    ],
)
def test_answers_and_fields_of_records_may_repeat(shelf: NuggetShelf, content: str) -> None:
    note = shelf.create_note("n", "Members", content)

    shelf.reflect()

    assert shelf.get_note(note.id).content == content


# --- tags ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "tag"),
    [
        ("The handler is in src/auth/middleware.ts today.", "files"),
        ("She prefers tabs over spaces.", "preferences"),
        ("Reflection: we planned too little.", "reflection"),
        ("The handler is elsewhere, and so is the handler of errors.", "handler"),
    ],
)
def test_tags_follow_from_the_content(shelf: NuggetShelf, content: str, tag: str) -> None:
    note = shelf.create_note("n", "Gateway", content)

    result = shelf.reflect()
    after = shelf.get_note(note.id)

    assert tag in after.tags
    assert {"gateway", f"scope:{note.scope}", f"type:{note.type}", "n"} <= set(after.tags)
    assert [change.note_id for change in of_type(result, "tag")] == [note.id]


def test_a_pass_never_drops_a_persons_tag_and_a_second_changes_nothing(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Something", "The handler is elsewhere.", ["mine", "own words"])
    shelf.reflect()
    once = shelf.get_note(note.id)

    again = shelf.reflect()

    assert {"mine", "own-words"} <= set(once.tags)
    assert again.changes == ()
    assert shelf.get_note(note.id).tags == once.tags


# --- merging ------------------------------------------------------------------------------------

TWENTY = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
EIGHTEEN = TWENTY + "sixteen seventeen eighteen"


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        (EIGHTEEN, f"{EIGHTEEN} nineteen twenty", 1),  # 18 of 20: exactly 90 %
        (EIGHTEEN, f"{EIGHTEEN} nineteen twenty twentyone", 0),  # 18 of 21
        (EIGHTEEN, EIGHTEEN.upper(), 1),
        (EIGHTEEN, "something else entirely", 0),
    ],
    ids=["90 percent", "less", "equal", "different"],
)
def test_notes_that_share_90_percent_of_their_tokens_become_one(
    shelf: NuggetShelf, one: str, other: str, merged: int
) -> None:
    shelf.create_note("n", "Counting", one)
    shelf.create_note("n", "Counting up", other)

    assert shelf.reflect().merged == merged


def test_the_shorter_goes_into_the_longer_and_points_to_it(shelf: NuggetShelf) -> None:
    shorter = shelf.create_note("n", "Counting", EIGHTEEN)
    longer = shelf.create_note("n", "Counting up", f"{EIGHTEEN} nineteen")

    shelf.reflect()

    gone, kept = all_notes(shelf)[shorter.id], all_notes(shelf)[longer.id]
    assert (gone.hidden, kept.hidden) == (True, False)
    assert gone.archived_at is not None
    assert [link.to for link in gone.links] == [longer.id]


@pytest.mark.parametrize(
    "different",
    [
        {"subject": "team:a"},
        {"scope": "shared", "subject": "user:primary"},
        {"type": "style"},
        {"nugget": "other"},
    ],
    ids=lambda different: next(iter(different)),
)
def test_what_differs_in_owner_or_kind_is_not_merged(
    shelf: NuggetShelf, different: dict[str, Any]
) -> None:
    shelf.create_note("n", "Counting", EIGHTEEN)
    shelf.create_note(different.pop("nugget", "n"), "Counting", EIGHTEEN, **different)

    assert shelf.reflect().merged == 0


def test_the_title_of_a_note_that_was_merged_away_still_finds_what_it_said(
    shelf: NuggetShelf,
) -> None:
    kept = shelf.create_note("n", "Refunds", "Ask Maria on Slack first")
    gone = shelf.create_note("n", "Invoices and refunds", "Ask Maria on Slack first")

    assert shelf.reflect().merged == 1

    assert shelf.get_note("Invoices and refunds").id == kept.id
    assert shelf.search_notes("invoices and refunds")[0].note.id == kept.id
    assert shelf.edit_note("Invoices and refunds", content="Ask Ada").id == kept.id
    assert shelf.get_note(gone.id).hidden
    shelf.restore_note("Invoices and refunds")
    assert shelf.get_note("Invoices and refunds").id == gone.id


def test_equal_facts_are_linked_and_keep_answering(shelf: NuggetShelf) -> None:
    shelf.remember("n", "staging database", "postgres on db7.example")
    shelf.remember("n", "reporting database", "postgres on db7.example")

    result = shelf.reflect()

    assert (result.merged, result.linked) == (0, 1)
    assert shelf.recall("staging database").answer == "postgres on db7.example"
    assert shelf.recall("reporting database").answer == "postgres on db7.example"


# --- linking ------------------------------------------------------------------------------------


def test_notes_with_two_words_in_common_are_linked_both_ways(shelf: NuggetShelf) -> None:
    one = shelf.create_note("n", "Kite shop", "The red one costs ten euros")
    other = shelf.create_note("n", "Kite club", "We mostly fly a red one")
    lonely = shelf.create_note("n", "Barn", "An old red building")

    result = shelf.reflect()

    after = all_notes(shelf)
    [there], [back] = after[one.id].links, after[other.id].links
    assert (there.to, back.to) == (other.id, one.id)
    assert there.reason == back.reason
    assert there.reason in ("shared context: kite, red", "shared context: red, kite")
    assert after[lonely.id].links == ()
    assert result.linked == 1


@pytest.mark.parametrize("different", [{"subject": "team:a"}, {"nugget": "other"}], ids=str)
def test_other_nuggets_and_incompatible_subjects_are_not_linked(
    shelf: NuggetShelf, different: dict[str, str]
) -> None:
    shelf.create_note("n", "Shop", "The red kite costs ten euros", subject="team:b")
    nugget = different.get("nugget", "n")
    subject = different.get("subject", "team:b")
    shelf.create_note(nugget, "Club", "We fly a kite, mostly red", subject=subject)

    assert shelf.reflect().linked == 0


def test_a_note_with_two_links_gets_no_more(shelf: NuggetShelf) -> None:
    notes = [
        shelf.create_note("n", f"Kite {n}", f"string number{n}, red", ["own"]) for n in range(4)
    ]
    for other in notes[1:3]:
        shelf.add_link(notes[0].id, other.id, "by hand")
    shelf.add_link(notes[1].id, notes[2].id, "by hand")

    result = shelf.reflect()

    by_hand = {notes[0].id, notes[1].id, notes[2].id}
    assert not by_hand & {change.note_id for change in of_type(result, "link")}
    assert len(all_notes(shelf)[notes[3].id].links) == 2


# --- when it runs -------------------------------------------------------------------------------


def test_it_runs_at_nine_once_a_day(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "Slip of the hand", "x")

    early, run, again = (
        shelf.run_daily(NINE + timedelta(minutes=minutes)) for minutes in (-1, 0, 30)
    )
    tomorrow = shelf.run_daily(NINE + timedelta(days=1))

    assert early is None
    assert run is not None
    assert run.result.hidden == 1
    assert again is None
    assert tomorrow is not None


def test_the_environment_sets_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "14")
    monkeypatch.setenv("MEMORY_REFLECTION_MINUTE", "45")
    shelf = NuggetShelf("memory:", project="")

    assert shelf.run_daily(NINE.replace(hour=14, minute=44)) is None
    assert shelf.run_daily(NINE.replace(hour=14, minute=45)) is not None


@pytest.mark.parametrize(("hour", "runs"), [(7, False), (13, True), (21, True), (23, False)])
def test_a_missed_run_is_caught_up_in_waking_hours(
    shelf: NuggetShelf, hour: int, runs: bool
) -> None:
    assert (shelf.run_daily(NINE.replace(hour=hour)) is not None) is runs


def test_a_run_is_silent_and_recorded(
    messy: NuggetShelf, capfd: pytest.CaptureFixture[str]
) -> None:
    run = messy.run_daily(NINE)

    assert capfd.readouterr() == ("", "")
    assert run is not None
    recorded = messy.last_run()
    assert recorded is not None
    assert (recorded.date, recorded.result.merged) == ("2026-01-31", 1)


# --- promotion ----------------------------------------------------------------------------------


def recalled(shelf: NuggetShelf, name: str, sessions: int = PROMOTE_THRESHOLD) -> None:
    for number in range(sessions):
        shelf.get_note(name, session=f"s{number}")


def test_the_threshold_is_three() -> None:
    assert PROMOTE_THRESHOLD == 3


def test_the_documented_file_is_written_to_the_letter(directory: Path) -> None:
    memory = directory / "MEMORY.md"
    shelf = NuggetShelf("memory:", project="")
    shelf.create_note(
        "learnings",
        "JWT token format",
        "Tokens use RS256 signing. Public key is at src/auth/keys/public.pem.",
    )
    shelf.remember("n", "style preference", "2-space indent, no semicolons")
    recalled(shelf, "JWT token format")
    recalled(shelf, "style preference")

    promoted = promote_facts(shelf, str(memory))

    assert promoted == 2
    assert memory.read_text() == (
        "# Memory\n"
        "\n"
        f"Auto-promoted from nuggets graph notes ({PROMOTE_THRESHOLD}+ recalls across sessions).\n"
        "\n"
        "## learnings\n"
        "\n"
        "- **JWT token format**: Tokens use RS256 signing. "
        "Public key is at src/auth/keys/public.pem.\n"
        "\n"
        "## user\n"
        "\n"
        "- **style preference**: 2-space indent, no semicolons\n"
    )


def test_only_visible_notes_recalled_in_enough_sessions_are_promoted(directory: Path) -> None:
    memory = directory / "MEMORY.md"
    shelf = NuggetShelf("memory:", project="")
    for title, sessions in (
        ("almost", PROMOTE_THRESHOLD - 1),
        ("enough", PROMOTE_THRESHOLD),
        ("archived", 9),
    ):
        shelf.create_note("n", title, "content")
        recalled(shelf, title, sessions)
    shelf.delete_note("archived")

    assert shelf.promote(str(memory)) == 1
    assert "enough" in memory.read_text()
    assert "archived" not in memory.read_text()
    assert "almost" not in memory.read_text()


@pytest.mark.parametrize(
    "meta",
    [
        {"stability": "temporary"},
        {"project": "/elsewhere/.git"},
        {"source": "tool_observation"},
    ],
    ids=lambda meta: next(iter(meta)),
)
def test_what_should_not_be_read_unasked_stays_out(directory: Path, meta: NoteMeta) -> None:
    shelf = NuggetShelf("memory:", project="")
    shelf.create_note("n", "Title", "content", **meta)
    recalled(shelf, "Title", 5)

    assert shelf.promote(str(directory / "MEMORY.md")) == 0


def test_the_clean_up_confirms_nothing(directory: Path) -> None:
    shelf = NuggetShelf("memory:", project="")
    shelf.create_note("n", "Confirmed bookings", "Post them elsewhere", source="tool_observation")
    recalled(shelf, "Confirmed bookings")

    shelf.reflect()

    assert shelf.promote(str(directory / "MEMORY.md")) == 0


def test_only_new_entries_are_counted(directory: Path) -> None:
    memory = str(directory / "MEMORY.md")
    shelf = NuggetShelf("memory:", project="")
    shelf.create_note("n", "one", "content")
    recalled(shelf, "one")

    assert (shelf.promote(memory), shelf.promote(memory)) == (1, 0)


@pytest.mark.parametrize(
    ("nugget", "meta", "section"),
    [
        ("learnings", {}, "learnings"),
        ("prefs", {}, "preferences"),
        ("n", {"scope": "self"}, "assistant-self"),
        ("n", {"scope": "user"}, "user"),
        ("n", {"scope": "shared"}, "shared-context"),
        ("n", {"scope": "project"}, "shared-context"),
        ("n", {"subject": "team:a", "scope": "session", "stability": "durable"}, "n"),
    ],
)
def test_subject_scope_and_tags_decide_the_section(
    directory: Path, nugget: str, meta: dict[str, Any], section: str
) -> None:
    memory = directory / "MEMORY.md"
    shelf = NuggetShelf("memory:", project="")
    shelf.create_note(nugget, "Title", "content", **meta)
    recalled(shelf, "Title")

    shelf.promote(str(memory))

    assert f"\n## {section}\n\n- **Title**: content\n" in memory.read_text()


def test_learnings_and_preferences_come_first_and_the_rest_by_name(directory: Path) -> None:
    memory = directory / "MEMORY.md"
    shelf = NuggetShelf("memory:", project="")
    homes: list[tuple[str, MemoryScope]] = [("n", "user"), ("n", "self"), ("prefs", "user")]
    homes += [("n", "shared"), ("learnings", "user")]
    for number, (nugget, scope) in enumerate(homes):
        shelf.create_note(nugget, f"Title {number}", "content", scope=scope)
        recalled(shelf, f"Title {number}")

    shelf.promote(str(memory))

    headings = [line[3:] for line in memory.read_text().splitlines() if line.startswith("## ")]
    assert headings == ["learnings", "preferences", "assistant-self", "shared-context", "user"]


def test_no_unfinished_memory_file_is_left(directory: Path) -> None:
    shelf = NuggetShelf("memory:", project="")
    shelf.create_note("n", "Title", "content")
    recalled(shelf, "Title")

    shelf.promote(str(directory / "MEMORY.md"))

    assert [path.name for path in directory.iterdir()] == ["MEMORY.md"]


def test_promotion_runs_with_the_daily_pass(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", str(directory / "MEMORY.md"))
    shelf = NuggetShelf("memory:", project="")
    shelf.create_note("n", "Title", "content")
    recalled(shelf, "Title")

    run = shelf.run_daily(NINE)

    assert run is not None
    assert (run.result.inspected, run.promoted) == (1, 1)


def test_the_documented_manual_call_runs(directory: Path) -> None:
    messy = fill_messy(NuggetShelf(directory, project=""))
    recalled(messy, "Kite shop")

    result = reflect_and_clean_memory(messy)
    promoted = promote_facts(messy)

    assert f"{result.inspected} {result.merged} {result.hidden} {promoted}" == "6 1 1 1"


def test_the_pi_extension_offers_the_clean_up_as_a_tool() -> None:
    text = (Path(__file__).parent.parent / ".pi" / "extensions" / "proactive.ts").read_text()

    tool = text.partition('name: "reflectAndCleanMemory"')[2]

    assert '["reflect", "--json"]' in tool
    assert "limit" in tool
