"""Fenced code in Markdown: where it begins, and where it ends."""

import re
from collections.abc import Iterable

from nuggets.named_tuple import NamedTuple

_OPENING = re.compile(
    r"(?P<lead>[ \t]*(?P<items>(?:(?:[-*+]|\d{1,9}[.)]) {1,4})*))"
    r"(?P<mark>`{3,}(?=[^`]*$)|~{3,})"  # ```like this``` it is part of a line
)
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


class Fence(NamedTuple):
    """The line that fenced code begins with."""

    mark: str
    item_indent: int  # columns up to the text of the list item that it is in; 0 outside of one

    def is_closed_by(self, line: str) -> bool:
        """Whether the code ends with this line."""
        bare = line.strip(" \t")
        return bare.startswith(self.mark) and not bare.strip(self.mark[0])

    def is_left_by(self, line: str) -> bool:
        """Whether the code has ended before this line, because its list item has."""
        is_outside = len(line) - len(line.lstrip(" ")) < self.item_indent
        return is_outside and bool(line.strip(" \t"))


def opening_fence(line: str) -> Fence | None:
    """The fence that the line opens."""
    opening = _OPENING.match(line)
    if opening is None:
        return None
    return Fence(opening["mark"], len(opening["lead"]) if opening["items"] else 0)


def continues_code(lines: Iterable[str]) -> list[bool]:
    """For each line whether it belongs to fenced code that began above it."""
    continuing: list[bool] = []
    fence: Fence | None = None
    for line in lines:
        if fence is not None and fence.is_left_by(line):
            fence = None
        continuing.append(fence is not None)
        if fence is None:
            fence = opening_fence(line)
        elif fence.is_closed_by(line):
            fence = None
    return continuing


def without_code(text: str) -> str:
    """The text without what stands between ``` marks, within a line too."""
    return _CODE.sub("\n", text)
