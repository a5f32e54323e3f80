import re

import pytest

from nuggets.domain.credentials import credential_kinds, memory_credential_kinds, redact
from secret_samples import ALARMS, CHOSEN, CREDENTIALS, HARMLESS, MADE, UNSEEN, chance, drawn, pem


@pytest.fixture(autouse=True)
def _same_draw() -> None:
    """In whatever order the tests run: of all texts by chance, one in thousands is like a word."""
    chance.seed(4)


@pytest.mark.parametrize("name", CREDENTIALS)
def test_a_credential_is_found_and_taken_out_whole(name: str) -> None:
    around, _ = sample = CREDENTIALS[name]
    text = f"note to self:\n{sample.text}\n(do not share)"

    (kind,) = credential_kinds(text)
    after = redact(text)

    assert after == f"note to self:\n{around.replace('…', f'[redacted: {kind}]')}\n(do not share)"
    assert not credential_kinds(after)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_credential_is_left_alone(text: str) -> None:
    assert credential_kinds(text) == []
    assert redact(text) == text


def test_few_credentials_are_missed_and_few_harmless_texts_held_back() -> None:
    credentials = [*(sample.text for sample in CREDENTIALS.values()), *UNSEEN]
    harmless = [*HARMLESS, *ALARMS]

    assert len(credentials) >= 120 and len(harmless) >= 150
    assert sum(map(bool, map(credential_kinds, credentials))) >= 0.95 * len(credentials)
    assert sum(map(bool, map(credential_kinds, harmless))) <= 0.02 * len(harmless)


def test_a_credential_deep_in_a_long_text_is_taken_out_whole() -> None:
    token = CREDENTIALS["GitHub personal"].text
    before, after = "word " * 40_000, " word" * 30_000

    assert redact(before + token + after) == f"{before}[redacted: token ghp_…]{after}"


def test_all_kinds_of_a_long_text_are_named_once_in_their_order() -> None:
    one, two = CREDENTIALS["npm"].text, CREDENTIALS["Stripe"].text

    assert credential_kinds(f"{one} {two} {one}") == ["token npm_…", "token sk_live_…"]
    assert credential_kinds("") == []


def test_a_token_after_a_telling_name_is_called_by_its_own_kind() -> None:
    assert credential_kinds(f"GITHUB_TOKEN={CREDENTIALS['GitHub personal'].text}") == [
        "token ghp_…"
    ]


@pytest.mark.parametrize("mark", ["`{}`:", "**{}**:", "**{}:**", "'{}' =>", "{} =", '\\"{}\\":'])
def test_an_assignment_is_seen_through_its_markup(mark: str) -> None:
    text = f"- {mark.format('api_key')} {MADE}"

    assert credential_kinds(text) == ["assigned secret"]
    assert redact(text).endswith("[redacted: assigned secret]")


@pytest.mark.parametrize(
    "key", ["API key", "token for staging", "deploy token (prod)", "JWT secret"]
)
def test_a_key_and_its_value_are_an_assignment(key: str) -> None:
    secret = drawn(32)

    assert credential_kinds(secret) == []
    assert memory_credential_kinds(key, secret) == ["assigned secret"]


def test_a_key_and_a_harmless_value_are_none() -> None:
    assert memory_credential_kinds("staging db password", drawn(20)) == ["assigned password"]
    assert memory_credential_kinds("token format", "RS256, see src/auth/jwt.py:47") == []
    assert memory_credential_kinds("test token", "src/fixtures/token.json") == []
    assert memory_credential_kinds("API key", "rotated monthly, kept in the vault") == []


@pytest.mark.parametrize(
    "between", ["", " for the CMS, it's", " fürs Gäste-WLAN:", " of the old router was", "、"]
)
def test_a_password_is_found_in_the_sentence_that_names_it(between: str) -> None:
    assert credential_kinds(f"the password{between} {CHOSEN}-Lantern")
    assert not credential_kinds(f"the password{between} changes in {2026}. Ask Kim2024Team then")


def test_a_letter_that_grows_in_small_letters_moves_no_place() -> None:
    assert redact(f"İİİ password: {drawn(12)} İ") == "İİİ password: [redacted: assigned password] İ"


def test_no_form_can_go_on_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes a pattern slow on a hostile text is a quantity without a bound."""
    patterns: set[str] = set()
    compile_pattern = re.compile

    def note_and_compile(pattern: str) -> re.Pattern[str]:
        patterns.add(pattern)
        return compile_pattern(pattern)

    with monkeypatch.context() as patch:
        patch.setattr(re, "compile", note_and_compile)
        kinds = {
            kind
            for credential in CREDENTIALS.values()
            for kind in credential_kinds(credential.text)
        }

    assert len(patterns) >= len(kinds) > 0
    for pattern in patterns:
        bare = re.sub(r"\[[^]]*\]", "", re.sub(r"\\.", "", pattern))
        assert not re.search(r"[*]|[^}]\+|,\}", bare), pattern


@pytest.mark.parametrize(
    "piece",
    ["a", " ", "-", "token", "token: ", "password=", "token:ab1,", "eyJaaaaaaaaaaa.", "xoxb-",
     "curl -u ", "http://a:b@", "login a ", '\\"token', "token for a b c ", "mysql "],
)  # fmt: skip
def test_a_long_line_that_is_made_to_be_slow_hides_nothing(piece: str) -> None:
    token = CREDENTIALS["npm"].text

    assert token not in redact(f"{piece * (20_000 // len(piece))} {token}")


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("lines", [0, 1, 25, 200])
def test_of_a_private_key_without_its_end_nothing_is_left(lines: int, flat: bool) -> None:
    key = pem("RSA PRIVATE KEY").splitlines()[0]
    body = [drawn(64) for _ in range(lines)]
    text = f"why is this refused? {key}\nProc-Type: 4,ENCRYPTED\n\n" + "\n".join(body)
    text = " ".join(text.split()) if flat else text

    after = redact(text)

    assert credential_kinds(text) == ["private key"]
    assert after.startswith("why is this refused? [redacted: private key]")
    assert not [line for line in body if line[:20] in after]


def test_a_private_key_is_seen_where_its_line_breaks_are_written_out() -> None:
    key = "\\n".join(["", *pem("EC PRIVATE KEY").splitlines(), ""])

    assert redact(f'"key": "{key}"') == '"key": "\\n[redacted: private key]\\n"'


def test_the_last_piece_of_a_cut_private_key_goes_too() -> None:
    begin, first, *_ = pem("PRIVATE KEY").splitlines()

    for end in (drawn(7) + "==", drawn(9) + "…", drawn(15)):
        assert redact(f"{begin}\n{first}\n{end}").startswith("[redacted: private key]")
        assert end.rstrip("…") not in redact(f"{begin}\n{first}\n{end}")


def test_words_after_the_header_of_a_private_key_stay() -> None:
    begin = pem("PRIVATE KEY").splitlines()[0]

    assert redact(f"{begin} is how it begins") == "[redacted: private key] is how it begins"
