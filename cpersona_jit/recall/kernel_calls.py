"""Calls that make the kernels ready: each once, with the types that recall uses, on two rows.

A call compiles a kernel or loads it from the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cpersona_jit.kernels.numpy_path.draw import Measured, Wanted
from cpersona_jit.kernels.numpy_path.gram_tail import TailMatches
from cpersona_jit.kernels.quantize import (
    block_signs,
    quantize_query,
    quantize_rows,
    query_bit_planes,
    sign_words,
)
from cpersona_jit.kernels.structure_weights import StructureWeights
from cpersona_jit.recall.compile_apart import FIRST, LATE

if TYPE_CHECKING:
    from cpersona_jit.recall.kernel_set import KernelSet

_MASK = np.array([3], np.uint64)
_LISTS = np.array([0], np.int64)
_WEIGHTS = np.array([1], np.uint16)
_FACTOR = np.ones(2, np.uint16)
_PLACE, _BLOCK_PTR, _PARTED = np.array([-1, 0], np.int32), np.array([0, 2]), np.array([1])
_SHIFTS = np.zeros(7, np.int64)
_WANTED = Wanted(1, True, True)


class _Vectors(NamedTuple):
    codes: np.ndarray
    planes: np.ndarray
    query: np.ndarray


def call_first_kernels(kernels: KernelSet) -> None:
    """Call what building columns and every recall by the default settings call."""
    for part in FIRST:
        CALLS[part](kernels)


def call_late_kernels(kernels: KernelSet) -> None:
    """Call the others: large scopes first, which the default settings have, then row fusion."""
    for part in LATE:
        CALLS[part](kernels)


def _vectors() -> _Vectors:
    query = np.eye(1, 64, dtype=np.float32)[0]
    return _Vectors(quantize_rows(np.eye(2, 64, dtype=np.float32)), quantize_query(query)[0], query)


def _arrays() -> tuple[np.ndarray, ...]:
    """The signals of two rows, the second of them parted."""
    gram = np.zeros(2, np.uint32)
    return np.zeros(2, np.int32), gram, gram.copy(), _PARTED, _PLACE, np.zeros((7, 1), np.int64)


def _tail() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array([0, 1]), np.array([7], np.uint64), np.array([1], np.uint8)


def _index(kernels: KernelSet):
    return kernels.build_gram_index(
        np.array([0, 1, 2]), np.array([7, 7], np.uint64), np.array([1, 3], np.uint8), 2
    )


def _grams(kernels: KernelSet) -> None:
    """Build an index, find the grams of a query in it, score rows by them, and add terms."""
    kernels.extract_grams(np.full(4, 97, np.uint32), np.array([0, 4]), 3)
    index, (_, gram, _, parted, _, values) = _index(kernels), _arrays()
    points, of_rows = np.full(4, 97, np.uint32), (index, _tail(), _MASK)
    found = kernels.find_grams(points, 3, *of_rows, *of_rows)
    kernels.masked_document_frequency(index, _LISTS, _MASK)
    weights, scored = np.zeros(found.lists.shape, np.uint16), (index, _FACTOR, _MASK)
    kernels.score_grams(
        found, weights, *scored, *scored, _BLOCK_PTR, parted, gram, values[2], values[4]
    )
    nobody, terms = np.zeros(2, bool), StructureWeights(0.6, 0.2, 2.0, -1.0, 1.0)
    kernels.structure_terms(np.zeros((4, 2)), nobody, nobody, 0.5, terms)
    whole, halves = np.zeros(1, np.int64), np.ones(1)
    kernels.period_prior(np.arange(2), nobody, whole, whole, halves, halves, 0.5, 0.5)
    kernels.clue_terms(np.zeros(2), np.array([[0, 1]]), np.ones(1), 0.5)


def _evidence(kernels: KernelSet) -> None:
    """Score rows by vectors, weigh the evidence, draw the candidates, look beside them."""
    arrays = dense, _, _, parted, _, values = _arrays()
    codes, planes, _ = _vectors()
    of_blocks = codes, _MASK, _BLOCK_PTR, parted
    kernels.score_vectors(codes, planes, _MASK, *of_blocks, dense, values[0], values[1])
    kernels.scope_moments(*arrays[:3], values, _SHIFTS, _MASK)
    weights, bias = kernels.calibrate(np.eye(7), np.ones(8)), np.zeros(3)
    ids, regions = np.arange(2), _MASK[None]
    drawn = kernels.draw_rows(arrays, weights, bias, regions, _MASK, _WANTED, ids, ids)
    alone = np.full(2, -1, np.int64)
    kernels.evidence_beside(arrays, weights[2], 0.0, alone, alone, _MASK, drawn.rows)


def _large_scopes(kernels: KernelSet) -> None:
    """Measure in two phases."""
    arrays = _arrays()
    codes, planes, query = _vectors()
    signs, means = block_signs(sign_words(codes)), np.zeros(2, np.int64)
    seen = signs, query_bit_planes(query), 2, _MASK
    estimates = kernels.estimate_rows(*seen, signs, 2, _MASK, _BLOCK_PTR, _PARTED)
    sampled = codes, _MASK, codes, _MASK, np.array([0, 0, 2])
    kernels.sample_moments(arrays, np.arange(2), planes, *sampled, _SHIFTS, means)
    where = codes, codes, planes, _MASK, _MASK
    values = arrays[5]
    known = np.zeros(2, bool)
    measured = Measured(*where, _BLOCK_PTR, means, known, values[0], values[1])
    weights, bias, ids = np.ones((3, 7)), np.zeros(3), np.arange(2)
    given = arrays, weights, bias, _MASK[None], _MASK, _WANTED, ids, ids
    drawn = kernels.draw_near_rows(*given, estimates, 1, measured)
    beside = np.full(2, -1, np.int64), np.full(2, -1, np.int64), _MASK, drawn.rows
    kernels.near_evidence_beside(arrays, weights[2], 0.0, *beside, measured)


def _row_fusion(kernels: KernelSet) -> None:
    """Fuse the ranks of rows, merge indices, and look at some rows again as a trace does."""
    index, (codes, planes, _) = _index(kernels), _vectors()
    counters = np.zeros(64, np.uint16)
    kernels.merge_gram_index(index, index)
    kernels.dead_document_frequency(index, _LISTS, _LISTS[:0])
    kernels.overlap_top_k(index, _LISTS, _WEIGHTS, _FACTOR, _MASK, 2, counters)
    places = np.zeros(1, np.int64)
    matches = TailMatches(places, places, np.ones(1, np.uint8), np.ones((3, 1), np.int64))
    kernels.add_tail(matches, np.ones((3, 1), np.uint16), counters)
    kernels.dense_top_k(codes, planes, _MASK, 2)
    kernels.dense_scores(codes, planes, _LISTS)
    _explain(kernels)
    kernels.row_prior(np.arange(2), np.zeros(2), np.zeros(2), 1, 2, 0.5, -1, 30.0, 0.5, 7.0)
    one, fused = np.ones(1), np.zeros(2)
    kernels.linear_scores(np.zeros((7, 2), np.int64), np.ones(7), 0.0, _MASK, fused)
    kernels.rrf_scores(np.ones((1, 1), np.int32), one, 60.0, one)
    kernels.score_fusion(np.ones((1, 1)), one, one, 0.0)


def _explain(kernels: KernelSet) -> None:
    arrays = dense, _, _, _, _, values = _arrays()
    codes, planes, _ = _vectors()
    where = codes, codes, planes, _MASK, _MASK, _PLACE, _BLOCK_PTR, np.zeros(2, np.int64)
    kernels.dense_at(*where, np.arange(2), np.zeros(2, bool), dense, values[0], values[1])
    kernels.best_estimates(np.zeros(64, np.int32), _MASK, 1)
    kernels.signal_moments(values, _SHIFTS, _MASK[:0])
    kernels.top_rows(np.zeros(2), 2)
    rows = kernels.best_rows(*arrays, np.ones(7), 0.0, _MASK, 1)
    kernels.evidence_at(*arrays, np.ones((3, 7)), np.zeros(3), rows)
    kernels.signals_at(*arrays, rows)


CALLS = {
    "grams": _grams,
    "evidence": _evidence,
    "large scopes": _large_scopes,
    "row fusion": _row_fusion,
}
# Of each part the compiled function that comes last, and its module.
LAST_COMPILED = {
    "grams": ("structure_clues", "_fill_terms"),
    "evidence": ("beside", "_sum_beside"),
    "large scopes": ("beside", "_sum_near_beside"),
    "row fusion": ("fusion", "_add_z_scores"),
}
