"""Members of a team as clients: roles, what is private, a token that is revoked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import run_process
from nuggets import NuggetShelf
from nuggets.domain.records import Role
from nuggets.errors import NotAllowed, NotFound
from nuggets.filesystem.shelf_location import parse_server_url
from nuggets.remote.offline import CallQueue
from web_serving import served


@pytest.fixture
def team(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a team's server, and the tokens of its members."""
    roles: dict[str, Role] = {"olga": "owner", "ben": "writer", "rita": "reader"}
    with NuggetShelf(tmp_path / "team") as shelf:
        tokens = {name: shelf.add_member(name, role) for name, role in roles.items()}
    with served(str(tmp_path / "team")) as server:
        yield server.url.rstrip("/"), tokens


def test_members_share_what_is_the_teams_and_nothing_else(
    team: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, tokens = team

    def as_member(name: str) -> NuggetShelf:
        monkeypatch.setenv("NUGGETS_TOKEN", tokens[name])
        return NuggetShelf(url, project="")

    private = as_member("olga").remember("prefs", "editor", "vim", scope="user")
    as_member("olga").remember("project", "port", "8080", scope="shared")

    ben = as_member("ben")
    assert ben.is_team is True
    assert ben.recall("port").answer == "8080"
    assert not ben.recall("editor").found
    assert [note.title for note in ben.list_notes(include_hidden=True)] == ["port"]
    assert list(ben.copy_index(100).notes) == [note.id for note in ben.list_notes()]
    assert not ben.get_notes([private.id])
    with pytest.raises(NotFound):
        ben.get_note(private.id)
    ben.remember("project", "port", "9090", scope="shared")
    assert ben.commit_summaries()[-1].client == "ben (python)"

    rita = as_member("rita")
    assert rita.recall("port").answer == "9090"
    with pytest.raises(NotAllowed, match="reader"):
        rita.remember("project", "port", "1")
    for shelf in (ben, rita):
        shelf.close()


def test_a_revoked_member_gets_nothing_and_loses_nothing(
    team: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    url, tokens = team
    env = {"NUGGETS_DIR": url, "NUGGETS_TOKEN": tokens["ben"]}
    run_process("remember", "project", "port", "80", env=env)
    run_process("sync", env=env)
    with NuggetShelf(tmp_path / "team") as shelf:
        shelf.revoke_member("ben")

    read = run_process("recall", "port", env=env)
    written = run_process("remember", "project", "port", "90", env=env)

    assert read.code == written.code == 1
    assert "revoked" in read.err
    assert tokens["ben"] not in read.err + written.err
    assert CallQueue(parse_server_url(url).directory).is_empty


def test_a_queue_waits_while_the_token_is_revoked_and_is_sent_with_the_next(
    tmp_path: Path,
) -> None:
    directory = str(tmp_path / "team")
    with NuggetShelf(directory) as shelf:
        env = {"NUGGETS_TOKEN": shelf.add_member("ben")}
    with served(directory) as server:
        env["NUGGETS_DIR"] = server.url.rstrip("/")
        run_process("remember", "project", "port", "80", env=env)
        run_process("sync", env=env)
    queued = run_process("remember", "project", "port", "90", env=env)
    with NuggetShelf(directory) as shelf:
        shelf.revoke_member("ben")
    port = server.url.rstrip("/").rpartition(":")[2]
    with served(directory, "--port", port):
        refused = run_process("list", env=env)
        waiting = run_process("queue", "--json", env=env).json["waiting"]
        with NuggetShelf(directory) as shelf:
            env["NUGGETS_TOKEN"] = shelf.add_member("ben", again=True)
        sent = run_process("recall", "port", "--json", env=env)

    assert "queued" in queued.err
    assert (refused.code, "revoked" in refused.err) == (1, True)
    assert [one["args"] for one in waiting] == [["project", "port", "90"]]
    assert sent.json["answer"] == "90"


def test_a_queued_change_that_the_role_no_longer_allows_is_kept_and_told(tmp_path: Path) -> None:
    directory = str(tmp_path / "team")
    with NuggetShelf(directory) as shelf:
        env = {"NUGGETS_TOKEN": shelf.add_member("ben")}
    with served(directory) as server:
        env["NUGGETS_DIR"] = server.url.rstrip("/")
        run_process("remember", "project", "port", "80", "--scope", "shared", env=env)
        run_process("sync", env=env)
    run_process("remember", "project", "port", "90", "--scope", "shared", env=env)
    with NuggetShelf(directory) as shelf:
        env["NUGGETS_TOKEN"] = shelf.add_member("ben", "reader", again=True)
    port = server.url.rstrip("/").rpartition(":")[2]
    with served(directory, "--port", port):
        told = run_process("recall", "port", env=env)
        rejected = run_process("queue", "--json", env=env).json["rejected"]

    assert "80" in told.out
    assert "nuggets queue" in told.err
    assert [one["args"][:3] for one in rejected] == [["project", "port", "90"]]
    assert "reader" in rejected[0]["reason"]
