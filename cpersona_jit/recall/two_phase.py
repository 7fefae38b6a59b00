"""The dense signals of a large scope: sign bits choose the rows, int8 codes score them.

Reading every code is what a recall over many rows would wait for. Sign bits are an eighth of the
bytes: they put all rows in a rough order, and only rows that something asks for get their score.
Each score that leaves this module is exact; the rough order decides no more than which rows the
dense list is drawn from.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.columns.parted import PartedRows
from cpersona_jit.columns.sample import Sample
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.kernels.numpy_path.calibration import DENSE_BLOCK, DENSE_ROW, SIGNALS
from cpersona_jit.kernels.quantize import query_bit_planes
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT
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
        self._shortlist = shortlist
        self._means = np.zeros(2, np.int64)
        self._known = np.zeros(columns.n, bool)
        self._estimates = self._estimated(query_bit_planes(query_vector))

    def _estimated(self, query_planes: np.ndarray) -> np.ndarray:
        """Rough score of each row; of a parted one the mean of its own and its best block's."""
        columns, blocks, kernels = self._columns, self._columns.blocks, self._kernels
        rows = np.empty(64 * self._words.size, np.int32)
        kernels.planes_all(columns.signs, query_planes, columns.n, self._words, rows)
        of_blocks = np.empty(64 * self._block_words.size, np.int32)
        kernels.planes_all(blocks.signs, query_planes, blocks.n, self._block_words, of_blocks)
        apart, words = self._apart, self._block_words
        kernels.blend_best_blocks(apart.block_ptr, of_blocks, words, apart.rows, rows)
        return rows

    def nearest(self, words: np.ndarray) -> np.ndarray:
        """Return the rows of a mask that the sign bits put first, int64, ascending."""
        return self._kernels.best_estimates(self._estimates, words & self._words, self._shortlist)

    def measure(self, rows: np.ndarray) -> None:
        """Write the dense signals of admitted rows, as far as that is not done yet."""
        columns, apart = self._columns, self._apart
        self._kernels.dense_at(
            columns.codes,
            columns.blocks.codes,
            self._planes,
            self._words,
            self._block_words,
            apart.place,
            apart.block_ptr,
            self._means,
            rows,
            self._known,
            self.dense,
            self.values[DENSE_ROW],
            self.values[DENSE_BLOCK],
        )

    def of_sample(self, sample: Sample, own: np.ndarray, best: np.ndarray) -> None:
        """Write the dense signals of the rows from which moments are taken, int64, shape (s,).

        To be called before any row is measured: a row without a vector shows nothing, and the mean
        of those that have one, which adds 0 to its evidence, is known from here on.
        """
        kernels, seen = self._kernels, pack_mask(sample.seen)
        scores = np.empty(sample.rows.size, np.int32)
        of_blocks = np.empty(len(sample.block_codes), np.int32)
        stats = kernels.dense_all(sample.codes, self._planes, seen, scores)
        kernels.dense_all(sample.block_codes, self._planes, sample.block_words, of_blocks)
        own[:] = scores
        kernels.best_of_blocks(sample.block_ptr, of_blocks, sample.block_words, own, best)
        if not stats.count:
            return
        total = int(best.sum(where=sample.seen))
        self._means[:] = round(stats.mean(DENSE_STAT_SHIFT)), round(total / stats.count)
        if stats.count < sample.rows.size:
            own[~sample.seen], best[~sample.seen] = self._means
