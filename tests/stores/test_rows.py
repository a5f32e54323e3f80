"""Rows of a statement, whether they fit into what is fetched at once or not."""

import pytest

from nuggets.stores.sqlite.database import Database


def database_with(count: int) -> Database:
    database = Database("")
    database.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
    database.executemany("INSERT INTO numbers VALUES (?)", ((number,) for number in range(count)))
    return database


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1000])
def test_all_rows_come_once_and_in_order(count: int) -> None:
    database, expected = database_with(count), [(number,) for number in range(count)]
    sql = "SELECT number FROM numbers ORDER BY number"
    iterator = iter(database.execute(sql))  # nobody keeps what `execute` returned
    assert list(iterator) == expected
    assert database.execute(sql).fetchall() == expected
    rows = database.execute(sql)
    assert (rows.fetchone(), rows.fetchall()) == (expected[0] if count else None, expected[1:])
    assert rows.fetchone() is None


def test_an_answer_that_is_not_read_to_its_end_keeps_nobody_from_changing_the_table() -> None:
    database = database_with(1000)
    rows = iter(database.execute("SELECT number FROM numbers"))
    assert next(rows) == (0,)
    del rows
    database.execute("DROP TABLE numbers")


def test_a_statement_says_how_many_rows_it_changed() -> None:
    database = database_with(10)
    assert database.execute("DELETE FROM numbers WHERE number < 3").rowcount == 3
