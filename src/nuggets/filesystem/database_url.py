"""The address of a shelf in a database: postgresql://user@host/database?shelf=name.

All but `shelf` is the driver's business. A password in it is never shown.
"""

import os
from collections.abc import Callable
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit
from zlib import crc32

from nuggets.errors import SettingsError

DEFAULT_SHELF = "default"
SHELF_CHARACTERS = 200  # of a name
LOCAL_DIRECTORY = "~/.nuggets/databases"


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
        self.directory = os.path.join(os.path.expanduser(LOCAL_DIRECTORY), self._local_name(hosts))

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

    def _local_name(self, hosts: str) -> str:
        """One directory per shelf, whoever asks and with whatever options."""
        database = urlsplit(self.address).path.strip("/")
        options = dict(parse_qsl(urlsplit(self.address).query))
        place = f"{hosts or options.get('host', '')}/{database}/{self.shelf}"
        letters = "".join(c if c.isalnum() else "-" for c in f"{database}-{self.shelf}")
        return f"{letters[:60].strip('-')}-{crc32(place.encode()):08x}"
