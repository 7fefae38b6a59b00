"""The signals: what each admitted row shows of the query, as exact integers, and their moments.

This is the one call of the arms: every list, statistic and contribution of an adaptive recall is
made from these arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.kernels.numpy_path.calibration import (
    DENSE_BLOCK,
    DENSE_ROW,
    GRAM3_BLOCK,
    GRAM3_ROW,
    GRAM4_BLOCK,
    GRAM4_ROW,
    LN_BLOCKS,
    SIGNALS,
)
from cpersona_jit.kernels.quantize import cosine_scale, quantize_query
from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, GRAM_STAT_SHIFT
from cpersona_jit.recall.gram_query import lists_in, weigh_grams
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.settings import ArmSpec

SIGNAL_NAMES = (
    "dense_row",
    "dense_block",
    "gram3_row",
    "gram4_row",
    "gram3_block",
    "gram4_block",
    "ln_blocks",
)
_SHIFTS = np.array(
    [DENSE_STAT_SHIFT] * 2 + [GRAM_STAT_SHIFT] * 4 + [0],
    np.int64,
)


@dataclass(frozen=True)
class Signals:
    """The signals of one query over one mask.

    Attributes
    ----------
    values : ndarray of int64, shape (7, n)
        In the order of ``SIGNAL_NAMES``; 0 for rows that are not admitted.
    mean : ndarray of float64, shape (7,)
        Over the admitted rows.
    covariance : ndarray of float64, shape (7, 7)
        Over the admitted rows (population).
    unit : ndarray of float64, shape (7,)
        Value times unit is a cosine, a length-weighted sum of idf, or ln m.
    compared : bool
        Whether the dense signals say anything: the query has an embedding, and so have rows.
    notes : tuple of str
        Bounds that acted.
    """

    values: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    unit: np.ndarray
    compared: bool
    notes: tuple[str, ...]


def measure_signals(
    columns: Columns,
    gram3: ArmSpec,
    gram4: ArmSpec,
    query: str,
    query_vector: np.ndarray | None,
    mask: Mask,
    block_mask: Mask,
    kernels: KernelSet,
) -> Signals:
    """Measure every signal of every admitted row.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    gram3, gram4 : ArmSpec
        How grams are scored.
    query : str
        The query's text.
    query_vector : ndarray of float32, shape (dim,), or None
        Its unit embedding; None leaves the dense signals at 0.
    mask, block_mask : Mask
        Admitted rows, and the blocks of admitted rows.
    kernels : KernelSet
        The kernels to call.
    """
    values = np.zeros((SIGNALS, columns.n), np.int64)
    unit = np.ones(SIGNALS)
    compared = query_vector is not None and bool(np.any(mask.words & columns.embedded.words))
    if compared:
        unit[:2] = _dense(columns, query_vector, mask, block_mask, values, kernels)
    notes = []
    for spec, row, block in ((gram3, GRAM3_ROW, GRAM3_BLOCK), (gram4, GRAM4_ROW, GRAM4_BLOCK)):
        unit[[row, block]], note = _grams(
            columns, spec, query, mask, block_mask, values[row], values[block], kernels
        )
        notes += [note] if note else []
    values[LN_BLOCKS] = columns.ln_blocks
    unit[LN_BLOCKS] = 1.0 / 4096.0
    mean, covariance = _moments(*kernels.signal_moments(values, _SHIFTS, mask.words))
    return Signals(values, mean, covariance, unit, compared, tuple(notes))


def _dense(
    columns: Columns,
    query_vector: np.ndarray,
    mask: Mask,
    block_mask: Mask,
    values: np.ndarray,
    kernels: KernelSet,
) -> float:
    planes, query_scale = quantize_query(query_vector)
    embedded = mask.words & columns.embedded.words
    stats = kernels.dense_all(columns.codes, planes, embedded, values[DENSE_ROW])
    missing = admitted_rows(mask.words & ~columns.embedded.words)
    values[DENSE_ROW, missing] = round(stats.mean(DENSE_STAT_SHIFT))
    blocks = columns.blocks
    scores = np.zeros(blocks.row.size, np.int64)
    words = block_mask.words & blocks.embedded.words
    kernels.dense_all(blocks.codes, planes, words, scores)
    kernels.best_of_blocks(blocks.row, scores, words, values[DENSE_ROW], values[DENSE_BLOCK])
    if missing.size:
        # A row without a vector shows nothing: the mean of the others adds 0 to its evidence.
        best = int(values[DENSE_BLOCK, admitted_rows(embedded)].sum())
        values[DENSE_BLOCK, missing] = round(best / stats.count)
    return 1.0 / cosine_scale(columns.dim, query_scale)


def _grams(
    columns: Columns,
    spec: ArmSpec,
    query: str,
    mask: Mask,
    block_mask: Mask,
    row_scores: np.ndarray,
    best_scores: np.ndarray,
    kernels: KernelSet,
) -> tuple[float, str]:
    index, blocks = columns.gram_index[spec.size], columns.blocks
    weighed = weigh_grams(index, spec, query, mask, kernels)
    counters = np.zeros(64 * mask.words.size, np.uint16)
    kernels.overlap_all(index, weighed.lists, weighed.weights, mask.words, counters)
    factor = columns.length_factor(spec.length_exponent)
    kernels.gram_scores(counters, factor, mask.words, row_scores)
    block_index = blocks.gram_index[spec.size]
    block_counters = np.zeros(64 * block_mask.words.size, np.uint16)
    lists, weights = lists_in(block_index, weighed)
    kernels.overlap_all(block_index, lists, weights, block_mask.words, block_counters)
    scores = np.zeros(blocks.row.size, np.int64)
    block_factor = blocks.length_factor(spec.length_exponent)
    kernels.gram_scores(block_counters, block_factor, block_mask.words, scores)
    kernels.best_of_blocks(blocks.row, scores, block_mask.words, row_scores, best_scores)
    return weighed.unit / 65535.0, weighed.note


def _moments(count: int, sums: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances from exact sums; the cancelling difference is taken in integers."""
    size = sums.size
    mean, covariance = np.zeros(size), np.zeros((size, size))
    if not count:
        return mean, covariance
    scale = [1 << int(shift) for shift in _SHIFTS]
    exact = sums.tolist()
    rows = products.tolist()
    for i in range(size):
        mean[i] = exact[i] / count * scale[i]
        for j in range(size):
            spread = count * rows[i][j] - exact[i] * exact[j]
            covariance[i, j] = spread / (count * count) * (scale[i] * scale[j])
    return mean, covariance
