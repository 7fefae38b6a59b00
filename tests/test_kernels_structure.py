"""Structure terms: Numba, NumPy and the naive twin give the same bytes."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import structure
from cpersona_jit.kernels.numpy_path import structure as numpy_structure
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.structure_weights import StructureWeights, context_deficit

MODULES = [structure, numpy_structure]
WEIGHTS = StructureWeights(near=0.6, next_near=0.22, strong=2.0, question=-1.0, speaker=1.0)


def conversation(rng, n, sessions):
    """Neighbours within several interleaved sessions; some rows have none."""
    session = rng.integers(-1, sessions, n).astype(np.int32)
    before, after = np.full(n, -1), np.full(n, -1)
    for code in range(sessions):
        rows = np.flatnonzero(session == code)
        before[rows[1:]], after[rows[:-1]] = rows[:-1], rows[1:]
    return before, after


def terms_of(module, fused, rows, admitted, before, after, is_question, named, context):
    """Terms of some rows, from arrays of all rows as the naive twin takes them."""
    near = module.neighbour_rows(before, after, pack_mask(admitted), rows)
    assert near.shape == (4, rows.size)
    assert near.dtype == np.int64
    lends = np.where(near >= 0, fused[near], -math.inf)
    return module.structure_terms(lends, is_question[rows], named[rows], context, WEIGHTS)


@pytest.mark.parametrize("module", MODULES)
@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 150),
    sessions=st.integers(0, 8),
    share=st.sampled_from([0.02, 0.5, 1.0]),
    context=st.sampled_from([0.0, 0.3, 1.0]),
    levels=st.sampled_from([2, 1000]),
)
def test_terms_equal_the_naive_twin(module, seed, n, sessions, share, context, levels):
    rng = np.random.default_rng(seed)
    before, after = conversation(rng, n, sessions)
    admitted = rng.random(n) < share
    fused = np.where(admitted, rng.integers(-levels, levels, n) * 7.0 / levels, -math.inf)
    some = rng.integers(0, n + 1)
    candidates = rng.permutation(np.flatnonzero(admitted))[:some]
    is_question, speaker_named = rng.random((2, n)) < 0.4
    arrays = (before, after, is_question, speaker_named)
    found = terms_of(module, fused, candidates, admitted, *arrays, context)
    expected = naive.structure_terms(
        fused.tolist(),
        candidates.tolist(),
        admitted.tolist(),
        *(part.tolist() for part in arrays),
        context,
        WEIGHTS,
    )
    assert [part.dtype for part in found] == [np.float64] * 3
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected


def one_session(fused, candidates, admitted=None, context=1.0, module=structure, **flags):
    n = len(fused)
    rows = np.arange(n)
    return terms_of(
        module,
        np.array(fused),
        np.array(candidates),
        np.ones(n, bool) if admitted is None else np.array(admitted),
        rows - 1,
        np.append(rows[1:], -1),
        np.isin(rows, flags.get("questions", [])),
        np.isin(rows, flags.get("named", [])),
        context,
    )


@pytest.mark.parametrize("module", MODULES)
def test_neighbours_lend_what_is_above_the_strong_score(module):
    # Strength 0, 1, (candidate), 3, 0.5.
    neighbours, *_ = one_session([1.0, 3.0, 9.0, 5.0, 2.5], [2], context=0.5, module=module)
    assert neighbours.tolist() == [0.5 * (0.6 * (1.0 + 3.0) + 0.22 * (0.0 + 0.5))]


@pytest.mark.parametrize("module", MODULES)
def test_a_neighbour_outside_of_the_scope_lends_nothing(module):
    scores, inside = [5.0, 9.0, 0.0, 5.0], [True, False, True, True]
    neighbours, *_ = one_session(scores, [2], inside, module=module)
    assert neighbours.tolist() == [0.6 * (0.0 + 3.0) + 0.22 * (3.0 + 0.0)]


@pytest.mark.parametrize("module", MODULES)
def test_without_a_context_deficit_only_the_speaker_counts(module):
    flags = {"questions": [0, 1], "named": [1]}
    scores = [9.0, 8.0, 7.0]
    *rest, speaker = one_session(scores, [0, 1, 2], context=0.0, module=module, **flags)
    assert [part.tolist() for part in rest] == [[0.0] * 3] * 2
    assert not np.signbit(rest).any()
    assert speaker.tolist() == [0.0, 1.0, 0.0]
    _, question, _ = one_session(scores, [0, 1, 2], context=0.25, module=module, **flags)
    assert question.tolist() == [-0.25, -0.25, 0.0]


def test_the_context_deficit_falls_with_length_and_needs_alternating_speakers():
    assert context_deficit(0.5, 0.0, 0.2, 150.0) == 1.0
    assert context_deficit(0.5, 150.0, 0.2, 150.0) == 0.5
    assert context_deficit(0.5, 450.0, 0.2, 150.0) == 0.1
    assert context_deficit(0.2, 10.0, 0.2, 150.0) == 0.0
    assert context_deficit(math.nan, 10.0, 0.2, 150.0) == 0.0  # no adjacent rows at all
