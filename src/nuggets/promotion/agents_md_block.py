"""The marked block of Nuggets in a file of instructions that agents read: AGENTS.md, GEMINI.md.

Such a file belongs to the people of a repository. What is outside of the block is never changed;
what is inside is treated like a whole memory file. Pure.
"""

from nuggets.domain.memory_file_record import BLOCK_BEGIN, BLOCK_END
from nuggets.domain.records import MemoryNote
from nuggets.errors import StoreError


def why_personal(note: MemoryNote) -> str:
    """Why a memory does not belong into a file that others read; "" if it does."""
    return "" if note.project else "is of no project, and others read this file"


def block_text(text: str) -> str:
    """What is inside of the block; "" if there is none."""
    parts = _split(text)
    return parts[1] if parts else ""


def replace_block(text: str, inside: str) -> str:
    """The text with another inside of the block, which is appended if there is none. Without
    anything inside, the block goes, and the text is as it was before the block came."""
    newline = "\r\n" if "\r\n" in text else "\n"
    parts = _split(text)
    if not inside.strip():
        if parts is None:
            return text
        before, _, after = parts
        return before + after if after else before.removesuffix(newline)
    body = inside.replace("\r\n", "\n").replace("\n", newline).removesuffix(newline)
    block = newline.join((BLOCK_BEGIN, body, BLOCK_END, ""))
    if parts is None:
        return f"{text}{newline if text else ''}{block}"
    return f"{parts[0]}{block}{parts[2]}"


def _split(text: str) -> tuple[str, str, str] | None:
    """The text before, inside and after the block; None if there is no block."""
    if BLOCK_BEGIN not in text and BLOCK_END not in text:
        return None
    before, _, rest = text.partition(BLOCK_BEGIN)
    inside, end, after = rest.partition(BLOCK_END)
    if not end or BLOCK_BEGIN in rest or BLOCK_END in before + after:
        raise StoreError(
            f"the marks of the block of Nuggets ({BLOCK_BEGIN!r}, {BLOCK_END!r}) are not one pair; "
            "repair or delete them. Nothing was written"
        )
    return before, _without_first_newline(inside), _without_first_newline(after)


def _without_first_newline(text: str) -> str:
    return text.removeprefix("\r\n") if text.startswith("\r\n") else text.removeprefix("\n")
