"""Scans of embeddings: int8 codes, sign bits, and the two-phase search that joins them."""

from __future__ import annotations

from pathlib import Path

from cpersona_jit.defaults import ROW_FUSION_SETTINGS
from cpersona_jit.kernels.int8_scan import dense_top_k
from cpersona_jit.kernels.quantize import quantize_query, query_bit_planes, query_sign_words
from cpersona_jit.kernels.sign_scan import hamming_top_k, two_phase_top_k

from .base import OverRows, all_rows
from .chat_rows import chat_vectors
from .stores import read_part

SHORTLIST = 5 * ROW_FUSION_SETTINGS.depth


class _Scan(OverRows):
    def setup(self, stores: dict[int, Path], rows: int) -> None:
        self.codes, self.signs = read_part(stores[rows], "dense")
        self.mask = all_rows(rows)
        vector = chat_vectors(1)[0]
        self.planes, _ = quantize_query(vector)
        self.sign_words, self.bit_planes = query_sign_words(vector), query_bit_planes(vector)
        self.scan(rows)  # loads the compiled kernel

    def scan(self, rows: int) -> None:
        raise NotImplementedError


class Int8Scan(_Scan):
    """Exact int8 scan with fused top-k."""

    def scan(self, rows: int) -> None:
        dense_top_k(self.codes, self.planes, self.mask, ROW_FUSION_SETTINGS.depth)

    def time_top_k(self, stores: dict[int, Path], rows: int) -> None:
        self.scan(rows)

    def peakmem_top_k(self, stores: dict[int, Path], rows: int) -> None:
        self.scan(rows)


class HammingScan(_Scan):
    """Sign-bit scan by Hamming distance."""

    def scan(self, rows: int) -> None:
        hamming_top_k(self.signs, self.sign_words, rows, self.mask, ROW_FUSION_SETTINGS.depth)

    def time_top_k(self, stores: dict[int, Path], rows: int) -> None:
        self.scan(rows)

    def peakmem_top_k(self, stores: dict[int, Path], rows: int) -> None:
        self.scan(rows)


class TwoPhaseScan(_Scan):
    """A shortlist by sign bits and 4-bit query planes, rescored by int8."""

    def scan(self, rows: int) -> None:
        two_phase_top_k(
            self.signs,
            self.bit_planes,
            self.codes,
            self.planes,
            self.mask,
            SHORTLIST,
            ROW_FUSION_SETTINGS.depth,
        )

    def time_top_k(self, stores: dict[int, Path], rows: int) -> None:
        self.scan(rows)

    def peakmem_top_k(self, stores: dict[int, Path], rows: int) -> None:
        self.scan(rows)
