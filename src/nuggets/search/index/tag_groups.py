"""Groups of notes that share a tag of their own: numbers, sizes and lengths. Knows no ranking."""

from typing import TYPE_CHECKING

from nuggets.domain.sql_interface import chunks, placeholders
from nuggets.search.index.corpus_stats import GROUPS, SHARED_GROUPS, SHARED_LENGTH
from nuggets.search.index.note_analyzer import to_storable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nuggets.domain.sql_interface import Database


class GroupWriter:
    """Records notes that join and leave groups."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._numbers: dict[str, int] = {}
        self._changes: dict[tuple[int, int], tuple[int, int]] = {}  # by space and group

    def join(self, space: int, tags: "Sequence[str]", length: int) -> list[int]:
        """The numbers of the groups of a new note."""
        return self._change(space, tags, 1, length)

    def leave(self, space: int, tags: "Sequence[str]", length: int) -> list[int]:
        """The numbers of the groups of a removed note."""
        return self._change(space, tags, -1, -length)

    def _change(self, space: int, tags: "Sequence[str]", size: int, length: int) -> list[int]:
        numbers = [self._number(to_storable(tag)) for tag in tags]
        for number in numbers:
            sizes, lengths = self._changes.get((space, number), (0, 0))
            self._changes[space, number] = (sizes + size, lengths + length)
        return numbers

    def _number(self, tag: str) -> int:
        if tag not in self._numbers:
            row = self._database.execute(
                "SELECT number FROM search_groups WHERE tag = ?", (tag,)
            ).fetchone()
            self._numbers[tag] = row[0] if row else self._new_group(tag)
        return self._numbers[tag]

    def _new_group(self, tag: str) -> int:
        (last,) = self._database.execute("SELECT max(number) FROM search_groups").fetchone()
        number: int = (last or 0) + 1
        self._database.execute("INSERT INTO search_groups VALUES (?, ?, 0, 0, 0, 0)", (number, tag))
        return number

    def write(self, statistics: dict[tuple[int, str], int]) -> None:
        """Write the sizes, and count in `statistics` how many groups have several notes."""
        changes, self._changes = self._changes, {}
        if not changes:
            return
        self._count_shared(changes, statistics)
        for space, prefix in ((0, ""), (1, "archived_")):
            self._database.executemany(
                f"UPDATE search_groups SET {prefix}size = {prefix}size + ?,"
                f" {prefix}length = {prefix}length + ? WHERE number = ?",
                [
                    (*change, number)
                    for (where, number), change in changes.items()
                    if where == space
                ],
            )
        if any(size < 0 for size, _ in changes.values()):
            self._database.execute("DELETE FROM search_groups WHERE size = 0 AND archived_size = 0")
            self._numbers.clear()

    def _count_shared(
        self,
        changes: dict[tuple[int, int], tuple[int, int]],
        statistics: dict[tuple[int, str], int],
    ) -> None:
        """Count groups of visible notes, and the lengths of those with several notes."""
        visible_changes = {
            number: change for (space, number), change in changes.items() if space == 0
        }
        for some in chunks(list(visible_changes)):
            for number, size, length in self._database.execute(
                "SELECT number, size, length FROM search_groups"
                f" WHERE number IN ({placeholders(some)})",
                some,
            ):
                sizes, lengths = visible_changes[number]
                for sign, notes, words in ((-1, size, length), (1, size + sizes, length + lengths)):
                    _count(statistics, GROUPS, sign * (notes > 0))
                    _count(statistics, SHARED_GROUPS, sign * (notes > 1))
                    _count(statistics, SHARED_LENGTH, sign * words * (notes > 1))


def _count(statistics: dict[tuple[int, str], int], name: str, change: int) -> None:
    statistics[0, name] = statistics.get((0, name), 0) + change
