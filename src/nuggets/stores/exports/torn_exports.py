"""Which exports a power cut tore or emptied, so that they are no edits: they are written again."""

import time

from nuggets.stores.exports.edit_reader import FileContent
from nuggets.stores.exports.export_fingerprints import Export
from nuggets.stores.exports.layout import FIRST_BYTES

_SECTOR_BYTES = 512  # that arrive on a medium together
_SAVING_SECONDS = 2.0  # a file that was empty or torn for less may be one that is being saved


def is_torn(file: FileContent) -> bool:
    """Did a power cut come before all of an export was on the medium? Then blocks of it are missing
    at its end, or are zeros. No person saves such a file, but one may be in the middle of it."""
    content = file.content
    if time.time() - file.status.st_mtime < _SAVING_SECONDS:
        return False
    if not content.strip(b"\0") or not content.startswith((FIRST_BYTES, b"\0")):
        return False
    is_cut_off = len(content) % _SECTOR_BYTES == 0 and not content.rstrip().endswith(b"]}")
    return b"\0" in content or is_cut_off


def is_emptied(file: FileContent, export: Export) -> bool:
    """Is a file of ours empty? Either a power cut came before its content reached the medium, or
    someone emptied it, which is no edit; but they may still be saving it. (Our row may be older
    than the file: commits of the register are not waited for, and inodes are reused.)"""
    if file.content.strip(b"\0"):
        return False
    inode, _, modified = (export.status or "0 0 0").split()[:3]
    if (file.status.st_ino, file.status.st_mtime_ns) == (int(inode), int(modified)):
        return True
    return time.time() - file.status.st_mtime > _SAVING_SECONDS
