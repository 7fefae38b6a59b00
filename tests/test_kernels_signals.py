"""Signals: Numba, NumPy and the naive twins give the same integers and the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signal_cases import admitted_share

from cpersona_jit.kernels import gram_index, gram_overlap, int8_scan, signals
from cpersona_jit.kernels.cpu import available_tiers, compiled_features
from cpersona_jit.kernels.numpy_path import gram_overlap as numpy_gram_overlap
from cpersona_jit.kernels.numpy_path import int8_scan as numpy_int8_scan
from cpersona_jit.kernels.numpy_path import signals as numpy_signals
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, GRAM_STAT_SHIFT

REPOSITORY = Path(__file__).parent.parent
MODULES = [signals, numpy_signals]
OVERLAPS = [gram_overlap, numpy_gram_overlap]
TIERS = available_tiers(compiled_features())
LAWS = settings(deadline=None, max_examples=60)
SIZES = st.one_of(st.integers(0, 9), st.integers(60, 70), st.integers(500, 600))
SHARES = st.sampled_from([0.0, 0.02, 0.5, 1.0])
SEEDS = st.integers(0, 2**32 - 1)


def used(size, dtype):
    """An output array that holds what an earlier query left there."""
    return np.full(size, 77, dtype)


def random_signals(rng, arms, n):
    """Signals of the sizes that dense scores, gram scores and block counts have."""
    kinds = rng.integers(0, 3, arms)
    low = np.array([-(2**29), 0, 0])[kinds]
    high = np.array([2**29, 2**32, 2**16])[kinds]
    shifts = np.array([DENSE_STAT_SHIFT, GRAM_STAT_SHIFT, 0])[kinds]
    return rng.integers(low[:, None], high[:, None], (arms, n)), shifts.astype(np.int64)


# --- every admitted row's score ------------------------------------------------------------------


def check_dense_all(dense_all, codes, planes, admitted):
    out = used(len(codes), np.int32)
    stats = dense_all(codes, planes, pack_mask(admitted), out)
    scores = naive.int8_scores(codes.tolist(), planes.tolist())
    assert out.tolist() == [s if seen else 0 for s, seen in zip(scores, admitted, strict=True)]
    rows = np.flatnonzero(admitted).tolist()
    assert tuple(stats) == naive.score_sums(scores, rows, DENSE_STAT_SHIFT)


@pytest.mark.parametrize("tier", [*TIERS, "numpy"])
@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, n=st.integers(0, 9) | st.integers(120, 200), share=SHARES)
def test_dense_scores_of_all_rows(tier, seed, n, share):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-127, 128, (n, 64)).astype(np.int8)
    planes = rng.integers(-64, 64, (2, 64)).astype(np.int8)
    admitted = admitted_share(rng, n, share)
    if tier == "numpy":
        check_dense_all(numpy_int8_scan.dense_all, codes, planes, admitted)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int8_scan, "TIER", int8_scan.TIER_TAGS[tier])
        check_dense_all(int8_scan.dense_all, codes, planes, admitted)
        out = used(n, np.int32)
        stats = int8_scan.dense_all(codes, planes, pack_mask(admitted), out)
        assert stats == int8_scan.dense_top_k(codes, planes, pack_mask(admitted), 3)[1]


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("module", MODULES)
@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, n=st.integers(0, 300), share=SHARES, terms=st.sampled_from([0, 1, 5, 20]))
def test_gram_scores_of_all_rows(overlap, module, seed, n, share, terms):
    rng = np.random.default_rng(seed)
    grams = [np.flatnonzero(rng.random(20) < 0.9 / (1 + np.arange(20))) for _ in range(n)]
    row_ptr = np.cumsum([0, *map(len, grams)]).astype(np.int64)
    keys = np.concatenate([np.empty(0), *grams]).astype(np.uint64)
    index = gram_index.build_gram_index(row_ptr, keys, np.ones(len(keys), np.uint8), n)
    lists = rng.permutation(len(index.df))[:terms].astype(np.int64)
    weights = rng.integers(0, 65536 // max(len(lists), 1), len(lists)).astype(np.uint16)
    factor = rng.choice([0, 1, 40_000, 65_535], n).astype(np.uint16)
    admitted = admitted_share(rng, n, share)
    mask = pack_mask(admitted)

    counters, out = used(64 * len(mask), np.uint16), used(n, np.uint32)
    overlap.overlap_all(index, lists, weights, mask, counters)
    module.gram_scores(counters, factor, mask, out)
    weight_of = {int(index.keys[term]): int(w) for term, w in zip(lists, weights, strict=True)}
    for row in range(n):
        overlap_weight = sum(weight_of.get(int(gram), 0) for gram in grams[row])
        assert out[row] == (overlap_weight * int(factor[row]) if admitted[row] else 0)


@pytest.mark.parametrize("module", MODULES)
def test_the_largest_gram_score_does_not_wrap(module):
    out = used(1, np.uint32)
    largest = np.full(64, 65535, np.uint16)
    module.gram_scores(largest, largest[:1], pack_mask(np.ones(1, bool)), out)
    assert out.tolist() == [65535 * 65535]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@LAWS
@given(seed=SEEDS, m=st.integers(0, 50), most=st.integers(0, 6), share=SHARES)
def test_best_of_blocks(module, dtype, seed, m, most, share):
    rng = np.random.default_rng(seed)
    block_ptr = np.cumsum([0, *rng.integers(0, most + 1, m)])
    bounds = np.iinfo(dtype)
    block_scores = rng.integers(bounds.min, bounds.max, block_ptr[-1], dtype, endpoint=True)
    admitted = admitted_share(rng, int(block_ptr[-1]), share)
    own, out = rng.integers(-(2**31), 2**32, m), used(m, np.int64)
    module.best_of_blocks(block_ptr, block_scores, pack_mask(admitted), own, out)
    assert out.tolist() == naive.best_of_blocks(
        block_ptr.tolist(), block_scores.tolist(), admitted.tolist(), own.tolist()
    )


@pytest.mark.parametrize("module", MODULES)
def test_a_row_keeps_its_own_score_only_when_no_block_of_it_is_admitted(module):
    block_ptr = np.array([0, 2, 2, 4, 5])
    admitted = pack_mask(np.array([True, True, False, False, True]))
    own, out = np.array([9, 8, 7, 6]), used(4, np.int64)
    scores = np.array([-5, -3, 99, 99, -1], np.int32)
    module.best_of_blocks(block_ptr, scores, admitted, own, out)
    assert out.tolist() == [-3, 8, 7, -1]


@pytest.mark.parametrize("module", MODULES)
@LAWS
@given(seed=SEEDS, m=st.integers(0, 50), most=st.integers(0, 6), share=SHARES)
def test_best_gram_blocks_and_blended_scores(module, seed, m, most, share):
    rng = np.random.default_rng(seed)
    block_ptr = np.cumsum([0, *rng.integers(0, most + 1, m)])
    blocks = int(block_ptr[-1])
    admitted = admitted_share(rng, blocks, share)
    mask = pack_mask(admitted)
    rows = np.sort(rng.choice(2 * m + 1, m, replace=False)).astype(np.int64)
    counters = rng.choice([0, 1, 40_000, 65_535], 64 * len(mask)).astype(np.uint16)
    factor = rng.choice([0, 1, 40_000, 65_535], blocks).astype(np.uint16)
    of_rows = rng.integers(0, 2**32, 2 * m + 1, np.uint32)
    own, out = used(m, np.int64), used(m, np.int64)
    module.best_gram_blocks(block_ptr, counters, factor, mask, rows, of_rows, own, out)
    assert own.tolist() == of_rows[rows].tolist()
    products = [int(c) * int(f) for c, f in zip(counters[:blocks], factor, strict=True)]
    assert out.tolist() == naive.best_of_blocks(
        block_ptr.tolist(), products, admitted.tolist(), own.tolist()
    )

    scores = rng.integers(-(2**31), 2**31, 64 * ((2 * m + 64) // 64), np.int32)
    of_blocks = rng.integers(-(2**31), 2**31, blocks + 3, np.int32)
    expected, before = scores.copy(), scores[rows].tolist()
    best = naive.best_of_blocks(block_ptr.tolist(), of_blocks.tolist(), admitted.tolist(), before)
    expected[rows] = [(a + b) // 2 for a, b in zip(before, best, strict=True)]
    module.blend_best_blocks(block_ptr, of_blocks, mask, rows, scores)
    assert scores.tolist() == expected.tolist()


# --- moments --------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", MODULES)
@LAWS
@given(seed=SEEDS, n=SIZES, arms=st.integers(1, 8), share=SHARES)
def test_moments_are_the_exact_sums(module, seed, n, arms, share):
    rng = np.random.default_rng(seed)
    values, shifts = random_signals(rng, arms, n)
    admitted = admitted_share(rng, n, share)
    count, sums, products = module.signal_moments(values, shifts, pack_mask(admitted))
    expected = naive.signal_moments(values.tolist(), shifts.tolist(), admitted.tolist())
    assert (count, sums.tolist(), products.tolist()) == expected
    assert sums.dtype == products.dtype == np.int64 and type(count) is int


@pytest.mark.parametrize("module", MODULES)
def test_moments_at_the_stated_bound(module):
    # Every product is 2**42 in size: 2**11 of them are all that float64 adds up exactly.
    n = 3 * 2048 + 5
    values = np.full((3, n), 2**21)
    values[1] *= -1
    values[2, ::2] -= 1
    mask = pack_mask(np.ones(n, bool))
    _, sums, products = module.signal_moments(values, np.zeros(3, np.int64), mask)
    odd = (n + 1) // 2
    assert sums.tolist() == [n * 2**21, -n * 2**21, n * 2**21 - odd]
    assert products[0].tolist() == [n * 2**42, -n * 2**42, n * 2**42 - odd * 2**21]
    assert products[2, 2] == (n - odd) * 2**42 + odd * (2**21 - 1) ** 2
    assert np.array_equal(products, products.T)


@LAWS
@given(seed=SEEDS, n=SIZES, cut=st.integers(0, 600))
def test_moments_of_parts_add_up(seed, n, cut):
    rng = np.random.default_rng(seed)
    values, shifts = random_signals(rng, 4, n)
    admitted = rng.random(n) < 0.7
    first = admitted & (np.arange(n) < cut)
    parts = [
        signals.signal_moments(values, shifts, pack_mask(p)) for p in (first, admitted & ~first)
    ]
    whole = signals.signal_moments(values, shifts, pack_mask(admitted))
    for one, other, both in zip(*parts, whole, strict=True):
        assert np.array_equal(one + other, both)


# --- where it runs -------------------------------------------------------------------------------


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


PROGRAM = """
import numpy as np
from cpersona_jit.kernels.row_mask import pack_mask
rng = np.random.default_rng(1)
values, mask = rng.integers(0, 2**32, (7, 999)), pack_mask(rng.random(999) < 0.6)
print([part.tolist() for part in signals.signal_moments(values, np.full(7, 11), mask)[1:]])
dense, grams = values[0].astype(np.int32), values[1:3].astype(np.uint32)
shifts = np.full(7, 11)
scope = signals.scope_moments(dense, *grams, values[:, :333] >> 11, shifts, mask)
print([part.tolist() for part in scope])
own, out = values[1, :333], np.empty(333, np.int64)
signals.best_of_blocks(np.arange(0, 1002, 3), grams[0], mask, own, out)
print(out.tolist())
counters, factor = grams[0, :999].astype(np.uint16), grams[1, :999].astype(np.uint16)
rows, blocks = np.arange(333) * 2, np.arange(0, 1000, 3)
counters = np.append(counters, np.zeros(25, np.uint16))
signals.best_gram_blocks(blocks, counters, factor, mask, rows, grams[0], own.copy(), out)
print(out.tolist())
scores = dense.copy()
signals.blend_best_blocks(blocks, dense, mask, rows, scores)
print(scores.tolist())
"""


def test_a_processor_without_vector_extensions_finds_the_same(tmp_path):
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    numpy_run = run(f"from cpersona_jit.kernels.numpy_path import signals{PROGRAM}")
    numba_run = run(
        f"from cpersona_jit.kernels import signals{PROGRAM}", NUMBA_CACHE_DIR=str(tmp_path), **plain
    )
    assert numba_run.returncode == 0, numba_run.stderr
    assert numba_run.stdout == numpy_run.stdout != ""


def test_the_numpy_path_does_not_load_numba():
    imports = "".join(
        f"import cpersona_jit.kernels.{name}\n"
        for name in ("numpy_path.signals", "numpy_path.evidence", "structure_weights")
    )
    done = run(f"{imports}import sys\nassert 'numba' not in sys.modules")
    assert done.returncode == 0, done.stderr
