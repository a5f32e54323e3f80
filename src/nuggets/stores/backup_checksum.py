"""The last line of a backup: a checksum, without which no backup is believed."""

import hashlib
import os
from typing import BinaryIO

from nuggets.errors import InvalidInput, StoreCorrupt
from nuggets.stores.sqlite.database import sync_file

_LABEL = b"\nnuggets-backup-1 "  # then 64 hex digits of SHA-256 and a line feed
LAST_LINE_BYTES = len(_LABEL) + 64 + 1
CHUNK = 1 << 20


def append_checksum(path: str) -> None:
    """Make a file that holds a database a backup, and wait until it is on the medium."""
    with open(path, "r+b") as file:
        checksum = _compute_checksum(file, os.fstat(file.fileno()).st_size)
        file.seek(0, os.SEEK_END)
        file.write(_LABEL + checksum.encode() + b"\n")
    sync_file(path)


def check_checksum(file: BinaryIO, path: str) -> tuple[int, str]:
    """The size of the database in the backup, and its checksum; an error if that is wrong."""
    size = os.fstat(file.fileno()).st_size - LAST_LINE_BYTES
    file.seek(max(0, size))
    last_line = file.read()
    if size <= 0 or not (last_line.startswith(_LABEL) and last_line.endswith(b"\n")):
        raise InvalidInput(
            f"{path} is not a complete backup: its last line is missing. `nuggets backup` makes "
            "one; to import a copied nuggets.db, put it into a directory of its own and name that "
            "in `nuggets import`"
        )
    checksum = last_line[len(_LABEL) : -1].decode(errors="replace")
    file.seek(0)
    if _compute_checksum(file, size) != checksum:
        raise StoreCorrupt(
            f"{path} is damaged: its bytes are not those that were backed up. Nothing was changed; "
            "take an older backup"
        )
    return size, checksum


def _compute_checksum(file: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size > 0 and (part := file.read(min(CHUNK, size))):
        digest.update(part)
        size -= len(part)
    return digest.hexdigest()
