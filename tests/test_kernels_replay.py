"""Batch replay: ranks equal a stable sort of the fusion kernels' own scores."""

from __future__ import annotations

from itertools import pairwise

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import fusion
from cpersona_jit.kernels.numpy_path.replay import replay_numpy
from cpersona_jit.kernels.replay import replay_gold_ranks

REPLAYS = [replay_gold_ranks, replay_numpy]


def random_pool(rng, sizes, arms, levels):
    """Scores of few levels tie often; ranks run over them as an arm would give them."""
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    scores = rng.integers(-levels, levels, (arms, offsets[-1]))
    ranks = np.zeros(scores.shape, np.int32)
    for first, end in pairwise(offsets):
        for arm in range(arms):
            order = np.argsort(-scores[arm, first:end], kind="stable")[: (end - first) * 2 // 3]
            ranks[arm, first + order] = np.arange(1, len(order) + 1)
    golds = [rng.integers(-1, size, rng.integers(0, 4)) for size in sizes]
    gold_ptr = np.concatenate(([0], np.cumsum([len(g) for g in golds]))).astype(np.int64)
    gold = np.concatenate([np.empty(0), *golds]).astype(np.int64)
    return offsets, scores, ranks, gold_ptr, gold


def random_settings(rng, count, arms):
    kind = rng.integers(0, 2, count).astype(np.uint8)
    weights = rng.choice([0.0, 0.1, 1 / 3, 1.0, 1.0, 2.5], (count, arms))
    rrf_k = rng.choice([1.0, 60.0, 13.7], count)
    depth = rng.choice([0, 1, 5, 20, 1000], count).astype(np.int32)
    return kind, weights, rrf_k, depth


@pytest.mark.parametrize("replay", REPLAYS)
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 100_000),
    sizes=st.lists(st.integers(0, 40), max_size=4),
    arms=st.integers(1, 9),
    levels=st.sampled_from([1, 3, 10_000]),
)
def test_ranks_equal_the_naive_stable_sort(replay, seed, sizes, arms, levels):
    rng = np.random.default_rng(seed)
    offsets, scores, ranks, gold_ptr, gold = random_pool(rng, sizes, arms, levels)
    z = scores / 7.0
    chosen = random_settings(rng, 12, arms)
    found = replay(offsets, z, ranks, gold_ptr, gold, *chosen)
    assert found.shape == (12, len(gold)) and found.dtype == np.int32
    for s, (kind, weights, rrf_k, depth) in enumerate(zip(*chosen, strict=True)):
        for q in range(len(sizes)):
            rows = slice(offsets[q], offsets[q + 1])
            golds = slice(gold_ptr[q], gold_ptr[q + 1])
            assert found[s, golds].tolist() == naive.replayed_ranks(
                z[:, rows].T.tolist(),
                ranks[:, rows].T.tolist(),
                gold[golds].tolist(),
                kind == 0,
                weights.tolist(),
                rrf_k,
                depth,
            )


@pytest.mark.parametrize("replay", REPLAYS)
@pytest.mark.parametrize("seed", range(4))
def test_ranks_equal_a_stable_sort_of_what_the_fusion_kernels_say(replay, seed):
    rng = np.random.default_rng(seed)
    arms = 3
    offsets, scores, ranks, gold_ptr, gold = random_pool(rng, [150, 0, 33, 16, 200], arms, 400)
    chosen = random_settings(rng, 25, arms)
    z = scores / np.array([[97.3], [211.7], [0.9]])
    found = replay(offsets, z, ranks, gold_ptr, gold, *chosen)
    for s, (kind, weights, rrf_k, depth) in enumerate(zip(*chosen, strict=True)):
        within = np.where(ranks <= depth, ranks, 0).astype(np.int32)
        candidate = (within[weights > 0] > 0).any(axis=0)
        for q, (first, end) in enumerate(pairwise(offsets)):
            prior = candidate[first:end].astype(float)
            if kind == 0:
                fused = fusion.rrf_scores(within[:, first:end], weights, rrf_k, prior)
            else:
                fused = fusion.score_fusion(z[:, first:end], weights, prior, 0.0)
            order = np.argsort(-fused, kind="stable").tolist()
            golds = gold[gold_ptr[q] : gold_ptr[q + 1]]
            expected = [order.index(g) + 1 if g >= 0 and prior[g] else 0 for g in golds]
            assert found[s, gold_ptr[q] : gold_ptr[q + 1]].tolist() == expected


@pytest.mark.parametrize("replay", REPLAYS)
def test_a_setting_does_not_depend_on_the_others_or_on_their_order(replay):
    rng = np.random.default_rng(5)
    offsets, scores, ranks, gold_ptr, gold = random_pool(rng, [60, 25], 4, 5)
    z = scores / 3.0
    chosen = random_settings(rng, 40, 4)
    together = replay(offsets, z, ranks, gold_ptr, gold, *chosen)
    mixed = rng.permutation(40)
    shuffled = replay(offsets, z, ranks, gold_ptr, gold, *(part[mixed] for part in chosen))
    assert np.array_equal(shuffled, together[mixed])
    for s in range(0, 40, 7):
        alone = replay(offsets, z, ranks, gold_ptr, gold, *(part[s : s + 1] for part in chosen))
        assert np.array_equal(alone[0], together[s])


@pytest.mark.parametrize("replay", REPLAYS)
def test_depth_cuts_votes_but_not_scores(replay):
    offsets, gold_ptr, gold = np.array([0, 3]), np.array([0, 3]), np.arange(3)
    ranks = np.array([[1, 2, 3], [3, 1, 2]], np.int32)
    z = np.array([[3.0, 2.0, 1.0], [-9.0, 2.0, 5.0]])
    found = replay(
        offsets,
        z,
        ranks,
        gold_ptr,
        gold,
        np.array([0, 1], np.uint8),
        np.array([[1.0, 0.9], [1.0, 0.9]]),
        np.full(2, 60.0),
        np.array([1, 1], np.int32),
    )
    # Depth 1: row 2 is no candidate; row 0 keeps its vote of 1, and its poor score in arm 2 counts.
    assert found.tolist() == [[1, 2, 0], [2, 1, 0]]
