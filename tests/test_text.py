import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.text import folded, parts, plain, tokens, words


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
    assert folded(folded(text)) == folded(text)


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
