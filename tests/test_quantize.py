"""Codes of unit vectors: what they mean, that they never overflow, and what recall they keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels.numpy_path.int8_scan import dense_top_k
from cpersona_jit.kernels.numpy_path.sign_scan import two_phase_top_k
from cpersona_jit.kernels.quantize import (
    block_signs,
    cosine_scale,
    padded_width,
    quantize_query,
    quantize_rows,
    query_bit_planes,
    query_sign_words,
    row_scale,
    sign_words,
)
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.topk_order import unpack_keys

DIMS = st.integers(1, 1100)
SEEDS = st.integers(0, 2**32 - 1)
LAWS = settings(deadline=None, max_examples=60)


def unit_vectors(seed: int, n: int, dim: int, power: float = 1.0) -> np.ndarray:
    """Return random unit vectors; a higher power concentrates them on few coordinates."""
    normal = np.random.default_rng(seed).normal(size=(n, dim))
    vectors = np.sign(normal) * np.abs(normal) ** power
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


@pytest.mark.parametrize(("dim", "width"), [(1, 64), (64, 64), (65, 128), (384, 384), (1000, 1024)])
def test_rows_are_padded_to_whole_cache_lines(dim, width):
    assert padded_width(dim) == width
    vectors = unit_vectors(0, 2, dim)
    assert quantize_rows(vectors).shape == (2, width)
    assert not quantize_rows(vectors)[:, dim:].any()
    assert quantize_query(vectors[0])[0].shape == (2, width)
    assert sign_words(vectors).shape == (2, width // 64)
    assert query_bit_planes(vectors[0]).shape == (4, width // 64)


@LAWS
@given(SEEDS, DIMS, st.sampled_from([0.0, 1.0, 3.0, 40.0]))
def test_a_code_is_within_half_a_step_unless_clipped(seed, dim, power):
    vectors = unit_vectors(seed, 3, dim, power)
    codes = quantize_rows(vectors)[:, :dim].astype(np.float64)
    exact = np.clip(vectors.astype(np.float64) * row_scale(dim), -127, 127)
    assert np.abs(codes - exact).max() <= 0.5001


@LAWS
@given(SEEDS, DIMS)
def test_a_row_does_not_depend_on_the_other_rows(seed, dim):
    vectors = unit_vectors(seed, 5, dim)
    parts = [quantize_rows(vectors[i : i + 1]) for i in range(5)]
    assert np.array_equal(quantize_rows(vectors), np.concatenate(parts))


@LAWS
@given(SEEDS, DIMS, st.sampled_from([0.0, 1.0, 3.0, 40.0]))
def test_no_row_can_push_a_score_out_of_int32(seed, dim, power):
    vector = unit_vectors(seed, 1, dim, power)[0]
    planes, scale = quantize_query(vector)
    query = planes[0].astype(np.int64) * 128 + planes[1]
    assert 127 * np.abs(query).sum() <= 2**31 - 1
    assert planes[1].min() >= -64
    assert planes[1].max() <= 63
    error = np.abs(query[:dim] - vector.astype(np.float64) * scale)
    assert error.max() <= 0.5001


@LAWS
@given(SEEDS, DIMS)
def test_a_query_uses_its_fifteen_bits(seed, dim):
    planes, _ = quantize_query(unit_vectors(seed, 1, dim)[0])
    query = np.abs(planes[0].astype(np.int64) * 128 + planes[1])
    full_sum = 127 * query.sum() >= 0.999 * (2**31 - 1)
    assert query.max() == 16256 or full_sum


def test_a_zero_query_scores_zero():
    planes, scale = quantize_query(np.zeros(70, np.float32))
    assert scale == 1.0
    assert not planes.any()
    assert not query_bit_planes(np.zeros(70, np.float32)).any()


@pytest.mark.parametrize("dim", [64, 256, 384, 512, 768, 1024])
def test_a_score_over_its_scale_is_the_cosine(dim):
    vectors = unit_vectors(1, 40, dim)
    query = vectors[0]
    planes, scale = quantize_query(query)
    exact = planes[0].astype(np.int64) * 128 + planes[1]
    cosines = quantize_rows(vectors).astype(np.int64) @ exact / cosine_scale(dim, scale)
    assert np.abs(cosines - vectors @ query).max() < 0.01


@LAWS
@given(SEEDS, st.integers(0, 20), DIMS)
def test_sign_bits_and_their_blocks(seed, n, dim):
    vectors = unit_vectors(seed, n, dim)
    vectors[:, ::3] = 0.0
    words = sign_words(vectors)
    blocks = block_signs(words)
    assert blocks.shape == ((n + 7) // 8, padded_width(dim) // 64, 8)
    assert blocks.flags.c_contiguous
    for row in range(blocks.shape[0] * 8):
        for word in range(words.shape[1]):
            bits = vectors[row, 64 * word : 64 * word + 64] > 0 if row < n else []
            expected = sum(1 << j for j, bit in enumerate(bits) if bit)
            assert int(blocks[row // 8, word, row % 8]) == expected
    if n:
        assert np.array_equal(query_sign_words(vectors[0]), words[0])


@LAWS
@given(SEEDS, DIMS)
def test_bit_planes_hold_the_four_bit_query(seed, dim):
    vector = unit_vectors(seed, 1, dim)[0]
    planes = [sum(int(w) << 64 * i for i, w in enumerate(p)) for p in query_bit_planes(vector)]
    largest = float(np.abs(vector).max())
    for j in range(padded_width(dim)):
        bits = [plane >> j & 1 for plane in planes]
        value = bits[0] + 2 * bits[1] + 4 * bits[2] - 8 * bits[3]
        exact = 7 * float(vector[j]) / largest if j < dim else 0.0
        assert abs(value - exact) <= 0.5001


def test_recall_of_the_codes_on_vectors_with_neighbours():
    dim, n, n_queries = 384, 6000, 40
    vectors = unit_vectors(7, n, dim)
    mask = pack_mask(np.ones(n, np.bool_))
    codes, signs = quantize_rows(vectors), block_signs(sign_words(vectors))
    full, two_phase = 0, 0
    for i in range(n_queries):
        query = vectors[i] + 0.5 * vectors[i + 100] + 0.3 * vectors[i + 200]
        query /= np.linalg.norm(query)
        exact = set(np.argsort(-(vectors @ query), kind="stable")[:10].tolist())
        planes, _ = quantize_query(query)
        keys, _ = dense_top_k(codes, planes, mask, 10)
        full += len(exact & set(unpack_keys(keys)[0].tolist()))
        four_bit = query_bit_planes(query)
        keys = two_phase_top_k(signs, four_bit, codes, planes, mask, 600, 10)
        two_phase += len(exact & set(unpack_keys(keys)[0].tolist()))
    assert full / n_queries / 10 >= 0.96
    assert two_phase / n_queries / 10 >= 0.93
