"""The lines of a journal: checksum and JSON. Tells an unfinished line from a damaged one."""

import json
from typing import Any
from zlib import crc32

from nuggets.domain.codec import Json, note_from_json
from nuggets.domain.records import NO_EXTRA, Changes, NuggetConfig, Touch

_BLOCK = 512  # bytes that a disk writes at once: a power cut leaves whole blocks of zeros


def parse_line(written: bytes) -> Any:
    """The JSON value of a line; None if its checksum is wrong.

    A line is eight hex digits of CRC-32, a blank, JSON and a line feed (which JSON never contains).
    """
    if written[8:9] != b" " or written[-1:] != b"\n":
        return None
    text = written[9:-1]
    return json.loads(text) if written[:8] == b"%08x" % crc32(text) else None


def is_torn(rest: bytes, offset: int) -> bool:
    """Did the writer die here? Then the line has no end, or lacks a block that never reached the
    medium, and no intact line comes after it. Anything else is damage."""
    first, newline, following = rest.partition(b"\n")
    if any(parse_line(line + b"\n") is not None for line in following.split(b"\n")):
        return False
    if newline:
        return _lacks_a_block(first + newline, offset)
    return parse_line(first[:-1] + b"\n") is None  # else only the line feed is damaged


def _lacks_a_block(written: bytes, offset: int) -> bool:
    starts = range(-(offset % _BLOCK), len(written), _BLOCK)
    return any(not written[max(0, start) : start + _BLOCK].strip(b"\0") for start in starts)


def changes_from_json(shape: Json) -> Changes:
    return Changes(
        put=tuple(map(note_from_json, shape.get("put", ()))),
        drop=tuple(shape.get("drop", ())),
        put_nuggets=tuple(NuggetConfig(**config) for config in shape.get("nuggets", ())),
        drop_nuggets=tuple(shape.get("dropNuggets", ())),
        touches=tuple(Touch(*touch) for touch in shape.get("touches", ())),
        marks=shape.get("marks", NO_EXTRA),
        action=shape.get("action", ""),
        client=shape.get("client", ""),
    )
