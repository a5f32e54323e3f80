"""Detects credentials: random values with a telling beginning, and values after a telling word.

Precision comes first: a plain sentence about passwords must never be refused. So a name alone is
not enough; the value after it must look like a credential too, and the less the name says, the more
random the value must be. What is random without name or beginning is not detected, and neither is a
single plain word as a password.

The rule sets that can be had as a package do not fit: one needs an HTTP client, another is a
compiled program of 16 MB.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from nuggets.language.text import one_line, shorten
from nuggets.named_tuple import NamedTuple

FEWEST_DISTINCT = 5  # characters: ******** and abababab are written for show
SHORTEST_MIXED = 6  # letters and digits in one run: "RS256" and "v2" are names
SHORTEST_PIECE = 14  # characters of a token with dots, if it counts: that of Terraform has 14
SHORTEST_LONG = 20  # characters of a long random value: ids of one word are shorter
FEWEST_DIGIT_CHANGES = 3  # from letter to digit or back in a long random value: names have two
FEWEST_WORDS = 3  # of a password in words: "case sensitive" is said of passwords
JUDGED_CHARACTERS = 100  # of a value, by which all of it is judged: this bounds the time
LONGEST_CREDENTIAL = 8192  # characters without a blank: no credential is longer

# --- tokens: random values that say by themselves what they are -----------------------------------

# Nothing else begins like this and goes on at random.
_BEGINNINGS = (
    "AKIA ASIA ABIA ACCA ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glcbt- glptt- "
    "glft- glimt- glagent- gloas- glsoat- ATBB ATATT3 ATCTT3 sk-ant- sk-proj- sk-svcacct- "
    "sk-admin- sk-or-v1- gsk_ xai- pplx- nvapi- r8_ hf_ lsv2_ pcsk_ tvly- AIza GOCSPX- ya29. "
    "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- hooks.slack.com/ discord.com/api/webhooks/ "
    "discordapp.com/api/webhooks/ syt_ sk_live_ rk_live_ sk_test_ rk_test_ whsec_ sq0atp- sq0csp- "
    "access_token$production$ shpat_ shpca_ shppa_ shpss_ npm_ pypi-AgE rubygems_ dckr_pat_ "
    "dckr_oat_ hvs. hvb. hvr. dp.pt. dp.st. dp.ct. dp.sa. ops_eyJ dop_v1_ doo_v1_ dor_v1_ HRKU- "
    "nfp_ vercel_blob_ fo1_ fm1_ fm2_ sbp_ pul- tskey- pscale_ dapi figd_ lin_api_ ntn_ secret_ "
    "glsa_ sntrys_ sntryu_ NRAK- PMAK- sqp_ squ_ sqa_ CFPAT- shippo_live_ shippo_test_ dt0c01. "
    "dt0s01. pat-na1- pat-na2- pat-eu1- xkeysib- xsmtpsib- access-production- access-sandbox- "
    "duffel_live_ duffel_test_ EZAK EZTK FLWSECK fio-u- pnu_ pnb_ rdme_ tfp_ ico- AKCp CLOJARS_ "
    "AGE-SECRET-KEY-1 EAAC EAAG EAAB sk.eyJ tk.eyJ"
)
# 16: the shortest, those of AWS; a pair of AWS is written with a comma
_REST = r"[A-Za-z0-9+/=_.$-]{16,4000}(?:,[A-Za-z0-9+/]{40})?"
# the n of a written \n is no letter
_NO_WORD = r"(?:(?<![A-Za-z0-9_])(?<!\\(?=[nrt]))|(?<=\\[nrt]))"
# Known by all of their form.
_HEX, _UUID = "[0-9a-f]", "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_LONG_WORD = r"[A-Za-z0-9+/=_.,:~$%-]{30,8192}"
_FIXED_FORM = (
    rf"{_NO_WORD}(?:sk[_-][A-Za-z0-9]{{32,64}}|SK{_HEX}{{32}}|key-{_HEX}{{32}}|(?:sdk|mob)-{_UUID}|"
    rf"[0-2]/\d{{16}}:{_HEX}{{32}}|cio[A-Za-z0-9]{{32}}|oauth:[a-z0-9]{{30}}|"
    rf"re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{20,40}}|{_HEX}{{32}}-us\d{{1,2}}|\d{{8,10}}:AA[\w-]{{33}}|"
    r"[\w.~-]{3}\dQ~[\w.~-]{31,34}|AAAA[\w-]{7}:APA91b[\w-]{130,200}|sl\.[\w-]{130,1200})"
    r"(?![\w-])"
)
# Of any maker: a name and 30 random characters or more (ids that are no secret have up to 29,
# "chatcmpl-…"), and random pieces between dots.
_FORM_OF_ANY_MAKER = (
    rf"{_NO_WORD}(?:"
    r"(?!(?i:sha|md|blake)\d)(?<!-)[A-Za-z][A-Za-z0-9]{1,12}(?:[_-][A-Za-z0-9]{1,10}){0,2}[_-]"
    r"(?P<end>[A-Za-z0-9]{30,255})|(?<!-)(?P<dotted>[\w-]{2,1000}+(?:\.[\w-]{2,4000}+){1,4}))"
    r"(?![\w-])"
)

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
    r"key|pass(?:word|wd|phrase)?|pwd|1password)[-_.]?)+\d{0,3}$)"
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
    is_shown = _is_shown(token) or re.search(_SHOWN_IN_TOKENS, token)
    return not is_shown and any(map(_is_random, _pieces(token)))


def _is_any_makers(token: re.Match[str]) -> bool:
    pieces = [piece for piece in token[0].split(".") if len(piece) >= SHORTEST_PIECE]
    is_one = token["end"] or len(pieces) > 1
    return bool(is_one) and _is_long_random(token[0]) and any(map(_is_random, pieces))


def _is_shown(value: str) -> bool:
    return len(set(value)) < FEWEST_DISTINCT or bool(re.search(_SHOWN, value))


def _is_any(value: str) -> bool:
    return not _is_shown(value) and not re.match(_SHOWN_AS_VALUE, value)


def _is_chosen(value: str) -> bool:
    """Chosen by a person: letters mixed with digits, unlike "required" and "8-64chars"."""
    plain = _plain(value)
    if re.search(r"[!#$%^&*@+=?~]", value):  # in no name: what they part belongs together
        plain = re.sub(r"[^A-Za-z0-9]", "", plain)
    return (any(map(_is_mixed, _pieces(plain))) or _is_of_all_classes(plain)) and _is_meant(value)


def _is_strong(value: str) -> bool:
    """Chosen so that nothing else is meant, also right behind its name."""
    is_parted = re.search(r"[A-Za-z][!#$%^&*@+=?~][A-Za-z].*\d", _plain(value))  # in no name
    return bool(is_parted or _is_of_all_classes(_plain(value))) and _is_meant(value)


def _is_of_all_classes(value: str) -> bool:
    """Small and capital letters and two digits, and not those of a name: "RS256", "OAuth2"."""
    letters = re.sub(r"(?<![A-Z])[A-Z]{2,}+\d+|[^A-Za-z0-9]", "", value)
    classes = all(re.search(letter, letters) for letter in ("[a-z]", "[A-Z]", r"\d.*\d"))
    return classes and len(letters) >= SHORTEST_MIXED


def _is_made(value: str) -> bool:
    """Made by a machine: mixed characters that are no name, unlike "ERC721Enumerable"."""
    return any(map(_is_random, _pieces(_plain(value)))) and _is_meant(value)


def _is_long_random(value: str) -> bool:
    """Long, of small and capital letters and digits in no order, unlike a hash."""
    return not value.islower() and not value.isupper() and _is_long_made(value)


def _is_long_made(value: str) -> bool:
    """Long, of letters and digits in no order."""
    letters = re.sub("[^A-Za-z0-9]", "", value)
    changes = len(re.findall(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])", letters))
    is_long = len(letters) >= SHORTEST_LONG and changes >= FEWEST_DIGIT_CHANGES
    return is_long and _is_meant(value)


def _is_password_of_words(value: str) -> bool:
    """Words that make no sentence: none that joins others, and no form that states something."""
    from nuggets.language.word_lists import idle_words

    words = re.findall(r"[^\W\d_]+", value.lower())
    states = re.search(r"(?:ed|ly|able|ers|umber|imum)\b", value)
    return len(words) >= FEWEST_WORDS and not states and idle_words().isdisjoint(words)


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
    return not _is_plain_word(piece) and not re.fullmatch(_NAME, piece)


def _is_plain_word(piece: str) -> bool:
    return piece.isalpha() and (piece.islower() or piece.isupper())


# --- values: the words before them, in small letters ----------------------------------------------

_QUOTE = r"\\?[\"'`]"
_PASSWORD = (
    r"pass(?:wor[dt]|wd|phrase)|kennwort|pwd|identified by|psk|pre-?shared key|"
    r"wi-?fi(?: key|のキー)|mot de passe|contraseña|clave de acceso|parola d['’]ordine|senha|"
    r"palavra[- ]passe|wachtwoord|lösenord(?:et)?|adgangskode(?:n)?|kodeord(?:et)?|"
    r"passord(?:et)?|salasana|hasło|heslo|jelszó|şifre(?:si|miz|m)?|mật khẩu|"
    r"kata sandi|पासवर्ड|كلمة (?:المرور|السر)|"
    r"парол[ья]|密[码碼]|口令|パスワード|비밀번호|"
    rf"pass(?<!bypass)(?<!compass)(?! {_QUOTE})|pw(?<![a-z]pw)"  # "pass `x=1`" is a verb
)
_PASSWORD_WORDS = (
    "pass kennwort pwd pw psk shared wifi wi-fi identified contraseña clave parola senha palavra "
    "wachtwoord lösenord hasło heslo jelszó şifre khẩu sandi पासवर्ड كلمة adgangskode kodeord "
    "salasana парол 密码 密碼 口令 パスワード 비밀번호"
)
_SECRET = (
    r"secret(?<!:secret)(?:[ _-]?access)?(?:[ _-]?key)?(?:[ _-]base)?|token|credential|"
    r"(?:admin|api|app(?:lication)?|access|account|auth|consumer|licen[cs]e|private|shared|signing|"
    r"encryption|master|storage|subscription)[ ._-]?key|key[_-]data|[?&]sig|"
    r"(?:auth|creds)(?<![a-z]auth)(?<![a-z]creds)|api[ -]?schlüssel|"
    r"cl(?:é|ave|ef) (?:d[e'’] ?)?api|chiave api|api[ -]?ключ|секрет|密[钥鑰]|令牌|トークン|토큰"
)
_SECRET_WORDS = "secret token key cred auth sig= api секрет 密 令牌 トークン 토큰"
_KEY = (
    r"key(?<!public.key)(?<!publickey)|session(?:[ _-]?(?:key|id))?|cookie|schlüssel|ключ|キー|키"
)
_COPULA = (
    r"\b(?:ist?|lautet|es|(?:c['’])?est|è|é|är|er)\b(?: now| jetzt| ahora)?:?|(?<=salasana )on\b|"
    r"(?<=пароль )|[是为為は은는이]"
)
_OF = (
    r" (?:for|of|on|in|to|at|für|der|des|de|del|du|para|pour|di|per|do|da|voor|van|för|till?|på|"
    r"для|от) [\w.@/-]{1,30}(?: [\w.@/-]{1,30}){0,3}"
)
_BETWEEN = (
    r"s?(?:[ _-]?(?:\d|prod(?:uction)?|staging|dev|live|value))?"
    rf"(?:{_QUOTE}|[*\])]){{0,3}}"  # `token`: and **Token:** too
    rf"(?:{_OF}| ?\([^()\n]{{1,40}}\))?"
    rf"\s{{0,3}}(?:(?::\s?[a-z]{{3,9}}\s?)?={{1,3}}>?|[:：]=?|->|→|>|(?<= )\||{_COPULA}|\t|"
    r"(?<= )[-–—](?= )|(?<= )\((?=\S{6,40}\))|"
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
# What a code opens, and what it is called.
_GUARDED = (
    r"door|gate|alarm|safe|garage|locker|lock|entrance|card|tür|tor|tresor|schloss|schließfach|"
    r"karten?|porte|portail|coffre|alarme|cadenas|carte|casier|entrée|puerta|portón|caja|alarma|"
    r"garaje|candado|tarjeta|taquilla|entrada|porta|portão|cofre|garagem|cadeado|cartão|armário|"
    r"portone|cancello|cassaforte|allarme|lucchetto|carta|armadietto|ingresso|deur|poort|kluis|"
    r"slot|kaart|门禁?|保险[箱柜]|车库|锁|卡|柜|ドア|玄関|入口|金庫|車庫|ロッカー|カード"
)
_CODE_WORD = (
    r"codes?|combination|keypad|kombination|combinaison|digicode|código|combinación|codice|"
    r"combinazione|combinação|码|密码|コード|番号"
)
_LOCK_CODE = (
    rf"(?<![a-z])(?:{_GUARDED})[ -]?(?:{_CODE_WORD})|"
    rf"(?:{_CODE_WORD})(?: [^\W\d]{{1,12}}['’]?){{0,3}}[ '’](?:{_GUARDED})\b"
)
_DIGITS = r"(?<![a-z0-9_.:-])\d(?:[ -]?\d){3,7}(?![\w:%]|[.,-]\w)"
_SHAPE = str.maketrans("123456789 ", "000000000_")
_CODE = r"(?=[a-z-]{0,30}\d)[a-z0-9]{4,12}(?:-[a-z0-9]{4,12}){0,7}(?!\w|[/.:@]\w)"


# Programs with an option for a password: -p, -w or -a.
_PROGRAMS_WITH_PASSWORD = "sshpass ldap mongo redis-cli zip unzip 7z"


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
    "password in an address": _Form(
        "://",
        r"://(?P<user>[^\s:/@'\"]{0,80}):(?!(?P=user)@|\d{1,5}[/?#]|:)(?P<value>[^\s'\"]{3,200}?)"
        r"@(?!sha256:|[^\s/'\"]{0,200}@)",
        _is_any,
    ),
    "password in a command": _Form(
        f"{_PROGRAMS_WITH_PASSWORD} mysql mariadb curl lftp login -pass pass: smb htpasswd sudo",
        rf"(?:\b(?:{_PROGRAMS_WITH_PASSWORD.replace(' ', '|')})[a-z0-9-]{{0,9}}\b[^\n|]{{0,200}}?"
        r"\s-[apw]\s|(?:mysql|mariadb)[a-z]{0,6}\b[^\n]{0,200}?\s-p(?!ort)|sshpass\s-p|"
        r"(?:curl|lftp)\b[^\n]{0,300}?\s(?:-u|--user)[ =]?['\"]?[^\s:,'\"]{1,80}[:,]|"
        r"smb[a-z]{1,9}\b[^\n]{0,200}?\s-u\s?['\"]?[^\s%]{1,80}%|login\s\S{1,80}\spassword\s|"
        r"htpasswd\s-[a-z]{0,5}b[a-z]{0,5}\s(?:\S{1,80}\s){1,2}|\spass(?:word)?:|"
        r"login\b[^\n]{0,200}?\s-p\s|--(?:[a-z]{1,12}-){0,2}pass(?:word)?\s|"
        rf"echo\s(?=[^\n|]{{1,99}}\|\s?sudo\s[^\n]{{0,40}}?-[a-z]{{0,5}}s)){_VALUE}",
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
        _PASSWORD_WORDS, rf"(?:{_PASSWORD})(?:{_BETWEEN}|\sto\s){_VALUE}", _is_chosen
    ),
    "assigned secret": _Form(
        _SECRET_WORDS,
        f"(?:{_SECRET}){_BETWEEN}{_VALUE}",
        _is_made,
    ),
    "password in its sentence": _Form(
        _PASSWORD_WORDS,
        rf"(?:{_PASSWORD})(?<!pass)[^\n.!?]{{0,60}}?[ ,:：](?=\S{{0,40}}\d){_VALUE}",
        _is_strong,
    ),
    "password behind its value": _Form(
        _PASSWORD_WORDS,
        r"(?P<value>[^\s.,;:!?。，]\S{5,40})"
        rf"\s?(?:{_COPULA})\s?(?:\w{{1,9}} ?){{0,3}}(?:{_PASSWORD})"
        r"(?![-_a-z]| (?!for|i|we|on|of|at|in|für|pour|de|para|per|voor)[a-z])",
        _is_chosen,
    ),
    "secret behind its name": _Form(_SECRET_WORDS, rf"(?:{_SECRET})\s{_VALUE}", _is_long_made),
    "assigned key": _Form(
        "key session cookie schlüssel ключ キー 키",
        f"(?:{_KEY}){_BETWEEN}{_VALUE}",
        _is_long_random,
    ),
    "password in words": _Form(
        _PASSWORD_WORDS,
        rf"(?:{_PASSWORD}){_SHORTLY}(?P<value>[^\W\d_]{{3,20}}(?:[ -][^\W\d_]{{3,20}}){{2,7}})"
        r"(?=[\"'`.!,;)\n]|$)",
        _is_password_of_words,
    ),
    "login": _Form(
        "log sign cred anmeld zugang ident conne acce accè aces 登 ログイン",
        r"(?:(?:log|sign)(?:ged)?[ -]?in|inlog\w{0,6}|cred(?:ential|enciale|enziali)?s?|"
        r"anmeld\w{1,6}|zugang\w{0,10}|identifiants?|connexion|accès|acces[so]o?|acceso|登[录錄入]|ログイン)"
        r"[^\n:/]{0,30}?[\s:：は]\s?[\w.@-]{2,40}(?:\s/\s|:)"
        r"(?P<value>\S{5,100})",
        lambda value: _is_chosen(value.rstrip(".,;)")),
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
        r"\b(?:h?t?otp|2fa|mfa)[ _-][^\n]{0,40}?\b(?P<value>[a-z2-7]{4}(?: ?[a-z2-7]{4}){3,15})\b",
        lambda value: value.isupper() and not value.isalpha(),
    ),
    "PIN": _Form(
        "pin cvv cvc",
        rf"(?<![a-z0-9-])(?:pin(?:[ _-]?(?:code|number|nummer)|码|コード)?(?:{_SHORTLY}|{_OF}: ?|"
        rf"(?<!gpio pin)[\s,(]{{1,2}})(?P<value>{_DIGITS})|"
        rf"cv[vc]2?(?:{_SHORTLY}|\s)(?P<plain>\d{{3,4}}))(?!\w|[.-]\w)",
        lambda value: len(set(value)) > 1,
    ),
    "PIN behind its value": _Form(
        "pin",
        rf"(?P<value>{_DIGITS}) (?:{_COPULA}) (?:\w{{1,9}} ){{0,2}}pin(?:code)?\b",
        lambda value: len(set(value)) > 1,
    ),
    "code of a lock": _Form(
        "code keypad combina komb códi codic 码 コード 番号",
        rf"(?:{_LOCK_CODE})(?:(?:{_OF})?['’]?\W{{0,3}}(?:\w{{1,8}}\W{{1,2}})?|"
        rf"(?: \w{{1,12}}){{0,3}}\s?(?:{_COPULA})\s?)(?P<value>{_DIGITS}#?)",
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


def names_secret(text: str) -> bool:
    """Whether a text names what only its owner should know, with or without a value."""
    found = re.search(
        rf"(?:{_PASSWORD})(?<!pass)(?<!pw)|(?<![a-z0-9-])pin\b|{_LOCK_CODE}|{_PHRASE}|{_CODES}",
        text.lower(),
    )
    return found is not None


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
    for beginning in filter(text.__contains__, _BEGINNINGS.split()):
        at = text.find(beginning)
        while at >= 0:
            match = re.compile(_NO_WORD + re.escape(beginning) + _REST).match(text, at)
            token = match[0].rstrip("./$") if match else ""
            if token and _is_token(token):
                yield _Place(at, at + len(token), f"token {beginning}…")
            at = text.find(beginning, at + (len(token) or 1))
    for word in re.finditer(_LONG_WORD, text):
        for match in re.compile(_FIXED_FORM).finditer(text, *word.span()):
            if _is_token(match[0]):
                yield _Place(*match.span(), "token")
        for match in re.compile(_FORM_OF_ANY_MAKER).finditer(text, *word.span()):
            if _is_any_makers(match):
                yield _Place(*match.span(), "token")


def _values(text: str) -> Iterator[_Place]:
    small = text.replace("İ", "i").lower()  # the only letter that would get longer: places stay
    shape = small.translate(_SHAPE)
    occurs: dict[str, bool] = {}  # by the words of a form, which several share
    for kind, form in _FORMS.items():
        if form.words not in occurs:
            words, shapes = _split_words(form.words)
            has_word = any(map(small.__contains__, words))
            occurs[form.words] = has_word or any(map(shape.__contains__, shapes))
        if occurs[form.words] and _SIGNS.get(form.is_real, bool)(text):
            yield from _of_form(text, small, kind, form)


def _has_mixed_run(text: str) -> bool:
    """Whether letters and digits stand together as in no word. Hyphens aside: in `sha-256` and
    `utf-8` they part what is judged as one."""
    return not all(map(_is_plain_word, _pieces(text.replace("-", ""))))


def _has_long_word(text: str) -> bool:
    return any(len(word) >= SHORTEST_LONG for word in text.split())


# By the judge of a form, what every text has in which a value is real to it. Without that the
# form's pattern is not compiled, which takes longer than to look a memory through.
_SIGNS: Mapping[Callable[[str], bool], Callable[[str], bool]] = {
    _is_made: _has_mixed_run,
    _is_long_made: _has_long_word,
    _is_long_random: _has_long_word,
}


@cache
def _split_words(words: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words, and those of them that a shape may have where the text has none."""
    every = tuple(words.split())
    return every, tuple(word for word in every if "0" in word or "_" in word)


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


def redacted_line(text: str, width: int) -> str:
    """The text on one line, redacted before it is cut: part of a credential is not recognized."""
    flat = one_line(text[: LONGEST_CREDENTIAL + width])
    # whole words; more than `width`, so that it is cut
    end = flat.find(" ", width + 1)
    return shorten(redact(flat[: min(end if end > 0 else len(flat), LONGEST_CREDENTIAL)]), width)
