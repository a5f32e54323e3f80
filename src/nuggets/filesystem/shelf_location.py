"""The location of a shelf, from its URL: a directory, a database, a server, or the memory of this
process."""

import os
from collections.abc import Callable, Mapping
from zlib import crc32

from nuggets.errors import SettingsError
from nuggets.named_tuple import NamedTuple

DEFAULT_DIRECTORY = "~/.nuggets"
IN_MEMORY = "memory:"
ENCODER_FILE = "encoder.safetensors"  # beside the database, if one is installed
MEMORY_DIRECTORY = "memory"  # in the shelf's directory: memory files of projects without a host's
MEMBERS_DIRECTORY = "members"  # in the directory of a team's shelf: its members' private shelves
DATABASES = ("postgresql://", "postgres://")
SERVERS = ("https://", "http://")


def is_database(url: str) -> bool:
    """Does the URL name a database server?"""
    return isinstance(url, str) and url.startswith(DATABASES)


def is_server(url: str) -> bool:
    """Does the URL name a `nuggets serve` that keeps the shelf?"""
    return isinstance(url, str) and url.startswith(SERVERS)


def default_location(environ: Mapping[str, str]) -> str:
    """The shelf that nobody named on a command line."""
    return environ.get("NUGGETS_STORE") or environ.get("NUGGETS_DIR") or DEFAULT_DIRECTORY


def shown_location(url: str) -> str:
    """The URL as it may be shown: without a password."""
    if not is_database(url):
        return url
    return DatabaseUrl(url).shown


def written_location(url: str) -> str:
    """The location for files and command lines of other programs, which must hold no password."""
    if is_server(url):
        return parse_server_url(url).text
    if not is_database(url):
        return directory_of(url)
    if DatabaseUrl(url).has_password:
        raise SettingsError(
            "the address holds a password, which is not written into other programs' files; take "
            "it out, and put it into ~/.pgpass"
        )
    return url


def private_location(url: str, member: str) -> str:
    """Where the private shelf of a member is kept, for the shelf of a team."""
    if not is_database(url):
        return os.path.join(directory_of(url), MEMBERS_DIRECTORY, member)
    return DatabaseUrl(url).with_shelf(lambda team: f"{team}/{member}")


def directory_of(url: str) -> str:
    """The directory, absolute; "" for a shelf that has none. That of a shelf in a database
    or at a server holds what stays on this machine: settings, files of hooks, backups.

    A URL of another kind must not become a directory of that name, and an empty one must not
    become the current directory.
    """
    if url == IN_MEMORY:
        return ""
    if is_database(url):
        return DatabaseUrl(url).directory
    if is_server(url):
        return parse_server_url(url).directory
    path = url.removeprefix("file://") if isinstance(url, str) else ""
    if not path or "\0" in path:
        raise SettingsError(f"a shelf is a directory, or {IN_MEMORY}; not {url!r:.80}")
    scheme, colon, _ = path.partition(":")
    letters = scheme.translate(dict.fromkeys(map(ord, "+-.")))
    if colon and scheme[:1].isalpha() and letters.isascii() and letters.isalnum():
        raise SettingsError(
            f"no store is known for {scheme}:; give a directory, postgresql://…, https://…, or "
            f"{IN_MEMORY} "
            f"(and ./ before it if {scheme}: begins the name of a directory)"
        )
    return os.path.abspath(os.path.expanduser(path))


def database_stamp(directory: str) -> str:
    """Another text for a copy of a shelf, and for one that a backup or a repair replaced."""
    try:
        status = os.stat(os.path.join(directory, "nuggets.db"))
    except OSError:  # in memory, or on a server
        return directory
    return f"{status.st_dev}-{status.st_ino}"


# What programs that copy folders between machines leave at the root of one, and how they call it.
_SYNC_SIGNS = {".stfolder": "Syncthing", ".dropbox": "Dropbox", ".sync": "Resilio Sync"}
_SYNC_NAMES = {
    "dropbox": "Dropbox",
    "onedrive": "OneDrive",
    "google drive": "Google Drive",
    "com~apple~clouddocs": "iCloud Drive",
    "nextcloud": "Nextcloud",
}


def sync_program(directory: str) -> str:
    """The program that copies this directory to other machines, as far as that can be seen; ""."""
    path = os.path.realpath(directory)
    while path != os.path.dirname(path):
        for sign, program in _SYNC_SIGNS.items():
            if os.path.lexists(os.path.join(path, sign)):
                return program
        if (name := os.path.basename(path).lower()) in _SYNC_NAMES:
            return _SYNC_NAMES[name]
        path = os.path.dirname(path)
    return ""


# --- addresses of servers and databases -----------------------------------------------------------
#
# Both have a directory on this machine for what stays here: settings, files of hooks, backups.
# `urllib` is imported where it is needed: it takes longer than a query of a shelf in a directory.


def _local_directory(kind: str, shown: str, place: str) -> str:
    """One directory per place, whoever asks and with whatever options; `shown` is for people."""
    letters = "".join(c if c.isalnum() else "-" for c in shown)[:60].strip("-")
    return os.path.expanduser(f"~/.nuggets/{kind}/{letters}-{crc32(place.encode()):08x}")


# --- servers ----------------------------------------------------------------------------------

# One that keeps shelves for others: https://host, or http://localhost:6844. No secret belongs into
# its address: the token is in a file of its own (`remote/__init__.py`).
HTTPS_PORT, HTTP_PORT = 443, 80  # RFC 9110
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ServerUrl(NamedTuple):
    """Where a server answers."""

    scheme: str
    host: str
    port: int

    @property
    def is_encrypted(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The value of a Host header: the port is left out where it goes without saying."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = HTTPS_PORT if self.is_encrypted else HTTP_PORT
        return host if self.port == default else f"{host}:{self.port}"

    @property
    def text(self) -> str:
        """The address in its one form."""
        return f"{self.scheme}://{self.authority}"

    @property
    def directory(self) -> str:
        """Of what stays on this machine: token, queue, local copy, settings, files of hooks."""
        return _local_directory("servers", self.authority, self.text)


def parse_server_url(url: str) -> ServerUrl:
    """The address of a server; a `SettingsError` says what is wrong with it."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if not host.isascii():
            host = host.encode("idna").decode()
    except ValueError as problem:  # also UnicodeError
        raise SettingsError(f"the address of the server is not valid: {problem}") from None
    if parts.username is not None or parts.password is not None:
        raise SettingsError(
            "the address of a server holds no name and no password; `nuggets login` asks for the "
            "token and keeps it in a private file"
        )
    if not host or parts.path.strip("/") or parts.query or parts.fragment or "%" in host:
        raise SettingsError("the address of a server is https://host or https://host:port")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise SettingsError(
            f"http:// sends the token in the clear; use https://{host} (http:// is for this "
            "machine only: http://localhost:6844)"
        )
    return ServerUrl(
        parts.scheme, host, port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    )


# --- databases --------------------------------------------------------------------------------

# postgresql://user@host/database?shelf=name: all but `shelf` is the driver's business. A password
# in it is never shown.
DEFAULT_SHELF = "default"
SHELF_CHARACTERS = 200  # of a name: a key of each table


class DatabaseUrl:
    """A database, a shelf in it, and the directory of the files that stay on this machine."""

    def __init__(self, url: str) -> None:
        from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

        try:
            parts = urlsplit(url)
            query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError as problem:
            raise SettingsError(f"the address of the database is not valid: {problem}") from None
        user_part, at, hosts = parts.netloc.rpartition("@")
        user, _, password = user_part.partition(":")
        options = [(name, value) for name, value in query if name != "shelf"]
        self.shelf = dict(query).get("shelf", DEFAULT_SHELF)
        if not self.shelf or len(self.shelf) > SHELF_CHARACTERS or "\0" in unquote(url):
            raise SettingsError(
                f"the name of a shelf has between 1 and {SHELF_CHARACTERS} characters"
            )
        self.address = urlunsplit(parts._replace(query=urlencode(options, quote_via=quote)))
        open_options = [(name, value) for name, value in query if "password" not in name]
        self.shown = urlunsplit(
            parts._replace(
                netloc=f"{user}{at}{hosts}", query=urlencode(open_options, quote_via=quote)
            )
        )
        secrets = [password, *(value for name, value in query if "password" in name)]
        self._secrets = [part for secret in secrets if secret for part in (secret, unquote(secret))]
        database = parts.path.strip("/")
        place = f"{hosts or dict(options).get('host', '')}/{database}/{self.shelf}"
        self.directory = _local_directory("databases", f"{database}-{self.shelf}", place)

    def with_shelf(self, rename: Callable[[str], str]) -> str:
        """The URL of another shelf in the same database."""
        from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

        parts = urlsplit(self.address)
        query = [*parse_qsl(parts.query, keep_blank_values=True), ("shelf", rename(self.shelf))]
        return urlunsplit(parts._replace(query=urlencode(query, quote_via=quote)))

    @property
    def has_password(self) -> bool:
        return bool(self._secrets)

    def hide_password(self, text: str) -> str:
        """A text of the driver without the password."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
