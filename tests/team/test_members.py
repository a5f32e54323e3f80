from pathlib import Path

import pytest

from nuggets import NuggetShelf
from nuggets.domain.records import Member
from nuggets.errors import Conflict, InvalidInput, NotFound


def test_a_token_names_its_member_until_it_is_revoked() -> None:
    shelf = NuggetShelf("memory:")
    token = shelf.add_member("alice", "reader")
    assert shelf.find_member(token) == Member("alice", "reader")
    assert shelf.find_member(token[:-1]) is None
    assert shelf.find_member("bob." + token.partition(".")[2]) is None
    assert shelf.find_member("") is None
    shelf.revoke_member("alice")
    assert shelf.find_member(token) is None
    (alice,) = shelf.members()
    assert alice.revoked_at


def test_only_a_hash_of_a_token_is_kept(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path) as shelf:
        token = shelf.add_member("alice")
        secret = token.partition(".")[2].encode()
    stored = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert stored and not any(secret in content for content in stored)


def test_a_name_is_given_again_only_to_the_same_person() -> None:
    shelf = NuggetShelf("memory:")
    first = shelf.add_member("alice")
    with pytest.raises(Conflict, match="--again"):
        shelf.add_member("alice")
    second = shelf.add_member("alice", "owner", again=True)
    assert shelf.find_member(first) is None
    assert shelf.find_member(second) == Member("alice", "owner")
    shelf.revoke_member("alice")
    with pytest.raises(Conflict):
        shelf.add_member("alice")


@pytest.mark.parametrize("name", ["", "Alice", "a/b", "..", "a.b", "a b", "ä", "x" * 41])
def test_a_name_that_could_be_mistaken_is_refused(name: str) -> None:
    shelf = NuggetShelf("memory:")
    with pytest.raises(InvalidInput, match="name of a member"):
        shelf.add_member(name)
    assert not shelf.is_team


def test_nobody_unknown_can_be_revoked() -> None:
    with pytest.raises(NotFound, match="no member 'bob'"):
        NuggetShelf("memory:").revoke_member("bob")


def test_undo_brings_no_token_back() -> None:
    shelf = NuggetShelf("memory:")
    token = shelf.add_member("alice")
    shelf.revoke_member("alice")
    with pytest.raises(Conflict):
        shelf.undo(shelf.revision)
    assert shelf.find_member(token) is None


def test_nothing_private_gets_onto_the_shelf_of_a_team() -> None:
    shelf = NuggetShelf("memory:")
    shelf.add_member("alice")
    for scope in ("user", "self", "session"):
        with pytest.raises(InvalidInput, match="team"):
            shelf.remember("prefs", "editor", "vim", scope=scope)
    note = shelf.create_note("project", "Deploys", "On Fridays never.", scope="shared")
    with pytest.raises(InvalidInput, match="team"):
        shelf.edit_note(note.id, scope="user")
    assert [note.scope for note in shelf.list_notes(include_hidden=True)] == ["shared"]


def test_a_shelf_with_private_memories_or_a_private_past_becomes_no_team() -> None:
    shelf = NuggetShelf("memory:")
    note = shelf.remember("prefs", "editor", "vim", scope="user")
    with pytest.raises(Conflict, match="import"):
        shelf.add_member("alice")
    shelf.delete_note(note.id, hard=True)
    with pytest.raises(Conflict, match="import"):
        shelf.add_member("alice")


def test_importing_into_a_team_leaves_private_memories_where_they_are() -> None:
    mine, team = NuggetShelf("memory:"), NuggetShelf("memory:")
    mine.remember("prefs", "editor", "vim", scope="user")
    mine.remember("project", "deploy", "make ship", scope="shared")
    team.add_member("alice")
    intake = team.import_memories(mine)
    assert [note.title for note in team.list_notes()] == ["deploy"]
    assert any("private" in text for text in intake.refused)
