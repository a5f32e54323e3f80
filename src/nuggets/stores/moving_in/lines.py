"""The lines of a journal: what they say of changes, their checksums, and how to tell one that was
never finished from one that was damaged."""

import json
from typing import Any
from zlib import crc32

from nuggets.codec import Json, note_from_json
from nuggets.records import NO_EXTRA, Changes, NuggetConfig, Touch

_BLOCK = 512  # what a disk writes whole: after a power cut a lost part is a block of zeros


def checked(written: bytes) -> Any:
    """What a line says, or None if it is not what was once written.

    Eight hex digits of CRC-32, a blank, JSON, a line feed (which JSON never contains).
    """
    if written[8:9] != b" " or written[-1:] != b"\n":
        return None
    text = written[9:-1]
    return json.loads(text) if written[:8] == b"%08x" % crc32(text) else None


def is_torn(rest: bytes, offset: int) -> bool:
    """Was this the last write of someone who died? It has no end, or lacks a block that never
    reached the medium, and nothing sound comes after it. Anything else is damage."""
    first, newline, others = rest.partition(b"\n")
    if any(checked(other + b"\n") is not None for other in others.split(b"\n")):
        return False
    if newline:
        return _lacks_a_block(first + newline, offset)
    return checked(first[:-1] + b"\n") is None  # else just the line feed itself was damaged


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
