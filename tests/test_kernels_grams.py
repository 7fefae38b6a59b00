"""Gram index and overlap: Numba, NumPy and the naive twin agree exactly."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import naive
import numpy as np
import pytest
from gram_cases import BUILDERS, ROWS, as_arrays, random_rows, same_index
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import gram_index, gram_overlap
from cpersona_jit.kernels.numpy_path import gram_index as numpy_gram_index
from cpersona_jit.kernels.numpy_path import gram_overlap as numpy_gram_overlap
from cpersona_jit.kernels.row_mask import pack_mask

TESTS = Path(__file__).parent


def rows_of_list(index, posting_list):
    slot = index.dense_slot[posting_list]
    if slot < 0:
        return index.rows[index.ptr[posting_list] : index.ptr[posting_list + 1]].tolist()
    assert index.ptr[posting_list] == index.ptr[posting_list + 1]
    bits = np.unpackbits(index.bitmaps[slot].view(np.uint8), bitorder="little")
    return np.flatnonzero(bits).tolist()


def all_lists(index):
    """{(gram, level): rows} of an index."""
    lists = {}
    for gram, key in enumerate(index.keys.tolist()):
        for level, posting_list in enumerate((gram, index.level2[gram], index.level3[gram]), 1):
            if posting_list >= 0:
                lists[key, level] = rows_of_list(index, posting_list)
    return lists


def random_query(rng, index, terms):
    lists = rng.permutation(len(index.df))[:terms].astype(np.int64)
    highest = 65535 // max(1, len(lists))
    weights = rng.integers(0, highest + 1, len(lists)).astype(np.uint16)
    factor = rng.choice([0, 1, 700, 40_000, 65_535], index.n).astype(np.uint16)
    return lists, weights, factor


def run_overlap(module, index, lists, weights, factor, mask, k):
    counters = np.full(64 * len(mask), 9, np.uint16)
    keys, stats = module.overlap_top_k(index, lists, weights, factor, mask, k, counters)
    admitted = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
    scores = module.overlap_scores(counters, factor, admitted)
    return sorted(keys.tolist(), reverse=True), tuple(stats), scores.tolist()


def check_overlap(index, rng, admitted, terms, k):
    lists, weights, factor = random_query(rng, index, terms)
    mask = pack_mask(admitted)
    members = [rows_of_list(index, posting_list) for posting_list in lists]
    expected = naive.overlap_top_k(members, weights, factor, admitted, k)
    for module in (gram_overlap, numpy_gram_overlap):
        assert run_overlap(module, index, lists, weights, factor, mask, k) == expected


@pytest.mark.parametrize("build", BUILDERS)
@settings(deadline=None, max_examples=60)
@given(rows=ROWS)
def test_lists_hold_exactly_the_rows_of_each_gram_and_level(build, rows):
    index = build(*as_arrays(rows))
    assert all_lists(index) == naive.gram_lists(rows)
    assert np.all(index.keys[1:] > index.keys[:-1])
    assert [len(rows_of_list(index, i)) for i in range(len(index.df))] == index.df.tolist()


@pytest.mark.parametrize("n", [1, 63, 64, 65, 700, 1500])
def test_both_paths_build_the_same_index_with_bitmaps(n):
    arrays = as_arrays(random_rows(n, n, 300))
    fast, slow = (build(*arrays) for build in BUILDERS)
    same_index(fast, slow)
    long_enough = (fast.df >= 16) & (fast.df.astype(int) * 64 >= n)
    assert np.array_equal(fast.dense_slot >= 0, long_enough)


@pytest.mark.parametrize("grams", [2047, 2048, 2049, 9000])
def test_both_paths_build_the_same_index_of_any_vocabulary(grams):
    """The table that numbers the grams begins with room for 2,048."""
    rng = np.random.default_rng(grams)
    keys = rng.integers(0, 2**63, grams, dtype=np.uint64).tolist()
    rows = [dict.fromkeys(keys[start::5] + keys[start::11], 1) for start in range(5)]
    fast, slow = (build(*as_arrays(rows)) for build in BUILDERS)
    assert len(fast.keys) == grams
    same_index(fast, slow)


def test_higher_levels_are_numbered_after_the_grams():
    rows = [{5: 1, 9: 3}, {5: 2, 9: 1}, {7: 1}]
    for build in BUILDERS:
        index = build(*as_arrays(rows))
        assert index.keys.tolist() == [5, 7, 9]
        assert index.level2.tolist() == [3, -1, 4]
        assert index.level3.tolist() == [-1, -1, 5]
        assert index.df.tolist() == [2, 1, 2, 1, 1, 1]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), n=st.integers(0, 200), share=st.sampled_from([0, 0.1, 0.9, 1]))
def test_document_frequency_counts_only_admitted_rows(seed, n, share):
    rng = np.random.default_rng(seed)
    index = gram_index.build_gram_index(*as_arrays(random_rows(seed, n, 40)))
    admitted = rng.random(n) < share
    lists = rng.permutation(len(index.df)).astype(np.int64)
    expected = [
        sum(bool(admitted[row]) for row in rows_of_list(index, posting_list))
        for posting_list in lists
    ]
    mask = pack_mask(admitted)
    for module in (gram_index, numpy_gram_index):
        assert module.masked_document_frequency(index, lists, mask).tolist() == expected


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(0, 200),
    share=st.sampled_from([0, 0.02, 0.5, 1]),
    terms=st.sampled_from([0, 1, 5, 60]),
    k=st.sampled_from([0, 1, 10, 300]),
)
def test_overlap_equals_the_naive_twin(seed, n, share, terms, k):
    rng = np.random.default_rng(seed)
    index = gram_index.build_gram_index(*as_arrays(random_rows(seed, n, 40)))
    check_overlap(index, rng, rng.random(n) < share, terms, k)


@pytest.mark.parametrize("k", [1, 7, 64, 65, 100])
def test_overlap_when_the_buffer_overflows(k):
    rng = np.random.default_rng(k)
    index = gram_index.build_gram_index(*as_arrays(random_rows(1, 3000, 60)))
    check_overlap(index, rng, rng.random(3000) < 0.9, 40, k)


def test_ties_go_to_the_lowest_rows():
    rows = [{1: 1} for _ in range(900)]
    index = gram_index.build_gram_index(*as_arrays(rows))
    lists, weights = np.zeros(1, np.int64), np.ones(1, np.uint16)
    factor, mask = np.ones(900, np.uint16), pack_mask(np.arange(900) % 3 == 0)
    for module in (gram_overlap, numpy_gram_overlap):
        keys, _, _ = run_overlap(module, index, lists, weights, factor, mask, 5)
        assert [0x7FFFFFFF - (key & 0x7FFFFFFF) for key in keys] == [0, 3, 6, 9, 12]


def test_the_largest_score_keeps_its_place_in_the_key():
    rows = [{1: 1}, {1: 1, 2: 1}]
    index = gram_index.build_gram_index(*as_arrays(rows))
    lists, weights = np.array([0, 1]), np.array([65534, 1], np.uint16)
    factor, mask = np.full(2, 65535, np.uint16), pack_mask(np.ones(2, bool))
    for module in (gram_overlap, numpy_gram_overlap):
        keys, stats, scores = run_overlap(module, index, lists, weights, factor, mask, 2)
        assert [key >> 31 for key in keys] == [65535 * 65535, 65534 * 65535]
        assert scores == [65534 * 65535, 65535 * 65535]
        assert stats == (2, sum(s >> 11 for s in scores), sum((s >> 11) ** 2 for s in scores))


def test_a_list_given_twice_counts_twice():
    index = gram_index.build_gram_index(*as_arrays([{1: 1}] * 20 + [{2: 1}]))
    lists, weights = np.array([0, 0, 1, 1]), np.array([2, 3, 4, 5], np.uint16)
    factor, mask = np.ones(21, np.uint16), pack_mask(np.ones(21, bool))
    for module in (gram_overlap, numpy_gram_overlap):
        assert run_overlap(module, index, lists, weights, factor, mask, 1)[2] == [5] * 20 + [9]


PLAIN_CPU = """
import numpy as np
import test_kernels_grams as grams
rng = np.random.default_rng(3)
index = grams.gram_index.build_gram_index(*grams.as_arrays(grams.random_rows(2, 700, 60)))
grams.check_overlap(index, rng, rng.random(700) < 0.5, 40, 10)
"""


def run_python(code, **environment):
    path = os.pathsep.join([str(TESTS.parent), str(TESTS)])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_kernels_run_on_a_processor_without_vector_extensions(tmp_path):
    name = "x86-64" if platform.machine() in ("x86_64", "AMD64") else "generic"
    plain = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}
    done = run_python(PLAIN_CPU, NUMBA_CACHE_DIR=str(tmp_path), **plain)
    assert done.returncode == 0, done.stderr


def test_the_numpy_path_does_not_load_numba():
    modules = ("gram_index", "gram_overlap", "fusion", "prior", "replay")
    imports = "".join(f"import cpersona_jit.kernels.numpy_path.{name}\n" for name in modules)
    done = run_python(imports + "import sys\nassert 'numba' not in sys.modules")
    assert done.returncode == 0, done.stderr
