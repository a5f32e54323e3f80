"""Texts with and without credentials, by which `nuggets.domain.credentials` is judged.

Every credential is made when the tests run, so that nothing in this file looks like one.
"""

import base64
import random
import string
from typing import NamedTuple

HEX, UPPER = "0123456789abcdef", string.ascii_uppercase + "234567"
LETTERS = string.ascii_letters + string.digits
BASE64, SMALL = LETTERS + "+/", string.ascii_lowercase + string.digits
chance = random.Random(4)


class Sample(NamedTuple):
    around: str  # "…" is where the credential stands
    secret: str

    @property
    def text(self) -> str:
        return self.around.replace("…", self.secret)


def drawn(count: int, letters: str = LETTERS) -> str:
    """By chance, ending in a letter and a digit."""
    return "".join(chance.choice(letters) for _ in range(count - 2)) + (
        "A7" if letters.isupper() else "a7"
    )


def identifier() -> str:
    return "-".join(drawn(count, HEX) for count in (8, 4, 4, 4, 12))


def pem(kind: str) -> str:
    rule = "-" * 5
    return f"{rule}BEGIN {kind}{rule}\n{drawn(64)}\n{drawn(64)}\n{rule}END {kind}{rule}"


def basic(user: str) -> str:
    return base64.b64encode(f"{user}:{drawn(12)}".encode()).decode()


def card(beginning: str, digits: int = 16, sizes: tuple[int, ...] = (), gap: str = "") -> str:
    """A card number with a right check digit, in groups of these sizes."""
    rest = digits - 1 - len(beginning)
    body = beginning + "".join(chance.choice(string.digits) for _ in range(rest))
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(body[::-1])]
    number = body + str(-sum(value // 10 + value % 10 for value in doubled) % 10)
    places = [sum(sizes[:count]) for count in range(len(sizes))] or [0]
    return gap.join(
        number[start:end] for start, end in zip(places, [*places[1:], None], strict=True)
    )


def phrase(count: int) -> str:
    """Words as in the word list of wallets: three to eight small letters."""
    listed = (
        "abandon breeze canyon dolphin ember fabric galaxy harvest insect jungle kitten lemon "
        "magnet narrow orbit pencil quantum ribbon salmon tackle umbrella velvet walnut zebra"
    )
    return " ".join(chance.sample(listed.split(), count))


CHOSEN = "Tr0ub4" + "dor3"  # as a person chooses it
MADE = drawn(20)  # as a machine makes it
_WITH_PREFIX = {
    "AWS": "AKIA" + drawn(16, UPPER),
    "AWS temporary": "ASIA" + drawn(16, UPPER),
    "AWS pair": "AKIA" + drawn(16, UPPER) + "," + drawn(40, BASE64),
    "GitHub personal": "ghp" + "_" + drawn(36),
    "GitHub server": "ghs" + "_" + drawn(36),
    "GitHub fine-grained": "github" + "_pat_" + drawn(22) + "_" + drawn(59),
    "GitLab": "glpat" + "-" + drawn(20),
    "GitLab routable": "glpat" + "-" + drawn(27) + ".01." + drawn(9, SMALL),
    "GitLab feed": "glft" + "-" + drawn(20),
    "GitLab runner": "glrt" + "-" + drawn(20),
    "Bitbucket": "ATB" + "B" + drawn(32),
    "Atlassian": "ATAT" + "T3xFfGF0" + drawn(180),
    "Anthropic": "sk-" + "ant-api03-" + drawn(95),
    "OpenAI project": "sk-" + "proj-" + drawn(60),
    "OpenAI legacy": "sk-" + drawn(48),
    "OpenRouter": "sk-" + "or-v1-" + drawn(64, HEX),
    "DeepSeek": "sk-" + drawn(32, HEX),
    "xAI": "xai" + "-" + drawn(80),
    "Perplexity": "pplx" + "-" + drawn(48),
    "Groq": "gsk" + "_" + drawn(52),
    "Nvidia": "nvapi" + "-" + drawn(64),
    "Replicate": "r8" + "_" + drawn(37),
    "Hugging Face": "hf" + "_" + drawn(34),
    "LangSmith": "lsv2" + "_pt_" + drawn(32, HEX) + "_" + drawn(10, HEX),
    "Pinecone": "pcsk" + "_" + drawn(6) + "_" + drawn(60),
    "Tavily": "tvly" + "-dev-" + drawn(32),
    "Google": "AI" + "za" + drawn(35),
    "Google OAuth": "GOC" + "SPX-" + drawn(28),
    "Google access": "ya29" + "." + drawn(120),
    "Slack bot": "xox" + "b-" + "2" * 3 + "41378-" + drawn(24),
    "Slack app": "xapp" + "-1-A" + drawn(10) + "-" + drawn(40),
    "Slack webhook": "hooks." + "slack.com/services/T" + drawn(20) + "/" + drawn(24),
    "Discord webhook": "discord.com/api/" + f"webhooks/{918273645 * 1000000001}/" + drawn(68),
    "Telegram": "918273645:" + "AA" + drawn(33),
    "Discord bot": "M" + "T" + drawn(24) + "." + drawn(6) + "." + drawn(38),
    "Matrix": "syt" + "_" + drawn(12) + "_" + "kJxQzRtYuIoPaSdFgHjK" + "_" + drawn(6),
    "Stripe": "sk" + "_live_" + drawn(24),
    "Stripe test": "sk" + "_test_" + drawn(24),
    "Stripe webhook": "wh" + "sec_" + drawn(32),
    "Square": "sq0" + "atp-" + drawn(22),
    "PayPal": "access_token" + "$production$" + drawn(16, HEX) + "$" + drawn(32, HEX),
    "Shopify": "shp" + "at_" + drawn(32, HEX),
    "Twilio": "S" + "K" + drawn(32, HEX),
    "SendGrid": "SG." + drawn(22) + "." + drawn(43),
    "Mailgun": "key" + "-" + drawn(32, HEX),
    "Mailchimp": drawn(32, HEX) + "-us" + "12",
    "Resend": "re" + "_" + drawn(8) + "_" + drawn(24),
    "npm": "npm" + "_" + drawn(36),
    "PyPI": "pypi-" + "AgEI" + drawn(80),
    "RubyGems": "rubygems" + "_" + drawn(48, HEX),
    "Docker": "dckr" + "_pat_" + drawn(27),
    "Vault": "hvs" + "." + drawn(90),
    "Doppler": "dp." + "pt." + drawn(43),
    "1Password": "ops" + "_eyJ" + drawn(200),
    "DigitalOcean": "dop" + "_v1_" + drawn(64, HEX),
    "Heroku": "HRKU" + "-" + drawn(58),
    "Netlify": "nfp" + "_" + drawn(36),
    "Vercel blob": "vercel" + "_blob_rw_" + drawn(16) + "_" + drawn(30),
    "Fly": "fo1" + "_" + drawn(43),
    "Supabase": "sbp" + "_" + drawn(40, HEX),
    "PlanetScale token": "pscale" + "_tkn_" + drawn(43),
    "PlanetScale password": "pscale" + "_pw_" + drawn(43),
    "Databricks": "dapi" + drawn(32, HEX),
    "Airtable": "pat" + drawn(14) + "." + drawn(64, HEX),
    "Figma": "figd" + "_" + drawn(40),
    "Linear": "lin" + "_api_" + drawn(40),
    "Notion": "ntn" + "_" + drawn(46),
    "Asana": "1/" + "2078582708425606:" + drawn(32, HEX),
    "Grafana": "glsa" + "_" + drawn(32) + "_" + drawn(8, HEX),
    "Sentry": "sntry" + "u_" + drawn(64, HEX),
    "New Relic": "NRAK" + "-" + drawn(27, UPPER),
    "Postman": "PMAK" + "-" + drawn(24, HEX) + "-" + drawn(34, HEX),
    "Pulumi": "pul" + "-" + drawn(40, HEX),
    "Terraform": drawn(14) + ".atlas" + "v1." + drawn(67),
    "Tailscale": "tskey" + "-auth-" + drawn(17) + "-" + drawn(32),
    "SonarQube": "sq" + "p_" + drawn(40, HEX),
    "Azure client": drawn(3) + "8Q" + "~" + drawn(34),
    "age": "AGE-SECRET-" + "KEY-1" + drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "Contentful": "CFPAT" + "-" + drawn(43),
    "Shippo": "shippo" + "_live_" + drawn(40, HEX),
    "Dynatrace": "dt0" + "c01." + drawn(24, UPPER) + "." + drawn(64, UPPER),
    "HubSpot": "pat-" + "na1-" + identifier(),
    "Brevo": "xkey" + "sib-" + drawn(64, HEX) + "-" + drawn(16),
    "Plaid": "access-" + "production-" + identifier(),
    "Duffel": "duffel" + "_live_" + drawn(43),
    "EasyPost": "EZ" + "AK" + drawn(54),
    "Flutterwave": "FLW" + "SECK-" + drawn(32, HEX),
    "Frame.io": "fio" + "-u-" + drawn(64),
    "Prefect": "pn" + "u_" + drawn(36, SMALL),
    "ReadMe": "rd" + "me_" + drawn(70, SMALL),
    "Typeform": "tf" + "p_" + drawn(44) + "_" + drawn(14),
    "Infracost": "ic" + "o-" + drawn(32),
    "Artifactory": "AK" + "Cp" + drawn(69),
    "Mapbox": "sk." + "eyJ1" + drawn(70) + "." + drawn(22),
    "LaunchDarkly": "sd" + "k-" + identifier(),
    "Dropbox": "sl" + "." + drawn(135),
    "ElevenLabs": "sk" + "_" + drawn(48, HEX),
    "Facebook": "EAACEd" + "Eose0cBA" + drawn(120),
    "Firebase": "AA" + "AA" + drawn(7) + ":APA91b" + drawn(134),
    "Twitch": "oau" + "th:" + drawn(30, SMALL),
    "Clojars": "CLO" + "JARS_" + drawn(60, HEX),
    "crates.io": "ci" + "o" + drawn(32),
    "JWT": "eyJ" + drawn(20) + ".eyJ" + drawn(40) + "." + drawn(43),
    "RSA key": pem("RSA PRIVATE KEY"),
    "OpenSSH key": pem("OPENSSH PRIVATE KEY"),
    "PGP key": pem("PGP PRIVATE KEY BLOCK"),
}  # fmt: skip
_WITH_WORDS = {
    "AWS secret": Sample("aws_secret_access_key = …", drawn(40, BASE64)),
    "AWS session": Sample("AWS_SESSION_TOKEN=…", drawn(300, BASE64) + "=="),
    "AWS in JSON": Sample('{"SecretAccessKey": "…", "Region": "eu-west-1"}', drawn(40, BASE64)),
    "Azure storage": Sample("AccountName=x;AccountKey=…;", drawn(86, BASE64) + "=="),
    "Azure service bus": Sample("SharedAccessKeyName=Root;SharedAccessKey=…", drawn(43) + "="),
    "Azure signature": Sample("https://x.blob.core.windows.net/c?sv=2020&sig=…", drawn(43) + "%3D"),
    "PuTTY key": Sample("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n…", drawn(64)),
    "WireGuard": Sample("[Interface]\nPrivateKey = …", drawn(43, BASE64) + "="),
    "Kubernetes": Sample("    client-key-data: …", drawn(200)),
    "Ethereum": Sample("private key: …", "0x" + drawn(64, HEX)),
    "Django": Sample("SECRET_KEY = '…'", "django-" + "insecure-" + drawn(50)),
    "Rails": Sample("secret_key_base: …", drawn(128, HEX)),
    "second factor": Sample("TOTP secret: …", drawn(32, UPPER)),
    "Postgres address": Sample("postgres://app:…@db.internal:5432/app", drawn(12)),
    "Postgres address, digits": Sample("postgres://admin:…@db.internal/app", "Prod1234567"),
    "MongoDB address": Sample("mongodb+srv://usr:…@c0.mongodb.net/x", "Pa55w0rd" + "Q"),
    "Redis address": Sample("redis://:…@cache:6379", "Sup3rS3" + "cret"),
    "address with a slash": Sample("mysql://root:…@db/x", "ab/cd12" + "ef"),
    "address with an @": Sample("amqps://app:…@queue/x", "pa55@wo" + "rd9"),
    "address of a mail server": Sample("smtp://bob:…@mail", "letmein" + "please"),
    "token in an address": Sample("https://bob:…@github.com/a/b.git", drawn(40)),
    "JDBC": Sample("jdbc:mysql://h/db?user=root&password=…", CHOSEN),
    "ODBC": Sample("Server=h;Uid=sa;Pwd=…;", CHOSEN),
    "query": Sample("https://api.internal/v1?api_key=…", drawn(32)),
    "query, more after it": Sample("https://api.internal/cb?access_token=…", drawn(40) + "&a=1"),
    "bearer": Sample("Authorization: Bearer …", drawn(40)),
    "basic": Sample("Authorization: Basic …", basic("admin")),
    "header with token": Sample("-H 'Authorization: token …'", drawn(40, HEX)),
    "Okta": Sample("Authorization: SSWS …", "00" + drawn(40)),
    "header": Sample("curl -H 'X-Api-Key: …' https://ci.internal", drawn(32)),
    "cookie": Sample("Cookie: …", "sessionid=" + drawn(32)),
    "curl": Sample("curl -s -u admin:… https://ci.internal/job", "S3cr3t" + "Pa55"),
    "curl, quoted": Sample("curl https://ci.internal --user 'admin:…'", "S3cr3t" + "Pa55"),
    "wget": Sample("wget --user=bob --password=… http://ci.internal", CHOSEN),
    "mysql": Sample("mysql -uroot -p… db", CHOSEN),
    "mysqldump": Sample("mysqldump -h db -u root -p'…' app > dump.sql", CHOSEN),
    "sshpass": Sample("sshpass -p … ssh build@ci", CHOSEN),
    "docker login": Sample("docker login -u bob -p … images.internal", CHOSEN),
    "option": Sample("vault write --token … secret/app", drawn(24)),
    "psql": Sample("PGPASSWORD=… psql -h db", CHOSEN),
    "SQL": Sample("CREATE USER app IDENTIFIED BY '…';", CHOSEN),
    "SQL role": Sample("ALTER ROLE app PASSWORD '…'", CHOSEN),
    "netrc": Sample("machine github.com login bob password …", CHOSEN),
    "npmrc": Sample("//npm.example.com/:_authToken=…", drawn(36)),
    "npmrc, basic": Sample("_auth=…", basic("bob")),
    "docker settings": Sample('{"auths": {"r.internal": {"auth": "…"}}}', basic("bob")),
    "YAML": Sample("password: …", drawn(12)),
    "YAML, next line": Sample("password:\n  …", CHOSEN),
    "prose": Sample("The staging password is ….", drawn(12)),
    "prose, now": Sample("the db password is now …", CHOSEN),
    "prose, backticks": Sample("the password is `…`", CHOSEN),
    "prose, someone's": Sample("password for bob is …", CHOSEN),
    "prose, some words": Sample("the API key for the weather service is …", drawn(32)),
    "prose, some place": Sample("token for staging: …", drawn(24)),
    "prose, in brackets": Sample("password (prod): …", CHOSEN),
    "prose, deploy": Sample("the deploy token is …", drawn(20)),
    "prose, German": Sample("Das Passwort ist …", CHOSEN),
    "prose, German colon": Sample("Kennwort: …", CHOSEN),
    "arrow": Sample("secret -> …", drawn(24)),
    "table": Sample("| password | … |", CHOSEN),
    "bold": Sample("**Password**: …", CHOSEN),
    "XML": Sample("<password>…</password>", CHOSEN),
    "blank in the name": Sample("API key: …", drawn(32)),
    "two blanks in the name": Sample("secret access key: …", drawn(40)),
    "environment": Sample("export MY_API_KEY=…", drawn(20)),
    "environment, quoted": Sample("export DB_PASSWORD='…'", CHOSEN),
    "environment, short": Sample("SMTP_PASS=…", CHOSEN),
    "environment, hex": Sample("DD_API_KEY=…", drawn(32, HEX)),
    "environment, auth": Sample("TWILIO_AUTH_TOKEN=…", drawn(32, HEX)),
    "environment, numbered": Sample("API_KEY_2=…", drawn(32)),
    "JSON": Sample('{"client_secret": "…"}', drawn(24)),
    "JSON, one word": Sample('{"accessToken": "…"}', drawn(32)),
    "JSON, escaped": Sample('{\\"password\\": \\"…\\"}', CHOSEN + "x"),
    "JSON, without blanks": Sample('{"user":"bob","password":"…","port":5432}', CHOSEN),
    "camel case": Sample("dbPassword = …", CHOSEN),
    "camel case, pass": Sample("smtpPass: '…',", CHOSEN),
    "camel case, secret": Sample("clientSecret: …", drawn(32)),
    "Go": Sample('apiToken := "…"', drawn(32)),
    "TypeScript": Sample('const apiKey: string = "…"', drawn(32)),
    "PHP": Sample("'password' => '…',", CHOSEN),
    "Python": Sample("connect(user='bob', password='…')", CHOSEN),
    "Python, item": Sample("os.environ['API_TOKEN'] = '…'", drawn(32)),
    "Java properties": Sample("spring.datasource.password=…", CHOSEN),
    "passphrase": Sample("passphrase: …", CHOSEN + "x"),
    "symbols": Sample("password: …", "Tr0ub4$" + "dor3xQ!"),
    "many symbols": Sample("password=…", "Ab$9xK!" + "2qLm"),
    "colon inside": Sample("password: …", "ab:cd12" + "efgh"),
    "comma inside": Sample("password: …", "Tr0ub4,d" + "or3,x"),
    "other quote inside": Sample('password = "…"', "Tr0ub4'" + "dor3"),
    "seven characters": Sample("password: …", "abc1" + "23x"),
    "word and year": Sample("wifi password: …", "Winter" + "2024"),
    "a run of digits": Sample("admin password = …", "Winter" + "1234567!"),
    "a word of examples": Sample("password: …", "Your9Horses" + "Example"),
    "credentials": Sample("creds: …", "bob:" + CHOSEN),
    "identifier as token": Sample("SNYK_TOKEN=…", "c0ffee12-7b1d-4e9a-9f3c-" + drawn(12, HEX)),
    "letters only": Sample("webhook secret: …", "kJxQzRtYuIoPaSd" + "FgHjKlZxW"),
    "behind a written line break": Sample(r"'first\n…'", "gh" + "p_" + drawn(36)),
    "behind two words": Sample("token: api_key: …", drawn(24)),
    "German, is": Sample("Das Kennwort lautet …", CHOSEN),
    "French": Sample("le mot de passe est …", CHOSEN),
    "French, colon": Sample("Mot de passe de la base : …", CHOSEN),
    "Spanish": Sample("la contraseña es …", CHOSEN),
    "Spanish, colon": Sample("Contraseña: …", CHOSEN),
    "Spanish, someone's": Sample("la contraseña de la base es …", CHOSEN),
    "Italian": Sample("la password è …", CHOSEN),
    "Italian, two words": Sample("parola d'ordine: …", CHOSEN),
    "Portuguese": Sample("a senha é …", CHOSEN),
    "Portuguese, two words": Sample("palavra-passe: …", CHOSEN),
    "Dutch": Sample("het wachtwoord is …", CHOSEN),
    "Swedish": Sample("lösenordet är …", CHOSEN),
    "Danish": Sample("adgangskoden er …", CHOSEN),
    "Danish, colon": Sample("kodeord: …", CHOSEN),
    "Norwegian": Sample("passordet er …", CHOSEN),
    "Finnish": Sample("salasana on …", CHOSEN),
    "Russian": Sample("пароль: …", CHOSEN),
    "Chinese": Sample("数据库密码是 …", CHOSEN),
    "Chinese, colon": Sample("密码：…", CHOSEN),
    "Japanese": Sample("パスワードは …", CHOSEN),
    "Russian, no verb": Sample("пароль …", CHOSEN),
    "card code, no sign": Sample("CVC …", "3" + "19"),
    "one-time passwords": Sample("TOTP secret …", "JBSWY3DP" + "EHPK3PXQ"),
    "Polish": Sample("hasło: …", CHOSEN),
    "Czech": Sample("heslo: …", CHOSEN),
    "Hungarian": Sample("jelszó: …", CHOSEN),
    "Turkish": Sample("şifre: …", CHOSEN),
    "Vietnamese": Sample("mật khẩu: …", CHOSEN),
    "Indonesian": Sample("kata sandi: …", CHOSEN),
    "Hindi": Sample("पासवर्ड: …", CHOSEN),
    "Arabic": Sample("كلمة المرور: …", CHOSEN),
    "administrator's key": Sample("ALGOLIA_ADMIN_KEY: …", drawn(32, HEX)),
    "Korean": Sample("비밀번호는 …", CHOSEN),
    "of no known maker": Sample("…", "acme" + "_live_" + drawn(40)),
    "of no known maker, dotted": Sample("…", drawn(24) + "." + drawn(40)),
    "New Relic license": Sample("NEW_RELIC_LICENSE_KEY=…", drawn(36, HEX) + "NRAL"),
    "Notion, old": Sample("…", "secret" + "_" + drawn(43)),
    "ldapsearch": Sample("ldapsearch -x -D cn=admin,dc=x -w … -b dc=x", CHOSEN),
    "smbclient": Sample("smbclient //nas/share -U bob%…", CHOSEN),
    "htpasswd": Sample("htpasswd -cb .htpasswd bob …", CHOSEN),
    "sudo": Sample("echo … | sudo -S apt update", CHOSEN),
    "redis-cli": Sample("redis-cli -h cache -a … ping", CHOSEN),
    "openssl": Sample("openssl rsa -in x.pem -passin pass:…", CHOSEN),
    "master.key": Sample("master.key: …", drawn(32, HEX)),
    "Fernet": Sample("Fernet key: …", drawn(43) + "="),
    "OVH": Sample("application_key=…", drawn(16)),
    "Bitwarden": Sample('export BW_SESSION="…"', drawn(86, BASE64) + "=="),
    "key, German": Sample("der API-Schlüssel lautet …", drawn(32)),
    "key, Russian": Sample("ключ: …", drawn(32)),
    "key, Chinese": Sample("密钥：…", drawn(32)),
    "in words": Sample("the wifi password is …", "correct horse " + "battery staple"),
    "in words, hyphens": Sample("my password is …", "correct-horse-" + "battery-staple"),
    "in words, German": Sample("das Passwort für Staging ist …", "blauer Elefant " + "Tasse Regen"),
    "login": Sample("log in with admin / …", "hunt" + "er22"),
    "prose, changed": Sample("I changed the root password to …", CHOSEN),
    "card in groups": Sample("…", card("45", sizes=(4, 4, 4, 4), gap=" ")),
    "card with hyphens": Sample("paid with …", card("53", sizes=(4, 4, 4, 4), gap="-")),
    "card, fifteen digits": Sample("…", card("37", 15, (4, 6, 5), " ")),
    "card behind a word": Sample("my credit card is …", card("4")),
    "card, German": Sample("Kreditkarte: …", card("52")),
    "card in JSON": Sample('{"card_number": "…"}', card("6011")),
    "PIN": Sample("PIN: …", "48" + "2913"),
    "PIN, prose": Sample("the PIN of the door is …", "48" + "29"),
    "PIN code": Sample("pin code = …", "90" + "21"),
    "PIN, Spanish": Sample("el PIN es …", "73" + "10"),
    "PIN, Chinese": Sample("PIN码是…", "73" + "10"),
    "card code": Sample("CVV: …", "4" + "19"),
    "seed phrase": Sample("seed phrase: …", phrase(12)),
    "seed phrase, prose": Sample("my wallet's seed phrase is …", phrase(24)),
    "mnemonic": Sample("mnemonic = '…'", phrase(12)),
    "recovery phrase": Sample("Recovery phrase for the cold wallet: …", phrase(12)),
    "seed phrase, Spanish": Sample("frase semilla: …", phrase(12)),
    "seed phrase, Chinese": Sample("助记词：…", phrase(12)),
    "recovery code": Sample("recovery code: …", drawn(5, SMALL) + "-" + drawn(5, SMALL)),
    "recovery codes": Sample("recovery codes:\n…", f"{drawn(5, HEX)}-{drawn(5, HEX)}\n1f0c2-9ad3e"),
    "backup codes": Sample("backup codes: …", "4829" + "1357, 9021" + "7735"),
    "recovery code, German": Sample("Wiederherstellungscode: …", "K7Q2" + "-P9XD-4MVA"),
    "recovery code, French": Sample("code de récupération : …", "K7Q2" + "-P9XD-4MVA"),
}  # fmt: skip
CREDENTIALS = {
    **{name: Sample("…", token) for name, token in _WITH_PREFIX.items()},
    **_WITH_WORDS,
}
# Known not to be found: without a name or a beginning of its own it looks like anything else,
# and words are words.
UNSEEN = [
    drawn(40, BASE64),
    "password: super" + "secretphrase",
]

HARMLESS = """
fixed in commit 3f786850e387550fdab836ed7e6dc881de23001b
reverted by 9fceb02 and cherry-picked as d0ae598e95dc
request id 123e4567-e89b-12d3-a456-426614174000
session 550e8400-e29b-41d4-a716-446655440000 was resumed
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
"integrity": "sha384-OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P24donTt6/529l+9Ua0vFImLlb"
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
md5 d41d8cd98f00b204e9800998ecf8427e of the empty file
the image is nginx@sha256:2bdc49f2f8ae8d8dc50ed00f2ee56d00385c6f8bc8a8b320d0a294d9e3b49026
docker://nginx:1.25-alpine@sha256:2bdc49f2f8ae8d8dc50ed00f2ee56d00385c6f8bc8a8b320d0a294d9e3b49026
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9aw==
background: url(data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7)
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4zWk0r8Qm1f3v7Y2nXcD9uHqLp6sT5bVgRjKxEoAaB deploy@ci
SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8 is the fingerprint of github.com
see src/auth/keys/public.pem and src/auth/middleware.ts:47
password reset flow: a mail with a link, valid for 15 minutes
password reset token expires after 15 minutes
the API key is rotated monthly
The API key is required in the X-Api-Key header
API key: ask Ops, it is in the vault under weather
API keys are scoped: read, write and admin2
API key name: weather-prod-2024
JWT token format: RS256, public key at src/auth/keys/public.pem
The token is RS256-signed and expires after 24h
password is RS256-based
password: p2p-based
pass: py311-linux
password: aaaa1111
The token is validated in src/auth/jwt.py:47
the token is refreshed every 15minutes
tokens are opaque; a JWT only inside the mesh
access token lifetime: 3600s, refresh token: 30days
token: string
token: src/auth/token_v2.py
token: Optional[str] = None
token: tests/fixtures/token1.json
token: next-auth.session-token
token: user_id_1234
token: 128k-context
token: gpt4o-mini
token: ERC721Enumerable
token: ERC20token standard
token=cl100k_base
token is 0x7a250d5630b4cf539739df2c5dacb4c659f2488d
token: claude-sonnet-4-20250514
token: https://login.example.org/oauth2/v2.0/token
token: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
tokens: text-embedding-3-small
tokens: DESIGN2024-spacing-4px
tokenizer: cl100k_base, o200k_base for the newer ones
token count: 8192 per request, token_limit=128000
max_tokens: 4096
n_tokens = input_ids.shape[-1]
token_type: access_token2
token=abc123 in the fixture
token = tokens2ids(x)
token = get_token2()
token = os.environ['GITHUB_TOKEN_2']
token = process.env.GITHUB_TOKEN_2
token = request.headers['x-token2']
token = settings.api_token2_prod
const token = jwt.sign(payload2, key, { algorithm: 'RS256' })
token := r.Header.Get("X-Auth-Token2")
let token: Base64String = encoder.finish()
if token == "Bearer": raise Unauthorized
TOKEN=$(cat /run/secrets/token2)
token: ${{ secrets.GITHUB_TOKEN2 }}
NPM_TOKEN: ${NPM_TOKEN_2}
secret: ~/.config/app2/secret.yaml
secret: /run/secrets/db1password2
secret: prod/db/password1
secret: kubernetes-secret-name-v2
secret: arn:aws:secretsmanager:eu-west-1:111122223333:secret:prod/app-AbC123
secret: op://Engineering/db-prod1/password2
The secret is stored in 1password
secret is called db-credentials-v3
secretKeyRef: name: db-creds-2024a
secret name: myapp1234-prod
secret = b64decode(value)
use the secret named prod-db in Vault
the secret = Secret2024Manager of GCP
secrets: inherit
password: required, 8 to 64 characters
password: 8-64chars, one digit
password: at least 12chars
password: min8max64
password: argon2id$v19
password: $2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW
password is bcrypt2-hashed
password is hashed with argon2id
password: see vault/prod/db1
password: vault/prod/database2024/app
password: 1Password, entry staging
password: yourpassword1
password: password123
password: changeme123
password: xxxxxxxx1
password: ********
password: "string"
password: str = Field(min_length=12)
password: {{ db_password2 }}
password: ${DB_PASSWORD2:-postgres}
password: !vault |
password: ENC[AES256_GCM,data:Tr7o=,iv:1x,tag:k9,type:str]
password: <your-password-1>
password: user1@example.org
password: DB_PASSWORD_2 of the environment
password = os.environ["DB_PASSWORD2"]
password = config.get_password2()
password = getpass.getpass("Password2: ")
password = getenv('API_KEY2')
password_hash: 5f4dcc3b5aa765d61d8327deb882cf99
password: ^[A-Za-z0-9!#]{8,64}$
const password = req.body.password2;
<input type="password" name="pw2" autocomplete="new-password2">
def check(password: str, salt: bytes = b"") -> bool: ...
Passwords live in 1Password; never in .env.local2
passphrase: none
pwd: /home/dev/project99
pwd: C:\\Users\\dev1234
bypass: mod2rewrite; compass = qmc5883l
api_key = <your-api-key-123>
api_key = ${OPENAI_API_KEY_2}
API_KEY=your_api_key_here_123
api_key = sk-1234567890abcdef
api_key: read from env var OPENAI_API_KEY
api_key: test-key-123abc
api-key: header1-name-x
api_key=... or api_key=…
access_key: accesskeyid field of the form
access-key: eu-west1-key9
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
AKIAIOSFODNN7EXAMPLE
private key is id_ed25519_work
private-key: deploy_key_2024
primary key: user_id_2024, foreign key: order2item
cache key: 5f3c9a1b7e2d4c6f8a0b
public key: 04a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd
keyboard shortcut: ctrl+k ctrl+s; monkey: 12 bananas
credentials: see the team vault, entry staging
credential: vault-role-app42
auth: OAuth2Proxy in front of grafana10
auth: RS256, kid=2024-05
sk_test_xxxxxxxxxxxxxxxxxxxxxxxx is what the documentation shows
npm_config_registry and npm_lifecycle_event are set by npm
the hf_hub_download helper of huggingface_hub
hf_transformers_offline_mode_environment_variable
sk-learn is imported as sklearn; sk-estimator is its base
sk-proj-the-name-of-your-project-goes-here
glpat-a-token-of-the-release-robot
key-value-store-with-a-very-long-name-of-32
figd_ and dckr_pat_ are prefixes, too
ghp_ is the prefix of personal tokens, glpat- that of GitLab
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
Bearer tokens go into the Authorization header
Bearer ${TOKEN}, or Bearer <token>
bearer authentication-middleware-for-express
Authorization: Bearer YOUR_ACCESS_TOKEN_2
Basic authentication is off; Basic Kubernetes1 course
Authorization: Basic <base64 of user:pass>
Cookie: theme=dark; HttpOnly; SameSite=Strict
-----BEGIN CERTIFICATE----- MIIB -----END CERTIFICATE-----
-----BEGIN PUBLIC KEY----- MIIB -----END PUBLIC KEY-----
eyJ is how every encoded JSON object begins
postgres://user:password@localhost:5432/app
postgres://user:example123@localhost/app
postgres://postgres:postgres@localhost:5432/test
postgres://app:${DB_PASS}@db/app
postgres://localhost:5432/db
amqp://guest:guest@rabbit:5672
redis://:@cache:6379
https://user:pass@example.com
https://example.com:8443/path@v2
http://localhost:3000/@vite/client
ssh://git@github.com:22/owner/repo.git
git@github.com:org/repo.git
curl -u admin:password https://ci.internal
curl -u admin:$CI_PASSWORD2 https://ci.internal
curl -u admin https://ci.internal:8443/v2/job1
mysql -u root -p app2024 asks for the password
mysql -h db -P 3306 -port=3306
docker login -u bob --password-stdin registry2.internal
sshpass -p $SSH_PASS2 ssh build@ci
docker run -p 8080:80 -e TZ=UTC nginx:1.25
machine learning login flow, password rules of 2024
react@18.3.1, typescript@5.4.5, @types/node@20.12.7
numpy==1.26.4 --hash=sha256:2a02aba9ed12e4ac4eb3ea9421c420301a0c6460d9830d74a9df87efa4912010
gpt-4o-2024-08-06 and claude-3-5-sonnet-20241022 are compared
meta-llama/Llama-3.1-8B-Instruct runs on gpu2
k8s pod api-7d9f8b6c5d-x2k4p was restarted
host ip-10-0-12-34.eu-west-1.compute.internal
arn:aws:iam::111122223333:role/deploy
trace 4bf92f3577b34da6a3ce929d0e0e4736, span 00f067aa0ba902b7
color #1a2b3c4d5e, id a1b2c3d4e5f6
invoice 2024-INV-000123 of 2024-05-06T07:08:09Z
LED pin: 13, button pin = 2
pin: 2024.11.1 of setuptools
pin numpy: 1.26, the PIN pad is broken
the PIN is asked for three times and has 4 digits
pinned: 20241103
spin: 4829 rounds
the Stripe test card is 4242 4242 4242 4242
sandbox card 4000 0566 5566 5556 is accepted
order 4539578763621487 was paid by card
request 4539 5787 6362 1480 failed
timestamps 1731801600000 and 1731801600123456
tracking number 9400 1000 0000 0000 0000 00
phone +49 170 4829 1357, fax 4829 1358
the seed phrase is never stored on this machine and must not be written into notes
mnemonic: every good boy does fine
seed phrase: twelve words from a list of 2048, see docs/wallet.md
mnemonic names for registers help people who read assembly code very often
recovery phrase: ask the owner of the wallet before the backup is restored again please
recovery codes: kept in the safe, ten of them
recovery code path: src/auth/recovery2024.py
backup code lives in scripts/backup2024.sh
backup codes expire after 30days
exit code: 12345678 means that the disk is full
el flujo de la contraseña: un correo con un enlace
contraseña: obligatoria, de 8 a 64 caracteres
Mot de passe : voir 1Password, entrée staging
das Passwort ist in der Umgebung DB_PASSWORD_2
a senha é gerada por pwgen e guardada no cofre
密码：见 1Password
密码是 bcrypt2 加密的
パスワードは 12文字以上
пароль: смотри vault/prod/db1
nuggets.interfaces.hooks.session_note_update.keep_left_over
module_of_the_rendering_en.public.function_with_a_long_name_for_tests
""".strip().splitlines()
# Known to be held back though harmless: people choose passwords like these.
ALARMS = [
    "pwd = project42dir1",
    "password is test1234",
    "password: hunter2",
    "wachtwoord: minimaal12tekens",
]
