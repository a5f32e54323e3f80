"""The vectors that stand for the values of a page. Knows no superposition and no text."""

from typing import TYPE_CHECKING

from nuggets.facts.capacity import page_size
from nuggets.fhrr.cleanup import orthogonalize
from nuggets.fhrr.phasors import phasors
from nuggets.records import NuggetConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ValueKeys:
    """The value keys of a nugget, orthogonalised for as many values as a page has.

    Raw keys are rows of one seeded stream and do not depend on how many there are, nor do their
    inner products; both are kept and only ever extended. Ensemble e begins at row e·(values + 1):
    the row between is the sentence key's.
    """

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        import numpy as np

        self._config = config
        self._seed = seed
        self._rows = 0  # of the stream, generated so far
        self._raw = np.empty((0, self._config.dims), np.complex64)
        self._gram = np.empty((0, 0), np.float32)
        self._room = self._raw  # the orthogonalised keys go here
        self._values = 0
        self._keys: list[NDArray[np.complex64]] = []

    def of(self, values: int) -> "list[NDArray[np.complex64]]":
        """The keys of value 0, 1, …, one array for each ensemble."""
        if values != self._values:
            self._values = 0  # the room is about to be written over
            self._reach(self._config.ensembles * (values + 1) - 1)
            self._keys = [self._distinct(e, values) for e in range(self._config.ensembles)]
            self._values = values
        return self._keys

    def _reach(self, rows: int) -> None:
        """Extend the raw keys and their inner products to so many rows."""
        if rows > len(self._raw):
            self._allocate(rows)
        known = self._rows
        if rows <= known:
            return
        fresh = self._raw[known:rows]
        phasors(self._seed, rows - known, self._config.dims, first=known, out=fresh)
        if self._config.ortho_iters > 0:
            products = reals(fresh) @ reals(self._raw[:rows]).T
            self._gram[known:rows, :rows] = products
            self._gram[:rows, known:rows] = products.T
        self._rows = rows

    def _allocate(self, rows: int) -> None:
        """Room for a full page at once: memory never touched costs nothing."""
        import numpy as np

        dims = self._config.dims
        rows = max(rows, self._config.ensembles * (page_size(dims) + 1))
        self._rows = 0
        self._raw = np.empty((rows, dims), np.complex64)
        self._gram = np.empty((rows, rows), np.float32)
        if self._config.ortho_iters > 0:
            self._room = np.empty((rows, dims), np.complex64)

    def _distinct(self, ensemble: int, values: int) -> "NDArray[np.complex64]":
        first = ensemble * (values + 1)
        rows = slice(first, first + values)
        return orthogonalize(
            self._raw[rows],
            self._config.ortho_iters,
            gram=self._gram[rows, rows],
            out=self._room[rows],
        )


def reals(rows: "NDArray[np.complex64]") -> "NDArray[np.float32]":
    """The same memory as real numbers: an inner product of rows is then Re⟨a,b⟩."""
    import numpy as np

    return rows.view(np.float32)
