"""Centred vectors: which rows make a centre, and what texts look like from there."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.columns.centre import PRIOR_ROWS, centre_vector, centred, leading_rows


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40))
def test_a_centre_is_made_of_the_first_rows_with_a_vector(rows: list[tuple[int, bool]]) -> None:
    agent = np.array([owner for owner, _ in rows], np.int32)
    embedded = np.array([has for _, has in rows], bool)
    expected = {}
    for owner in range(4):
        own = [place for place, row in enumerate(rows) if row == (owner, True)]
        most = 1
        while 2 * most <= len(own):
            most *= 2
        if own:
            expected[owner] = own[:most]
    found = leading_rows(agent, embedded)
    assert {owner: part.tolist() for owner, part in found.items()} == expected


def test_a_centre_is_a_sum_in_the_order_of_rows() -> None:
    vectors = np.random.default_rng(3).standard_normal((37, 5)).astype(np.float32)
    totals = [0.0] * 5
    for vector in vectors.tolist():
        totals = [total + value for total, value in zip(totals, vector, strict=True)]
    expected = [total / (37 + PRIOR_ROWS) for total in totals]
    assert centre_vector(iter(vectors), 37, 5).tolist() == expected


def test_what_texts_share_is_taken_out() -> None:
    rng = np.random.default_rng(5)
    own = rng.standard_normal((256, 32))
    shared = 8.0 * rng.standard_normal(32)
    vectors = own + shared
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    assert (vectors @ vectors.T).min() > 0.9
    seen = centred(vectors, centre_vector(vectors, 256, 32))
    assert seen.dtype == np.float32
    assert np.abs(np.linalg.norm(seen, axis=1) - 1.0).max() < 1e-6
    alone = own / np.linalg.norm(own, axis=1, keepdims=True)
    cosines = (seen @ seen.T)[np.triu_indices(256, 1)]
    assert np.corrcoef(cosines, (alone @ alone.T)[np.triu_indices(256, 1)])[0, 1] > 0.9


def test_a_vector_that_is_its_centre_is_zero() -> None:
    vectors = np.eye(2, 4, dtype=np.float32)
    seen = centred(vectors, np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0]]))
    assert seen.tolist() == [[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]


def test_equal_rows_are_not_lost() -> None:
    vectors = np.tile(np.array([[0.6, 0.8]], np.float32), (4096, 1))
    seen = centred(vectors, centre_vector(vectors, 4096, 2))
    assert np.abs(seen - vectors).max() < 1e-6
