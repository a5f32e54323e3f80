"""The address of a server that keeps shelves for others: https://host, or http://localhost:6844.

No secret belongs into it: the token is in a file of its own (`remote/server_requests.py`).
"""

import os
from urllib.parse import urlsplit
from zlib import crc32

from nuggets.errors import SettingsError
from nuggets.named_tuple import NamedTuple

LOCAL_DIRECTORY = "~/.nuggets/servers"
HTTPS_PORT, HTTP_PORT = 443, 80
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
        letters = "".join(c if c.isalnum() else "-" for c in self.authority)[:60].strip("-")
        name = f"{letters}-{crc32(self.text.encode()):08x}"
        return os.path.join(os.path.expanduser(LOCAL_DIRECTORY), name)


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
