"""Batch replay of signals: ranks equal what sorting finds, and what the signal kernels recall."""

from __future__ import annotations

from itertools import pairwise

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import evidence as evidence_kernels
from cpersona_jit.kernels import replay_signals as numba_replay
from cpersona_jit.kernels.numpy_path import replay_signals as numpy_replay
from cpersona_jit.kernels.row_mask import pack_mask

REPLAYS = [numba_replay.replay_signals, numpy_replay.replay_signals]


def random_pool(rng, sizes, arms, levels):
    """Signals of few levels tie often; rows are in another order than positions."""
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    signals = rng.integers(-levels, levels, (arms, offsets[-1]))
    rows = [rng.permutation(2 * size)[:size] for size in sizes]
    golds = [rng.integers(-1, size, rng.integers(0, 4)) for size in sizes]
    gold_ptr = np.cumsum([0, *map(len, golds)]).astype(np.int64)
    empty = np.empty(0, np.int64)
    gold = np.concatenate([empty, *golds]).astype(np.int64)
    return offsets, signals, np.concatenate([empty, *rows]).astype(np.int64), gold_ptr, gold


def random_settings(rng, count, queries, arms):
    """Settings of two lists; some lists are empty and some are those of the setting before."""
    weights = rng.choice([0.0, 1.0, 1 / 3, -0.7], (count, queries, 3, arms))
    bias = rng.choice([0.0, 0.1, -2.5], (count, queries, 3))
    weights[rng.random((count, queries, 3)) < 0.2] = 0.0
    depth = rng.choice([0, 1, 5, 20, 1000], count)
    for s in range(1, count):
        if rng.random() < 0.4:
            weights[s, :, :2], bias[s, :, :2] = weights[s - 1, :, :2], bias[s - 1, :, :2]
            depth[s] = depth[s - 1]
    return weights, bias, depth.astype(np.int32)


@pytest.mark.parametrize("replay", REPLAYS)
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 100_000),
    sizes=st.lists(st.integers(0, 40), max_size=4),
    arms=st.integers(1, 7),
    levels=st.sampled_from([1, 3, 2**32]),
)
def test_ranks_equal_the_naive_sort(replay, seed, sizes, arms, levels):
    rng = np.random.default_rng(seed)
    offsets, signals, rows, gold_ptr, gold = random_pool(rng, sizes, arms, levels)
    weights, bias, depth = random_settings(rng, 10, len(sizes), arms)
    found = replay(offsets, signals, rows, gold_ptr, gold, weights, bias, depth)
    assert found.shape == (10, len(gold)) and found.dtype == np.int32
    for s in range(10):
        for q, (first, end) in enumerate(pairwise(offsets)):
            golds = slice(gold_ptr[q], gold_ptr[q + 1])
            assert found[s, golds].tolist() == naive.replayed_signal_ranks(
                signals[:, first:end].tolist(),
                rows[first:end].tolist(),
                gold[golds].tolist(),
                weights[s, q].tolist(),
                bias[s, q].tolist(),
                int(depth[s]),
            )


@pytest.mark.parametrize("replay", REPLAYS)
@pytest.mark.parametrize("levels", [2, 2**30])
def test_a_replay_equals_a_recall_over_all_rows(replay, levels):
    rng = np.random.default_rng(levels)
    n, arms, depth = 3000, 7, 50
    signals = rng.integers(0, levels, (arms, n))
    mask = pack_mask(rng.random(n) < 0.8)
    forms, bias = rng.normal(size=(3, arms)), rng.normal(size=3)
    tie_rank = rng.permutation(n)
    scores = np.empty((3, n))
    for form, start, out in zip(forms, bias, scores, strict=True):
        evidence_kernels.linear_scores(signals, form, start, mask, out)
    lists = [evidence_kernels.top_rows(of_list, depth) for of_list in scores[:2]]
    near = np.unique(np.concatenate(lists))
    recalled = near[np.lexsort((tie_rank[near], -scores[2, near]))]

    # The pool is larger than the setting's own candidates, as when it is frozen for many settings.
    deeper = [evidence_kernels.top_rows(of_list, 3 * depth) for of_list in scores]
    pool = np.unique(np.concatenate(deeper))
    pool = pool[np.argsort(tie_rank[pool])]
    offsets, gold = np.array([0, len(pool)]), np.arange(len(pool))
    found = replay(
        offsets,
        signals[:, pool],
        pool,
        offsets,
        gold,
        forms[None, None],
        bias[None, None],
        np.array([depth], np.int32),
    )
    place = {int(row): rank for rank, row in enumerate(recalled, 1)}
    assert found[0].tolist() == [place.get(int(row), 0) for row in pool]


@pytest.mark.parametrize("replay", REPLAYS)
def test_the_depth_cuts_ties_to_the_lowest_row_and_ranks_ties_by_position(replay):
    signals, rows = np.array([[5, 5, 5, 5]]), np.array([30, 10, 40, 20])
    weights, bias = np.ones((1, 1, 2, 1)), np.zeros((1, 1, 2))
    offsets, gold = np.array([0, 4]), np.arange(4)
    found = replay(offsets, signals, rows, offsets, gold, weights, bias, np.array([2], np.int32))
    assert found.tolist() == [[0, 1, 0, 2]]
