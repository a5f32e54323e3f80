"""The vectors that represent the values of a page. Knows no superposition and no text."""

from typing import TYPE_CHECKING

from nuggets.domain.records import NuggetConfig
from nuggets.facts.capacity import page_size
from nuggets.fhrr.orthogonalization import orthogonalize
from nuggets.fhrr.phasors import phasors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ValueVectors:
    """The value keys of a nugget, orthogonalised among the values of a page.

    Raw keys are rows of one seeded stream. They and their inner products do not depend on the
    number of values, so both are cached and extended. Ensemble e begins at row e·(values + 1);
    the last row of an ensemble belongs to the sentence key.
    """

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        import numpy as np

        self._config = config
        self._seed = seed
        self._rows = 0  # generated rows of the stream
        self._raw = np.empty((0, self._config.dims), np.complex64)
        self._gram = np.empty((0, 0), np.float32)
        self._buffer = self._raw  # for the orthogonalised keys
        self._values = 0
        self._keys: list[NDArray[np.complex64]] = []

    def first(self, values: int) -> "list[NDArray[np.complex64]]":
        """The keys of the first `values` values, one array for each ensemble."""
        if values != self._values:
            self._values = 0  # the buffer is about to be overwritten
            self._generate(self._config.ensembles * (values + 1) - 1)
            self._keys = [self._orthogonalize(e, values) for e in range(self._config.ensembles)]
            self._values = values
        return self._keys

    def _generate(self, rows: int) -> None:
        """Extend the raw keys and their inner products to this number of rows."""
        if rows > len(self._raw):
            self._allocate(rows)
        first = self._rows
        if rows <= first:
            return
        fresh = self._raw[first:rows]
        phasors(self._seed, rows - first, self._config.dims, first=first, out=fresh)
        if self._config.ortho_iters > 0:
            products = reals(fresh) @ reals(self._raw[:rows]).T
            self._gram[first:rows, :rows] = products
            self._gram[:rows, first:rows] = products.T
        self._rows = rows

    def _allocate(self, rows: int) -> None:
        """Allocate for a full page at once: untouched memory costs nothing."""
        import numpy as np

        dims = self._config.dims
        rows = max(rows, self._config.ensembles * (page_size(dims) + 1))
        self._rows = 0
        self._raw = np.empty((rows, dims), np.complex64)
        self._gram = np.empty((rows, rows), np.float32)
        if self._config.ortho_iters > 0:
            self._buffer = np.empty((rows, dims), np.complex64)

    def _orthogonalize(self, ensemble: int, values: int) -> "NDArray[np.complex64]":
        first = ensemble * (values + 1)
        rows = slice(first, first + values)
        return orthogonalize(
            self._raw[rows],
            self._config.ortho_iters,
            gram=self._gram[rows, rows],
            out=self._buffer[rows],
        )


def reals(rows: "NDArray[np.complex64]") -> "NDArray[np.float32]":
    """The same memory as real numbers: an inner product of rows is then Re⟨a,b⟩."""
    import numpy as np

    return rows.view(np.float32)
