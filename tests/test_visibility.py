"""Whose memories a project sees, which come first, and when two facts are the same one."""

from nuggets import NuggetShelf
from nuggets.domain.names_and_tags import identity, identity_of
from nuggets.domain.state import MemoryNotes, facts_with_key
from nuggets.domain.visibility import (
    first_in_precedence,
    is_foreign,
    may_be_linked,
    precedence,
    visible_projects,
)
from store_samples import note

HERE, THERE = "/src/shop", "/src/blog"
OWN, SHARED, OTHER = (note(n, project=p) for n, p in enumerate((HERE, "", THERE), 1))


def test_a_project_sees_its_own_memories_and_those_of_none() -> None:
    assert [is_foreign(one, HERE) for one in (OWN, SHARED, OTHER)] == [False, False, True]
    assert set(visible_projects(HERE)) == {HERE, ""}


def test_outside_of_any_project_all_projects_are_foreign() -> None:
    assert [is_foreign(one, "") for one in (OWN, SHARED, OTHER)] == [True, False, True]


def test_own_memories_come_before_those_of_none_and_those_before_others() -> None:
    ordered = sorted((OTHER, SHARED, OWN), key=lambda one: precedence(one, HERE))
    assert ordered == [OWN, SHARED, OTHER]
    assert first_in_precedence([OTHER, SHARED, OWN], HERE) == [OWN]
    assert first_in_precedence([OTHER, SHARED], HERE) == [SHARED]
    assert first_in_precedence([OTHER], HERE) == [OTHER]
    assert first_in_precedence([], HERE) == []


def test_links_do_not_cross_projects() -> None:
    assert may_be_linked(OWN, OWN)
    assert may_be_linked(OWN, SHARED)
    assert may_be_linked(SHARED, OTHER)
    assert not may_be_linked(OWN, OTHER)


def test_facts_are_the_same_by_nugget_key_and_project_in_whatever_case() -> None:
    fact = note(1, kind="fact", nugget_name="Work", title="Test Cmd", project=HERE)
    assert identity_of(fact) == identity("work", "test cmd", HERE)
    assert identity_of(fact) != identity("work", "test cmd", THERE)
    assert identity_of(fact) != identity("home", "test cmd", HERE)
    assert identity_of(fact) != identity("work", "test  cmd", HERE)


def test_facts_with_a_key_are_of_every_project_and_no_notes() -> None:
    facts = [note(n, kind="fact", title="Key", project=p) for n, p in enumerate((HERE, THERE), 1)]
    others = [note(3, kind="note", title="key"), note(4, kind="fact", title="key two")]
    notes = MemoryNotes({one.id: one for one in (*facts, *others)})
    assert facts_with_key(notes, facts[0].nugget_name, "KEY") == facts


def test_every_reader_prefers_the_projects_own_memories() -> None:
    """Recall, names, search and a change of a fact agree on which of two comes first."""
    with NuggetShelf("memory:", project=HERE) as shelf:
        for project, value in ((THERE, "theirs"), ("", "shared"), (HERE, "ours")):
            shelf.remember("work", "deploy target", value, project=project)
        assert shelf.recall("deploy target").answer == "ours"
        assert shelf.get_note("deploy target").content == "ours"
        found = [result.note.content for result in shelf.search_notes("deploy target")]
        assert found[-1] == "theirs"
        assert {one.content for one in shelf.notes_titled("deploy target")} == {"ours", "shared"}
        assert {one.content for one in shelf.leading_notes()} == {"ours", "shared"}
        changed = shelf.remember("work", "deploy target", "new")
        assert (changed.project, changed.content) == (HERE, "new")
