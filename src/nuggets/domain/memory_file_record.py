"""The marks that record memory files: the owner of each file, and its state when last seen.

A hook reads this much at every start; only `promotion/` knows the rest of a record.
"""

import zlib
from collections.abc import Mapping
from typing import Any

FILE_MARK = "memory_file:"  # followed by the path of the file
INSTRUCTION_FILES = {  # by host: the file of a repository's root that it reads at every start
    **dict.fromkeys(("codex", "cursor"), "AGENTS.md"),
    "gemini": "GEMINI.md",
    **dict.fromkeys(("opencode", "pi"), "AGENTS.md"),
}
BLOCK_FILES = tuple(dict.fromkeys(INSTRUCTION_FILES.values()))  # only a block of them is ours
BLOCK_BEGIN = "<!-- nuggets: begin of the memories of this project -->"
BLOCK_END = "<!-- nuggets: end -->"


def is_block_file(path: str) -> bool:
    """Is only a marked block of the file ours?"""
    return path.rpartition("/")[2] in BLOCK_FILES


def checksum(path: str, content: bytes) -> str:
    """Of our part of a file, to notice an edit; not a protection against anyone."""
    if is_block_file(path):
        rest = content.partition(BLOCK_BEGIN.encode())[2]
        content = rest.partition(BLOCK_END.encode())[0]
    return f"{zlib.crc32(content):08x}"


def memory_file_records(marks: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The record of each memory file that was ever written, by path."""
    return {
        name.removeprefix(FILE_MARK): marks[name] for name in marks if name.startswith(FILE_MARK)
    }
