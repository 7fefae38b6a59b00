"""The n-gram kernels that keep a snapshot in step: cutting, merging, rows not yet indexed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from cpersona_jit.kernels.gram_extract import extract_grams
from cpersona_jit.kernels.gram_index import build_gram_index, dead_document_frequency
from cpersona_jit.kernels.gram_lookup import lookup_keys
from cpersona_jit.kernels.gram_merge import merge_gram_index
from cpersona_jit.kernels.gram_tail import add_tail, tail_matches
from cpersona_jit.text.grams import GRAM_SIZES, code_points, gram_keys, normalise

from .base import OverRows, all_rows
from .chat_rows import QUERIES, chat_rows
from .stores import SIZES, read_part

TAIL = 1_000  # rows that are not yet indexed, or that are gone
WITH_QUERY = ("lookup_keys", "dead_document_frequency", "tail_matches", "add_tail")


class GramExtract(OverRows):
    """All texts of a store cut into grams."""

    params = (SIZES, GRAM_SIZES)
    param_names = ("rows", "gram_size")

    def setup(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        texts = [code_points(normalise(text)) for text in chat_rows(rows)]
        self.points = np.concatenate(texts)
        self.ptr = np.concatenate(([0], np.cumsum([text.size for text in texts])))
        extract_grams(self.points[:9], np.array([0, 9]), gram_size)  # loads the compiled kernel

    def time_extract(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        extract_grams(self.points, self.ptr, gram_size)

    def peakmem_extract(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        extract_grams(self.points, self.ptr, gram_size)


class GramMerge(OverRows):
    """An index with the thousand rows that came since."""

    params = (SIZES, GRAM_SIZES)
    param_names = ("rows", "gram_size")

    def setup(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        grams, self.base = read_part(stores[rows], f"gram{gram_size}")
        self.added = build_gram_index(*_last(grams), TAIL)
        merge_gram_index(self.added, self.added)  # loads the compiled kernels

    def time_merge(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        merge_gram_index(self.base, self.added)

    def peakmem_merge(self, stores: dict[int, Path], rows: int, gram_size: int) -> None:
        merge_gram_index(self.base, self.added)


class GramsOfQuery(OverRows):
    """What a query's grams are looked up for: lists, rows that are gone, rows not yet indexed."""

    params = (SIZES, WITH_QUERY)
    param_names = ("rows", "kernel")

    def setup(self, stores: dict[int, Path], rows: int, kernel: str) -> None:
        grams, index = read_part(stores[rows], "gram3")
        query, _ = gram_keys(code_points(normalise(" ".join(QUERIES.values()))), 3)
        lists = np.flatnonzero(np.isin(index.keys, query))
        dead = np.arange(TAIL) * (rows // TAIL)
        # The last thousand rows once more, as if they were behind the others.
        tail = (*_last(grams), query, rows, all_rows(rows + TAIL))
        matches, counters = tail_matches(*tail), np.zeros(64 * (rows // 64 + TAIL), np.uint16)
        weights = np.zeros((3, query.size), np.uint16)  # counters would overflow in time
        self.call = {
            "lookup_keys": partial(lookup_keys, index, query),
            "dead_document_frequency": partial(dead_document_frequency, index, lists, dead),
            "tail_matches": partial(tail_matches, *tail),
            "add_tail": partial(add_tail, matches, weights, counters),
        }[kernel]
        self.call()  # loads the compiled kernel

    def time_kernel(self, stores: dict[int, Path], rows: int, kernel: str) -> None:
        self.call()


def _last(grams) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The last thousand rows of grams."""
    ptr = grams.row_ptr[-TAIL - 1 :]
    return ptr - ptr[0], grams.keys[ptr[0] :], grams.counts[ptr[0] :]
