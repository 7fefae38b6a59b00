"""The signals: what each admitted row shows of the query, as exact integers, and their moments.

This is the one call of the arms: every list, statistic and contribution of an adaptive recall is
made from these arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cpersona_jit.columns.parted import PartedRows, parted_rows
from cpersona_jit.columns.sample import sample_of
from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.numpy_path.calibration import (
    DENSE_BLOCK,
    DENSE_ROW,
    GRAM3_BLOCK,
    GRAM3_ROW,
    GRAM4_BLOCK,
    GRAM4_ROW,
    LN_BLOCKS,
    LN_SCALE,
    SIGNALS,
)
from cpersona_jit.kernels.quantize import cosine_scale, quantize_query
from cpersona_jit.kernels.row_mask import admitted_rows, has_rows
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recall.gram_query import query_points, weigh_grams
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.moments import SignalArrays, moments_of_all, moments_of_sample
from cpersona_jit.recall.settings import ArmSpec
from cpersona_jit.recall.two_phase import TwoPhase

SIGNAL_NAMES = (
    "dense_row",
    "dense_block",
    "gram3_row",
    "gram4_row",
    "gram3_block",
    "gram4_block",
    "ln_blocks",
)
_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Signals:
    """The signals of one query over one mask.

    Attributes
    ----------
    arrays : SignalArrays
        In the order of ``SIGNAL_NAMES`` as far as they differ.
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
    kernels : KernelSet
        The kernels to call.
    two_phase : TwoPhase or None
        What measures the dense signals of a large scope where they are asked for; None when the
        arrays hold those of all rows.
    """

    arrays: SignalArrays
    mean: np.ndarray
    covariance: np.ndarray
    unit: np.ndarray
    compared: bool
    notes: tuple[str, ...]
    kernels: KernelSet
    two_phase: TwoPhase | None = None

    def measure(self, rows: np.ndarray) -> None:
        """See to it that the arrays hold the dense signals of admitted rows."""
        if self.two_phase is not None:
            self.two_phase.measure(rows)

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Return the signals of admitted rows, int64, shape (7, rows)."""
        self.measure(rows)
        return self.kernels.signals_at(*self.arrays, rows)

    @cached_property
    def values(self) -> np.ndarray:
        """The signals of every row, int64, shape (7, n), made when asked for."""
        return self.of(np.arange(self.arrays.dense.size))


def measure_signals(
    columns: Columns,
    settings: AdaptiveSettings,
    query: str,
    query_vector: np.ndarray | None,
    axes: Axes,
    kernels: KernelSet,
) -> Signals:
    """Measure the signals of the admitted rows.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    settings : AdaptiveSettings
        How grams are scored, and from how many rows on dense signals are measured in two phases.
    query : str
        The query's text.
    query_vector : ndarray of float32, shape (dim,), or None
        Its unit embedding; None leaves the dense signals at 0.
    axes : Axes
        Isolation.
    kernels : KernelSet
        The kernels to call.
    """
    unit = np.ones(SIGNALS)
    mask, block_mask = columns.mask(axes), columns.block_mask(axes)
    words = mask.words & columns.embedded.words
    compared = query_vector is not None and bool(words.any())
    lacking = _NO_ROWS
    if compared and not np.array_equal(words, mask.words):
        lacking = admitted_rows(mask.words & ~columns.embedded.words)
    apart = _parted(columns, lacking)
    large, two_phase = mask.count > settings.scan.exact_rows, None
    if not compared:
        dense, values = _no_signals(columns, apart)
    else:
        block_words = block_mask.words & columns.blocks.embedded.words
        planes, query_scale = quantize_query(query_vector)
        unit[:2] = 1.0 / cosine_scale(columns.dim, query_scale)
        if large:
            where = query_vector, planes, words, block_words, apart
            two_phase = TwoPhase(columns, *where, settings.scan.shortlist, kernels)
            dense, values = two_phase.dense, two_phase.values
        else:
            dense, values = _dense(columns, planes, words, block_words, lacking, apart, kernels)
    notes, grams, points = [], [], query_points(query)
    for spec, row, block in (
        (settings.gram3, GRAM3_ROW, GRAM3_BLOCK),
        (settings.gram4, GRAM4_ROW, GRAM4_BLOCK),
    ):
        of_rows, in_units, note = _grams(
            columns, spec, points, mask, block_mask, apart, values[row], values[block], kernels
        )
        unit[row] = unit[block] = in_units
        grams.append(of_rows)
        notes += [note] if note else []
    if apart is columns.blocks.parted:
        values[LN_BLOCKS] = columns.ln_parted
    else:
        values[LN_BLOCKS] = columns.ln_blocks(apart.rows)
    if mask.count < columns.n:
        values[LN_BLOCKS] *= has_rows(mask.words, apart.rows)
    unit[LN_BLOCKS] = 1.0 / LN_SCALE
    arrays = SignalArrays(dense, *grams, apart.rows, apart.place, values)
    if large:
        sample = sample_of(columns, axes, settings.scan.sample)
        moments = moments_of_sample(arrays, sample, two_phase, kernels)
    else:
        moments = moments_of_all(mask, apart, arrays, kernels)
    return Signals(arrays, *moments, unit, compared, tuple(notes), kernels, two_phase)


def _parted(columns: Columns, lacking: np.ndarray) -> PartedRows:
    """Return the rows of two or more blocks, and those without a vector.

    The latter show the mean of the others, and the mean of the best blocks is not that of the rows.
    """
    blocks = columns.blocks
    if not lacking.size:
        return blocks.parted
    own = blocks.row_ptr[1:] > blocks.row_ptr[:-1]
    own[lacking] = True
    return parted_rows(own, blocks.row_ptr)


def _no_signals(columns: Columns, apart: PartedRows) -> tuple[np.ndarray, np.ndarray]:
    """Return dense signals of all rows and all signals of the parted ones, still 0."""
    return np.zeros(columns.n, np.int32), np.zeros((SIGNALS, apart.rows.size), np.int64)


def _dense(
    columns: Columns,
    planes: np.ndarray,
    embedded: np.ndarray,
    block_words: np.ndarray,
    lacking: np.ndarray,
    apart: PartedRows,
    kernels: KernelSet,
) -> tuple[np.ndarray, np.ndarray]:
    """Score every row and block: int32 (n,), and the signals of the parted rows, int64 (7, m)."""
    dense, values = _no_signals(columns, apart)
    blocks, own, best = columns.blocks, values[DENSE_ROW], values[DENSE_BLOCK]
    stats = kernels.score_vectors(
        *(columns.codes, planes, embedded, blocks.codes, block_words),
        *(apart.block_ptr, apart.rows, dense, own, best),
    )
    if lacking.size:
        # A row without a vector shows nothing: the mean of the others adds 0 to its evidence.
        seen, mean = has_rows(embedded, apart.rows), round(stats.mean(DENSE_STAT_SHIFT))
        total = int(dense[admitted_rows(embedded)].sum(dtype=np.int64))
        total += int((best[seen] - own[seen]).sum())
        dense[lacking], without = mean, apart.place[lacking]
        own[without], best[without] = mean, round(total / stats.count)
    return dense, values


def _grams(
    columns: Columns,
    spec: ArmSpec,
    points: np.ndarray,
    mask: Mask,
    block_mask: Mask,
    apart: PartedRows,
    own: np.ndarray,
    best: np.ndarray,
    kernels: KernelSet,
) -> tuple[np.ndarray, float, str]:
    size, blocks, exponent = spec.size, columns.blocks, spec.length_exponent
    weighed = weigh_grams(columns, spec, points, mask, block_mask, kernels)
    of_rows = np.empty(columns.n, np.uint32)
    kernels.score_grams(
        *(weighed.found, weighed.weights),
        *(columns.gram_index[size], columns.length_factor(exponent), mask.words),
        *(blocks.gram_index[size], blocks.length_factor(exponent), block_mask.words),
        *(apart.block_ptr, apart.rows, of_rows, own, best),
    )
    return of_rows, weighed.unit / 65535.0, weighed.note
