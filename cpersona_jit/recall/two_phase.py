"""The dense signals of a large scope: sign bits choose the rows, int8 codes score them.

Reading every code is what a recall over many rows would wait for. Sign bits are an eighth of the
bytes: they put all rows in a rough order, and only rows that something asks for get their score.
Each score that leaves this module is exact; the rough order decides no more than which rows the
dense list is drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpersona_jit.columns.parted import PartedRows
from cpersona_jit.columns.sample import Sample
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.kernels.numpy_path.calibration import DENSE_BLOCK, DENSE_ROW, SIGNALS
from cpersona_jit.kernels.numpy_path.draw import Measured
from cpersona_jit.kernels.quantize import query_bit_planes
from cpersona_jit.recall.kernel_set import KernelSet


class TwoPhase:
    """Dense signals that are computed for the rows that are asked for.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    query_vector : ndarray of float32, shape (dim,)
        The query's unit embedding.
    planes : ndarray of int8, shape (2, width)
        The same as a 15-bit query.
    words, block_words : ndarray of uint64
        Admitted rows and blocks that have a vector.
    apart : PartedRows
        Rows whose blocks have scores of their own, all admitted rows without a vector among them.
    shortlist : int
        How many rows the sign bits choose at a time.
    kernels : KernelSet
        The kernels to call.

    Attributes
    ----------
    dense : ndarray of int32, shape (n,)
        Score of each row that was measured; what stands in other places has no meaning.
    values : ndarray of int64, shape (7, m)
        Likewise the dense signals of the parted rows; the other signals are the caller's.
    estimates : ndarray of int32, shape (64 * words,)
        Rough score of each admitted row that has a vector.
    shortlist : int
        As given.
    """

    def __init__(
        self,
        columns: Columns,
        query_vector: np.ndarray,
        planes: np.ndarray,
        words: np.ndarray,
        block_words: np.ndarray,
        apart: PartedRows,
        shortlist: int,
        kernels: KernelSet,
    ) -> None:
        self.dense = np.empty(columns.n, np.int32)
        self.values = np.empty((SIGNALS, apart.rows.size), np.int64)
        self._columns, self._planes, self._kernels = columns, planes, kernels
        self._words, self._block_words, self._apart = words, block_words, apart
        self.shortlist = shortlist
        self._means = np.zeros(2, np.int64)
        self._known = np.zeros(columns.n, bool)
        self.estimates = self._estimated(query_bit_planes(query_vector))

    def _estimated(self, query_planes: np.ndarray) -> np.ndarray:
        """Rough score of each row; of a parted one the mean of its own and its best block's."""
        columns, blocks, apart = self._columns, self._columns.blocks, self._apart
        return self._kernels.estimate_rows(
            *(columns.signs, query_planes, columns.n, self._words),
            *(blocks.signs, blocks.n, self._block_words, apart.block_ptr, apart.rows),
        )

    def nearest(self, words: np.ndarray) -> np.ndarray:
        """Return the rows of a mask that the sign bits put first, int64, ascending."""
        return self._kernels.best_estimates(self.estimates, words & self._words, self.shortlist)

    @property
    def measured(self) -> Measured:
        """What the kernels that measure rows on their way are called with."""
        columns, apart = self._columns, self._apart
        return Measured(
            *(columns.codes, columns.blocks.codes, self._planes, self._words, self._block_words),
            *(apart.block_ptr, self._means, self._known),
            *(self.values[DENSE_ROW], self.values[DENSE_BLOCK]),
        )

    def measure(self, rows: np.ndarray) -> None:
        """Write the dense signals of admitted rows, as far as that is not done yet."""
        *where, block_ptr, means, known, own, best = self.measured
        place = self._apart.place
        self._kernels.dense_at(*where, place, block_ptr, means, rows, known, self.dense, own, best)

    def sums_of_sample(
        self, arrays: Sequence[np.ndarray], sample: Sample, shifts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of the signals of a sample, int64 (7,), and of their products (7, 7).

        To be called before any row is measured: a row without a vector shows nothing, and the mean
        of those that have one, which adds 0 to its evidence, is known from here on.
        """
        rows, codes, seen = sample.rows, sample.codes, sample.seen
        of_blocks = sample.block_codes, sample.block_words, sample.block_ptr
        return self._kernels.sample_moments(
            tuple(arrays), rows, self._planes, codes, seen, *of_blocks, shifts, self._means
        )
