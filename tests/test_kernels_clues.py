"""Clue terms: Numba, NumPy and the naive twin give the same bytes."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import structure_clues
from cpersona_jit.kernels.numpy_path import structure_clues as numpy_clues

TERMS = [structure_clues.clue_terms, numpy_clues.clue_terms]


@pytest.mark.parametrize("terms", TERMS)
@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(0, 60),
    clues=st.integers(0, 4),
    groups=st.sampled_from([1, 2, 9, 200]),
    context=st.sampled_from([0.0, 0.3, 1.0]),
    levels=st.sampled_from([2, 1000]),
)
def test_terms_equal_the_naive_twin(terms, seed, size, clues, groups, context, levels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-levels, levels, size) * 7.0 / levels
    keys = rng.integers(-1, groups, (clues, size))
    weights = rng.choice([0.3, 0.15, -1.0], clues)
    found = terms(scores, keys, weights, context)
    assert found.shape == (clues, size) and found.dtype == np.float64
    expected = naive.clue_terms(scores.tolist(), keys.tolist(), weights.tolist(), context)
    assert found.tolist() == expected


def one_clue(terms, scores, keys, context=1.0):
    return terms(np.array(scores), np.array([keys]), np.array([0.3]), context)[0].tolist()


@pytest.mark.parametrize("terms", TERMS)
def test_a_group_is_judged_by_its_three_best(terms):
    low, pair = 0.3 * ((5.0 + 3.0 + 2.0) / 3), 0.3 * ((9.0 + 8.0) / 2)
    found = one_clue(terms, [3.0, 9.0, 1.0, 5.0, 2.0, 8.0, 7.0], [4, 7, 4, 4, 4, 7, -1])
    assert found == [low, pair, low, low, low, pair, 0.0]
    halved = one_clue(terms, [3.0, 9.0], [4, 7], context=0.5)
    assert halved == [0.5 * (0.3 * 3.0), 0.5 * (0.3 * 9.0)]


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("keys", [[4, 4, 4], [-1, -1, -1]])
def test_a_clue_that_all_share_or_all_lack_tells_nothing(terms, keys):
    found = one_clue(terms, [3.0, 9.0, 1.0], keys)
    assert found == [0.0] * 3
    assert not any(math.copysign(1.0, term) < 0 for term in found)
