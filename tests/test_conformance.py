"""The table of statements names real tests or says why not."""

from conformance import ROOT, functions, rows


def test_the_table_is_there() -> None:
    assert len(list(rows())) > 50


def test_every_statement_has_a_test_or_a_reason() -> None:
    bare = [row.statement for row in rows() if not row.tests and "Deviation:" not in row.shown_by]

    assert bare == []


def test_every_named_test_exists() -> None:
    named = {test for row in rows() for test in row.tests}
    missing = [
        f"{path}::{name}"
        for path, name in sorted(named)
        if not (ROOT / path).is_file() or name not in functions(ROOT / path)
    ]

    assert missing == []
