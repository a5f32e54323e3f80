"""What is kept beside the shelf about a folder that others write to: how it was left, and its key.

A register that is lost or damaged says nothing, and then everything is read and compared.
"""

import hashlib
import os

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.atomic_files import private_directory, read_if_plain, replace_file


def digest_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def register_path(directory: str, kind: str, folder: str, ending: str = "json") -> str:
    """The file about a folder; `directory`: of the shelf."""
    digest = digest_of(folder.encode(errors="surrogateescape"))
    return os.path.join(directory, kind, f"{digest}.{ending}")


def read_register(path: str) -> Json:
    try:
        shape = codec.loads(read_if_plain(path), path)
    except NuggetsError:
        return {}
    return shape if isinstance(shape, dict) else {}


def save_register(path: str, shape: Json) -> None:
    text = codec.dumps(shape).encode(errors="replace")
    if text != read_if_plain(path):
        private_directory(os.path.dirname(path))
        replace_file(path, [text], durable=True)


def check_place(folder: str, directory: str) -> None:
    """Refuse a folder that holds the database, which only one machine may open."""
    if not directory:
        return
    shared, own = os.path.realpath(folder), os.path.realpath(directory)
    if os.path.commonpath((shared, own)) in (shared, own):
        raise InvalidInput(
            f"{folder} and the shelf {directory} lie in each other. A database that a program "
            "copies while it is open is damaged, so it never lies in a shared folder: name another "
            "folder, or move the shelf (NUGGETS_DIR)"
        )
