"""Calls that make the kernels ready: each once, with the types that recall uses, on two rows.

A call compiles a kernel or loads it from the cache. The order is that of the time they take, so
that what every recall needs is there first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cpersona_jit.kernels.quantize import (
    block_signs,
    quantize_query,
    quantize_rows,
    query_bit_planes,
    sign_words,
)
from cpersona_jit.kernels.structure_weights import StructureWeights

if TYPE_CHECKING:
    from cpersona_jit.recall.kernel_set import KernelSet

_MASK = np.array([3], np.uint64)
_LISTS = np.array([0], np.int64)
_WEIGHTS = np.array([1], np.uint16)
_FACTOR = np.ones(2, np.uint16)
_PLACE, _BLOCK_PTR = np.array([-1, 0], np.int32), np.array([0, 2])


class _Vectors(NamedTuple):
    codes: np.ndarray
    planes: np.ndarray
    query: np.ndarray


def call_first_kernels(kernels: KernelSet) -> None:
    """Call what building columns and every recall by the default settings call."""
    index = _build(kernels)
    _recall(kernels, index)
    signals = _signals(kernels, index)
    _choose(kernels, signals)


def call_late_kernels(kernels: KernelSet) -> None:
    """Call the others: large scopes first, which the default settings have, then row fusion."""
    index, (codes, planes, query) = _build(kernels), _vectors()
    kernels.merge_gram_index(index, index)
    estimates, counters = np.zeros(64, np.int32), np.zeros(64, np.uint16)
    signs = block_signs(sign_words(codes))
    kernels.planes_all(signs, query_bit_planes(query), 2, _MASK, estimates)
    kernels.blend_best_blocks(_BLOCK_PTR, estimates, _MASK, np.array([1]), estimates)
    kernels.best_estimates(estimates, _MASK, 1)
    dense, values, known = np.zeros(2, np.int32), np.zeros((2, 1), np.int64), np.zeros(2, bool)
    where = codes, codes, planes, _MASK, _MASK, _PLACE, _BLOCK_PTR, np.zeros(2, np.int64)
    kernels.dense_at(*where, np.arange(2), known, dense, *values)
    fused = np.zeros(2)
    kernels.top_rows(fused, 2)
    kernels.dead_document_frequency(index, _LISTS, _LISTS[:0])
    kernels.overlap_top_k(index, _LISTS, _WEIGHTS, _FACTOR, _MASK, 2, counters)
    kernels.dense_top_k(codes, planes, _MASK, 2)
    kernels.dense_scores(codes, planes, _LISTS)
    one = np.ones(1)
    kernels.rrf_scores(np.ones((1, 1), np.int32), one, 60.0, one)
    kernels.score_fusion(np.ones((1, 1)), one, one, 0.0)
    kernels.linear_scores(np.zeros((7, 2), np.int64), np.ones(7), 0.0, _MASK, fused)


def _vectors() -> _Vectors:
    query = np.eye(1, 64, dtype=np.float32)[0]
    return _Vectors(quantize_rows(np.eye(2, 64, dtype=np.float32)), quantize_query(query)[0], query)


def _build(kernels: KernelSet):
    kernels.extract_grams(np.full(4, 97, np.uint32), np.array([0, 4]), 3)
    return kernels.build_gram_index(
        np.array([0, 1, 2]), np.array([7, 7], np.uint64), np.array([1, 3], np.uint8), 2
    )


def _recall(kernels: KernelSet, index) -> None:
    """Find the grams of a query, in the index and in rows that are not in it yet."""
    kernels.lookup_keys(index, index.keys)
    kernels.masked_document_frequency(index, _LISTS, _MASK)
    rows_of_grams = np.array([0, 1]), np.array([7], np.uint64), np.array([1], np.uint8)
    matches = kernels.tail_matches(*rows_of_grams, index.keys, 1, _MASK)
    kernels.add_tail(matches, np.ones((3, 1), np.uint16), np.zeros(64, np.uint16))


def _signals(kernels: KernelSet, index) -> tuple[np.ndarray, ...]:
    """Score the rows, and sum up how the scores are spread."""
    dense, gram = np.zeros(2, np.int32), np.zeros(2, np.uint32)
    codes, planes, _ = _vectors()
    kernels.dense_all(codes, planes, _MASK, dense)
    counters = np.zeros(64, np.uint16)
    kernels.overlap_all(index, _LISTS, _WEIGHTS, _MASK, counters)
    kernels.gram_scores(counters, _FACTOR, _MASK, gram)
    values = np.zeros((7, 1), np.int64)
    parted = np.array([1])
    kernels.best_of_blocks(_BLOCK_PTR, dense, _MASK, values[0], values[1])
    kernels.best_gram_blocks(
        _BLOCK_PTR, counters, _FACTOR, _MASK, parted, gram, values[2], values[3]
    )
    kernels.row_moments(dense, gram, gram, np.zeros(3, np.int64), _MASK)
    kernels.signal_moments(values, np.zeros(7, np.int64), _MASK[:0])
    return dense, gram, gram, parted, _PLACE, values


def _choose(kernels: KernelSet, signals: tuple[np.ndarray, ...]) -> None:
    """Weigh the evidence, and look at the candidates and what stands beside them."""
    weights = kernels.calibrate(np.eye(7), np.ones(8))
    rows = kernels.best_rows(*signals, weights[0], 0.0, _MASK, 1)
    kernels.evidence_at(*signals, weights, np.zeros(3), rows)
    kernels.signals_at(*signals, rows)
    kernels.unite_lists(rows, np.ones(rows.size, np.uint8), 2)
    nobody, alone = np.zeros(2, bool), np.full(2, -1, np.int64)
    kernels.neighbour_rows(alone, alone, _MASK, rows)
    terms = StructureWeights(0.6, 0.2, 2.0, -1.0, 1.0)
    kernels.structure_terms(np.zeros((4, 2)), nobody, nobody, 0.5, terms)
    kernels.row_prior(np.arange(2), np.zeros(2), np.zeros(2), 1, 2, 0.5, -1, 30.0, 0.5, 7.0)
    kernels.clue_terms(np.zeros(2), np.array([[0, 1]]), np.ones(1), 0.5)
