"""When a memory is valid, and which version of it was valid at a moment, derived from the history.

A version is valid from the commit that wrote it to the one that replaced, archived or dropped it,
unless the note itself says otherwise (`valid_from`, `valid_until`).
"""

from collections.abc import Iterable, Sequence

from nuggets.domain.records import EarlierImage, MemoryNote, MemoryVersion, RecallResult


def invalidity(memory: MemoryNote | RecallResult, now: str) -> str:
    """Why it is not valid now: "no longer valid" or "not yet valid"; "" if it is."""
    if memory.valid_until is not None and memory.valid_until < now:
        return "no longer valid"
    return "not yet valid" if memory.valid_from is not None and memory.valid_from > now else ""


def versions_of(earlier: Iterable[EarlierImage], current: MemoryNote | None) -> list[MemoryVersion]:
    """The versions of a note, oldest first; `current`: the note now, None if it was dropped."""
    runs: list[tuple[MemoryNote | None, str, str | None]] = []  # a visible note, from, until
    start = ""
    for note, until in (*earlier, EarlierImage(current, None)):
        visible = None if note is None or note.hidden else note
        if runs and _say_the_same(runs[-1][0], visible):
            runs[-1] = (visible, runs[-1][1], until)
        else:
            runs.append((visible, start, until))
        start = until or ""
    versions: list[MemoryVersion] = []
    for note, begin, end in runs:
        if note is not None:
            if not versions:  # an import may have brought it, older than the commit
                begin = min(begin or note.updated_at, note.updated_at)
            versions.append(_make_version(note, begin, end))
    return versions


def version_at(versions: Sequence[MemoryVersion], moment: str) -> MemoryVersion | None:
    """The version that was valid at a moment; of several the one that was written last."""
    for version in versions[::-1]:
        end = version.valid_until
        if version.valid_from <= moment and (end is None or moment <= end):
            return version
    return None


def _say_the_same(a: MemoryNote | None, b: MemoryNote | None) -> bool:
    if a is None or b is None:
        return a is b
    return (a.title, a.content) == (b.title, b.content)


def _make_version(note: MemoryNote, begin: str, end: str | None) -> MemoryVersion:
    ends = [moment for moment in (end, note.valid_until) if moment is not None]
    return MemoryVersion(note, note.valid_from or begin, min(ends, default=None))
