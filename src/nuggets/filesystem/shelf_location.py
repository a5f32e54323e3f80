"""The location of a shelf, from its URL: a directory, a database, a server, or the memory of this
process."""

import os
from collections.abc import Mapping

from nuggets.errors import SettingsError

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
    from nuggets.filesystem.shelf_urls import DatabaseUrl

    return DatabaseUrl(url).shown


def written_location(url: str) -> str:
    """The location for files and command lines of other programs, which must hold no password."""
    if is_server(url):
        from nuggets.filesystem.shelf_urls import parse_server_url

        return parse_server_url(url).text
    if not is_database(url):
        return directory_of(url)
    from nuggets.filesystem.shelf_urls import DatabaseUrl

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
    from nuggets.filesystem.shelf_urls import DatabaseUrl

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
        from nuggets.filesystem.shelf_urls import DatabaseUrl

        return DatabaseUrl(url).directory
    if is_server(url):
        from nuggets.filesystem.shelf_urls import parse_server_url

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
