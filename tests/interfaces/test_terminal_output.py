"""Text for terminals: laws that hold for any text."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import HARMFUL
from nuggets.domain import codec
from nuggets.interfaces import pluralize
from nuggets.interfaces.cli import terminal_output
from nuggets.interfaces.cli.terminal_output import (
    bar,
    count_cells,
    escape_controls,
    fit,
    inert_json,
    one_line,
    table,
    wrap_lines,
)

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from(sorted(HARMFUL)), max_size=60)


@given(TEXTS)
def test_nothing_harmful_is_printable(text: str) -> None:
    assert not set(escape_controls(text)) & HARMFUL


@given(TEXTS)
def test_one_line_is_one_line(text: str) -> None:
    line = one_line(text)

    assert len(line.splitlines()) <= 1
    assert not set(line) & (HARMFUL | {"\n", "\t"})


@given(TEXTS, st.integers(1, 40))
def test_a_cut_line_fits(text: str, width: int) -> None:
    assert count_cells(one_line(text, width)) <= width


@given(TEXTS)
def test_inert_json_says_the_same_and_is_harmless(text: str) -> None:
    shown = inert_json(codec.dumps({text: [text]}))

    assert json.loads(shown) == {text: [text]}
    assert not set(shown) & HARMFUL


@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=40))
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert escape_controls(text) == text


def test_columns_stand_below_each_other_in_any_script() -> None:
    head, *rows = table(("KEY", "VALUE"), [("設定", "x"), ("cafe\u0301", "x"), ("plain key", "x")])

    places = {count_cells(line[: line.index("x")]) for line in rows}
    assert places == {count_cells(head[: head.index("VALUE")])}


LONG = [("k" * 500, "m" * 500, "v" * 500), ("short", "m", "v")]


def test_a_long_cell_does_not_spoil_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_output, "screen_width", lambda: 120)
    lines = table(("KEY", "MORE", "VALUE"), LONG)

    assert max(map(count_cells, lines)) == 120


def test_where_nobody_looks_nothing_is_cut() -> None:
    head, long, short = table(("KEY", "MORE", "VALUE"), LONG)

    assert tuple(long.split()) == LONG[0]
    assert head.index("MORE") == short.index("m") == 82
    assert head.index("VALUE") == short.index("v") == 164
    assert fit("t" * 500, 80) == "t" * 500


def test_what_is_copied_is_cut_on_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_output, "screen_width", lambda: 40)

    assert table(("KEY", "PATH"), [("k", "/p" * 50)], whole=True)[1].endswith("/p" * 50)
    assert count_cells(fit("t" * 500, 80)) == 80


def test_wide_letters_take_two_cells_and_marks_none() -> None:
    assert count_cells("abc") == 3
    assert count_cells("設定") == 4
    assert count_cells(unicodedata.normalize("NFD", "é")) == 1


@pytest.mark.parametrize(("share", "full"), [(0, 0), (0.5, 10), (1, 20), (7.5, 20)])
def test_a_gauge_never_overflows(share: float, full: int) -> None:
    assert bar(share).count("█") == full
    assert len(bar(share)) == 20


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 entries"), (1, "1 entry"), (2, "2 entries")], ids=str
)
def test_what_is_counted_agrees_with_its_number(number: int, said: str) -> None:
    assert pluralize(number, "entry", "entries") == said
    assert pluralize(number, "fact") == f"{number} {'fact' if number == 1 else 'facts'}"


@given(st.lists(st.text("ab-/", min_size=1, max_size=30), min_size=1, max_size=30))
def test_wrapped_lines_lose_no_word_and_break_none(words: list[str]) -> None:
    lines = wrap_lines(" ".join(words), "    ")

    assert [word for line in lines for word in line.split()] == words
    assert all(line.startswith("    ") for line in lines)
