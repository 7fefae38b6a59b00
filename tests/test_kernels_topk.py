"""The order of keys, bounded selection, row masks and exact statistics."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import topk
from cpersona_jit.kernels.compiled import kernel
from cpersona_jit.kernels.row_mask import admitted_rows, count_admitted, pack_mask
from cpersona_jit.kernels.scan_stats import ScanStats
from cpersona_jit.kernels.topk_order import largest_keys, pack_keys, unpack_keys

SCORES = st.integers(-(2**31), 2**31 - 1)
ROWS = st.integers(0, 2**31 - 1)
LAWS = settings(deadline=None)  # a first call compiles


# What is tested are parts of kernels, which only kernels can call.


@kernel
def select_largest(buffer, count, k):
    return topk.select_largest(buffer, count, k)


@kernel
def pack_key(score, row):
    return topk.pack_key(score, row)


@kernel
def buffer_size(k):
    return topk.buffer_size(k)


@LAWS
@given(st.lists(st.tuples(SCORES, ROWS), max_size=60))
def test_keys_order_by_score_then_lowest_row(pairs):
    scores = np.array([score for score, _ in pairs], np.int64)
    rows = np.array([row for _, row in pairs], np.int64)
    found_rows, found_scores = unpack_keys(pack_keys(scores, rows))
    expected = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
    found = list(zip(found_scores.tolist(), found_rows.tolist(), strict=True))
    assert found == expected


@LAWS
@given(SCORES, ROWS)
def test_the_compiled_key_is_the_numpy_key(score, row):
    packed = pack_keys(np.array([score], np.int64), np.array([row], np.int64))
    assert pack_key(score, row) == packed[0]


def test_a_gram_score_of_32_bits_fits_a_key():
    largest = 65535 * 65535
    keys = pack_keys(np.array([largest, largest - 1]), np.array([2**31 - 1, 0]))
    assert keys[0] > keys[1]
    assert unpack_keys(keys)[1].tolist() == [largest, largest - 1]


@LAWS
@given(st.lists(st.integers(-(2**62), 2**62), unique=True, min_size=1, max_size=400), st.data())
def test_selection_keeps_the_largest(keys, data):
    k = data.draw(st.integers(1, len(keys)))
    spare = data.draw(st.integers(0, 3))
    buffer = np.array(keys + [2**63 - 1] * spare, np.int64)
    smallest = select_largest(buffer, len(keys), k)
    assert sorted(buffer[:k].tolist()) == sorted(keys)[-k:]
    assert smallest == sorted(keys)[-k]
    assert sorted(buffer[: len(keys)].tolist()) == sorted(keys)


@pytest.mark.parametrize("order", ["ascending", "descending", "organ pipe", "sawtooth"])
@pytest.mark.parametrize("k", [1, 10, 999, 1000])
def test_selection_of_ordered_keys(order, k):
    count = np.arange(1000, dtype=np.int64)
    keys = {
        "ascending": count,
        "descending": count[::-1].copy(),
        "organ pipe": np.concatenate([count[::2], count[1::2][::-1]]),
        "sawtooth": (count * 37) % 1000,
    }[order]
    select_largest(keys, 1000, k)
    assert sorted(keys[:k].tolist()) == list(range(1000 - k, 1000))


def test_the_buffer_leaves_room_to_select_rarely():
    assert [buffer_size(k) for k in (0, 1, 64, 65, 1000)] == [256, 256, 256, 260, 4000]


@LAWS
@given(st.lists(st.integers(-(2**62), 2**62), max_size=80), st.integers(-1, 90))
def test_largest_keys_are_best_first(keys, k):
    found = largest_keys(np.array(keys, np.int64), k)
    assert found.tolist() == sorted(keys, reverse=True)[: max(k, 0)]


@LAWS
@given(st.lists(st.booleans(), max_size=300))
def test_a_mask_holds_row_r_at_bit_r(admitted):
    mask = pack_mask(np.array(admitted, np.bool_))
    rows = [row for row, seen in enumerate(admitted) if seen]
    assert mask.dtype == np.uint64
    assert mask.shape == ((len(admitted) + 63) // 64,)
    assert sum(int(word) << 64 * i for i, word in enumerate(mask)) == sum(1 << row for row in rows)
    assert admitted_rows(mask).tolist() == rows
    assert count_admitted(mask) == len(rows)


@LAWS
@given(st.lists(st.integers(-(2**20), 2**20), max_size=50), st.sampled_from([0, 8, 11]))
def test_statistics_are_those_of_the_shifted_scores(shifted, shift):
    scores = [value << shift for value in shifted]
    stats = ScanStats(*naive.score_sums(scores, list(range(len(scores))), shift))
    mean = math.fsum(scores) / len(scores) if scores else 0.0
    spread = math.fsum((score - mean) ** 2 for score in scores)
    assert stats.mean(shift) == pytest.approx(mean, rel=1e-12)
    assert stats.std(shift) == pytest.approx(math.sqrt(spread / max(len(scores), 1)), rel=1e-9)


def test_equal_scores_have_no_deviation_at_all():
    value = 123_457
    stats = ScanStats(1_000_003, 1_000_003 * value, 1_000_003 * value * value)
    assert stats.std(8) == 0.0
    assert ScanStats(0, 0, 0).mean(8) == 0.0
    assert ScanStats(0, 0, 0).std(8) == 0.0
