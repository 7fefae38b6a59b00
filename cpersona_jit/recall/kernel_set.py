"""Which kernels serve: the compiled ones, or their NumPy twins until those are ready.

Both give the same integers and the same floats, so a recall answers the same before and after the
switch; only its speed differs. Kernels that every recall calls are compiled first. Nothing here
imports Numba until it is asked to.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from types import ModuleType

from cpersona_jit.errors import CPersonaError
from cpersona_jit.kernels.cache_folder import base_folder
from cpersona_jit.recall.compile_apart import FIRST, finish_compiling, start_compiling
from cpersona_jit.recall.compile_apart import LATE as LATE_PARTS
from cpersona_jit.recall.kernel_calls import call_first_kernels, call_late_kernels

# What a recall by the default settings calls in large scopes only, and what it never calls.
LATE = (
    "merge_gram_index",
    "dead_document_frequency",
    "overlap_top_k",
    "add_tail",
    "dense_top_k",
    "dense_scores",
    "dense_at",
    "estimate_rows",
    "sample_moments",
    "draw_near_rows",
    "near_evidence_beside",
    "best_estimates",
    "signal_moments",
    "best_rows",
    "evidence_at",
    "signals_at",
    "linear_scores",
    "top_rows",
    "row_prior",
    "rrf_scores",
    "score_fusion",
)
_LAST_MODULE = "beside"  # where the kernel is that `call_first_kernels` calls last


@dataclass(frozen=True)
class KernelSet:
    """The kernels that building columns and recalling call."""

    name: str
    extract_grams: Callable
    build_gram_index: Callable
    merge_gram_index: Callable
    find_grams: Callable
    score_grams: Callable
    masked_document_frequency: Callable
    dead_document_frequency: Callable
    add_tail: Callable
    overlap_top_k: Callable
    overlap_scores: Callable
    dense_top_k: Callable
    dense_scores: Callable
    rrf_scores: Callable
    score_fusion: Callable
    score_vectors: Callable
    estimate_rows: Callable
    sample_moments: Callable
    dense_at: Callable
    best_estimates: Callable
    scope_moments: Callable
    signal_moments: Callable
    linear_scores: Callable
    top_rows: Callable
    best_rows: Callable
    evidence_at: Callable
    signals_at: Callable
    draw_rows: Callable
    draw_near_rows: Callable
    evidence_beside: Callable
    near_evidence_beside: Callable
    structure_terms: Callable
    clue_terms: Callable
    row_prior: Callable
    period_prior: Callable
    calibrate: Callable
    notes: tuple[str, ...] = ()  # what a recall by these kernels has to say of them


class _Late:
    """A kernel that its first call compiles; when that fails, its twin answers."""

    def __init__(self, compiled: Callable, twin: Callable) -> None:
        self._compiled, self._twin = compiled, twin
        self._works = False

    def __call__(self, *arguments):
        if self._works:
            return self._compiled(*arguments)
        try:
            result = self._compiled(*arguments)
        except Exception as error:
            _fall_back(error)
            return self._twin(*arguments)
        self._works = True
        return result


_lock = threading.Lock()
# What serves from now on, compiled, or NumPy when that failed. Those who do not wait get the late
# kernels as NumPy until they are compiled; those who wait compile one by calling it.
_ready: KernelSet | None = None
_waited: KernelSet | None = None


def numpy_kernels() -> KernelSet:
    """Return the NumPy kernels: exact, slower, ready at once."""
    from cpersona_jit.kernels.numpy_path import (
        beside,
        calibration,
        draw,
        evidence,
        fusion,
        gram_extract,
        gram_find,
        gram_index,
        gram_merge,
        gram_overlap,
        gram_score,
        gram_tail,
        int8_scan,
        prior,
        sign_scan,
        signals,
        structure,
        structure_clues,
        vector_score,
    )

    modules = (gram_extract, gram_index, gram_merge, gram_overlap, gram_tail)
    modules += (gram_find, gram_score, int8_scan, sign_scan, vector_score, fusion)
    modules += (signals, evidence, draw, beside, structure, structure_clues, prior)
    return _collect("numpy", modules, calibration.calibrate)


def warm_kernels() -> KernelSet:
    """Compile (or load from the cache) the kernels that every recall calls, and switch to them.

    The others are compiled when they are called for the first time. Safe to call from any thread
    and more than once; callers wait for the one that compiles. When Numba cannot be used (its cache
    cannot be read, it is not installed whole), the NumPy kernels serve to the end of the process,
    and their `notes` say why.

    Raises
    ------
    CPersonaError
        The environment asks for kernels that this machine cannot run.
    """
    global _ready, _waited
    with _lock:
        if _waited is None:
            try:
                start_compiling(FIRST)
                compiled = compiled_kernels()
                finish_compiling(FIRST)
                call_first_kernels(compiled)
            except CPersonaError:
                raise
            except Exception as error:
                return _fall_back(error)
            twins = numpy_kernels()
            late = {name: (getattr(compiled, name), getattr(twins, name)) for name in LATE}
            _ready = replace(compiled, **{name: twin for name, (_, twin) in late.items()})
            _waited = replace(compiled, **{name: _Late(*pair) for name, pair in late.items()})
        return _waited


def warm_all_kernels() -> KernelSet:
    """Compile (or load from the cache) the late kernels too, after those of `warm_kernels`."""
    global _ready, _waited
    kernels = warm_kernels()
    if kernels.notes:
        return kernels
    try:
        start_compiling(LATE_PARTS)
        compiled = compiled_kernels()
        finish_compiling(LATE_PARTS)
        call_late_kernels(compiled)
    except Exception as error:
        return _fall_back(error)
    _ready = _waited = compiled
    return compiled


def kernels_are_kept() -> bool:
    """Return whether an earlier process compiled kernels, of whatever version."""
    return any(base_folder().glob(f"*/{_LAST_MODULE}-*/*/*.nbc"))


def _fall_back(error: Exception) -> KernelSet:
    """Let the NumPy kernels serve from now on."""
    global _ready, _waited
    _ready = _waited = replace(numpy_kernels(), notes=(_unavailable(error),))
    return _ready


def compiled_kernels() -> KernelSet:
    """Return the compiled kernels; each is compiled, or loaded, when it is called first."""
    from cpersona_jit.kernels import (
        beside,
        calibration,
        draw,
        evidence,
        fusion,
        gram_extract,
        gram_find,
        gram_index,
        gram_merge,
        gram_overlap,
        gram_score,
        gram_tail,
        int8_scan,
        prior,
        sign_scan,
        signals,
        structure,
        structure_clues,
        vector_score,
    )

    modules = (gram_extract, gram_index, gram_merge, gram_overlap, gram_tail)
    modules += (gram_find, gram_score, int8_scan, sign_scan, vector_score, fusion)
    modules += (signals, evidence, draw, beside, structure, structure_clues, prior)
    return _collect("numba", modules, calibration.calibrate)


def _unavailable(error: Exception) -> str:
    cause = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return (
        f"kernels_unavailable: {cause}; recall gives the same rows by the slower NumPy kernels "
        "(NUMBA_CACHE_DIR names a folder for the compiled ones; empty it when it is damaged)"
    )


def current_kernels() -> KernelSet:
    """Return the compiled kernels as far as they are ready, the NumPy ones for the rest."""
    return _ready or numpy_kernels()


def _collect(name: str, modules: tuple[ModuleType, ...], calibrate: Callable) -> KernelSet:
    """Find each kernel in the module that has it."""
    found = {
        field.name: next(getattr(m, field.name) for m in modules if hasattr(m, field.name))
        for field in fields(KernelSet)
        if field.name not in ("name", "calibrate", "notes")
    }
    return KernelSet(name, **found, calibrate=calibrate)
