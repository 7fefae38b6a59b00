"""The kernels of an adaptive recall, one by one, with what a recall over the store hands them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from cpersona_jit.columns.sample import sample_of
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.quantize import quantize_query, query_bit_planes
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.recall.adaptive_settings import Scan
from cpersona_jit.recall.evidence import DENSE, GRAM, evidence_of
from cpersona_jit.recall.kernel_set import warm_kernels
from cpersona_jit.recall.signals import measure_signals

from .base import OverRows
from .chat_rows import QUERIES, chat_vectors
from .stores import AGENT, SIZES, read_columns

KERNELS = (
    "dense_all",
    "planes_all",
    "best_estimates",
    "dense_at",
    "blend_best_blocks",
    "gram_scores",
    "best_gram_blocks",
    "row_moments",
    "signal_moments",
    "calibrate",
    "best_rows",
    "top_rows",
    "evidence_at",
    "signals_at",
    "unite_lists",
    "neighbour_rows",
    "structure_terms",
    "clue_terms",
    "row_prior",
)
_SHIFTS = np.zeros(3, np.int64)


class AdaptiveKernels(OverRows):
    """One call of a kernel; its arrays are those of a whole recall in two phases."""

    params = (SIZES, KERNELS)
    param_names = ("rows", "kernel")

    def setup(self, stores: dict[int, Path], rows: int, kernel: str) -> None:
        self.call = _Calls(stores[rows]).of(kernel)
        self.call()  # loads the compiled kernel

    def time_kernel(self, stores: dict[int, Path], rows: int, kernel: str) -> None:
        self.call()


class _Calls:
    """What each kernel is called with."""

    def __init__(self, folder: Path) -> None:
        self.kernels = kernels = warm_kernels()
        self.columns = columns = read_columns(folder)
        self.axes, self.vector = Axes.agent(AGENT), chat_vectors(1)[0]
        # However few rows there are: otherwise the small store would have no shortlist.
        self.scan = Scan(0)
        settings = replace(DEFAULT_SETTINGS, scan=self.scan)
        query = QUERIES["english"]
        self.signals = measure_signals(columns, settings, query, self.vector, self.axes, kernels)
        self.mask = columns.mask(self.axes)
        forms = kernels.calibrate(self.signals.covariance, settings.calibration.parameters())
        self.evidence = evidence_of(self.signals, forms, self.mask)
        self.lists = [
            self.evidence.best(form, self.mask.words, settings.depth) for form in (DENSE, GRAM)
        ]
        self.pool = np.unique(np.concatenate(self.lists))
        self.rng = np.random.default_rng(1)

    def of(self, kernel: str) -> Callable[[], object]:
        """Return a call of a kernel without arguments."""
        if kernel in ("dense_all", "planes_all", "best_estimates", "dense_at", "blend_best_blocks"):
            return self._scans(kernel)
        if kernel in ("neighbour_rows", "structure_terms", "clue_terms", "row_prior"):
            return self._terms(kernel)
        return self._sums(kernel)

    def _scans(self, kernel: str) -> Callable[[], object]:
        columns, words, kernels = self.columns, self.mask.words, self.kernels
        planes, _ = quantize_query(self.vector)
        scores = np.empty(64 * words.size, np.int32)
        estimate = partial(
            kernels.planes_all,
            *(columns.signs, query_bit_planes(self.vector), columns.n, words, scores),
        )
        estimate()
        nearest = partial(kernels.best_estimates, scores, words, self.scan.shortlist)
        apart, blocks = columns.blocks.parted, columns.blocks
        known, dense = np.zeros(columns.n, bool), np.empty(columns.n, np.int32)
        rows, values = nearest(), np.zeros((2, apart.rows.size), np.int64)

        def measure() -> None:
            known[rows] = False  # a row that is known is not measured again
            kernels.dense_at(
                *(columns.codes, blocks.codes, planes, words, blocks.embedded.words),
                *(apart.place, apart.block_ptr, np.zeros(2, np.int64)),
                *(rows, known, dense, *values),
            )

        of_blocks = np.zeros(64 * blocks.embedded.words.size, np.int32)
        blended = apart.block_ptr, of_blocks, blocks.embedded.words, apart.rows
        return {
            "blend_best_blocks": partial(kernels.blend_best_blocks, *blended, scores.copy()),
            "dense_all": partial(kernels.dense_all, columns.codes, planes, words, dense),
            "planes_all": estimate,
            "best_estimates": nearest,
            "dense_at": measure,
        }[kernel]

    def _sums(self, kernel: str) -> Callable[[], object]:
        columns, words, kernels = self.columns, self.mask.words, self.kernels
        arrays, evidence = self.signals.arrays, self.evidence
        sample = sample_of(columns, self.axes, self.scan.sample).rows
        everyone = pack_mask(np.ones(sample.size, bool))
        counters = self.rng.integers(0, 900, 64 * words.size).astype(np.uint16)
        factor, scores = columns.length_factor(0.15), np.empty(columns.n, np.uint32)
        fused = self.rng.standard_normal(self.scan.shortlist)
        form, bias = evidence.forms[GRAM], evidence.bias[GRAM]
        depth, n = DEFAULT_SETTINGS.depth, columns.n
        kinds = np.repeat(np.array([1, 2], np.uint8), [part.size for part in self.lists])
        blocks, apart = columns.blocks, columns.blocks.parted
        block_words = columns.block_mask(self.axes).words
        of_blocks = self.rng.integers(0, 900, 64 * block_words.size).astype(np.uint16)
        counted = apart.block_ptr, of_blocks, blocks.length_factor(0.15), block_words, apart.rows
        calls = {
            "best_gram_blocks": (*counted, arrays.gram3, *np.empty((2, apart.rows.size), np.int64)),
            "gram_scores": (counters, factor, words, scores),
            "row_moments": (*arrays[:3], _SHIFTS, words),
            "signal_moments": (self.signals.of(sample), np.zeros(7, np.int64), everyone),
            "calibrate": (self.signals.covariance, DEFAULT_SETTINGS.calibration.parameters()),
            "best_rows": (*arrays, form, bias, words, depth),
            "top_rows": (fused, depth),
            "evidence_at": (*arrays, evidence.forms, evidence.bias, self.pool),
            "signals_at": (*arrays, self.pool),
            "unite_lists": (np.concatenate(self.lists), kinds, n),
        }
        return partial(getattr(kernels, kernel), *calls[kernel])

    def _terms(self, kernel: str) -> Callable[[], object]:
        columns, pool, structure = self.columns, self.pool, DEFAULT_SETTINGS.structure
        named = np.zeros(pool.size, bool)
        near = self.evidence.fused_beside(columns, pool)
        ages = np.linspace(0.0, 400.0, pool.size)
        calls = {
            "neighbour_rows": (columns.before, columns.after, self.mask.words, pool),
            "structure_terms": (near, columns.is_question[pool], named, 0.5, structure.weights()),
            "clue_terms": (
                self.rng.standard_normal(pool.size),
                columns.session_key[pool][None].astype(np.int64),
                np.ones(1),
                0.5,
            ),
            "row_prior": (pool, ages, ages, columns.n // 2, columns.n, 0.5, -1, 30.0, 0.5, 7.0),
        }
        return partial(getattr(self.kernels, kernel), *calls[kernel])
