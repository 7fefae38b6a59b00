"""Rows that no posting list holds yet: what they add is what the lists would have held of them."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from gram_cases import BUILDERS, as_arrays, random_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import gram_index, gram_lookup, gram_overlap, gram_tail
from cpersona_jit.kernels.numpy_path import gram_index as numpy_gram_index
from cpersona_jit.kernels.numpy_path import gram_overlap as numpy_gram_overlap
from cpersona_jit.kernels.numpy_path import gram_tail as numpy_gram_tail
from cpersona_jit.kernels.row_mask import pack_mask

TAILS = [gram_tail, numpy_gram_tail]
SHARES = st.sampled_from([0, 0.1, 0.5, 1])


def drawn_keys(rng, rows, most):
    """Grams of a query, in any order: some of the rows', some of nobody's."""
    known = sorted({key for row in rows for key in row})
    keys = [*rng.permutation(np.array(known, np.uint64))[:most].tolist(), 3, 5, 2**64 - 1]
    return np.array(keys, np.uint64)[rng.permutation(len(keys))]


def matches_of(module, rows, first_row, keys, mask):
    row_ptr, row_keys, row_counts, _ = as_arrays(rows)
    return module.tail_matches(row_ptr, row_keys, row_counts, keys, first_row, mask)


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 10_000),
    first_row=st.sampled_from([0, 1, 63, 64, 1000]),
    n=st.sampled_from([0, 1, 5, 130]),
    most=st.sampled_from([0, 1, 20, 200]),
    share=SHARES,
)
def test_matches_are_those_of_the_twin(seed, first_row, n, most, share):
    rng = np.random.default_rng(seed)
    rows = random_rows(seed, n, 60)
    keys = drawn_keys(rng, rows, most)
    admitted = rng.random(first_row + n) < share
    found = naive.tail_matches(rows, keys.tolist(), admitted[first_row:])
    for module in TAILS:
        got = matches_of(module, rows, first_row, keys, pack_mask(admitted))
        triples = zip(got.rows - first_row, got.grams, got.counts, strict=True)
        assert [tuple(map(int, triple)) for triple in triples] == found
        assert [a.dtype for a in got] == [np.int64, np.int64, np.uint8, np.int64]
        assert got.frequency.tolist() == [
            [
                sum(g == gram and count >= level for _, g, count in found)
                for gram in range(len(keys))
            ]
            for level in (1, 2, 3)
        ]


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 10_000),
    n=st.sampled_from([0, 1, 90, 200]),
    split=st.floats(0, 1),
    share=SHARES,
    binary=st.booleans(),
)
def test_lists_and_tail_together_are_one_index(seed, n, split, share, binary):
    """Frequencies and counters, whatever part of the rows the lists hold."""
    rng = np.random.default_rng(seed)
    rows, base = random_rows(seed, n, 60), round(split * n)
    whole = BUILDERS[0](*as_arrays(rows))
    lists = BUILDERS[0](*as_arrays(rows[:base]))
    keys, mask = drawn_keys(rng, rows, 40), pack_mask(rng.random(n) < share)
    weights = rng.integers(0, 65535 // (3 * len(keys)) + 1, (3, len(keys))).astype(np.uint16)
    weights[1:] *= not binary
    for index_module, overlap, tail in (
        (gram_index, gram_overlap, gram_tail),
        (numpy_gram_index, numpy_gram_overlap, numpy_gram_tail),
    ):
        matches = matches_of(tail, rows[base:], base, keys, mask)
        expected, counted = by_lists(index_module, overlap, whole, keys, weights, mask)
        frequency, counters = by_lists(index_module, overlap, lists, keys, weights, mask)
        tail.add_tail(matches, weights, counters)
        assert (frequency + matches.frequency).tolist() == expected.tolist()
        admitted = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        assert counters[admitted].tolist() == counted[admitted].tolist()


def by_lists(index_module, overlap, index, keys, weights, mask):
    """Document frequencies of keys by level, (3, keys), and the counters of all rows."""
    grams = gram_lookup.lookup_keys(index, keys)
    frequency = np.zeros((3, len(keys)), np.int64)
    lists, added = [], []
    for level, of_level in enumerate((np.arange(len(index.keys)), index.level2, index.level3)):
        of_keys = np.append(of_level, -1)[grams].astype(np.int64)
        has = of_keys >= 0
        frequency[level, has] = index_module.masked_document_frequency(index, of_keys[has], mask)
        lists.append(of_keys[has])
        added.append(weights[level, has])
    counters = np.full(64 * len(mask), 9, np.uint16)
    overlap.overlap_all(index, np.concatenate(lists), np.concatenate(added), mask, counters)
    return frequency, counters


@pytest.mark.parametrize("module", TAILS)
def test_rows_may_begin_anywhere_in_the_arrays(module):
    """As a tail does that lies in a buffer behind rows that lists hold."""
    rows = random_rows(4, 40, 30)
    row_ptr, row_keys, row_counts, _ = as_arrays(rows)
    keys, mask = drawn_keys(np.random.default_rng(4), rows, 20), pack_mask(np.ones(40, bool))
    got = module.tail_matches(row_ptr[25:], row_keys, row_counts, keys, 25, mask)
    for part, same in zip(got, matches_of(module, rows[25:], 25, keys, mask), strict=True):
        assert part.tolist() == same.tolist()


@pytest.mark.parametrize("module", TAILS)
def test_keys_of_one_home_are_told_apart(module):
    """Multiples of the inverse of the hash's multiplier all hash to zero."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    keys = np.array([i * inverse % 2**64 for i in range(60)], np.uint64)
    rows = [dict.fromkeys(keys[::2].tolist(), 2), dict.fromkeys(keys[::3].tolist(), 1)]
    got = matches_of(module, rows, 0, keys[:40], pack_mask(np.ones(2, bool)))
    held = [[int(gram) for gram in sorted(got.grams[got.rows == row])] for row in (0, 1)]
    assert held == [list(range(0, 40, 2)), list(range(0, 40, 3))]
