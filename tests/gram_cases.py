"""Rows of grams for the tests of the gram kernels, and indexes compared array by array."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from cpersona_jit.kernels import gram_index
from cpersona_jit.kernels.numpy_path import gram_index as numpy_gram_index

BUILDERS = [gram_index.build_gram_index, numpy_gram_index.build_gram_index]
ROWS = st.lists(
    st.dictionaries(st.integers(0, 2**64 - 1) | st.integers(0, 12), st.integers(1, 255)),
    max_size=40,
)


def as_arrays(rows):
    """One {gram: count} per row -> the arrays that the builders take."""
    row_ptr = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    keys = [key for row in rows for key in sorted(row)]
    counts = [row[key] for row in rows for key in sorted(row)]
    return row_ptr, np.array(keys, np.uint64), np.array(counts, np.uint8), len(rows)


def random_rows(seed, n, vocabulary):
    """Rows whose grams are as unevenly spread as those of text: a few everywhere, many rare."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**63, vocabulary, dtype=np.uint64) * np.uint64(2)
    share = 0.9 / (1 + np.arange(vocabulary))
    return [
        {int(key): int(rng.integers(1, 6)) for key in keys[rng.random(vocabulary) < share]}
        for _ in range(n)
    ]


def same_index(ours, theirs):
    """Assert that two indexes hold the same bytes."""
    for name, mine, yours in zip(ours._fields, ours, theirs, strict=True):
        assert np.array_equal(mine, yours), name
        assert getattr(mine, "dtype", int) == getattr(yours, "dtype", int), name
        assert np.shape(mine) == np.shape(yours), name
