import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.facts.words import form, within


@pytest.mark.parametrize(
    ("text", "spaced"),
    [
        ("Auth handler", "auth handler"),
        ("auth_handler", "auth handler"),
        ("src/auth/keys.pem", "src auth keys pem"),
        ("authHandler", "auth handler"),
        ("user: favourite editor", "user favourite editor"),
        ("  Zürich — Straße ", "zürich strasse"),
        ("設定ファイル", "設定ファイル"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("e\u0301cole", "école"),
        ("***", ""),
    ],
)
def test_words_end_at_signs_and_humps(text: str, spaced: str) -> None:
    assert form(text).spaced == spaced


def test_a_scope_before_a_key_can_be_left_out() -> None:
    assert form("user: favourite editor").unscoped == "favourite editor"
    assert form("port: 80").unscoped == "port 80"
    assert form("user:").unscoped == "user"


@pytest.mark.parametrize(
    ("a", "b"), [("port", "prot"), ("port", "pot"), ("port", "poort"), ("port", "pork")]
)
def test_one_slip_of_the_finger_is_one_edit(a: str, b: str) -> None:
    assert within(a, b, 1)
    assert within(b, a, 1)
    assert not within(a, b, 0)


def distance(a: str, b: str) -> int:
    """Optimal string alignment, the whole table."""
    rows = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            rows[i][j] = min(
                rows[i - 1][j] + 1,
                rows[i][j - 1] + 1,
                rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
            )
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 1] + b[j - 2]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


SHORT = st.text("abc", max_size=6)


@given(SHORT, SHORT, st.integers(0, 2))
def test_edits_are_counted_as_in_the_textbook(a: str, b: str, edits: int) -> None:
    assert within(a, b, edits) == (distance(a, b) <= edits)
