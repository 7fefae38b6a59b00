"""The n-gram kernels: overlap with a query, and the building of the index."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cpersona_jit.defaults import ROW_FUSION_SETTINGS
from cpersona_jit.kernels.gram_index import build_gram_index, masked_document_frequency
from cpersona_jit.kernels.gram_overlap import overlap_top_k
from cpersona_jit.text.grams import GRAM_SIZES, code_points, gram_keys, normalise

from .base import OverRows, all_rows
from .chat_rows import QUERIES
from .stores import SIZES, read_part

_MOST = 65535  # what the weights of a query may add up to


class GramOverlap(OverRows):
    """Sum of the weights of the grams that a row shares with a query in two languages."""

    params = (SIZES, GRAM_SIZES)
    param_names = ("rows", "gram_size")

    def setup(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        _, self.index = read_part(stores[rows], f"gram{gram_size}")
        self.mask = all_rows(rows)
        query, _ = gram_keys(code_points(normalise(" ".join(QUERIES.values()))), gram_size)
        self.lists = np.flatnonzero(np.isin(self.index.keys, query))
        frequency = masked_document_frequency(self.index, self.lists, self.mask)
        rarity = np.log1p(rows / frequency)
        share = (_MOST - self.lists.size) / rarity.sum()
        self.weights = np.maximum(np.rint(rarity * share), 1).astype(np.uint16)
        self.factor = np.full(rows, 40_000, np.uint16)
        self.counters = np.zeros(64 * self.mask.size, np.uint16)
        self.overlap()  # loads the compiled kernel

    def overlap(self) -> None:
        overlap_top_k(
            self.index,
            self.lists,
            self.weights,
            self.factor,
            self.mask,
            ROW_FUSION_SETTINGS.depth,
            self.counters,
        )

    def time_top_k(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        self.overlap()

    def peakmem_top_k(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        self.overlap()


class GramIndexBuild(OverRows):
    """Inversion of rows of grams into posting lists and bitmaps."""

    params = (SIZES, GRAM_SIZES)
    param_names = ("rows", "gram_size")

    def setup(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        self.grams, self.index = read_part(stores[rows], f"gram{gram_size}")
        none = np.zeros(0, np.uint64), np.zeros(0, np.uint8)
        build_gram_index(np.zeros(1, np.int64), *none, 0)  # loads the compiled kernels

    def build(self, rows: int) -> None:
        build_gram_index(self.grams.row_ptr, self.grams.keys, self.grams.counts, rows)

    def time_build(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        self.build(rows)

    def peakmem_build(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        self.build(rows)

    def track_index_bytes_per_row(
        self, stores: dict[int, Path], rows: int, gram_size: int
    ) -> float:
        arrays = (part for part in self.index if isinstance(part, np.ndarray))
        return sum(array.nbytes for array in arrays) / rows

    track_index_bytes_per_row.unit = "bytes"
