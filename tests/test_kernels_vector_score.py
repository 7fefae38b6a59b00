"""Scores by a vector, stage by stage: every tier and NumPy give what is summed row by row."""

from __future__ import annotations

from contextlib import contextmanager

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signal_cases import admitted_share, random_arrays

from cpersona_jit.kernels import int8_scan, signals, vector_score
from cpersona_jit.kernels.cpu import available_tiers, compiled_features
from cpersona_jit.kernels.numpy_path import signals as numpy_signals
from cpersona_jit.kernels.numpy_path import vector_score as numpy_path
from cpersona_jit.kernels.quantize import block_signs
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT, GRAM_STAT_SHIFT

TIERS = available_tiers(compiled_features())
SHIFTS = np.array([DENSE_STAT_SHIFT] * 2 + [GRAM_STAT_SHIFT] * 4 + [0])
LAWS = settings(deadline=None, max_examples=40)
SIZES = st.one_of(st.integers(0, 9), st.integers(60, 150))
SHARES = st.sampled_from([0.0, 0.1, 0.6, 1.0])
SEEDS = st.integers(0, 2**32 - 1)


@contextmanager
def serving(tier):
    """The module to test, by the instructions of a tier."""
    with pytest.MonkeyPatch.context() as patch:
        if tier != "numpy":
            patch.setattr(int8_scan, "TIER", int8_scan.TIER_TAGS[tier])
        yield numpy_path if tier == "numpy" else vector_score


def random_codes(rng, n):
    return rng.integers(-127, 128, (n, 64)).astype(np.int8)


def random_blocks(rng, rows, share):
    """Where each of some rows has its blocks, their codes, and which have a vector."""
    block_ptr = np.cumsum([0, *rng.integers(0, 4, rows)]).astype(np.int64)
    seen = admitted_share(rng, int(block_ptr[-1]), share)
    return block_ptr, random_codes(rng, int(block_ptr[-1])), seen


@pytest.mark.parametrize("tier", [*TIERS, "numpy"])
@LAWS
@given(seed=SEEDS, n=SIZES, share=SHARES)
def test_every_row_and_the_best_blocks(tier, seed, n, share):
    rng = np.random.default_rng(seed)
    codes, planes = random_codes(rng, n), rng.integers(-64, 64, (2, 64)).astype(np.int8)
    admitted, parted = admitted_share(rng, n, share), np.flatnonzero(rng.random(n) < 0.5)
    block_ptr, block_codes, seen = random_blocks(rng, parted.size, share)
    dense, (own, best) = np.full(n, 77, np.int32), np.full((2, parted.size), 77, np.int64)
    with serving(tier) as module:
        stats = module.score_vectors(
            *(codes, planes, pack_mask(admitted), block_codes, pack_mask(seen)),
            *(block_ptr, parted, dense, own, best),
        )
    scores = naive.int8_scores(codes.tolist(), planes.tolist())
    assert dense.tolist() == [s if has else 0 for s, has in zip(scores, admitted, strict=True)]
    assert own.tolist() == [dense[row] for row in parted]
    of_blocks = naive.int8_scores(block_codes.tolist(), planes.tolist())
    assert best.tolist() == naive.best_of_blocks(block_ptr, of_blocks, seen, own.tolist())
    rows = np.flatnonzero(admitted).tolist()
    assert tuple(stats) == naive.score_sums(scores, rows, DENSE_STAT_SHIFT)


@pytest.mark.parametrize("module", [vector_score, numpy_path])
@LAWS
@given(seed=SEEDS, n=SIZES, share=SHARES)
def test_rough_scores_of_rows_blended_with_their_best_blocks(module, seed, n, share):
    rng = np.random.default_rng(seed)
    parted = np.flatnonzero(rng.random(n) < 0.5)
    block_ptr, block_codes, seen = random_blocks(rng, parted.size, share)
    words = rng.integers(0, 2**63, (n, 2), dtype=np.uint64)
    block_words = rng.integers(0, 2**63, (len(block_codes), 2), dtype=np.uint64)
    planes, admitted = (
        rng.integers(0, 2**63, (4, 2), dtype=np.uint64),
        admitted_share(rng, n, share),
    )
    of_rows = module.estimate_rows(
        *(block_signs(words), planes, n, pack_mask(admitted)),
        *(block_signs(block_words), len(block_words), pack_mask(seen), block_ptr, parted),
    )
    scores = naive.plane_scores(words.tolist(), planes.tolist())
    of_blocks = naive.plane_scores(block_words.tolist(), planes.tolist())
    best = naive.best_of_blocks(block_ptr, of_blocks, seen, [None] * parted.size)
    for at, row in enumerate(parted.tolist()):
        if best[at] is not None:
            scores[row] = (scores[row] + best[at]) // 2
    rows = np.flatnonzero(admitted)
    assert of_rows[rows].tolist() == [scores[row] for row in rows]


@pytest.mark.parametrize("tier", [*TIERS, "numpy"])
@LAWS
@given(seed=SEEDS, n=st.integers(1, 80), sampled=st.integers(1, 70), parted=SHARES, share=SHARES)
def test_moments_of_a_sample_whose_vectors_are_scored_on_the_way(
    tier, seed, n, sampled, parted, share
):
    rng = np.random.default_rng(seed)
    arrays, planes = random_arrays(rng, n, parted), rng.integers(-64, 64, (2, 64)).astype(np.int8)
    arrays.parted_values[6] %= 50_000
    rows = np.sort(rng.permutation(n)[:sampled])
    codes, seen = random_codes(rng, rows.size), rng.random(rows.size) < share
    block_ptr, block_codes, has = random_blocks(rng, rows.size, 0.7)
    means = np.array([5, 6])
    with serving(tier) as module:
        sums, products = module.sample_moments(
            *(tuple(arrays), rows, planes, codes, pack_mask(seen), block_codes, pack_mask(has)),
            *(block_ptr, SHIFTS, means),
        )
    exact = naive.int8_scores(codes.tolist(), planes.tolist())
    own = [score if there else 0 for score, there in zip(exact, seen, strict=True)]
    of_blocks = naive.int8_scores(block_codes.tolist(), planes.tolist())
    best = naive.best_of_blocks(block_ptr, of_blocks, has, own)
    there = np.flatnonzero(seen).tolist()
    expected_means = [5, 6]
    if there:
        shifted = sum(own[i] >> DENSE_STAT_SHIFT for i in there)
        mean = round(shifted / len(there) * (1 << DENSE_STAT_SHIFT))
        expected_means = [mean, round(sum(best[i] for i in there) / len(there))]
        for i in range(rows.size):
            if not seen[i]:
                own[i], best[i] = expected_means
    assert means.tolist() == expected_means
    of_sample = [[signal[row] for row in rows] for signal in arrays.signals()]
    of_sample[:2] = own, best
    shifts = SHIFTS.tolist()
    _, totals, of_pairs = naive.signal_moments(of_sample, shifts, [True] * rows.size)
    assert (sums.tolist(), products.tolist()) == (totals, of_pairs)


@pytest.mark.parametrize("module", [signals, numpy_signals])
@LAWS
@given(seed=SEEDS, n=st.one_of(SIZES, st.integers(500, 600)), parted=SHARES, share=SHARES)
def test_moments_of_a_scope(module, seed, n, parted, share):
    rng = np.random.default_rng(seed)
    arrays, admitted = random_arrays(rng, n, parted), admitted_share(rng, n, share)
    arrays.parted_values[:, ~admitted[arrays.parted]] = 0
    arrays.parted_values[6] %= 50_000
    alone = admitted.copy()
    alone[arrays.parted] = False
    sums, products = module.scope_moments(
        *(*arrays[:3], arrays.parted_values, SHIFTS, pack_mask(alone))
    )
    _, totals, of_pairs = naive.signal_moments(arrays.signals(), SHIFTS.tolist(), admitted.tolist())
    assert (sums.tolist(), products.tolist()) == (totals, of_pairs)
