import random
import string

import pytest

from nuggets.secrets import WINDOW, found, found_in, redacted

HEX, UPPER = "0123456789abcdef", string.ascii_uppercase + "234567"
LETTERS = string.ascii_letters + string.digits
chance = random.Random(4)


def drawn(count: int, letters: str = LETTERS) -> str:
    """Made when the test runs, so that nothing in this file looks like a credential."""
    return "".join(chance.choice(letters) for _ in range(count - 2)) + (
        "A7" if letters.isupper() else "a7"
    )


def pem(kind: str) -> str:
    rule = "-" * 5
    return f"{rule}BEGIN {kind}{rule}\n{drawn(64)}\n{drawn(64)}\n{rule}END {kind}{rule}"


TOKENS = {
    "AWS": "AKIA" + drawn(16, UPPER),
    "AWS temporary": "ASIA" + drawn(16, UPPER),
    "AWS secret": "aws_secret_access_key = " + drawn(40),
    "GitHub personal": "ghp" + "_" + drawn(36),
    "GitHub server": "ghs" + "_" + drawn(36),
    "GitHub fine-grained": "github" + "_pat_" + drawn(22) + "_" + drawn(59),
    "GitLab": "glpat" + "-" + drawn(20),
    "Anthropic": "sk-" + "ant-api03-" + drawn(95),
    "OpenAI project": "sk-" + "proj-" + drawn(60),
    "OpenAI legacy": "sk-" + drawn(48),
    "OpenRouter": "sk-" + "or-v1-" + drawn(64, HEX),
    "Google": "AI" + "za" + drawn(35),
    "Google OAuth": "GOC" + "SPX-" + drawn(28),
    "Slack bot": "xox" + "b-" + "2" * 3 + "41378-" + drawn(24),
    "Slack webhook": "https://hooks." + "slack.com/services/T" + drawn(20) + "/" + drawn(24),
    "Discord webhook": "discord.com/api/" + f"webhooks/{918273645 * 1000000001}/" + drawn(68),
    "Telegram": "918273645:" + "AA" + drawn(33),
    "Stripe": "sk" + "_live_" + drawn(24),
    "npm": "npm" + "_" + drawn(36),
    "PyPI": "pypi-" + "AgEI" + drawn(80),
    "Hugging Face": "hf" + "_" + drawn(34),
    "SendGrid": "SG." + drawn(22) + "." + drawn(43),
    "Vault": "hvs" + "." + drawn(90),
    "DigitalOcean": "dop" + "_v1_" + drawn(64, HEX),
    "age": "AGE-SECRET-" + "KEY-1" + drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "Databricks": "dapi" + drawn(32, HEX),
    "Groq": "gsk" + "_" + drawn(52),
    "JWT": "eyJ" + drawn(20) + ".eyJ" + drawn(40) + "." + drawn(43),
    "RSA key": pem("RSA PRIVATE KEY"),
    "OpenSSH key": pem("OPENSSH PRIVATE KEY"),
    "PGP key": pem("PGP PRIVATE KEY BLOCK"),
    "URL": "postgres://app:" + drawn(12) + "@db.internal:5432/app",
    "bearer": "Authorization: Bearer " + drawn(40),
    "password": "password: " + drawn(12),
    "password in prose": "The staging password is " + drawn(12) + ".",
    "environment": "export MY_API_KEY=" + drawn(20),
    "JSON": '{"client_secret": "' + drawn(24) + '"}',
    "URL with a run of digits": "postgres://admin:" + "Prod1234567" + "@db.internal/app",
    "password with a run of digits": "admin password = " + "Winter1234567!",
    "password with a word of examples": "password: " + "Your9Horses" + "Example",
    "curl": "curl -s -u admin:" + "S3cr3tPa55" + " https://ci.internal/job",
    "curl, quoted": "curl https://ci.internal --user 'admin:" + "S3cr3tPa55" + "'",
}  # fmt: skip

HARMLESS = [
    "fixed in commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "request id 123e4567-e89b-12d3-a456-426614174000",
    "see src/auth/keys/public.pem and src/auth/middleware.ts:47",
    "password reset flow: a mail with a link, valid for 15 minutes",
    "JWT token format: RS256, public key at src/auth/keys/public.pem",
    "The token is RS256-signed and expires after 24h",
    "token: src/auth/token_v2.py",
    "secret: ~/.config/app2/secret.yaml",
    "The secret is stored in 1password",
    "password: required, 8 to 64 characters",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9aw==",
    "sk_test_xxxxxxxxxxxxxxxxxxxxxxxx is what the documentation shows",
    "AKIAIOSFODNN7EXAMPLE",
    "api_key = <your-api-key-123>",
    "api_key = ${OPENAI_API_KEY_2}",
    "API_KEY=your_api_key_here_123",
    "api_key = sk-1234567890abcdef",
    "password: yourpassword1",
    "postgres://user:example123@localhost/app",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "curl -u admin:password https://ci.internal",
    "curl -u admin:$CI_PASSWORD2 https://ci.internal",
    "curl -u admin https://ci.internal:8443/v2/job1",
    "token = os.environ['GITHUB_TOKEN_2']",
    "password = config.get_password2()",
    "postgres://user:password@localhost:5432/app",
    "postgres://app:${DB_PASS}@db/app",
    "https://example.com:8443/path@v2",
    "ssh://git@github.com:22/owner/repo.git",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "npm_config_registry and npm_lifecycle_event are set by npm",
    "the hf_hub_download helper of huggingface_hub",
    "sk-learn is imported as sklearn; sk-estimator is its base",
    "Bearer tokens go into the Authorization header",
    "ghp_ is the prefix of personal tokens, glpat- that of GitLab",
    "use the secret named prod-db in Vault",
    "-----BEGIN CERTIFICATE----- MIIB -----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY----- MIIB -----END PUBLIC KEY-----",
    "token count: 8192 per request, token_limit=128000",
    "access_key: accesskeyid field of the form",
    "credentials: see the team vault, entry staging",
    "eyJ is how every encoded JSON object begins",
    "keyboard shortcut: ctrl+k ctrl+s; monkey: 12 bananas",
]


@pytest.mark.parametrize("kind", TOKENS)
def test_a_credential_is_found_and_taken_out(kind: str) -> None:
    token = TOKENS[kind]
    text = f"note to self: {token} (do not share)"

    assert found(text)
    after = redacted(text)
    assert not found(after)
    assert token not in after
    assert after.startswith("note to self: ") and after.endswith(" (do not share)")
    assert "[redacted: " in after


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_credential_is_left_alone(text: str) -> None:
    assert found(text) == []
    assert redacted(text) == text


@pytest.mark.parametrize("shift", [*range(-80, 81, 8), -9000, 9000])
def test_a_credential_at_the_border_of_a_window_is_taken_out_whole(shift: int) -> None:
    token = TOKENS["GitHub personal"]
    before, after = "word " * ((WINDOW + shift) // 5), " word" * 30_000

    assert redacted(before + token + after) == f"{before}[redacted: GitHub token]{after}"


def test_all_kinds_of_a_long_text_are_named_once_in_their_order() -> None:
    one, two = TOKENS["npm"], TOKENS["Stripe"]

    assert found(f"{one} {two} {one}") == ["npm token", "Stripe key"]
    assert found("") == []


@pytest.mark.parametrize("mark", ["`{}`:", "**{}**:", "**{}:**", "'{}' =>", "{} ="])
def test_an_assignment_is_seen_through_its_markup(mark: str) -> None:
    text = f"- {mark.format('api_key')} {drawn(20)}"

    assert found(text) == ["assigned secret"]
    assert redacted(text).endswith("[redacted: assigned secret]")


def test_a_key_and_its_value_are_an_assignment() -> None:
    secret = drawn(20)

    assert found(secret) == []
    assert found_in("staging db password", secret) == ["assigned secret"]
    assert found_in("token format", "RS256, see src/auth/jwt.py:47") == []
    assert found_in("test token", "src/fixtures/token.json") == []


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("lines", [0, 1, 25, 200])
def test_of_a_private_key_without_its_end_nothing_is_left(lines: int, flat: bool) -> None:
    key = pem("RSA PRIVATE KEY").splitlines()[0]
    body = [drawn(64) for _ in range(lines)]
    text = f"why is this refused? {key}\nProc-Type: 4,ENCRYPTED\n\n" + "\n".join(body)
    text = " ".join(text.split()) if flat else text

    after = redacted(text)

    assert found(text) == ["private key"]
    assert after.startswith("why is this refused? [redacted: private key]")
    assert not [line for line in body if line[:20] in after]


def test_a_private_key_is_seen_where_its_line_breaks_are_written_out() -> None:
    key = "\\n".join(["", *pem("EC PRIVATE KEY").splitlines(), ""])

    assert redacted(f'"key": "{key}"') == '"key": "\\n[redacted: private key]\\n"'


def test_the_last_piece_of_a_cut_private_key_goes_too() -> None:
    begin, first, *_ = pem("PRIVATE KEY").splitlines()

    for end in (drawn(7) + "==", drawn(9) + "…", drawn(15)):
        assert redacted(f"{begin}\n{first}\n{end}").startswith("[redacted: private key]")
        assert end.rstrip("…") not in redacted(f"{begin}\n{first}\n{end}")


def test_words_after_the_header_of_a_private_key_stay() -> None:
    begin = pem("PRIVATE KEY").splitlines()[0]

    assert redacted(f"{begin} is how it begins") == "[redacted: private key] is how it begins"
