"""Sign scans: Numba, NumPy and the naive twins give the same rows and scores."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import sign_scan
from cpersona_jit.kernels.numpy_path import sign_scan as numpy_path
from cpersona_jit.kernels.quantize import (
    block_signs,
    quantize_query,
    quantize_rows,
    query_bit_planes,
    query_sign_words,
    sign_words,
)
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.topk_order import unpack_keys

LAWS = settings(deadline=None, max_examples=60)
PATHS = pytest.mark.parametrize("path", [sign_scan, numpy_path], ids=["numba", "numpy"])


@st.composite
def scans(draw):
    """Draw sign words, query planes, a mask and k; few distinct words make many ties."""
    n = draw(st.one_of(st.integers(0, 9), st.integers(60, 70), st.integers(120, 200)))
    width = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    words = rng.integers(0, 2**64, (n, width), dtype=np.uint64)
    if draw(st.booleans()):
        words &= np.uint64(0x8000000000000005)
    planes = rng.integers(0, 2**64, (4, width), dtype=np.uint64)
    admitted = rng.random(n) < draw(st.sampled_from([0.0, 0.03, 0.5, 1.0]))
    k = draw(st.sampled_from([0, 1, 2, 10, 64, 300]))
    return words, planes, admitted, k


def found_rows(keys: np.ndarray) -> list[tuple[int, int]]:
    assert keys.dtype == np.int64
    assert keys.tolist() == sorted(keys.tolist(), reverse=True)
    return list(zip(*(part.tolist() for part in unpack_keys(keys)), strict=True))


def padded(scores: np.ndarray) -> np.ndarray:
    """Scores followed by the largest ones there are, up to a multiple of 64."""
    out = np.full((scores.size + 63) // 64 * 64, 2**31 - 1, np.int32)
    out[: scores.size] = scores
    return out


@PATHS
@LAWS
@given(scan=scans())
def test_hamming(path, scan):
    words, planes, admitted, k = scan
    query = planes[0]
    keys = path.hamming_top_k(block_signs(words), query, len(words), pack_mask(admitted), k)
    scores = naive.hamming_scores(words.tolist(), query.tolist())
    rows = np.flatnonzero(admitted).tolist()
    assert found_rows(keys) == naive.best_rows(scores, rows, k)


@PATHS
@LAWS
@given(scan=scans())
def test_planes(path, scan):
    words, planes, admitted, k = scan
    keys = path.planes_top_k(block_signs(words), planes, len(words), pack_mask(admitted), k)
    scores = naive.plane_scores(words.tolist(), planes.tolist())
    rows = np.flatnonzero(admitted).tolist()
    assert found_rows(keys) == naive.best_rows(scores, rows, k)


@PATHS
@LAWS
@given(scan=scans())
def test_scores_of_all_rows(path, scan):
    words, planes, admitted, _ = scan
    out = np.full((len(words) + 7) // 8 * 8, -99, np.int32)
    path.planes_all(block_signs(words), planes, len(words), pack_mask(admitted), out)
    scores = naive.plane_scores(words.tolist(), planes.tolist())
    rows = np.flatnonzero(admitted)
    assert out[rows].tolist() == [scores[row] for row in rows]


@PATHS
@LAWS
@given(scan=scans(), lowest=st.booleans())
def test_best_estimates(path, scan, lowest):
    words, planes, admitted, k = scan
    scores = np.array(naive.plane_scores(words.tolist(), planes.tolist()), np.int32)
    if lowest and scores.size:
        scores[:: scores.size // 3 + 1] = -(2**31)
    rows = path.best_estimates(padded(scores), pack_mask(admitted), k)
    assert rows.dtype == np.int64
    best = naive.best_rows(scores.tolist(), np.flatnonzero(admitted).tolist(), k)
    assert rows.tolist() == sorted(row for row, _ in best)


@PATHS
@LAWS
@given(scan=scans(), shortlist=st.sampled_from([0, 1, 5, 40, 1000]))
def test_two_phases(path, scan, shortlist):
    words, planes, admitted, k = scan
    rng = np.random.default_rng(k)
    width = 64 * words.shape[1]
    codes = rng.integers(-2, 3, (len(words), width)).astype(np.int8)
    int8_planes = rng.integers(-3, 4, (2, width)).astype(np.int8)
    keys = path.two_phase_top_k(
        block_signs(words), planes, codes, int8_planes, pack_mask(admitted), shortlist, k
    )
    first = naive.plane_scores(words.tolist(), planes.tolist())
    second = naive.int8_scores(codes.tolist(), int8_planes.tolist())
    rows = np.flatnonzero(admitted).tolist()
    assert found_rows(keys) == naive.two_phase_rows(first, second, rows, shortlist, k)


@PATHS
@pytest.mark.parametrize("k", [1, 7, 100])
@pytest.mark.parametrize("order", ["ascending", "descending", "equal", "step", "mixed"])
def test_orders_that_fill_the_buffer_again_and_again(path, k, order):
    n = 2005
    value = {
        "ascending": np.arange(n) * 256 // n,
        "descending": np.arange(n)[::-1] * 256 // n,
        "equal": np.full(n, 77),
        "step": np.where(np.arange(n) < n // 2, 76, 77),
        "mixed": (np.arange(n) * 37) % 101,
    }[order]
    # A row of `value` set bits scores exactly that in plane 0, and less by that in distance.
    words = sign_words((np.arange(256) < value[:, np.newaxis]).astype(np.float32))
    planes = np.zeros((4, 4), np.uint64)
    planes[0] = 2**64 - 1
    mask = pack_mask(np.ones(n, np.bool_))
    rows = list(range(n))
    keys = path.planes_top_k(block_signs(words), planes, n, mask, k)
    assert found_rows(keys) == naive.best_rows(value.tolist(), rows, k)
    keys = path.hamming_top_k(block_signs(words), np.zeros(4, np.uint64), n, mask, k)
    assert found_rows(keys) == naive.best_rows((-value).tolist(), rows, k)
    best = naive.best_rows(value.tolist(), rows, k)
    found = path.best_estimates(padded(value), mask, k)
    assert found.tolist() == sorted(row for row, _ in best)


@pytest.mark.parametrize("dim", [256, 384, 1000])
def test_vectors_end_to_end_against_numpy(dim):
    rng = np.random.default_rng(dim)
    vectors = rng.normal(size=(1501, dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    signs, codes = block_signs(sign_words(vectors)), quantize_rows(vectors)
    mask = pack_mask(rng.random(1501) < 0.6)
    for query in vectors[:5]:
        four_bit, (planes, _) = query_bit_planes(query), quantize_query(query)
        arguments = (signs, four_bit, codes, planes, mask, 200, 10)
        assert np.array_equal(
            sign_scan.two_phase_top_k(*arguments), numpy_path.two_phase_top_k(*arguments)
        )
        arguments = (signs, query_sign_words(query), 1501, mask, 50)
        assert np.array_equal(
            sign_scan.hamming_top_k(*arguments), numpy_path.hamming_top_k(*arguments)
        )
