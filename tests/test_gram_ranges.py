"""Grams read back out of an index are those it was made of, whatever the range."""

from __future__ import annotations

import numpy as np
import pytest

from cpersona_jit.columns import gram_ranges
from cpersona_jit.columns.gram_ranges import grams_between
from cpersona_jit.kernels.numpy_path.gram_index import build_gram_index


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 700])
@pytest.mark.parametrize("at_once", [7, 1 << 23])
def test_every_range_reads_back(count, at_once, monkeypatch):
    monkeypatch.setattr(gram_ranges, "_POSTINGS_AT_ONCE", at_once)
    monkeypatch.setattr(gram_ranges, "_BITMAPS_AT_ONCE", 3)
    rng = np.random.default_rng(count)
    # Few keys are in most rows, so that there are bitmaps; the last row has none at all.
    rows = [np.flatnonzero(rng.random(40) < 1 / (1 + np.arange(40) / 3)) * 3 for _ in range(count)]
    if count:
        rows[-1] = rows[-1][:0]
    row_ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    keys = np.concatenate([np.zeros(0), *rows]).astype(np.uint64)
    counts = rng.integers(1, 4, keys.size).astype(np.uint8)
    index = build_gram_index(row_ptr, keys, counts, count)
    assert (index.bitmaps.shape[0] > 3) == (count >= 63)
    for start, stop in {(0, count), (0, 0), (count, count), (count // 3, count - count // 5)}:
        found = grams_between(index, start, stop)
        part = slice(row_ptr[start], row_ptr[stop])
        assert found.row_ptr.tolist() == (row_ptr[start : stop + 1] - row_ptr[start]).tolist()
        assert np.array_equal(found.keys, keys[part])
        assert np.array_equal(found.counts, counts[part])
        assert [array.dtype for array in found] == [np.int64, np.uint64, np.uint8]
