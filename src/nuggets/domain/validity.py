"""Whether a memory is valid at a moment, by its `valid_from` and `valid_until`."""

from nuggets.domain.records import MemoryNote, RecallResult


def invalidity(memory: MemoryNote | RecallResult, now: str) -> str:
    """Why it is not valid now: "no longer valid" or "not yet valid"; "" if it is."""
    if memory.valid_until is not None and memory.valid_until < now:
        return "no longer valid"
    return "not yet valid" if memory.valid_from is not None and memory.valid_from > now else ""
