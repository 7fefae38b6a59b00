"""Merging gram indexes, counting dead rows, finding keys: Numba and NumPy against plain builds."""

from __future__ import annotations

import numpy as np
import pytest
from gram_cases import BUILDERS, ROWS, as_arrays, random_rows, same_index
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import gram_index, gram_lookup, gram_merge
from cpersona_jit.kernels.gram_lists import key_slots
from cpersona_jit.kernels.numpy_path import gram_index as numpy_gram_index
from cpersona_jit.kernels.numpy_path import gram_merge as numpy_gram_merge
from cpersona_jit.kernels.row_mask import pack_mask

MERGES = [gram_merge.merge_gram_index, numpy_gram_merge.merge_gram_index]


def check_merge(rows, split, kept):
    """`kept` is a bool per row, or None."""
    base, added = (BUILDERS[0](*as_arrays(part)) for part in (rows[:split], rows[split:]))
    stays = np.ones(len(rows), bool) if kept is None else kept
    whole = BUILDERS[0](*as_arrays([row for row, stay in zip(rows, stays, strict=True) if stay]))
    keep = None if kept is None else pack_mask(kept)
    for merge in MERGES:
        same_index(merge(base, added, keep), whole)


@settings(deadline=None, max_examples=80)
@given(rows=ROWS, data=st.data())
def test_merged_rows_are_those_of_one_build(rows, data):
    split = data.draw(st.integers(0, len(rows)))
    check_merge(rows, split, None)
    kept = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    check_merge(rows, split, np.array(kept, bool))


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(0, 260),
    split=st.floats(0, 1),
    share=st.sampled_from([None, 0, 0.05, 0.5, 0.9, 0.99, 1]),
)
def test_long_lists_are_merged_at_any_bit(seed, n, split, share):
    rng = np.random.default_rng(seed)
    kept = None if share is None else rng.random(n) < share
    check_merge(random_rows(seed, n, 40), round(split * n), kept)


@pytest.mark.parametrize("split", [1200, 1280, 2400, 2500])
def test_lists_cross_the_dense_threshold_both_ways(split):
    """A list of 20 rows is a bitmap among 1,200 rows and none among 2,500, and back."""
    rows = [{1: 3, 2: 1} if row % 60 == 0 else {3: 1} for row in range(1200)]
    rows += [{3: 2, 4: 1 + row % 3} if row % 2 else {2: 1} for row in range(1300)]
    assert BUILDERS[0](*as_arrays(rows[:1200])).dense_slot[0] >= 0
    assert BUILDERS[0](*as_arrays(rows)).dense_slot[0] < 0
    check_merge(rows, split, None)
    check_merge(rows, split, np.arange(2500) < 1200)
    check_merge(rows, split, np.arange(2500) % 7 > 0)
    check_merge(rows, split, np.arange(2500) // 64 % 3 > 0)
    check_merge(rows, split, np.arange(2500) >= 1200)


@pytest.mark.parametrize("merge", MERGES)
def test_nothing_is_left_of_rows_that_all_go(merge):
    index = BUILDERS[0](*as_arrays(random_rows(1, 100, 40)))
    none = BUILDERS[0](*as_arrays([]))
    same_index(merge(index, index, np.zeros(4, np.uint64)), none)
    same_index(merge(none, none), none)
    same_index(merge(none, index), index)
    same_index(merge(index, none), index)


def test_the_indexes_that_are_merged_do_not_change():
    base, added = (BUILDERS[0](*as_arrays(random_rows(seed, 150, 40))) for seed in (1, 2))
    copies = [
        part._replace(**{n: a.copy() for n, a in part._asdict().items() if n != "n"})
        for part in (base, added)
    ]
    gram_merge.merge_gram_index(base, added, pack_mask(np.arange(300) % 3 > 0))
    for part, copy in zip((base, added), copies, strict=True):
        same_index(part, copy)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n=st.sampled_from([1, 70, 200, 1700]),
    share=st.sampled_from([0, 0.003, 0.1, 1]),
)
def test_dead_rows_are_counted_in_every_list(seed, n, share):
    rng = np.random.default_rng(seed)
    rows = random_rows(seed % 7, n, 60)
    index = BUILDERS[0](*as_arrays(rows))
    dead = np.flatnonzero(rng.random(n) < share)
    of_dead = {}
    for row in dead:
        for gram, count in rows[row].items():
            for level in range(1, min(count, 3) + 1):
                of_dead[gram, level] = of_dead.get((gram, level), 0) + 1
    lists, expected = [], []
    for gram, key in enumerate(index.keys.tolist()):
        for level, posting_list in enumerate((gram, index.level2[gram], index.level3[gram]), 1):
            if posting_list >= 0:
                lists.append(posting_list)
                expected.append(of_dead.get((key, level), 0))
    for module in (gram_index, numpy_gram_index):
        counts = module.dead_document_frequency(index, np.array(lists, np.int64), dead)
        assert counts.dtype == np.int64
        assert counts.tolist() == expected


@settings(deadline=None, max_examples=100)
@given(
    keys=st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=60),
    others=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 60), max_size=20),
)
def test_keys_are_found_where_they_are(keys, others):
    index = BUILDERS[0](*as_arrays([dict.fromkeys(keys, 1)]))
    ordered, wanted = sorted(keys), [*others, *keys]
    expected = [ordered.index(key) if key in keys else -1 for key in wanted]
    for module in (gram_lookup, numpy_gram_index):
        found = module.lookup_keys(index, np.array(wanted, np.uint64))
        assert found.dtype == np.int64
        assert found.tolist() == expected


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("alike", [False, True])
def test_both_paths_lay_out_the_same_table(count, alike):
    """Also where all keys have one home: these differ in bits that the hash shifts out."""
    rng = np.random.default_rng(count)
    keys = rng.integers(0, 2**63, count, dtype=np.uint64)
    if alike:
        # A multiple of the inverse of the multiplier has a product whose upper half is zero.
        inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
        keys = np.array([row * inverse % 2**64 for row in range(count)], np.uint64)
    keys = np.unique(keys)
    slots = gram_lookup.key_slots(keys)
    assert slots.dtype == np.int32
    assert slots.tobytes() == key_slots(keys).tobytes()
    assert sorted(slots[slots >= 0].tolist()) == list(range(len(keys)))
    assert slots[-1] == -1
