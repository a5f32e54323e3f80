import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nuggets.language.text import edits_between, first_words, fold_case, parts, plain, tokens, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Handled in src/auth/middleware.ts:47.",
            ["handled", "src", "auth", "middleware", "ts", "47"],
        ),
        ("createNote and HTTPServer", ["create", "note", "http", "server"]),
        ("snake_case __init__", ["snake", "case", "init"]),
        ("RS256 but v2", ["rs", "256", "v2"]),
        ("oauth2Client k8sCluster", ["oauth2", "client", "k8s", "cluster"]),
        ("createUserV2", ["create", "user", "v2"]),
        ("x86_64 at 9fceb02d0ae5", ["x86", "64", "9fceb02d0ae5"]),
        ("배포 서버의 포트", ["배포", "서버", "버의", "포트"]),
        ("a soft\u00adened \u200bword", ["softened", "word"]),
        ("Caroline's cat doesn't purr", ["caroline", "cat", "purr"]),
        ("the CA can't sign, an AI won't", ["ca", "sign", "ai"]),
        ("parse URLs, userIDs and K8s", ["parse", "url", "user", "id", "k8s"]),
        ("¿Qué días? «Nada»（无）", ["qué", "días", "nada", "无"]),
        ("l’eau de Javel", ["l", "eau", "de", "javel"]),
        ("Python設定を変更", ["python", "設定", "定を", "を変", "変更"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Straße CAFÉ", ["strasse", "café"]),
        ("to be or not to be", ["to", "be", "or", "not", "to", "be"]),
        ("done 🎉 → next", ["🎉", "→", "next"]),
        ("...", []),
        ("'quoted' words", ["quoted", "words"]),
    ],
)
def test_words_are_the_significant_parts_of_a_text_in_order(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_plain_words_differ_neither_in_case_nor_in_accents() -> None:
    assert plain("Café") == plain("CAFE") == plain(unicodedata.normalize("NFD", "café")) == "cafe"


def test_an_ordinary_word_is_its_own_only_part() -> None:
    assert [parts(word) for word in ("note", "Note", "NOTE")] == [["note"], ["Note"], ["NOTE"]]


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold_case(fold_case(text)) == fold_case(text)


@given(st.text(st.characters(codec="ascii", exclude_characters="\0")))
def test_plain_ascii_is_cut_like_any_other_text(text: str) -> None:
    # one letter beyond ASCII sends the same text the general way
    assert words(f"{text} word é") == [*words(f"{text} word"), "é"]


@given(st.text())
def test_tokens_hold_no_blanks_and_come_from_the_text(text: str) -> None:
    shown = text.translate(dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff")))
    for token in tokens(text):
        assert token in shown
        assert not any(map(str.isspace, token))


@pytest.mark.parametrize(
    ("a", "b"), [("port", "prot"), ("port", "pot"), ("port", "poort"), ("port", "pork")]
)
def test_one_slip_of_the_finger_is_one_edit(a: str, b: str) -> None:
    assert edits_between(a, b, 1) == 1
    assert edits_between(b, a, 1) == 1
    assert edits_between(a, b, 0) == 1


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
    assert edits_between(a, b, edits) == min(distance(a, b), edits + 1)


@given(st.text() | st.lists(st.text(), min_size=60).map(" ".join), st.integers(1, 5))
@example("the " * 100 + "harbour", 1)
def test_the_first_words_are_the_first_of_all_words(text: str, most: int) -> None:
    assert first_words(text, most) == list(dict.fromkeys(words(text)))[:most]
