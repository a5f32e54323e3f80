"""What looks like a credential: known beginnings, and values that stand after a telling word.

High precision is the point: a plain sentence about passwords must never be held back. So a word
alone is no alarm; what it names must look like a credential too. What has neither a beginning nor
a word of its own goes unseen, and so does a password made of words only.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

FEWEST_DISTINCT = 5  # characters: ******** and abababab are written for show
SHORTEST_MIXED = 6  # letters and digits in one run: "RS256" and "v2" are names
SHORTEST_MADE = 8  # characters of what a machine made; people choose shorter ones
JUDGED = 100  # characters of a value, by which all of it is judged
LONGEST = 8192  # characters without a blank: no credential is longer

# --- tokens: kind, how it can begin, what follows (always bounded, so that no text takes long) ----

_W, _A, _H = "[A-Za-z0-9_-]", "[A-Za-z0-9]", "[0-9a-f]"
_TOKENS = (
    ("AWS access key", "AKIA ASIA ABIA ACCA", rf"[A-Z2-7]{{16}}(?!{_A})(?:,[A-Za-z0-9+/]{{40}})?"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _A + "{36,255}"),
    ("GitHub fine-grained token", "github_pat_", _W + "{22,255}"),
    ("GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat-",
     _W + r"{20,300}(?:\.\w{2}\.\w{7,9})?"),
    ("Bitbucket token", "ATBB", _A + "{32}"),
    ("Atlassian token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{50,300}"),
    ("Anthropic key", "sk-ant-", _W + "{20,255}"),
    ("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", _W + "{20,255}"),
    ("OpenRouter key", "sk-or-v1-", _H + "{64}"),
    ("model API key", "sk-", _A + rf"{{32,64}}(?!{_W})"),
    ("model API key", "gsk_ xai- pplx- nvapi- r8_ hf_ lsv2_ pcsk_ tvly-", _W + "{30,255}"),
    ("Google API key", "AIza", _W + rf"{{35}}(?!{_W})"),
    ("Google OAuth secret", "GOCSPX- ya29.", _W + "{28,1000}"),
    ("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", "[A-Za-z0-9-]{10,255}"),
    ("Slack webhook", "hooks.slack.com/", "[a-z]{5,10}/[A-Za-z0-9/+]{40,255}"),
    ("Discord webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
     r"\d{17,20}/" + _W + "{60,255}"),
    ("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", "[A-Za-z0-9+/]{20,255}"),
    ("Square token", "sq0atp- sq0csp-", _W + "{22,60}"),
    ("PayPal token", "access_token$production$", r"[0-9a-z]{16}\$" + _H + "{32}"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]{32}"),
    ("Twilio key", "SK", _H + rf"{{32}}(?!{_A})"),
    ("SendGrid key", "SG.", _W + r"{16,32}\." + _W + "{32,64}"),
    ("Mailgun key", "key-", _H + rf"{{32}}(?!{_W})"),
    ("Resend key", "re_", _A + "{8}_" + _A + "{20,40}"),
    ("npm token", "npm_", _A + rf"{{36}}(?!{_A})"),
    ("PyPI token", "pypi-AgEI pypi-AgEn", _W + "{50,1000}"),
    ("RubyGems key", "rubygems_", _H + "{48}"),
    ("Docker token", "dckr_pat_ dckr_oat_", _W + "{20,60}"),
    ("Vault token", "hvs. hvb. hvr.", _W + "{24,300}"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa.", "[A-Za-z0-9_.-]{40,80}"),
    ("1Password token", "ops_eyJ", _W + "{50,2000}"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", _H + "{64}"),
    ("Heroku key", "HRKU-", _W + "{36,80}"),
    ("Netlify token", "nfp_", _A + "{36,60}"),
    ("Vercel token", "vercel_", _W + "{24,80}"),
    ("Fly token", "fo1_ fm1_ fm2_", "[A-Za-z0-9+/=_-]{43,2000}"),
    ("Supabase token", "sbp_", _H + "{40}"),
    ("Pulumi token", "pul-", _H + "{40}"),
    ("Tailscale key", "tskey-", "[a-z]{1,20}-[A-Za-z0-9]{1,40}-[A-Za-z0-9]{20,80}"),
    ("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9_.-]{32,80}"),
    ("Databricks token", "dapi", _H + r"{32}(?:-\d)?(?![0-9a-z])"),
    ("Airtable token", "pat", _A + r"{14}\." + _H + "{64}"),
    ("Asana token", "0/ 1/ 2/", r"\d{16}:" + _H + "{32}"),
    ("Figma token", "figd_", _W + "{30,80}"),
    ("Linear key", "lin_api_", _A + "{40}"),
    ("Notion token", "ntn_", _A + "{40,80}"),
    ("Grafana token", "glsa_", _A + "{32}_[0-9a-fA-F]{8}"),
    ("Sentry token", "sntrys_ sntryu_", "[A-Za-z0-9+/=_]{40,500}"),
    ("New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    ("Postman key", "PMAK-", _H + "{24}-" + _H + "{34}"),
    ("SonarQube token", "sqp_ squ_ sqa_", _H + "{40}"),
    ("age key", "AGE-SECRET-KEY-1", "[02-9AC-HJ-NP-Z]{58}"),
    ("JSON web token", "eyJ", _W + r"{10,1000}+(?:\." + _W + "{10,4000}+){2,4}"),
)  # fmt: skip
_NO_WORD = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"  # the n of a written \n is no letter

# --- values: what stands after a telling word, by how it looks -----------------------------------

# written where a credential would stand: nobody can log in with it
_SHOWN = (
    r"(?i)placeholder|redacted|changeme|dummy|x{4}|\*{3}|\.{3}|…|0{8}|[$#]\{|\{\{|\$\(|"
    r"^(?:[<{]|\$(?:[a-z_]|\d\w?\$)|%\w*%|%[(s]|\^[\[(])"
)
# By chance these stand in no token; but people choose passwords with them, so there they must be
# the whole of it: your_key_123, sk-1234567890abcdef, and the secret key of the AWS documentation.
_SHOWN_IN_TOKENS = r"(?i:example|your|1234567)|^[a-z0-9]{1,12}(?:[-_.][a-z]+)+$"
_SHOWN_AS_VALUE = (
    r"(?=.*(?i:example|your))(?:[a-z._-]+|[A-Z._-]+)\d{0,4}$|.*EXAMPLE(?:KEY|\d*)$|"
    r"(?:[a-z]{1,5}[-_])*1234567(?:8(?:90?)?)?(?:abc(?:def)?)?$|"
    r"(?i:(?:(?:my|the|some|super|db|api|access|auth|test|new|old|user|strong|secret|s3cr3t|token|"
    r"key|pass(?:word|wd|phrase)?|pwd|hunter2|1password)[-_.]?)+\d{0,3}$)"
)
# where it is kept or how it is got: a path, an address, a name in code or of a variable, a hash
_POINTER = (
    r"[~.]{1,2}/|/[a-z_.-]{2,}(?:/|$)|(?:[a-z_.-]+/){2}|[A-Za-z]:\\|[a-z][\w+.-]*:/|arn:|"
    r"[\w./~-]*/[\w./-]*\.[A-Za-z]{1,5}(?::\d+)?$|[\w.-]+\.[A-Za-z]{2,5}(?::\d+)?$|"
    r"[A-Za-z_][\w.]*[(\[]|[a-z_]+\.[A-Za-z_]|[A-Z]+(?:_[A-Z0-9]+)+$|"
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|(?i:sha\d+|md5)[:-]|0x[0-9a-fA-F]{40}$"
)
_FORMAT = (
    r"(?i)base64|sha-?(?:1|256|512)|md5|utf-?8|oauth2|ed25519|argon2\w{0,2}|bcrypt\d?|pbkdf2|"
    r"v(?:ersion)?\d+|(?:min|max)\d+|\d+\W?(?:char|digit|letter|day|hour|min|bit|byte|round)\w*"
)
_WORDS = r"(?:[A-Z]{0,6}[a-z]{2,}+|Id|By|Of|To|In|On|Or|Is|Be|At|As|If|No|My|Db)*[A-Z]{0,6}"
_NAME = (
    rf"[a-z]?{_WORDS}(?:\d+[a-z]?{_WORDS})?"  # ERC721Enumerable, cl100k: words around one number
)


def _is_token(token: str) -> bool:
    return not _is_shown(token) and not re.search(_SHOWN_IN_TOKENS, token)


def _is_shown(value: str) -> bool:
    return len(set(value)) < FEWEST_DISTINCT or bool(re.search(_SHOWN, value))


def _is_any(value: str) -> bool:
    return not _is_shown(value) and not re.match(_SHOWN_AS_VALUE, value)


def _is_chosen(value: str) -> bool:
    """By a person: letters mixed with digits. "password: required" and "8-64chars" are harmless."""
    plain = _plain(value)
    if re.search(r"[!#$%^&*@+=?~]", value):  # in no name: what they part belongs together
        plain = re.sub(r"[^A-Za-z0-9]", "", plain)
    return any(map(_is_mixed, _pieces(plain))) and _is_meant(value)


def _is_made(value: str) -> bool:
    """By a machine: a mixture that is no name. "token: ERC721Enumerable" is harmless."""
    return (
        len(value) >= SHORTEST_MADE
        and any(map(_is_random, _pieces(value)))
        and any(map(_is_random, _pieces(_plain(value))))
        and _is_meant(value)
    )


def _is_meant(value: str) -> bool:
    return _is_any(value) and not re.match(_POINTER, value)


def _plain(value: str) -> str:
    """Without names of formats; "" if there is neither a digit nor a change of case."""
    return re.sub(_FORMAT, "", value) if re.search(r"\d|[a-z][A-Z]", value) else ""


def _pieces(value: str) -> list[str]:
    runs: list[str] = re.findall(f"[A-Za-z0-9]{{{SHORTEST_MIXED},}}", value)
    return [run for run in runs if not run.isdigit()]


def _is_mixed(piece: str) -> bool:
    return not piece.isalpha() or _is_random(piece)


def _is_random(piece: str) -> bool:
    is_plain = piece.isalpha() and (piece.islower() or piece.isupper())
    return not is_plain and not re.fullmatch(_NAME, piece)


# --- values: the words before them, in small letters ----------------------------------------------

_QUOTE = r"\\?[\"'`]"
_PASSWORD = (
    r"pass(?:wor[dt]|wd|phrase)|kennwort|pwd|identified by|"
    rf"pass(?<!bypass)(?<!compass)(?! {_QUOTE})|pw(?<![a-z]pw)"  # "pass `x=1`" is a verb
)
_SECRET = (
    r"secret(?<!:secret)(?:[ _-]?access)?(?:[ _-]?key)?(?:[ _-]base)?|token|credential|"
    r"(?:api|app|access|account|auth|private|shared|signing|encryption|master|storage|subscription)"
    r"[ _-]?key|key[_-]data|(?:auth|creds)(?<![a-z]auth)(?<![a-z]creds)|[?&]sig"
)
_BETWEEN = (
    r"s?(?:[ _-]?(?:\d|prod(?:uction)?|staging|dev|live|value))?"
    rf"(?:{_QUOTE}|[*\])]){{0,3}}"  # `token`: and **Token:** too
    r"(?: (?:for|of|on|in|to|at|für) [\w.@/-]{1,30}(?: [\w.@/-]{1,30}){0,3}| ?\([^()\n]{1,40}\))?"
    r"\s{0,3}(?:(?::\s?[a-z]{3,9}\s?)?={1,3}>?|:=?|->|→|>|(?<= )\||\bist?\b(?: now)?:?|\t|"
    rf" (?={_QUOTE}))\*{{0,2}}\s{{0,6}}\(?"
)
_VALUE = rf"(?:[bfru]?(?P<quote>{_QUOTE}))?(?P<value>\S{{6}})"  # and on to its end, see _span


class _Form(NamedTuple):
    words: str  # one of them is in every text with such a credential: else nothing is tried
    pattern: str  # the credential is its `value`, or all of it
    is_real: Callable[[str], bool]


_FORMS = {
    "private key": _Form(
        "private",
        r"-----begin (?:[a-z0-9]{1,20} ){0,3}private key(?: block)?-----"
        r"(?:(?:(?!-----)[\s\S]){0,6000}-----end [a-z0-9 ]{1,40}-----"
        # cut off before its end: its lines, also with headers among them, and a last short one
        r"|(?:(?:\s|\\[nr]|[a-z][a-z-]{2,20}: \S{1,100}){1,8}"
        r"[a-z0-9+/]{16,6000}={0,2}){1,400}(?:\s[a-z0-9+/]{1,15}(?:=|…|\Z)=?)?)?"
        r"|private-lines: \d{1,3}\s{1,2}(?P<value>[a-z0-9+/]{16,64}(?:\s?[a-z0-9+/=]{4,64}){0,99})",
        lambda _: True,
    ),
    "Terraform token": _Form(".atlasv1.", r"\b[a-z0-9]{14}\.atlasv1\.[\w-]{60,100}", _is_token),
    "Telegram bot token": _Form(":aa", r"\b\d{8,10}:aa[\w-]{33}(?![\w-])", _is_token),
    "Azure client secret": _Form("q~", r"(?<!\w)[\w.~-]{3}\dq~[\w.~-]{31,34}", _is_token),
    "Mailchimp key": _Form("-us", r"\b[0-9a-f]{32}-us\d{1,2}\b", _is_token),
    "password in an address": _Form(
        "://",
        r"://(?P<user>[^\s:/@'\"]{0,80}):(?!(?P=user)@|\d{1,5}[/?#]|:)(?P<value>[^\s'\"]{3,200}?)"
        r"@(?!sha256:|[^\s/'\"]{0,200}@)",
        _is_any,
    ),
    "password in a command": _Form(
        "curl mysql mariadb sshpass login -pass",
        r"(?:curl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]{1,80}:|sshpass\s-p\s?|"
        r"(?:mysql|mariadb)[a-z]{0,6}\b[^\n]{0,200}?\s-p(?!ort)|login\s\S{1,80}\spassword\s|"
        rf"login\b[^\n]{{0,200}}?\s-p\s|--(?:[a-z]{{1,12}}-){{0,2}}pass(?:word)?\s){_VALUE}",
        _is_chosen,
    ),
    "secret in a command": _Form(
        "-token -secret -key",
        rf"--(?:[a-z]{{1,12}}-){{0,2}}(?:token|secret|(?:api|access|secret)-key)\s{_VALUE}",
        _is_made,
    ),
    "authorization": _Form(
        "bearer basic authorization",
        rf"(?:bearer\s|basic\s|authorization(?:{_QUOTE})?\s?[:=]\s?(?:{_QUOTE})?[a-z]{{3,20}}\s)"
        r"(?P<value>[\w.~+/-]{12,4000}={0,2})",
        _is_made,
    ),
    "cookie": _Form("cookie:", r"cookie: ?(?P<value>[\w.-]{1,40}=[^\n'\"]{16,4000})", _is_made),
    "assigned password": _Form(
        "pass kennwort pwd pw identified", f"(?:{_PASSWORD}){_BETWEEN}{_VALUE}", _is_chosen
    ),
    "assigned secret": _Form(
        "secret token key cred auth sig=", f"(?:{_SECRET}){_BETWEEN}{_VALUE}", _is_made
    ),
}

# --- looking for both ----------------------------------------------------------------------------


class _Place(NamedTuple):
    start: int
    end: int
    kind: str


def found(text: str) -> list[str]:
    """The kinds of credential in a text, each once, in the order of their first place."""
    return list(dict.fromkeys(place.kind for place in _places(text)))


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


def _places(text: str) -> list[_Place]:
    """Where credentials stand, in order; where two meet, both as the kind of the first."""
    places: list[_Place] = []
    for place in sorted((*_tokens(text), *_values(text)), key=lambda place: place.start):
        if places and place.start < places[-1].end:
            places[-1] = places[-1]._replace(end=max(place.end, places[-1].end))
        else:
            places.append(place)
    return places


def _tokens(text: str) -> Iterator[_Place]:
    for kind, beginnings, rest in _TOKENS:
        for beginning in beginnings.split():
            at = text.find(beginning)
            while at >= 0:
                match = re.compile(_NO_WORD + re.escape(beginning) + rest).match(text, at)
                if match and _is_token(match[0]):
                    yield _Place(at, match.end(), kind)
                at = text.find(beginning, match.end() if match else at + 1)


def _values(text: str) -> Iterator[_Place]:
    small = text.replace("İ", "i").lower()  # the only letter that would get longer: places stay
    for kind, form in _FORMS.items():
        if any(word in small for word in form.words.split()):
            yield from _of_form(text, small, kind, form)


def _of_form(text: str, small: str, kind: str, form: _Form) -> Iterator[_Place]:
    pattern, at = re.compile(form.pattern), 0
    while match := pattern.search(small, at):
        start, end = _span(match, JUDGED)
        at = match.start() + 1  # a real one may begin inside a false one
        if form.is_real(text[start : min(end, start + JUDGED)]):
            _, at = _span(match, LONGEST)
            yield _Place(start, at, kind)


def _span(match: re.Match[str], longest: int) -> tuple[int, int]:
    """Of the value: up to a blank or its closing quote, without the marks that end a sentence."""
    named = match.groupdict()
    start, end = match.span("value" if named.get("value") else 0)
    if "quote" in named:
        closing = named["quote"][-1] if named["quote"] else "\"'`<>"
        value = re.split(rf"[\s{closing}]", match.string[start : start + longest], maxsplit=1)[0]
        end = start + len(value.rstrip(".,;:)]}\\"))
    return start, end
