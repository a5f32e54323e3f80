import pytest

from nuggets.facts.key_tokenizer import form


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
    assert form("user: favourite editor").without_scope == "favourite editor"
    assert form("port: 80").without_scope == "port 80"
    assert form("user:").without_scope == "user"
