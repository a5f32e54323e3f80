"""Where a shelf is, told by its URL: a directory, or nowhere but in this process."""

import os

from nuggets.errors import SettingsError

IN_MEMORY = "memory:"


def directory_of(url: str) -> str:
    """The directory, absolute; "" for a shelf that has none.

    What looks like a store of another kind must not become a directory of that name, and no name
    at all must not become the directory that we are in.
    """
    if url == IN_MEMORY:
        return ""
    path = url.removeprefix("file://") if isinstance(url, str) else ""
    if not path or "\0" in path:
        raise SettingsError(f"a shelf is a directory, or {IN_MEMORY}; not {url!r:.80}")
    scheme, colon, _ = path.partition(":")
    letters = scheme.translate(dict.fromkeys(map(ord, "+-.")))
    if colon and scheme[:1].isalpha() and letters.isascii() and letters.isalnum():
        raise SettingsError(
            f"no store is known for {scheme}:; give a directory, or {IN_MEMORY} "
            f"(and ./{url} if that is a directory)"
        )
    return os.path.abspath(os.path.expanduser(path))
