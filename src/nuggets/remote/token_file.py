"""The token of a member: in a private file of this machine, never on a command line."""

import os

from nuggets.errors import InvalidInput, SettingsError
from nuggets.filesystem.atomic_files import (
    open_plain,
    private_directory,
    remove_leftovers,
    replace_file,
    unreadable,
)
from nuggets.filesystem.server_url import ServerUrl

VARIABLE = "NUGGETS_TOKEN"
TOKEN_FILE = "token"
LONGEST_TOKEN = 4096  # characters


def read_token(url: ServerUrl) -> str:
    """The token for a server: of the environment, else of its file; "" if there is none."""
    token = os.environ.get(VARIABLE, "").strip()
    if token:
        return check_token(token)
    path = os.path.join(url.directory, TOKEN_FILE)
    try:
        with open(path, encoding="utf-8", opener=open_plain) as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise SettingsError(
                    f"others can read {path}; ask for a new token, and `nuggets login {url.text}`"
                )
            return check_token(file.read(LONGEST_TOKEN + 1).strip())
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as problem:
        if isinstance(problem, OSError):
            raise unreadable(path, problem) from problem
        raise SettingsError(f"{path} holds no token; `nuggets login {url.text}`") from None


def write_token(url: ServerUrl, token: str) -> str:
    """Keep a token; the path of its file."""
    path = os.path.join(url.directory, TOKEN_FILE)
    private_directory(url.directory)
    remove_leftovers(path)
    replace_file(path, [f"{check_token(token)}\n".encode()], durable=True)
    return path


def remove_token(url: ServerUrl) -> bool:
    """Forget the token; False if there was none."""
    try:
        os.unlink(os.path.join(url.directory, TOKEN_FILE))
    except FileNotFoundError:
        return False
    return True


def check_token(token: str) -> str:
    """The token, if it can be one: it goes into a header. It is never shown."""
    text = token.strip()
    if not text or len(text) > LONGEST_TOKEN or not text.isascii() or not text.isprintable():
        raise InvalidInput("this is no token: a token is one line of printable ASCII characters")
    if " " in text:
        raise InvalidInput("this is no token: there is a blank in it")
    return text
