"""What looks like a credential: known prefixes and forms, no guessing by randomness.

High precision is the point: a plain sentence about passwords must never be held back. A new kind
of token without a prefix of its own goes unseen, unless someone writes "token = …" before it.
"""

import re
from functools import cache

WINDOW = 64 * 1024  # characters looked at in one go, so that no text takes long
OVERLAP = 8 * 1024  # longer than any credential: one at a border is whole in the next window
FEWEST_DISTINCT = 5  # characters: ******** and abababab are written for show
SHORTEST_MIXED = 6  # letters and digits in one run: "RS256" and "v2" are names
_WORD = r"[A-Za-z0-9_-]"

# kind -> pattern; the (?<!…) before them all keeps base64 and identifiers from containing one
_FORMS: dict[str, str] = {
    "AWS access key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",
    "GitHub token": r"gh[pousr]_[A-Za-z0-9]{36,255}",
    "GitHub fine-grained token": r"github_pat_[A-Za-z0-9_]{22,255}",
    "GitLab token": rf"gl(?:pat|dt|rt|cbt|ptt|agent|oas)-{_WORD}{{20,300}}",
    "Anthropic key": rf"sk-ant-{_WORD}{{20,255}}",
    "OpenRouter key": r"sk-or-v1-[0-9a-f]{64}",
    "OpenAI key": rf"sk-(?:proj|svcacct|admin)-{_WORD}{{20,255}}|sk-[A-Za-z0-9]{{48}}(?!{_WORD})",
    "Google API key": rf"AIza{_WORD}{{35}}(?!{_WORD})",
    "Google OAuth secret": rf"GOCSPX-{_WORD}{{28}}|ya29\.{_WORD}{{30,1000}}",
    "Slack token": r"xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-\d-[A-Za-z0-9-]{10,255}",
    "Slack webhook": r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/+]{40,}",
    "Discord webhook": rf"discord(?:app)?\.com/api/webhooks/\d{{17,20}}/{_WORD}{{60,}}",
    "Telegram bot token": rf"\d{{8,10}}:AA{_WORD}{{33}}(?!{_WORD})",
    "Stripe key": r"[sr]k_live_[A-Za-z0-9]{20,255}|whsec_[A-Za-z0-9+/]{32,}",
    "npm token": r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
    "PyPI token": rf"pypi-AgE[In]{_WORD}{{50,1000}}",
    "Hugging Face token": r"hf_[A-Za-z0-9]{30,255}",
    "SendGrid key": rf"SG\.{_WORD}{{16,32}}\.{_WORD}{{32,64}}",
    "Vault token": rf"hv[sbr]\.{_WORD}{{24,300}}",
    "DigitalOcean token": r"do[opr]_v1_[0-9a-f]{64}",
    "age key": r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}",
    "Databricks token": r"dapi[0-9a-f]{32}(?:-\d)?(?![0-9a-z])",
    "Shopify token": r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    "Linear key": r"lin_api_[A-Za-z0-9]{40}",
    "Notion token": r"ntn_[A-Za-z0-9]{40,}",
    "Grafana token": r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}",
    "Sentry token": r"sntry[su]_[A-Za-z0-9+/=_]{40,}",
    "Groq key": r"gsk_[A-Za-z0-9]{50,60}",
    "Replicate token": r"r8_[A-Za-z0-9]{37}",
    "Supabase token": r"sbp_[0-9a-f]{40}",
    "Tailscale key": r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}",
    "Terraform token": rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_WORD}{{60,}}",
    "Postman key": r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    "New Relic key": r"NRAK-[A-Z0-9]{27}",
    "Azure storage key": r"AccountKey=[A-Za-z0-9+/]{86}==",
    "JSON web token": rf"eyJ{_WORD}{{10,2000}}\.eyJ{_WORD}{{10,4000}}\.{_WORD}{{10,1000}}",
    "private key": (
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----)[\s\S]){0,6000}-----END [A-Z0-9 ]{1,40}-----"
        # cut off before its end: its lines, also with headers among them, and a last short one
        r"|(?:(?:\s|\\[nr]|[A-Z][A-Za-z-]{2,20}: \S{1,100}){1,8}"
        r"[A-Za-z0-9+/]{16,6000}={0,2}){1,400}(?:\s[A-Za-z0-9+/]{1,15}(?:=|…|\Z)=?)?)?"
    ),
    "password in an address": r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@'\"]{0,80}:(?P<address>[^\s/@'\"]{3,200})@",
    "password in a command": (
        r"curl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]{1,80}:(?P<command>[^\s'\"]{3,200})"
    ),
    "bearer token": r"(?i:bearer) (?P<bearer>[A-Za-z0-9._~+/-]{20,2000}=*)",
    "assigned secret": (
        r"(?i:(?:[a-z0-9]+[_-]){0,4}(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|"
        r"access[_-]?key|private[_-]?key|client[_-]?secret|credential)s?)"
        r"['\"`*]{0,2}\s{0,3}(?:=>?|:=?|\bis\b)['\"`*]{0,2}\s{0,3}"  # `token`: and **Token:** too
        r"['\"`]?(?P<assigned>[A-Za-z0-9!#%&*+./=?@^_~-]{8,200})(?![\w(\[])"
    ),
}
_KINDS = tuple(_FORMS)
_VALUES = {  # kind -> the group that is the credential, where the form needs words around it
    "password in an address": "address",
    "password in a command": "command",
    "bearer token": "bearer",
    "assigned secret": "assigned",
}
# written where a credential would stand: nobody can log in with it
_PLACEHOLDER = re.compile(
    r"(?i)placeholder|redacted|changeme|dummy|x{4}|\*{3}|\.{3}|0{8}|"
    r"^(?:pass(?:word|wd)?|pwd|secret|token|hunter2)$|^[$<{%]"
)
# By chance these stand in no token; but people choose passwords with them, so there they must be
# the whole of it: your_key_123, sk-1234567890abcdef, and the secret key of the AWS documentation.
_IN_TOKENS = re.compile(r"(?i)example|your|1234567")
_IN_PASSWORDS = re.compile(
    r"(?=.*(?i:example|your))(?:[a-z._-]+|[A-Z._-]+)\d{0,4}$|.*EXAMPLE(?:KEY)?$|"
    r"(?:[a-z]{1,5}[-_])*1234567(?:8(?:90?)?)?(?:abc(?:def)?)?$"
)
_FORMAT = re.compile(r"(?i)base64|sha-?(?:1|256|512)|md5|utf-?8|oauth2|v(?:ersion)?\d+")
_PATH = re.compile(r"[~.]{0,2}/|.*/.*\.[A-Za-z]{1,5}(?::\d+)?$|[\w.-]+\.[A-Za-z]{2,5}(?::\d+)?$")


@cache
def _pattern() -> re.Pattern[str]:
    """One pass for all kinds; groups g0, g1, … stand in the order of the forms."""
    either = "|".join(f"(?P<g{n}>{form})" for n, form in enumerate(_FORMS.values()))
    # a header of five dashes is in no word, even after a written \n
    return re.compile(rf"(?<![A-Za-z0-9_](?!-----))(?:{either})")


def found(text: str) -> list[str]:
    """The kinds of credential in a text, each once, in the order of their first place."""
    return list(dict.fromkeys(kind for _, _, kind in _places(text)))


def found_in(title: str, content: str) -> list[str]:
    """The kinds of credential in a memory: a key and its value are an assignment, too."""
    return found(f"{title}: {content}")


def redacted(text: str) -> str:
    """The text with a visible mark in the place of each credential."""
    pieces: list[str] = []
    end_of_last = 0
    for start, end, kind in _places(text):
        pieces += (text[end_of_last:start], f"[redacted: {kind}]")
        end_of_last = end
    return "".join((*pieces, text[end_of_last:]))


def _places(text: str) -> list[tuple[int, int, str]]:
    """Where credentials stand, in order and without overlap."""
    places: list[tuple[int, int, str]] = []
    end_of_last = 0
    for begin in range(0, max(len(text) - OVERLAP, 1), WINDOW - OVERLAP):
        is_last = begin + WINDOW >= len(text)
        at = max(begin, end_of_last)
        while match := _pattern().search(text, at, begin + WINDOW):
            if not is_last and match.start() >= begin + WINDOW - OVERLAP:
                break  # it may go on beyond this window; the next one begins before it
            start, end, kind = _place(match)
            at = end if kind else match.start() + 1  # a real one may begin inside a false one
            if kind:
                places.append((start, end, kind))
                end_of_last = end
    return places


def _place(match: re.Match[str]) -> tuple[int, int, str]:
    """The credential itself, without the words around it; kind "" for what only looks like one."""
    kind = _KINDS[int((match.lastgroup or "g0")[1:])]
    start, end = match.span(_VALUES.get(kind, 0))
    return start, end, kind if _is_real(kind, match.string[start:end]) else ""


def _is_real(kind: str, credential: str) -> bool:
    if kind == "private key":
        return True
    if _PLACEHOLDER.search(credential) or len(set(credential)) < FEWEST_DISTINCT:
        return False
    if kind not in _VALUES:
        return not _IN_TOKENS.search(credential)
    is_chosen = kind == "password in an address" or _is_assigned(credential)
    return is_chosen and not _IN_PASSWORDS.match(credential)


def _is_assigned(value: str) -> bool:
    """No path, and somewhere letters mixed with digits that are no name of a format.

    "password: required", "token: src/jwt.py" and "token is RS256-signed" are harmless.
    """
    return not _PATH.match(value) and any(
        len(piece) >= SHORTEST_MIXED and not piece.isalpha() and not piece.isdigit()
        for piece in re.split(r"[^A-Za-z0-9]+", _FORMAT.sub("", value))
    )
