"""Arrays that grow: one value (or one short row) for each note, word or term."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Column:
    """A NumPy array with room to spare, so that adding one more costs next to nothing."""

    def __init__(self, dtype: str, width: int = 0, empty: int = 0) -> None:
        import numpy as np

        self._width = (width,) if width else ()
        self._empty = empty
        self._room: NDArray[Any] = np.full((16, *self._width), empty, dtype)
        self._length = 0
        self.all: NDArray[Any] = self._room[:0]

    def __len__(self) -> int:
        return self._length

    def grow(self, length: int) -> None:
        """Lengthen to `length`, new places empty."""
        import numpy as np

        if length <= self._length:
            return
        if length > len(self._room):
            room = np.full(
                (max(length, len(self._room) * 3 // 2), *self._width), self._empty, self._room.dtype
            )
            room[: self._length] = self.all
            self._room = room
        self._length = length
        self.all = self._room[:length]

    def extend(self, values: Any) -> None:
        start = self._length
        self.grow(start + len(values))
        self.all[start:] = values

    def fill(self, values: "NDArray[Any]") -> None:
        """These values instead, in an array of our own."""
        self._room = values.astype(self._room.dtype)
        self._length = len(values)
        self.all = self._room

    def keep(self, chosen: "NDArray[Any]") -> None:
        """Only the chosen places, closed up."""
        self.fill(self.all[chosen])
