"""Which kernels serve: the compiled ones, or their NumPy twins until those are ready.

Both give the same integers and the same floats, so a recall answers the same before and after the
switch; only its speed differs. Nothing here imports Numba until it is asked to.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from types import ModuleType

import numpy as np

from cpersona_jit.errors import CPersonaError
from cpersona_jit.kernels.quantize import (
    block_signs,
    quantize_query,
    quantize_rows,
    query_bit_planes,
    sign_words,
)
from cpersona_jit.kernels.structure_weights import StructureWeights


@dataclass(frozen=True)
class KernelSet:
    """The kernels that building columns and recalling call."""

    name: str
    extract_grams: Callable
    build_gram_index: Callable
    merge_gram_index: Callable
    lookup_keys: Callable
    masked_document_frequency: Callable
    dead_document_frequency: Callable
    tail_matches: Callable
    add_tail: Callable
    overlap_top_k: Callable
    overlap_scores: Callable
    dense_top_k: Callable
    dense_scores: Callable
    rrf_scores: Callable
    score_fusion: Callable
    dense_all: Callable
    dense_at: Callable
    planes_all: Callable
    best_estimates: Callable
    overlap_all: Callable
    gram_scores: Callable
    best_of_blocks: Callable
    row_moments: Callable
    signal_moments: Callable
    linear_scores: Callable
    top_rows: Callable
    best_rows: Callable
    evidence_at: Callable
    signals_at: Callable
    unite_lists: Callable
    neighbour_rows: Callable
    structure_terms: Callable
    clue_terms: Callable
    row_prior: Callable
    calibrate: Callable
    notes: tuple[str, ...] = ()  # what a recall by these kernels has to say of them


_lock = threading.Lock()
_ready: KernelSet | None = None  # what serves from now on: compiled, or NumPy when that failed


def numpy_kernels() -> KernelSet:
    """Return the NumPy kernels: exact, slower, ready at once."""
    from cpersona_jit.kernels.numpy_path import (
        calibration,
        evidence,
        fusion,
        gram_extract,
        gram_index,
        gram_merge,
        gram_overlap,
        gram_tail,
        int8_scan,
        prior,
        sign_scan,
        signals,
        structure,
        structure_clues,
    )

    modules = (gram_extract, gram_index, gram_merge, gram_overlap, gram_tail)
    modules += (int8_scan, sign_scan, fusion)
    modules += (signals, evidence, structure, structure_clues, prior)
    return _collect("numpy", modules, calibration.calibrate)


def warm_kernels() -> KernelSet:
    """Compile (or load from the cache) every kernel that a recall calls, and switch to them.

    Safe to call from any thread and more than once; callers wait for the one that compiles. When
    Numba cannot be used (its cache cannot be read or written, it is not installed whole), the NumPy
    kernels serve to the end of the process, and their `notes` say why.

    Raises
    ------
    CPersonaError
        The environment asks for kernels that this machine cannot run.
    """
    global _ready
    with _lock:
        if _ready is None:
            try:
                _ready = _compiled_kernels()
            except CPersonaError:
                raise
            except Exception as error:
                _ready = replace(numpy_kernels(), notes=(_unavailable(error),))
    return _ready


def _compiled_kernels() -> KernelSet:
    from cpersona_jit.kernels import (
        calibration,
        evidence,
        fusion,
        gram_extract,
        gram_index,
        gram_lookup,
        gram_merge,
        gram_overlap,
        gram_tail,
        int8_scan,
        prior,
        sign_scan,
        signals,
        structure,
        structure_clues,
    )

    modules = (gram_extract, gram_index, gram_lookup, gram_merge, gram_overlap, gram_tail)
    modules += (int8_scan, sign_scan, fusion)
    modules += (signals, evidence, structure, structure_clues, prior)
    kernels = _collect("numba", modules, calibration.calibrate)
    _touch(kernels)
    return kernels


def _unavailable(error: Exception) -> str:
    cause = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return (
        f"kernels_unavailable: {cause}; recall gives the same rows by the slower NumPy kernels "
        "(NUMBA_CACHE_DIR names a folder for the compiled ones; empty it when it is damaged)"
    )


def current_kernels() -> KernelSet:
    """Return the compiled kernels when they are ready, else the NumPy ones."""
    return _ready or numpy_kernels()


def _collect(name: str, modules: tuple[ModuleType, ...], calibrate: Callable) -> KernelSet:
    """Find each kernel in the module that has it."""
    found = {
        field.name: next(getattr(m, field.name) for m in modules if hasattr(m, field.name))
        for field in fields(KernelSet)
        if field.name not in ("name", "calibrate", "notes")
    }
    return KernelSet(name, **found, calibrate=calibrate)


def _touch(kernels: KernelSet) -> None:
    """Call each kernel once, with the types that recall uses, on a store of two rows."""
    mask = np.array([3], np.uint64)
    kernels.extract_grams(np.full(4, 97, np.uint32), np.array([0, 4]), 3)
    index = kernels.build_gram_index(
        np.array([0, 1, 2]), np.array([7, 7], np.uint64), np.array([1, 3], np.uint8), 2
    )
    lists = np.array([0], np.int64)
    kernels.masked_document_frequency(index, lists, mask)
    kernels.dead_document_frequency(index, lists, lists[:0])
    kernels.lookup_keys(index, index.keys)
    kernels.merge_gram_index(index, index)
    counters = np.zeros(64, np.uint16)
    rows_of_grams = np.array([0, 1]), np.array([7], np.uint64), np.array([1], np.uint8)
    matches = kernels.tail_matches(*rows_of_grams, index.keys, 1, mask)
    kernels.add_tail(matches, np.ones((3, 1), np.uint16), counters)
    factor = np.ones(2, np.uint16)
    kernels.overlap_top_k(index, lists, np.array([1], np.uint16), factor, mask, 2, counters)
    kernels.overlap_scores(counters, factor, lists)
    codes = quantize_rows(np.eye(2, 64, dtype=np.float32))
    vector = np.eye(1, 64, dtype=np.float32)[0]
    planes, _ = quantize_query(vector)
    kernels.dense_top_k(codes, planes, mask, 2)
    kernels.dense_scores(codes, planes, lists)
    one = np.ones(1)
    kernels.rrf_scores(np.ones((1, 1), np.int32), one, 60.0, one)
    kernels.score_fusion(np.ones((1, 1)), one, one, 0.0)
    estimates = np.zeros(64, np.int32)
    signs = block_signs(sign_words(codes))
    kernels.planes_all(signs, query_bit_planes(vector), 2, mask, estimates)
    kernels.best_estimates(estimates, mask, 1)
    _touch_signals(kernels, mask, codes, planes, index, lists)


def _touch_signals(kernels, mask, codes, planes, index, lists) -> None:
    """The kernels of an adaptive recall, over the same two rows."""
    dense, gram = np.zeros(2, np.int32), np.zeros(2, np.uint32)
    kernels.dense_all(codes, planes, mask, dense)
    counters = np.zeros(64, np.uint16)
    kernels.overlap_all(index, lists, np.array([1], np.uint16), mask, counters)
    kernels.gram_scores(counters, np.ones(2, np.uint16), mask, gram)
    values = np.zeros((7, 1), np.int64)
    for scores in (dense, gram):
        kernels.best_of_blocks(np.array([0, 2]), scores, mask, values[0], values[1])
    _touch_dense_at(kernels, mask, codes, planes, dense, values)
    kernels.row_moments(dense, gram, gram, np.zeros(3, np.int64), mask)
    kernels.signal_moments(values, np.zeros(7, np.int64), mask[:0])
    weights = kernels.calibrate(np.eye(7), np.ones(8))
    fused = np.empty(2)
    kernels.linear_scores(np.zeros((7, 2), np.int64), weights[2], 0.0, mask, fused)
    rows = kernels.top_rows(fused, 2)
    signals = dense, gram, gram, np.array([1]), np.array([-1, 0], np.int32), values
    kernels.best_rows(*signals, weights[0], 0.0, mask, 1)
    kernels.evidence_at(*signals, weights, np.zeros(3), rows)
    kernels.signals_at(*signals, rows)
    kernels.unite_lists(rows, np.ones(rows.size, np.uint8), 2)
    nobody = np.zeros(2, bool)
    alone = np.full(2, -1, np.int64)
    terms = StructureWeights(0.6, 0.2, 2.0, -1.0, 1.0)
    kernels.neighbour_rows(alone, alone, mask, rows)
    kernels.structure_terms(np.zeros((4, 2)), nobody, nobody, 0.5, terms)
    kernels.row_prior(rows, np.zeros(2), np.zeros(2), 1, 2, 0.5, -1, 30.0, 0.5, 7.0)
    kernels.clue_terms(fused[rows], np.array([[0, 1]]), np.ones(1), 0.5)


def _touch_dense_at(kernels, mask, codes, planes, dense, values) -> None:
    """The kernel that scores the rows which a large scope asks for."""
    place, ptr, known = np.array([-1, 0], np.int32), np.array([0, 2]), np.zeros(2, bool)
    where = codes, codes, planes, mask, mask, place, ptr, np.zeros(2, np.int64), np.arange(2)
    kernels.dense_at(*where, known, dense, values[0], values[1])
