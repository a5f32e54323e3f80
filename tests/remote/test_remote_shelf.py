"""A shelf at a server: the API of every shelf, called over a real socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_doors import repository
from git_repositories import clone, new_repository
from nuggets import GraphNoteMetaInput, Nugget, NuggetShelf
from nuggets.domain.records import LeftNote
from nuggets.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    RefusedText,
    SettingsError,
)
from nuggets.operations.operation_table import OPERATIONS, Refused
from nuggets.operations.permissions import AGENT, HOOK
from web_serving import served_here


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with NuggetShelf(tmp_path / "kept", project="") as kept, served_here(kept) as url:
        yield url.rstrip("/")


@pytest.fixture
def remote(server: str) -> Iterator[NuggetShelf]:
    with NuggetShelf.open(server, project="") as shelf:
        yield shelf


def test_what_is_written_there_is_read_there(
    remote: NuggetShelf, server: str, tmp_path: Path
) -> None:
    fact = remote.remember("project", "port", "8080")
    note = remote.create_note("project", "Deploys", "Never deploy on Fridays.", ["rules"])

    assert remote.recall("prot").answer == "8080"
    assert [found.note.id for found in remote.search_notes("deploys")] == [note.id]
    assert remote.get_note("Deploys").id == note.id
    assert remote.server == server
    assert remote.revision == 2
    assert remote.own_revision == 2
    assert remote.undo().changes.put[0].id == note.id
    with NuggetShelf(tmp_path / "kept") as kept:
        assert [found.id for found in kept.list_notes()] == [fact.id]


def test_what_the_undo_of_a_clean_up_left_is_told(remote: NuggetShelf) -> None:
    for title in ("Port", "Mail"):
        remote.create_note("n", title, "Sends in batches.\nSends in batches.")
    remote.reflect()
    port = remote.edit_note("Port", "Port 9090 today.")

    assert remote.undo(3).left == (LeftNote(port.id, "Port", "changed since", 4),)


def test_metadata_may_be_given_in_a_record(remote: NuggetShelf) -> None:
    given = GraphNoteMetaInput(type="style", confidence=0.5)
    note = remote.create_note("n", "Deploys", "Never on Fridays.", meta=given)
    fact = remote.remember("n", "port", "8080", meta=given, type="note")
    edited = remote.edit_note(fact.id, meta=GraphNoteMetaInput(type="relationship"))

    assert (note.type, note.confidence) == ("style", 0.5)
    assert (fact.type, edited.type, edited.confidence) == ("note", "relationship", 0.5)


def test_views_of_nuggets_work(remote: NuggetShelf, server: str) -> None:
    project = remote.create("project", max_facts=7)
    project.remember("port", "80")

    assert project.recall("port").answer == "80"
    assert [nugget.name for nugget in remote] == ["project"]
    assert "project" in remote
    assert len(remote) == 1
    assert remote["project"].facts()[0].title == "port"
    assert remote.status("project").max_facts == 7
    assert Nugget("other", save_dir=server).shelf.server == server


def test_errors_are_those_of_any_shelf(remote: NuggetShelf) -> None:
    remote.create("project")
    with pytest.raises(Conflict):
        remote.create("project")
    with pytest.raises(NotFound, match="nowhere"):
        remote.get("nowhere")
    with pytest.raises(InvalidInput):
        remote.search_notes("  ")
    with pytest.raises(InvalidInput, match="unexpected"):
        remote.recall("port", nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(RefusedText):
        remote.for_client(HOOK).remember("p", "key", "ghp_" + "a1B2" * 9)


def test_arguments_may_have_their_names(remote: NuggetShelf) -> None:
    remote.remember(nugget="project", key="port", value="8080", scope="project")
    note = remote.create_note(nugget="project", title="Deploys", content="Never on Fridays.")

    assert remote.recall(query="port", nugget="project").answer == "8080"
    assert remote.edit_note(name=note.id, content="Never on Mondays.").content.endswith("Mondays.")


def test_what_needs_the_files_of_the_shelf_says_where_it_is_done(remote: NuggetShelf) -> None:
    refused = [row.name for row in OPERATIONS.values() if isinstance(row.remote, Refused)]
    assert "backup" in refused
    for name in refused:
        with pytest.raises(InvalidInput, match="server"):
            getattr(remote, name)()


def test_settings_that_no_server_has_are_refused(server: str) -> None:
    with pytest.raises(InvalidInput, match="auto_save"):
        NuggetShelf(server, auto_save=False)


def test_an_agent_replaces_only_what_it_has_read(remote: NuggetShelf) -> None:
    note = remote.create_note("project", "Long", "word " * 100)
    agent = remote.for_client(AGENT._replace(session="one"))

    with pytest.raises(Conflict, match="you know the first 160 at most"):
        agent.edit_note(note.id, content="short")

    agent.record_reading(agent.get_note(note.id))
    remote.edit_note(note.id, content="longer " * 100)
    with pytest.raises(Conflict, match="changed"):
        agent.edit_note(note.id, content="short")

    agent.record_reading(agent.get_note(note.id))
    assert agent.edit_note(note.id, content="short").content == "short"


def test_clones_of_one_repository_are_one_project_wherever_they_lie(
    server: str, tmp_path: Path
) -> None:
    anna = new_repository(tmp_path / "anna" / "shop", "https://example.org/shop.git")
    ben = clone(anna, tmp_path / "ben" / "web", "git@example.org:shop")
    other = repository(tmp_path / "other")

    def at(folder: Path) -> NuggetShelf:
        return NuggetShelf(server, folder=str(folder), at_work=True)

    at(anna).remember("project", "port", "80")

    assert at(ben).recall("port").answer == "80"
    assert at(ben).project == at(anna).project != ""
    assert not at(ben).is_foreign(at(ben).get_note("port"))
    assert at(other).project not in ("", at(anna).project)
    assert at(other).is_foreign(at(other).get_note("port"))
    assert at(tmp_path / "other").for_project("shop").project == at(anna).project


def test_a_fork_asks_and_can_join(server: str, tmp_path: Path) -> None:
    first = new_repository(tmp_path / "first", "https://example.org/first.git")
    fork = clone(first, tmp_path / "fork", "https://example.org/fork.git")
    NuggetShelf(server, folder=str(first), at_work=True).remember("project", "port", "80")

    shelf = NuggetShelf(server, folder=str(fork), at_work=True)
    shelf.remember("project", "host", "here")
    question = shelf.recognition
    shelf.record_location()
    again = NuggetShelf(server, folder=str(fork), at_work=True)
    again.recall("host")
    assert again.recognition is None  # the person was asked
    shelf.join_project("first")

    assert question is not None
    assert question.question.startswith(str(first))
    assert {fact.project for fact in shelf.facts("project")} == {shelf.project}


def test_files_that_a_text_names_are_looked_at_on_this_machine(server: str, tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop")
    (folder / "auth.py").write_text("def login():\n    pass\n")
    shelf = NuggetShelf(server, folder=str(folder), at_work=True)

    note = shelf.create_note("project", "Login", "login is in auth.py:1.")
    assert [anchor.path for anchor in note.anchors] == ["auth.py"]
    assert not shelf.caveats(note)

    (folder / "auth.py").unlink()
    assert any("auth.py" in caveat for caveat in shelf.caveats(note))


def test_the_memories_of_another_shelf_are_imported(
    remote: NuggetShelf, shelf: NuggetShelf
) -> None:
    shelf.remember("project", "port", "80")

    assert len(remote.import_memories(shelf, dry_run=True).added) == 1
    assert len(remote.import_memories(shelf).added) == 1
    assert remote.recall("port").answer == "80"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://memory.example.org", "in the clear"),
        ("https://me:secret@memory.example.org", "no password"),
        ("https://", "https://host"),
        ("https://host/path", "https://host"),
        ("https://host?x=1", "https://host"),
        ("https://host:99999", "not valid"),
    ],
)
def test_an_address_that_is_none_is_refused_without_its_secrets(url: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason) as refused:
        NuggetShelf(url)

    assert "secret" not in str(refused.value)
