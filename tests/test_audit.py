"""The audit points at what is worth a look, and at nothing else."""

import pytest

from nuggets import NuggetShelf
from nuggets.settings import load

FAR = "2020-01-01T00:00:00.000Z"


def kinds(shelf: NuggetShelf) -> list[str]:
    return [finding.kind for finding in shelf.audit() if finding.kind != "reflection"]


def test_a_healthy_shelf_has_no_findings(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "8080")

    assert kinds(shelf) == []


def test_facts_that_disagree_are_found(shelf: NuggetShelf) -> None:
    shelf.remember("backend", "port", "8080")
    shelf.remember("frontend", "user: Port", "3000")
    finding = next(f for f in shelf.audit() if f.kind == "contradiction")

    assert len(finding.note_ids) == 2
    assert "8080" in finding.detail
    assert "3000" in finding.detail


def test_facts_that_agree_are_no_contradiction(shelf: NuggetShelf) -> None:
    shelf.remember("backend", "port", "8080")
    shelf.remember("frontend", "port", "8080")

    assert kinds(shelf) == []


def test_the_same_text_twice_is_found(shelf: NuggetShelf) -> None:
    a = shelf.create_note("one", "First", "The gateway retries three times.")
    b = shelf.create_note("two", "Second", "The gateway  retries three times.")
    shelf.add_link(a.id, b.id)

    assert kinds(shelf) == ["duplicate"]


def test_a_credential_is_found_and_named_not_shown(shelf: NuggetShelf) -> None:
    token = "ghp_" + "a1B2" * 9
    shelf.remember("project", "deploy", f"use {token}")
    finding = next(f for f in shelf.audit() if f.kind == "secret")

    assert "token ghp_…" in finding.detail
    assert token not in finding.detail


def test_old_memories_that_nobody_asked_for_are_counted(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Old", "Long ago.", created_at=FAR)
    detail = next(f.detail for f in shelf.audit() if f.kind == "never recalled")

    assert detail == "never recalled and older than 30 days: 1"


def test_it_says_what_the_next_clean_up_would_do(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Auth", "Twice.\nTwice.")

    assert any("rewrite" in f.detail for f in shelf.audit() if f.kind == "reflection")


@pytest.mark.parametrize("most", [2, 15])
def test_it_tells_what_the_next_clean_up_would_do_by_its_settings(most: int) -> None:
    settings = load({"MEMORY_REFLECTION_MAX_NOTES": str(most)}, {"dir": "memory:"})
    shelf = NuggetShelf("memory:", project="", settings=settings)
    for number in range(20):
        shelf.create_note(
            "n", f"Server {number}", f"the server {number} listens on port 80{number}"
        )
    told = [finding.note_ids[0] for finding in shelf.audit() if finding.kind == "reflection"]

    assert told == [change.note_id for change in shelf.reflect(dry_run=True).changes]
    assert len(set(told)) >= most
