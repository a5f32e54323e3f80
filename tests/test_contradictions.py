"""A write that contradicts a memory says so, marks both, and waits for nobody."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nuggets import NuggetShelf
from nuggets.language.equivalence_and_contradiction import deny_each_other
from nuggets.operations.lookups_before_write import may_state_rule
from nuggets.operations.permissions import AGENT, HOOK

PAIRS = Path(__file__).parents[1] / "benchmarks" / "data" / "contradictions.txt"


@pytest.fixture
def shelf() -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project="") as shelf:
        yield shelf


def other_contents(shelf: NuggetShelf, text: str) -> list[str]:
    return [note.content for note in shelf.create_note("rules", text, text).contradicts]


def test_labelled_pairs_are_judged_with_precision_and_recall() -> None:
    pairs = [line.split(" | ") for line in PAIRS.read_text().splitlines() if " | " in line]
    assert len(pairs) > 240
    judged = [(label == "contradict", deny_each_other(a, b)) for label, a, b in pairs]
    right = sum(label and verdict for label, verdict in judged)
    assert right / sum(verdict for _, verdict in judged) >= 0.95
    assert right / sum(label for label, _ in judged) >= 0.9


def test_both_stand_and_are_marked(shelf: NuggetShelf) -> None:
    old = shelf.create_note("rules", "Indentation", "Prefer tabs over spaces")
    new = shelf.create_note("rules", "White space", "Prefer spaces over tabs")
    assert [other.id for other in new.contradicts] == [old.id]
    assert [link.reason for link in new.links] == ["contradicts"]
    kept = shelf.get_note(old.id, session=None)
    assert not kept.hidden
    assert shelf.caveats(kept) == [f"contradicts {new.id}"]
    assert shelf.caveats(new) == [f"contradicts {old.id}"]


def test_a_fact_contradicts_a_note(shelf: NuggetShelf) -> None:
    shelf.create_note("rules", "Telemetry", "Telemetry must be on")
    fact = shelf.remember("project", "telemetry", "must be off")
    assert [other.title for other in fact.contradicts] == ["Telemetry"]


def test_the_same_key_supersedes_instead(shelf: NuggetShelf) -> None:
    shelf.remember("prefs", "quotes", "use single quotes, not double quotes")
    fact = shelf.remember("prefs", "quotes", "use double quotes, not single quotes")
    assert fact.contradicts == ()
    assert len(shelf.versions("quotes")) == 2


def test_what_is_superseded_is_no_contradiction_any_more(shelf: NuggetShelf) -> None:
    old = shelf.create_note("rules", "Use npm", "Use npm, not pnpm")
    new = shelf.create_note("rules", "Use pnpm", "Use pnpm, not npm")
    settled = shelf.edit_note(new.id, supersedes=old.id)
    assert [link.reason for link in settled.links] == ["supersedes"]
    assert shelf.caveats(settled) == []
    assert not [finding for finding in shelf.audit() if finding.kind == "contradiction"]


def test_what_a_person_unlinked_is_not_marked_again(shelf: NuggetShelf) -> None:
    old = shelf.create_note("rules", "Mail", "Always deploy on Fridays")
    new = shelf.create_note("rules", "Deploys", "Never deploy on Fridays")
    shelf.remove_link(new.id, old.id)
    assert shelf.edit_note(new.id, "Never deploy on Fridays!").contradicts == ()
    assert not [finding for finding in shelf.audit() if finding.kind == "contradiction"]


def test_a_new_text_takes_the_mark_away(shelf: NuggetShelf) -> None:
    old = shelf.create_note("rules", "Mail", "Always deploy on Fridays")
    new = shelf.create_note("rules", "Deploys", "Never deploy on Fridays")
    assert shelf.edit_note(new.id, "Deploys take ten minutes").links == ()
    assert shelf.get_note(old.id, session=None).links == ()


def test_an_archived_rule_contradicts_nothing(shelf: NuggetShelf) -> None:
    old = shelf.create_note("rules", "Mail", "Always deploy on Fridays")
    new = shelf.create_note("rules", "Deploys", "Never deploy on Fridays")
    shelf.delete_note(old.id)
    assert shelf.caveats(shelf.get_note(new.id, session=None)) == []
    assert other_contents(shelf, "Do not deploy on Fridays") == []


def test_rules_of_two_projects_do_not_contradict_each_other(shelf: NuggetShelf) -> None:
    shelf.create_note("rules", "Mail", "Always deploy on Fridays", project="/one/.git")
    other = shelf.create_note("rules", "Deploys", "Never deploy on Fridays", project="/two/.git")
    assert other.contradicts == ()


def test_the_audit_finds_contradictions_that_a_batch_wrote(shelf: NuggetShelf) -> None:
    with shelf.batch():
        old = shelf.create_note("rules", "One", "Enable strict mode")
        new = shelf.create_note("rules", "Two", "Do not enable strict mode")
        shelf.create_note("rules", "Three", "Enable strict mode in mypy")
    (finding,) = [finding for finding in shelf.audit() if finding.kind == "contradiction"]
    assert finding.note_ids == (old.id, new.id)
    assert f"nuggets note edit {new.id} --supersedes {old.id}" in finding.detail


def test_marks_are_undone_with_the_write(shelf: NuggetShelf) -> None:
    old = shelf.create_note("rules", "One", "Enable strict mode")
    shelf.create_note("rules", "Two", "Do not enable strict mode")
    shelf.undo()
    assert shelf.get_note(old.id, session=None).links == ()


def test_an_agent_is_told_of_every_contradiction() -> None:
    with NuggetShelf("memory:", project="", client=AGENT) as shelf:
        shelf.create_note("rules", "Cookies", "Cookies are not encrypted")
        assert other_contents(shelf, "Cookies are encrypted") == ["Cookies are not encrypted"]


def test_a_long_text_costs_no_search() -> None:
    with NuggetShelf("memory:", project="", client=HOOK) as shelf:
        shelf.create_note("rules", "Mail", "Always deploy on Fridays")
        text = "Never deploy on Fridays. " + "The reason is a long story. " * 100
        assert shelf.create_note("rules", "Deploys", text).contradicts == ()


def test_a_long_account_is_no_rule_though_it_has_words_of_one() -> None:
    rule = "Never deploy on Fridays without a second pair of eyes."

    assert may_state_rule(rule, "Deploys", plain=True)
    assert not may_state_rule(rule * 9, "Deploys", plain=True)
    assert may_state_rule(rule * 9, "Deploys", plain=False)
