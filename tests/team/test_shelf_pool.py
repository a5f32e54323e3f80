"""Open shelves of a server: bounded in number, the least recently used closed first."""

import threading
from pathlib import Path

import httpx
import pytest

from nuggets import NuggetShelf
from nuggets.domain.records import Member
from nuggets.interfaces.request_shelf import ShelfPool, Team
from nuggets.settings import load
from web_serving import served


def pool_of(directory: Path, most: int = 3) -> ShelfPool:
    return ShelfPool(lambda name: NuggetShelf(directory / name), most=most)


def test_the_least_recently_used_shelf_is_closed_first(tmp_path: Path) -> None:
    pool = pool_of(tmp_path)
    for name in ("a", "b", "c", "a", "d"):
        with pool.lease(name) as shelf:
            shelf.remember("work", "name", name, scope="shared")
    assert pool.names == ["c", "a", "d"]
    with pool.lease("b") as shelf:  # opened again
        assert shelf.recall("name").answer == "b"
    pool.close()
    assert pool.names == []


def test_a_shelf_in_use_stays_open(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, most=1)
    with pool.lease("a") as first, pool.lease("b"), pool.lease("a") as again:
        assert first is again
        assert pool.names == ["b", "a"]
    assert len(pool.names) == 1
    pool.close()


def test_threads_share_a_shelf(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, most=2)

    def write(number: int) -> None:
        with pool.lease(f"shelf {number % 4}") as shelf:
            shelf.remember("work", f"key {number}", "x", scope="shared")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in range(4):
        with pool.lease(f"shelf {name}") as shelf:
            assert shelf.status("work").fact_count == 4
    assert len(pool.names) == 2
    pool.close()


def test_many_members_with_few_shelves_open(tmp_path: Path) -> None:
    settings = load({"NUGGETS_SERVER_SHELVES": "5"}, {"dir": str(tmp_path / "team")})
    with NuggetShelf(tmp_path / "team", settings=settings) as shelf:
        shelf.add_member("m0")
        team = Team(shelf)
        members = [Member(f"m{number}", "writer") for number in range(40)]
        for member in members:
            with team.shelf_of(member) as own:
                own.remember("prefs", "name", member.name, scope="user")
        for member in reversed(members):
            with team.shelf_of(member) as own:
                assert own.recall("name").answer == member.name
        assert len(team.open_private_shelves()) == 5
        team.close()


def test_what_is_private_is_promoted_to_no_file_of_the_server(tmp_path: Path) -> None:
    memory = tmp_path / "MEMORY.md"
    flags = {"dir": str(tmp_path / "team"), "memory_file": str(memory), "promote_after": 1}
    with NuggetShelf(tmp_path / "team", settings=load({}, flags)) as shelf:
        shelf.add_member("alice")
        team = Team(shelf)
        with team.shelf_of(Member("alice", "writer")) as own:
            own.remember("prefs", "editor", "vim", scope="user")
            own.recall("editor", session="s")
        from datetime import datetime

        for opened in team.open_private_shelves():
            with opened as private:
                assert private.run_daily(datetime(2026, 1, 5, 12)) is not None
        team.close()
    assert not memory.exists()


@pytest.mark.parametrize("ends", ["first", "second"])
def test_servers_side_by_side_on_one_database(
    postgresql_url: str, tmp_path: Path, ends: str
) -> None:
    with NuggetShelf(postgresql_url) as shelf:
        tokens = {name: shelf.add_member(name) for name in ("alice", "bob")}
    as_alice, as_bob = ({"Authorization": f"Bearer {token}"} for token in tokens.values())
    with (
        served(postgresql_url, HOME=str(tmp_path)) as first,
        served(postgresql_url, HOME=str(tmp_path)) as second,
    ):
        servers = (first, second)
        for number, server in enumerate(servers):
            for scope in ("user", "shared"):
                body = {"key": f"{scope} {number}", "value": "x", "scope": scope}
                url = f"{server.url}api/nuggets/work/facts"
                httpx.post(url, json=body, headers=as_alice, timeout=60).raise_for_status()
        for server in servers:
            facts = f"{server.url}api/nuggets/work/facts"
            of_alice = httpx.get(facts, headers=as_alice, timeout=60).json()
            of_bob = httpx.get(facts, headers=as_bob, timeout=60).json()
            assert {fact["title"] for fact in of_alice} == {
                "user 0",
                "user 1",
                "shared 0",
                "shared 1",
            }
            assert {fact["title"] for fact in of_bob} == {"shared 0", "shared 1"}
        killed, alive = servers if ends == "first" else servers[::-1]
        killed.process.kill()
        killed.process.wait()
        facts = f"{alive.url}api/nuggets/work/facts"
        assert len(httpx.get(facts, headers=as_alice, timeout=60).json()) == 4
        with NuggetShelf(postgresql_url) as shelf:
            shelf.revoke_member("alice")
        assert httpx.get(facts, headers=as_alice, timeout=60).status_code == 401


def test_a_database_that_can_only_be_read_still_answers(
    postgresql_url: str, tmp_path: Path
) -> None:
    with NuggetShelf(postgresql_url) as shelf:
        token = {"Authorization": f"Bearer {shelf.add_member('alice')}"}
        team = Team(shelf)
        with team.shelf_of(Member("alice", "writer")) as own:
            own.remember("work", "port", "80", scope="shared")
            own.remember("work", "editor", "vim", scope="user")
        team.close()
    standby = f"{postgresql_url}&options=-c%20default_transaction_read_only%3Don"
    with served(standby, HOME=str(tmp_path)) as server:
        found = httpx.get(f"{server.url}api/recall?query=editor", headers=token, timeout=60)
        assert found.json()["answer"] == "vim"
        body = {"key": "port", "value": "81", "scope": "shared"}
        facts = f"{server.url}api/nuggets/work/facts"
        refused = httpx.post(facts, json=body, headers=token, timeout=60)
        assert refused.status_code == 503
        assert "can only be read" in refused.json()["error"]["message"]
