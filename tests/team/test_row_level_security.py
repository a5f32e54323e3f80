"""The second wall: PostgreSQL shows a connection the rows of one shelf, whatever it is asked."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from nuggets import NuggetShelf
from nuggets.domain.records import Member
from nuggets.errors import StoreError
from nuggets.filesystem.shelf_location import DatabaseUrl, private_location
from nuggets.interfaces.request_shelf import Team
from nuggets.stores.postgresql.database import Database
from nuggets.stores.postgresql.schema import find_or_create_shelf
from postgresql_server import USER, Server

SCALING = Path(__file__).parents[2] / "docs" / "scaling.md"
SERVER = "nuggets_server"


def documented_grants() -> list[str]:
    """The SQL of docs/scaling.md that makes the role of the server."""
    (block,) = re.findall(r"```sql\n(.*?)```", SCALING.read_text(encoding="utf-8"), re.DOTALL)
    return [statement.strip() for statement in block.split(";") if statement.strip()]


@pytest.fixture(scope="module")
def server_url(postgresql_server: Server) -> Iterator[str]:
    """A shelf of a team in a database of its own, as the role that a server should have."""
    with psycopg.connect(postgresql_server.url("x").partition("&shelf")[0], autocommit=True) as sql:
        sql.execute("CREATE DATABASE walls")
    owner = postgresql_server.url("team", "walls")
    with NuggetShelf(owner) as shelf:
        for name in ("alice", "bob"):
            shelf.add_member(name)
    with psycopg.connect(owner.partition("&shelf")[0], autocommit=True) as sql:
        for statement in documented_grants():
            sql.execute(statement.replace("FOR ROLE me", f"FOR ROLE {USER}").encode())
    yield owner.replace(f"{USER}@", f"{SERVER}@")
    with psycopg.connect(postgresql_server.url("x").partition("&shelf")[0], autocommit=True) as sql:
        sql.execute("DROP DATABASE walls WITH (FORCE)")
        sql.execute(f"DROP ROLE {SERVER}")


@pytest.fixture(scope="module")
def team(server_url: str) -> Iterator[Team]:
    """As a server opens it, with a private memory of each member and one of the team."""
    with NuggetShelf(server_url) as shelf:
        one = Team(shelf)
        for name in ("alice", "bob"):
            with one.shelf_of(Member(name, "writer")) as own:
                own.remember("prefs", "editor", f"secret of {name}", scope="user")
                own.remember("prefs", "editor", f"new secret of {name}", scope="user")
        with one.shelf_of(Member("alice", "writer")) as own:
            own.remember("work", "port", "80", scope="shared")
        yield one
        one.close()


@pytest.fixture
def as_alice(team: Team, server_url: str) -> Iterator[Database]:
    """The connection that the server has for the private shelf of alice."""
    url = DatabaseUrl(private_location(server_url, "alice"))
    database = Database(url)
    find_or_create_shelf(database, url.shelf, ())
    yield database
    database.close()


def tables_with_shelves(database: Database) -> list[str]:
    return [
        row[0]
        for row in database.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = 'nuggets' AND column_name = 'shelf'"
        ).fetchall()
    ]


def test_the_server_works_as_a_role_that_owns_nothing(team: Team) -> None:
    with team.shelf_of(Member("bob", "writer")) as bob:
        assert bob.recall("port").answer == "80"
        assert bob.recall("editor").answer == "new secret of bob"
        assert len(bob.versions("editor")) == 2
        assert bob.search_notes("secret")[0].note.content == "new secret of bob"


def test_many_rows_are_written_at_once_and_copied(team: Team, server_url: str) -> None:
    with team.shelf_of(Member("bob", "writer")) as bob:
        with bob.batch():
            for number in range(150):
                bob.create_note("work", f"Note {number}", "One of many.", scope="user")
        assert len(bob.list_notes(nugget="work", scope="user")) == 150
    source = private_location(server_url, "bob")
    with (
        NuggetShelf(source) as original,
        NuggetShelf(source.replace("team%2Fbob", "copy")) as copy,
    ):
        copied = copy.copy_from(original)
        assert copied.rows["notes"] == 151
        copy.purge(copy.get_note("Note 1").id)


def test_raw_sql_past_the_views_sees_no_row_of_another_shelf(as_alice: Database) -> None:
    own = as_alice.value("SELECT current_setting('nuggets.shelf')::bigint")
    tables = tables_with_shelves(as_alice)
    assert {"notes", "commits", "changes", "search_documents"} & set(tables)
    seen = {
        table: as_alice.execute(f"SELECT DISTINCT shelf FROM nuggets.{table}").fetchall()
        for table in tables
    }
    assert {row[0] for rows in seen.values() for row in rows} == {own}
    texts = as_alice.execute("SELECT record FROM nuggets.notes").fetchall()
    assert "secret of alice" in str(texts) and "bob" not in str(texts)


def test_without_a_shelf_a_connection_sees_nothing(as_alice: Database) -> None:
    as_alice.shelf = 0
    as_alice.run("SET nuggets.shelf = ''")
    for table in tables_with_shelves(as_alice):
        assert as_alice.value(f"SELECT count(*) FROM nuggets.{table}") == 0


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE nuggets.notes SET shelf = 1",
        "INSERT INTO nuggets.marks (shelf, name, value) VALUES (1, 'member:eve', '{}')",
        "ALTER TABLE nuggets.notes NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY one_shelf ON nuggets.notes",
        "UPDATE nuggets.versions SET value = 99",
        "SET row_security = off; SELECT count(*) FROM nuggets.notes",
    ],
)
def test_the_wall_can_neither_be_written_through_nor_taken_down(
    as_alice: Database, sql: str
) -> None:
    with pytest.raises(StoreError):
        as_alice.run(sql)


def test_the_wall_holds_for_the_owner_of_the_tables_unless_a_superuser(
    postgresql_server: Server,
) -> None:
    url: Any = postgresql_server.url("x").partition("&shelf")[0]
    with psycopg.connect(url, autocommit=True) as sql:
        sql.execute("CREATE ROLE plain LOGIN")
        sql.execute("CREATE DATABASE plain OWNER plain")
    owner = postgresql_server.url("one", "plain").replace(f"{USER}@", "plain@")
    try:
        for name in ("one", "two"):
            with NuggetShelf(owner.replace("shelf=one", f"shelf={name}")) as shelf:
                shelf.remember("work", "key", name, scope="shared")
        with psycopg.connect(owner.partition("&shelf")[0]) as sql:
            assert sql.execute("SELECT count(*) FROM nuggets.notes").fetchone() == (0,)
            sql.execute("SET nuggets.shelf = '1'")
            assert sql.execute("SELECT count(*) FROM nuggets.notes").fetchone() == (1,)
    finally:
        with psycopg.connect(url, autocommit=True) as sql:
            sql.execute("DROP DATABASE plain WITH (FORCE)")
            sql.execute("DROP ROLE plain")
