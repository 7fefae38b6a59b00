"""Fusion: Numba, NumPy and the naive twin give the same bytes."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import fusion
from cpersona_jit.kernels.numpy_path import fusion as numpy_fusion

MODULES = [fusion, numpy_fusion]
WEIGHTS = st.sampled_from([0.0, 0.1, 0.5, 1.0, 1 / 3, 7.25])
PRIORS = st.sampled_from([0.0, 1.0, 0.3, 1e-9, 0.9999])


@st.composite
def pools(draw, values):
    arms, size = draw(st.integers(1, 6)), draw(st.integers(0, 12))
    table = [[draw(values) for _ in range(size)] for _ in range(arms)]
    weights = [draw(WEIGHTS) for _ in range(arms)]
    prior = [draw(PRIORS) for _ in range(size)]
    return table, weights, prior


def as_table(table, dtype):
    return np.array(table, dtype).reshape(len(table), -1)


@pytest.mark.parametrize("module", MODULES)
@settings(deadline=None)
@given(pool=pools(st.integers(0, 40)), rrf_k=st.sampled_from([0.0, 1.0, 60.0, 17.3]))
def test_reciprocal_rank_fusion_equals_the_naive_twin(module, pool, rrf_k):
    ranks, weights, prior = pool
    fused = module.rrf_scores(as_table(ranks, np.int32), np.array(weights), rrf_k, np.array(prior))
    columns = zip(*ranks, strict=True)
    assert fused.tolist() == [
        naive.rrf_score(column, weights, rrf_k, p) for column, p in zip(columns, prior, strict=True)
    ]


@pytest.mark.parametrize("module", MODULES)
@settings(deadline=None)
@given(pool=pools(st.floats(-30, 30)), prior_weight=st.sampled_from([0.0, 1.0, 2.5]))
def test_score_fusion_equals_the_naive_twin(module, pool, prior_weight):
    z_scores, weights, prior = pool
    fused = module.score_fusion(
        as_table(z_scores, float), np.array(weights), np.array(prior), prior_weight
    )
    columns = zip(*z_scores, strict=True)
    assert fused.tolist() == [
        naive.z_fusion_score(column, weights, p, prior_weight)
        for column, p in zip(columns, prior, strict=True)
    ]


@pytest.mark.parametrize("module", MODULES)
def test_a_prior_scales_votes_and_is_added_to_scores(module):
    weights, prior = np.array([2.0]), np.array([1.0, 0.5, 0.0])
    votes = module.rrf_scores(np.array([[1, 1, 1]], np.int32), weights, 1, prior)
    assert votes.tolist() == [1.0, 0.5, -math.inf]
    fused = module.score_fusion(np.full((1, 3), 2.0), weights, prior, 8.0)
    assert fused.tolist() == [4.0, 0.0, -math.inf]
