"""The shelf of a member: scope says where a memory is kept, and nobody sees what is another's."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from nuggets import GraphNoteMetaInput, NuggetShelf
from nuggets.domain.records import Member, MemoryScope, Role
from nuggets.errors import Conflict, InvalidInput, NotAllowed, NotFound
from nuggets.interfaces.request_shelf import Team
from nuggets.operations.operation_table import OPERATIONS, Refused
from nuggets.operations.permissions import AGENT, name_agent
from nuggets.operations.session_notes import SessionRecord
from nuggets.shelf.member_shelf import MemberShelf

Open = Callable[..., MemberShelf]


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with NuggetShelf(tmp_path / "team") as shelf:
        for name in ("alice", "bob"):
            shelf.add_member(name)
        one = Team(shelf)
        yield one
        one.close()


@pytest.fixture
def member(team: Team) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda name, role="writer": stack.enter_context(team.shelf_of(Member(name, role)))


def test_metadata_in_a_record_say_where_a_memory_is_kept(member: Open) -> None:
    alice, bob = member("alice"), member("bob")
    shared, private = GraphNoteMetaInput(scope="shared"), GraphNoteMetaInput(scope="user")
    alice.create_note("n", "Ours", "text", meta=shared)
    alice.create_note("n", "Mine", "text of my own", meta=private)

    assert [note.title for note in bob.list_notes()] == ["Ours"]
    with pytest.raises(InvalidInput, match="does not change between"):
        alice.edit_note("Mine", meta=shared)


@pytest.mark.parametrize("scope", ["user", "self", "session"])
def test_a_private_memory_is_its_members_alone(member: Open, scope: MemoryScope) -> None:
    alice, bob = member("alice"), member("bob", "owner")
    fact = alice.remember("prefs", "editor", "vim", scope=scope)
    assert alice.recall("editor").answer == "vim"
    assert not bob.recall("editor").found
    assert bob.list_notes(include_hidden=True) == []
    with pytest.raises(NotFound):
        bob.get_note(fact.id)


@pytest.mark.parametrize("scope", ["project", "shared"])
def test_what_is_the_teams_everybody_sees(member: Open, scope: MemoryScope) -> None:
    member("alice").remember("project", "deploy", "make ship", scope=scope)
    assert member("bob").recall("deploy").answer == "make ship"
    assert member("bob").search_notes("deploy")[0].note.content == "make ship"


def test_without_a_scope_the_words_decide(member: Open) -> None:
    alice, bob = member("alice"), member("bob")
    alice.remember("prefs", "editor", "vim")
    agent = alice.for_client(AGENT).for_project("/home/alice/app/.git")
    agent.create_note("learnings", "Deploys", "The deploy script needs the staging key.")
    assert [note.title for note in bob.list_notes()] == ["Deploys"]
    assert {note.title for note in alice.list_notes()} == {"Deploys", "editor"}


def test_a_known_fact_is_changed_where_it_is(member: Open) -> None:
    alice, bob = member("alice"), member("bob")
    alice.remember("project", "port", "80", scope="shared")
    bob.remember("project", "port", "81")
    assert alice.recall("port").answer == "81"
    alice.remember("project", "door", "left", scope="user")
    alice.remember("project", "door", "right")
    assert not bob.recall("door").found
    alice.remember("project", "door", "both", scope="shared")  # now for everyone
    assert alice.recall("door").answer == bob.recall("door").answer == "both"


def test_ones_own_fact_answers_first_and_names_the_teams(member: Open) -> None:
    alice, bob = member("alice"), member("bob")
    bob.remember("project", "editor", "emacs", scope="shared")
    own = alice.remember("project", "editor", "vim", scope="user")
    answer = alice.recall("editor")
    assert (answer.answer, answer.note_id) == ("vim", own.id)
    assert len(answer.also) == 1
    assert bob.recall("editor").answer == "emacs"


def test_a_search_merges_both_by_relevance(member: Open) -> None:
    alice = member("alice")
    alice.create_note(
        "work", "Rollback", "Rollback of the billing database: ask Kim.", scope="shared"
    )
    alice.create_note(
        "work", "Lunch", "Kim told how long the rollback of billing took.", scope="user"
    )
    found = alice.search_notes("rollback of the billing database", 5)
    assert [result.note.title for result in found] == ["Rollback", "Lunch"]
    assert found[0].relevance >= found[1].relevance
    assert sum(result.score for result in found) <= 1.0001


def test_a_note_that_is_named_by_keyword_is_found_on_its_shelf(member: Open) -> None:
    alice, bob = member("alice"), member("bob")
    ours = alice.create_note("work", "Ours", "Everybody's plan for May.", scope="shared")
    mine = alice.create_note("work", "Mine", "What I think of the plan.", scope="user")
    other = alice.create_note("work", "Other", "What I think of June.", scope="user")

    assert alice.add_link(a=mine.id, b=other.id, reason="see")
    assert alice.delete_note(hard=True, name="Ours", nugget="work").id == ours.id
    assert bob.list_notes() == []
    assert {note.title for note in alice.list_notes()} == {"Mine", "Other"}


def test_links_and_merges_stay_on_one_side(member: Open) -> None:
    alice = member("alice")
    ours = alice.create_note("work", "Ours", "Everybody's plan for May.", scope="shared")
    mine = alice.create_note("work", "Mine", "What I think of the plan.", scope="user")
    for act in (alice.add_link, alice.merge_notes, alice.remove_link):
        with pytest.raises(InvalidInput, match="private to you"):
            act(ours.id, mine.id)
    with pytest.raises(InvalidInput, match="store it anew"):
        alice.edit_note(mine.id, scope="shared")
    with pytest.raises(InvalidInput, match="store it anew"):
        alice.edit_note(ours.id, scope="user")
    assert alice.edit_note(mine.id, content="More of it.").content == "More of it."


def test_nuggets_of_both_are_one(member: Open) -> None:
    alice = member("alice")
    alice.remember("work", "a", "1", scope="shared")
    alice.remember("work", "b", "2", scope="user")
    assert [(s.name, s.fact_count) for s in alice.list()] == [("work", 2)]
    assert alice.status("WORK").fact_count == 2
    assert [fact.title for fact in alice.facts("work")] == ["a", "b"]
    assert alice.size == 1 and "work" in alice and alice["work"].name == "work"
    with pytest.raises(Conflict):
        alice.create("work")
    assert member("bob").status("work").fact_count == 1
    assert alice.forget("work", "b") and not alice.forget("work", "b")
    assert alice.clear("work") == 1
    with pytest.raises(NotFound):
        alice.status("none")


def test_what_the_undo_of_a_clean_up_left_is_named_in_the_members_numbers(member: Open) -> None:
    alice = member("alice")
    for title in ("Port", "Mail"):
        alice.create_note("n", title, "Sends in batches.\nSends in batches.", scope="user")
    alice.reflect()
    reflected = alice.history(limit=1)[0].revision
    alice.edit_note("Port", "Port 9090 today.")
    edited = alice.history(limit=1)[0].revision

    assert [left.revision for left in alice.undo(reflected).left] == [edited]


def test_history_and_undo_know_both_shelves(member: Open) -> None:
    alice, bob = member("alice"), member("bob")
    alice.remember("work", "ours", "1", scope="shared")
    ours = alice.own_revision
    alice.remember("work", "mine", "2", scope="user")
    mine = alice.own_revision
    newest = [step.revision for step in alice.history()]
    assert newest[:2] == [mine, ours]
    assert {step.changes.client for step in alice.history(limit=2)} == {"alice (page)"}
    assert mine not in [step.revision for step in bob.history()]
    assert alice.undoable([ours, mine]) == {ours, mine}
    assert bob.undoable([ours, mine]) == set()
    assert alice.undo().revision == mine
    assert not alice.recall("mine").found
    assert alice.history(limit=1)[0].changes.action == f"undo {mine}"
    with pytest.raises(NotAllowed, match="owner"):
        bob.undo(ours)
    assert alice.undo(ours).revision == ours


def test_what_happened_since_a_revision_can_be_asked(member: Open) -> None:
    alice = member("alice")
    start = alice.revision
    alice.remember("work", "ours", "1", scope="shared")
    between = alice.revision
    alice.remember("work", "mine", "2", scope="user")
    assert start < between < alice.revision
    assert len(alice.commits(start)) == 2
    assert [c.changes.put[0].title for c in alice.commits(between)] == ["mine"]
    assert len(alice.commit_summaries(start)) == 2


def test_an_agent_writes_in_its_members_name(member: Open) -> None:
    agent = member("alice").for_client(name_agent(AGENT, "Claude Code"))
    agent.remember("work", "ours", "1", scope="shared")
    assert agent.history(limit=1)[0].changes.client == "alice: Claude Code (mcp)"


def test_a_reader_changes_nothing_and_no_recall_of_theirs_counts(member: Open) -> None:
    alice, bob = member("alice"), member("bob", "reader")
    note = alice.remember("work", "ours", "1", scope="shared")
    assert bob.recall("ours", session="one").found
    bob.recall_or_search("ours", session="two")
    bob.search_notes("ours", session="three")
    bob.get_note(note.id, session="four")
    assert alice.get_note(note.id, session=None).hits == 0
    revision = bob.revision
    for refused in (
        lambda: bob.remember("work", "mine", "1", scope="user"),
        lambda: bob.forget("work", "ours"),
        lambda: bob.purge(note.id),
        lambda: bob.reflect(),
        lambda: bob.undo(),
    ):
        with pytest.raises(NotAllowed, match="bob is a reader"):
            refused()
    bob.reflect(dry_run=True)
    assert bob.revision == revision


@pytest.mark.parametrize(("role", "allowed"), [("writer", False), ("owner", True)])
def test_only_an_owner_purges_what_is_the_teams(member: Open, role: Role, allowed: bool) -> None:
    ours = member("alice").remember("work", "ours", "1", scope="shared")
    bob = member("bob", role)
    mine = bob.remember("work", "mine", "1", scope="user")
    bob.purge(mine.id)  # one's own anybody may
    if not allowed:
        with pytest.raises(NotAllowed):
            bob.purge(ours.id)
        with pytest.raises(NotAllowed):
            bob.purge_fact("work", "ours")
        return
    bob.purge(ours.id)
    assert not bob.recall("ours").found


def test_no_file_of_the_server_is_looked_at(member: Open, tmp_path: Path) -> None:
    checkout = tmp_path / "repository"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "secret.py").write_text("x = 1\n")
    alice = member("alice").for_client(AGENT).for_project(str(checkout / ".git"))
    note = alice.create_note("work", "File", "See secret.py line 1.", scope="project")
    assert note.anchors == () and alice.caveats(note) == []
    with pytest.raises(NotFound, match="MEMORY"):
        alice.read_memory_file()
    refused = [row.name for row in OPERATIONS.values() if isinstance(row.team, Refused)]
    assert "backup" in refused
    for name in refused:
        with pytest.raises(NotAllowed):
            getattr(alice, name)()


def test_a_session_is_kept_privately(member: Open) -> None:
    moment = "2026-01-05T10:00:00.000Z"
    record = SessionRecord("s1", "", "", "Deploys", "We shipped.", moment, moment)
    alice, bob = member("alice"), member("bob")
    alice.keep_session(record)
    assert len(alice.sessions(all_projects=True)) == 1
    assert bob.sessions(all_projects=True) == []
    assert bob.search_sessions("shipped", all_projects=True) == []
