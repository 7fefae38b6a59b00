"""The int8 scan: Numba in every tier, NumPy and the naive twin give the same integers."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import int8_scan
from cpersona_jit.kernels.cpu import available_tiers, compiled_features
from cpersona_jit.kernels.numpy_path import int8_scan as numpy_path
from cpersona_jit.kernels.quantize import quantize_query, quantize_rows
from cpersona_jit.kernels.row_mask import admitted_rows, pack_mask
from cpersona_jit.kernels.scan_stats import DENSE_STAT_SHIFT
from cpersona_jit.kernels.topk_order import largest_keys, pack_keys, unpack_keys

TIERS = available_tiers(compiled_features())
LAWS = settings(deadline=None, max_examples=50)


@st.composite
def scans(draw):
    """Draw codes, planes and a mask; a small range of values makes many ties."""
    n = draw(st.one_of(st.integers(0, 9), st.integers(60, 70), st.integers(120, 260)))
    width = draw(st.sampled_from([64, 128, 192]))
    largest = draw(st.sampled_from([0, 1, 127]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.integers(-largest, largest + 1, (n, width)).astype(np.int8)
    high = rng.integers(-largest, largest + 1, width)
    low = rng.integers(-min(largest, 64), min(largest, 63) + 1, width)
    planes = np.stack([high, low]).astype(np.int8)
    admitted = rng.random(n) < draw(st.sampled_from([0.0, 0.03, 0.5, 1.0]))
    k = draw(st.sampled_from([0, 1, 2, 10, 64, 300]))
    return codes, planes, admitted, k


def check_against_the_naive_twin(scan, codes, planes, admitted, k):
    keys, stats = scan(codes, planes, pack_mask(admitted), k)
    scores = naive.int8_scores(codes.tolist(), planes.tolist())
    rows = np.flatnonzero(admitted).tolist()
    found = list(zip(*(part.tolist() for part in unpack_keys(keys)), strict=True))
    assert found == naive.best_rows(scores, rows, k)
    assert tuple(stats) == naive.score_sums(scores, rows, DENSE_STAT_SHIFT)
    assert keys.dtype == np.int64
    assert keys.tolist() == sorted(keys.tolist(), reverse=True)


@pytest.mark.parametrize("tier", TIERS)
@LAWS
@given(scan=scans())
def test_every_tier_is_the_naive_scan(tier, scan):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int8_scan, "TIER", int8_scan.TIER_TAGS[tier])
        check_against_the_naive_twin(int8_scan.dense_top_k, *scan)


@LAWS
@given(scan=scans())
def test_numpy_is_the_naive_scan(scan):
    check_against_the_naive_twin(numpy_path.dense_top_k, *scan)


@st.composite
def parted_scans(draw):
    """Draw rows of which some own blocks, rows and blocks without vectors, and rows to ask for."""
    codes, planes, admitted, _ = draw(scans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parted = np.flatnonzero(rng.random(len(codes)) < 0.4)
    ptr = np.zeros(len(parted) + 1, np.int64)
    np.cumsum(rng.integers(0, 4, len(parted)), out=ptr[1:])
    block_codes = rng.integers(-9, 10, (int(ptr[-1]), codes.shape[1])).astype(np.int8)
    has_vector = rng.random(len(block_codes)) < 0.8
    any_row = st.integers(0, max(len(codes) - 1, 0))
    asked = draw(st.lists(st.lists(any_row, max_size=0 if len(codes) == 0 else 30), max_size=3))
    return codes, block_codes, planes, admitted, has_vector, parted, ptr, asked


def check_rows_asked_for(dense_at, scan):
    codes, block_codes, planes, admitted, has_vector, parted, ptr, asked = scan
    place = np.full(len(codes), -1, np.int32)
    place[parted] = np.arange(len(parted))
    known, dense = np.zeros(len(codes), bool), np.full(len(codes), -5, np.int32)
    own, best = np.full((2, len(parted)), -5, np.int64)
    masks = pack_mask(admitted), pack_mask(has_vector)
    for rows in asked:
        where = place, ptr, np.array([77, 99]), np.array(rows, np.int64), known
        dense_at(codes, block_codes, planes, *masks, *where, dense, own, best)
    of_rows = naive.int8_scores(codes.tolist(), planes.tolist())
    of_blocks = naive.int8_scores(block_codes.tolist(), planes.tolist())
    seen = {row for rows in asked for row in rows}
    assert np.flatnonzero(known).tolist() == sorted(seen)
    for row in range(len(codes)):
        score = of_rows[row] if admitted[row] else 77
        assert dense[row] == (score if row in seen else -5)
        if place[row] < 0:
            continue
        at = int(place[row])
        blocks = [of_blocks[b] for b in range(ptr[at], ptr[at + 1]) if has_vector[b]]
        expected = (score, max(blocks, default=score) if admitted[row] else 99)
        assert (own[at], best[at]) == (expected if row in seen else (-5, -5))


@pytest.mark.parametrize("tier", TIERS)
@LAWS
@given(scan=parted_scans())
def test_every_tier_measures_the_rows_asked_for(tier, scan):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int8_scan, "TIER", int8_scan.TIER_TAGS[tier])
        check_rows_asked_for(int8_scan.dense_at, scan)


@LAWS
@given(scan=parted_scans())
def test_numpy_measures_the_rows_asked_for(scan):
    check_rows_asked_for(numpy_path.dense_at, scan)


@pytest.mark.parametrize("tier", TIERS)
@LAWS
@given(scan=scans(), data=st.data())
def test_scores_of_chosen_rows(tier, scan, data):
    codes, planes, _, _ = scan
    any_row = st.integers(0, max(len(codes) - 1, 0))
    chosen = data.draw(st.lists(any_row, max_size=0 if len(codes) == 0 else 20))
    rows = np.array(chosen, np.int64)
    scores = naive.int8_scores(codes.tolist(), planes.tolist())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int8_scan, "TIER", int8_scan.TIER_TAGS[tier])
        found = int8_scan.dense_scores(codes, planes, rows)
    assert found.tolist() == [scores[row] for row in chosen]
    assert numpy_path.dense_scores(codes, planes, rows).tolist() == found.tolist()
    assert found.dtype == np.int64


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("dim", [64, 384, 1000, 1024, 4096])
def test_the_largest_possible_scores(tier, dim, monkeypatch):
    monkeypatch.setattr(int8_scan, "TIER", int8_scan.TIER_TAGS[tier])
    # Rows that agree with the signs of the query, or oppose them, reach what int32 can hold.
    query = np.random.default_rng(dim).uniform(0.5, 1.0, dim).astype(np.float32)
    query[::2] *= -1
    planes, _ = quantize_query(query / np.linalg.norm(query))
    exact = planes[0].astype(np.int64) * 128 + planes[1]
    agreeing = (127 * np.sign(exact)).astype(np.int8)
    codes = np.stack([agreeing, -agreeing, agreeing, np.zeros_like(agreeing), -agreeing])
    rows = np.arange(5)
    scores = int8_scan.dense_scores(codes, planes, rows).tolist()
    assert scores == naive.int8_scores(codes.tolist(), planes.tolist())
    assert scores[0] == 127 * np.abs(exact).sum()
    assert scores[0] == -scores[1]
    check_against_the_naive_twin(int8_scan.dense_top_k, codes, planes, rows >= 0, 3)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("k", [1, 7, 100, 2500])
@pytest.mark.parametrize("order", ["ascending", "descending", "equal", "step", "mixed"])
def test_orders_that_fill_the_buffer_again_and_again(tier, k, order, monkeypatch):
    monkeypatch.setattr(int8_scan, "TIER", int8_scan.TIER_TAGS[tier])
    n = 3001
    value = {
        "ascending": np.arange(n),
        "descending": np.arange(n)[::-1],
        "equal": np.full(n, 5),
        "step": np.where(np.arange(n) < n // 2, 76, 77),
        "mixed": (np.arange(n) * 37) % 101,
    }[order]
    codes = np.zeros((n, 64), np.int8)
    codes[:, 0], codes[:, 1] = value // 100, value % 100
    planes = np.zeros((2, 64), np.int8)
    planes[0, 0], planes[1, 1] = 1, 1
    mask = pack_mask(np.ones(n, np.bool_))
    keys, stats = int8_scan.dense_top_k(codes, planes, mask, k)
    scores = (128 * (value // 100) + value % 100).tolist()
    found = list(zip(*(part.tolist() for part in unpack_keys(keys)), strict=True))
    assert found == naive.best_rows(scores, list(range(n)), k)
    assert tuple(stats) == naive.score_sums(scores, list(range(n)), DENSE_STAT_SHIFT)


@LAWS
@given(scan=scans(), cut=st.integers(0, 4))
def test_parts_of_a_mask_merge_to_the_whole(scan, cut):
    codes, planes, admitted, k = scan
    whole, stats = int8_scan.dense_top_k(codes, planes, pack_mask(admitted), k)
    first = admitted & (np.arange(len(admitted)) < 64 * cut + 17)
    parts = [
        int8_scan.dense_top_k(codes, planes, pack_mask(part), k)
        for part in (first, admitted & ~first)
    ]
    merged = largest_keys(np.concatenate([keys for keys, _ in parts]), k)
    assert np.array_equal(merged, whole)
    assert tuple(sum(pair) for pair in zip(*(s for _, s in parts), strict=True)) == tuple(stats)


@pytest.mark.parametrize("dim", [256, 384, 512, 1024])
def test_real_widths_against_numpy(dim):
    rng = np.random.default_rng(dim)
    vectors = rng.normal(size=(2003, dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = quantize_rows(vectors)
    mask = pack_mask(rng.random(2003) < 0.7)
    for query in vectors[:5]:
        planes, _ = quantize_query(query)
        keys, stats = int8_scan.dense_top_k(codes, planes, mask, 100)
        expected, expected_stats = numpy_path.dense_top_k(codes, planes, mask, 100)
        assert np.array_equal(keys, expected)
        assert stats == expected_stats
        rows = admitted_rows(mask)[::-1].copy()
        scores = int8_scan.dense_scores(codes, planes, rows)
        assert np.array_equal(largest_keys(pack_keys(scores, rows), 100), keys)
