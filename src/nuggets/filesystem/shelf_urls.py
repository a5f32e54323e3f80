"""The address of a shelf that is no directory: of a server or of a database. Both have a directory
on this machine for what stays here: settings, files of hooks, backups."""

import os
from collections.abc import Callable
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit
from zlib import crc32

from nuggets.errors import SettingsError
from nuggets.named_tuple import NamedTuple


def _local_directory(kind: str, shown: str, place: str) -> str:
    """One directory per place, whoever asks and with whatever options; `shown` is for people."""
    letters = "".join(c if c.isalnum() else "-" for c in shown)[:60].strip("-")
    return os.path.expanduser(f"~/.nuggets/{kind}/{letters}-{crc32(place.encode()):08x}")


# --- servers ----------------------------------------------------------------------------------

# One that keeps shelves for others: https://host, or http://localhost:6844. No secret belongs into
# its address: the token is in a file of its own (`remote/server_requests.py`).
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
