"""Detects credentials: values with a known prefix, and values after a word such as `password`.

Precision comes first: a plain sentence about passwords must never be refused. So the word alone is
not enough; the value after it must look like a credential too. A credential with neither prefix nor
such a word is not detected, and neither is a password made only of words.
"""

import re
from collections.abc import Callable, Iterator

from nuggets.named_tuple import NamedTuple

FEWEST_DISTINCT = 5  # characters: ******** and abababab are written for show
SHORTEST_MIXED = 6  # letters and digits in one run: "RS256" and "v2" are names
JUDGED_CHARACTERS = 100  # characters of a value, by which all of it is judged
LONGEST_CREDENTIAL = 8192  # characters without a blank: no credential is longer

# --- tokens: kind, how it can begin, what follows (always bounded, so that no text takes long) ----

_W, _A, _H = "[A-Za-z0-9_-]", "[A-Za-z0-9]", "[0-9a-f]"
_UUID = f"{_H}{{8}}-(?:{_H}{{4}}-){{3}}{_H}{{12}}"
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
    ("Discord bot token", "MD MT Mj Mz ND NT Nj Nz OD OT",  # digits in base64
     _W + r"{22,26}\." + _W + r"{6,7}\." + _W + rf"{{27,40}}(?!{_W})"),
    ("Matrix token", "syt_", "[A-Za-z0-9+/=]{4,200}_[A-Za-z]{20}_" + _A + "{6}"),
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
    ("Contentful token", "CFPAT-", _W + "{40,60}"),
    ("Shippo token", "shippo_live_ shippo_test_", _H + "{40}"),
    ("Dynatrace token", "dt0c01. dt0s01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("HubSpot token", "pat-na1- pat-na2- pat-eu1-", _UUID),
    ("Brevo key", "xkeysib- xsmtpsib-", _H + "{64}-" + _A + "{16}"),
    ("Plaid token", "access-production- access-sandbox- access-development-", _UUID),
    ("Duffel token", "duffel_live_ duffel_test_", _W + "{43}"),
    ("EasyPost key", "EZAK EZTK", _A + "{54}"),
    ("Flutterwave key", "FLWSECK- FLWSECK_TEST-", _H + "{12,40}"),
    ("Frame.io token", "fio-u-", _W + "{64}"),
    ("Prefect token", "pnu_ pnb_", "[a-z0-9]{36}"),
    ("ReadMe token", "rdme_", "[a-z0-9]{70}"),
    ("Typeform token", "tfp_", "[A-Za-z0-9_.=-]{50,80}"),
    ("Infracost key", "ico-", _A + rf"{{32}}(?!{_W})"),
    ("Artifactory key", "AKCp", _A + "{60,80}"),
    ("Mapbox token", "sk.eyJ tk.eyJ", _W + r"{20,400}\." + _W + "{20,60}"),
    ("LaunchDarkly key", "sdk- mob-", _UUID),
    ("Dropbox token", "sl.", _W + "{130,1200}"),
    ("model API key", "sk_", _H + rf"{{48}}(?!{_A})"),
    ("Facebook token", "EAACEdEose0cBA EAAG EAAB", _A + "{80,400}"),
    ("Firebase key", "AAAA", _W + "{7}:APA91b" + _W + "{130,200}"),
    ("Twitch token", "oauth:", rf"[a-z0-9]{{30}}(?!{_A})"),
    ("Clojars token", "CLOJARS_", _H + "{60}"),
    ("crates.io token", "cio", _A + rf"{{32}}(?!{_W})"),
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
    """Chosen by a person: letters mixed with digits, unlike "required" and "8-64chars"."""
    plain = _plain(value)
    if re.search(r"[!#$%^&*@+=?~]", value):  # in no name: what they part belongs together
        plain = re.sub(r"[^A-Za-z0-9]", "", plain)
    return any(map(_is_mixed, _pieces(plain))) and _is_meant(value)


def _is_made(value: str) -> bool:
    """Made by a machine: mixed characters that are no name, unlike "ERC721Enumerable"."""
    return any(map(_is_random, _pieces(_plain(value)))) and _is_meant(value)


def _is_meant(value: str) -> bool:
    return _is_any(value) and not re.match(_POINTER, value)


def _plain(value: str) -> str:
    """The value without names of formats."""
    return re.sub(_FORMAT, "", value)


def _is_card_number(value: str) -> bool:
    """Is its check digit right (Luhn)? That of nine in ten other numbers is not."""
    digits = [int(digit) for digit in value if digit.isdigit()][::-1]
    doubled = [digit * 2 if place % 2 else digit for place, digit in enumerate(digits)]
    return sum(value // 10 + value % 10 for value in doubled) % 10 == 0


def _is_phrase(value: str) -> bool:
    """Words of a wallet's list: all in small letters, hardly one twice, none that joins others."""
    words = re.findall("[A-Za-z]{3,8}", value)
    joins = {"the", "and", "for", "are", "from", "was", "were", "which", "not", "but", "must"}
    return value.islower() and joins.isdisjoint(words) and len(set(words)) > len(words) // 2


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
    r"mot de passe|contraseña|clave de acceso|parola d['’]ordine|senha|palavra[- ]passe|wachtwoord|"
    r"lösenord(?:et)?|adgangskode(?:n)?|kodeord(?:et)?|passord(?:et)?|salasana|"
    r"hasło|heslo|jelszó|şifre(?:si|miz|m)?|mật khẩu|kata sandi|पासवर्ड|كلمة (?:المرور|السر)|"
    r"парол[ья]|密[码碼]|口令|パスワード|비밀번호|"
    rf"pass(?<!bypass)(?<!compass)(?! {_QUOTE})|pw(?<![a-z]pw)"  # "pass `x=1`" is a verb
)
_SECRET = (
    r"secret(?<!:secret)(?:[ _-]?access)?(?:[ _-]?key)?(?:[ _-]base)?|token|credential|"
    r"(?:admin|api|app|access|account|auth|private|shared|signing|encryption|master|storage|subscription)"
    r"[ _-]?key|key[_-]data|(?:auth|creds)(?<![a-z]auth)(?<![a-z]creds)|[?&]sig"
)
_COPULA = (
    r"\b(?:ist?|lautet|es|est|è|é|är|er)\b(?: now| jetzt| ahora)?:?|(?<=salasana )on\b|"
    r"(?<=пароль )|[是为為は은는이]"
)
_OF = (
    r" (?:for|of|on|in|to|at|für|de|del|du|para|pour|di|per|do|da|voor|van|för|till?|på|для|от)"
    r" [\w.@/-]{1,30}(?: [\w.@/-]{1,30}){0,3}"
)
_BETWEEN = (
    r"s?(?:[ _-]?(?:\d|prod(?:uction)?|staging|dev|live|value))?"
    rf"(?:{_QUOTE}|[*\])]){{0,3}}"  # `token`: and **Token:** too
    rf"(?:{_OF}| ?\([^()\n]{{1,40}}\))?"
    rf"\s{{0,3}}(?:(?::\s?[a-z]{{3,9}}\s?)?={{1,3}}>?|[:：]=?|->|→|>|(?<= )\||{_COPULA}|\t|"
    rf" (?={_QUOTE}))\*{{0,2}}\s{{0,6}}\(?"
)
_VALUE = rf"(?:[bfru]?(?P<quote>{_QUOTE}))?(?P<value>\S{{6}})"  # and on to its end, see _span
_SHORTLY = rf"(?:{_OF})?\s{{0,3}}(?:[:=：]|{_COPULA})\s{{0,3}}(?:{_QUOTE})?"

# --- numbers, phrases and codes: by their form after a telling word -------------------------------

_CARD = r"card|karte|tarjeta|carte|cartão|carta|kaart|kort\b|kortti|visa|amex|карт|卡|カード|카드"
_CARD_NUMBER = (
    r"(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|35\d\d|6(?:011|[45]\d\d))"
    r"(?P<gap>[ -])\d{4}(?P=gap)\d{4}(?P=gap)\d{4}|3[47]\d\d[ -]\d{6}[ -]\d{5}"
)
_PHRASE = (
    r"(?:seed|recovery|secret|backup|wallet|mnemonic)[ _-]?(?:phrase|seed|words)|mnemonic|"
    r"wiederherstellungsphrase|frase (?:semilla|de recuperación|mnemónica)|"
    r"phrase (?:de récupération|mnémonique|secrète)|助[记記][词詞]|シードフレーズ|"
    r"니모닉|시드 ?구문|сид-?фраза"
)
_CODES = (
    r"(?:recovery|backup|rescue|scratch|emergency|wiederherstellungs|ersatz|notfall)[ -]?codes?|"
    r"códigos? de (?:recuperación|recuperação|respaldo)|codes? de (?:récupération|secours)|"
    r"codic[ei] di recupero|herstelcodes?|återställningskod(?:er)?|gendannelseskoder?|"
    r"gjenopprettingskoder?|palautuskoodit?|恢复代?码|恢復碼|回復コード|복구 ?코드|"
    r"коды? восстановления"
)
_SHAPE = str.maketrans("123456789 ", "000000000_")
_CODE = r"(?=[a-z-]{0,30}\d)[a-z0-9]{4,12}(?:-[a-z0-9]{4,12}){0,7}(?!\w|[/.:@]\w)"


class _Form(NamedTuple):
    # One of them is in every text with such a credential: else nothing is tried. Digits are 0 and
    # blanks are "_" in those for numbers.
    words: str
    pattern: str  # the credential is its `value`, or all of it
    is_real: Callable[[str], bool]


_FORMS = {
    "private key": _Form(
        "private",
        r"-----begin (?:[a-z0-9]{1,20} ){0,3}private key(?: block)?-----"
        r"(?:(?:(?!-----)[\s\S]){0,6000}-----end [a-z0-9 ]{1,40}-----"
        # cut off before its end: its lines, also with headers among them, and a last short one
        # (a header is taken whole, or a row of them would be parted in every possible way)
        r"|(?:(?:\s|\\[nr]|[a-z][a-z-]{2,20}: (?>(?:(?!\\[nr])\S){1,100})){1,8}"
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
        "pass kennwort pwd pw identified contraseña clave parola senha palavra wachtwoord lösenord "
        "hasło heslo jelszó şifre khẩu sandi पासवर्ड كلمة "
        "adgangskode kodeord salasana парол 密码 密碼 口令 パスワード 비밀번호",
        f"(?:{_PASSWORD}){_BETWEEN}{_VALUE}",
        _is_chosen,
    ),
    "assigned secret": _Form(
        "secret token key cred auth sig=", f"(?:{_SECRET}){_BETWEEN}{_VALUE}", _is_made
    ),
    "card number": _Form(
        "0000_0000_0000 0000-0000-0000 0000_000000 0000-000000 0000000000000",
        r"(?P<shown>(?:test|sandbox|dummy|example)[^\d\n]{0,40})?"
        rf"(?:(?<![\w.-])(?P<value>{_CARD_NUMBER})|(?:{_CARD})[^\d\n]{{0,30}}(?P<plain>[2-6]\d{{12,18}}))"
        r"(?![\w-])",
        _is_card_number,
    ),
    "one-time password secret": _Form(
        "otp 2fa mfa",
        r"\b(?:h?t?otp|2fa|mfa)[ _-][^\n]{0,20}?\b(?P<value>[a-z2-7]{16,64})\b",
        lambda value: value.isupper() and not value.isalpha(),
    ),
    "PIN": _Form(
        "pin cvv cvc",
        rf"(?<![a-z0-9])(?:pin(?:[ _-]?(?:code|number|nummer)|码|コード)?{_SHORTLY}"
        rf"(?P<value>\d{{4,8}})|cv[vc]2?(?:{_SHORTLY}|\s)(?P<plain>\d{{3,4}}))(?!\w|[.-]\w)",
        lambda value: len(set(value)) > 1,
    ),
    "seed phrase": _Form(
        "seed phrase mnemonic frase 助 シード 니모닉 시드 сид",
        rf"(?:{_PHRASE})s?{_SHORTLY}(?P<value>[a-z]{{3,8}}(?:,? [a-z]{{3,8}}){{11,23}})(?![a-z])",
        _is_phrase,
    ),
    "recovery code": _Form(
        "recovery backup rescue scratch emergency wiederh ersatz notfall recuper respaldo récup "
        "secours herstel återst gendann gjenop palautus 恢复 恢復 回復 복구 восстан",
        rf"(?:{_CODES}){_SHORTLY}(?P<value>{_CODE}(?:[\s,;]{{1,3}}{_CODE}){{0,15}})",
        lambda value: sum(map(str.isalnum, value)) > SHORTEST_MIXED and _is_meant(value),
    ),
}

# --- looking for both ----------------------------------------------------------------------------


class _Place(NamedTuple):
    start: int
    end: int
    kind: str


def credential_kinds(text: str) -> list[str]:
    """The kinds of credential in a text, each once, in the order of their first place."""
    return list(dict.fromkeys(place.kind for place in _places(text)))


def memory_credential_kinds(title: str, content: str) -> list[str]:
    """The kinds of credential in a memory: a key and its value are an assignment, too."""
    return credential_kinds(f"{title}: {content}")


def redact(text: str) -> str:
    """The text with a visible mark in the place of each credential."""
    pieces: list[str] = []
    end_of_last = 0
    for start, end, kind in _places(text):
        pieces += (text[end_of_last:start], f"[redacted: {kind}]")
        end_of_last = end
    return "".join((*pieces, text[end_of_last:]))


def _places(text: str) -> list[_Place]:
    """The places of credentials, in order; overlapping ones become one, of the first kind."""
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
    shape = small.translate(_SHAPE)
    for kind, form in _FORMS.items():
        if any(word in small or word in shape for word in form.words.split()):
            yield from _of_form(text, small, kind, form)


def _of_form(text: str, small: str, kind: str, form: _Form) -> Iterator[_Place]:
    pattern, at = re.compile(form.pattern), 0
    while match := pattern.search(small, at):
        if match.groupdict().get("shown"):
            at = match.end()
            continue
        start, end = _span(match, JUDGED_CHARACTERS)
        at = match.start() + 1  # a real one may begin inside a false one
        if form.is_real(text[start : min(end, start + JUDGED_CHARACTERS)]):
            _, at = _span(match, LONGEST_CREDENTIAL)
            yield _Place(start, at, kind)


def _span(match: re.Match[str], longest: int) -> tuple[int, int]:
    """The span of the value: up to a blank or the closing quote, without final punctuation."""
    named = match.groupdict()
    start, end = match.span(next((name for name in ("value", "plain") if named.get(name)), 0))
    if "quote" in named:
        closing = named["quote"][-1] if named["quote"] else "\"'`<>"
        value = re.split(rf"[\s{closing}]", match.string[start : start + longest], maxsplit=1)[0]
        end = start + len(value.rstrip(".,;:)]}\\。，、；"))
    return start, end
