"""A query's grams found and scored in one call each, beside what is counted text by text."""

from __future__ import annotations

from typing import NamedTuple

import naive
import numpy as np
import pytest
from gram_cases import BUILDERS
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import gram_find, gram_score
from cpersona_jit.kernels.numpy_path import gram_find as numpy_find
from cpersona_jit.kernels.numpy_path import gram_score as numpy_score
from cpersona_jit.kernels.row_mask import pack_mask

PATHS = [(gram_find, gram_score), (numpy_find, numpy_score)]
WORDS = ["green", "tea", "matcha", "Green", "TEA", "garden", "tttttttt", "42"]
WORDS += ["庭", "緑茶", "緑茶の庭", "すもももももも", "猫"]
SEEDS = st.integers(0, 2**32 - 1)
SHARES = st.sampled_from([0.0, 0.1, 0.6, 1.0])


class Texts(NamedTuple):
    """Some texts, of which the first are indexed and the others are not."""

    grams: list  # {gram: count} of each
    index: object
    tail: tuple
    admitted: np.ndarray

    @property
    def given(self):
        return self.index, self.tail, pack_mask(self.admitted)


def random_texts(rng, count, size, share):
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 6))) for _ in range(count)]
    grams = [naive.gram_keys(text, size) for text in texts]
    indexed = int(rng.integers(0, count + 1))
    index = BUILDERS[0](*as_rows(grams[:indexed]), indexed)
    return Texts(grams, index, as_rows(grams[indexed:]), rng.random(count) < share)


def as_rows(grams):
    """The rows of some texts; counts above 3 are clipped by whoever makes them."""
    row_ptr = np.cumsum([0] + [len(row) for row in grams]).astype(np.int64)
    keys = [key for row in grams for key in sorted(row)]
    counts = [min(row[key], 3) for row in grams for key in sorted(row)]
    return row_ptr, np.array(keys, np.uint64), np.array(counts, np.uint8)


def levels_of(texts, key):
    """The admitted texts that have a gram at least once, twice, three times."""
    return [
        {n for n, row in enumerate(texts.grams) if texts.admitted[n] and row.get(key, 0) >= level}
        for level in (1, 2, 3)
    ]


def points_of(query):
    return np.array([ord(char) for char in query], np.uint32)


def naive_scores(texts, keys, weights, factor):
    scores = [0] * len(texts.grams)
    for gram, key in enumerate(keys):
        for level, members in enumerate(levels_of(texts, key)):
            for text in members:
                scores[text] += int(weights[level, gram])
    return [score * int(by) for score, by in zip(scores, factor, strict=True)]


@settings(deadline=None, max_examples=80)
@given(
    seed=SEEDS,
    n=st.sampled_from([0, 1, 5, 64, 90]),
    nb=st.sampled_from([0, 1, 70]),
    size=st.sampled_from([3, 4]),
    share=SHARES,
)
def test_grams_are_found_and_scored(seed, n, nb, size, share):
    rng = np.random.default_rng(seed)
    rows, parted = random_texts(rng, n, size, share), np.flatnonzero(rng.random(n) < 0.5)
    nb = nb if parted.size else 0
    blocks = random_texts(rng, nb, size, share)
    query = f" {' '.join(rng.choice(WORDS, rng.integers(0, 5))).lower()} "
    cut = naive.gram_keys(query, size) if query.strip() else {}
    points = points_of(query if query.strip() else "")
    block_ptr = np.sort(rng.integers(0, nb + 1, parted.size + 1)).astype(np.int64)
    block_ptr[0], block_ptr[-1] = 0, nb
    factor = rng.choice([0, 1, 40_000, 65_535], n).astype(np.uint16)
    block_factor = rng.choice([1, 50_000], nb).astype(np.uint16)
    for finding, scoring in PATHS:
        found = finding.find_grams(points, size, *rows.given, *blocks.given)
        assert found.keys.tolist() == sorted(cut)
        check_frequencies(found, rows)
        weights = rng.integers(0, 65535 // (3 * len(cut) + 1), (3, len(cut))).astype(np.uint16)
        of_rows = np.full(n, 77, np.uint32)
        own, best = np.full((2, parted.size), 77, np.int64)
        scoring.score_grams(
            *(found, weights, rows.index, factor, pack_mask(rows.admitted)),
            *(blocks.index, block_factor, pack_mask(blocks.admitted)),
            *(block_ptr, parted, of_rows, own, best),
        )
        expected = naive_scores(rows, found.keys.tolist(), weights, factor)
        assert of_rows.tolist() == expected
        assert own.tolist() == [expected[row] for row in parted]
        of_blocks = naive_scores(blocks, found.keys.tolist(), weights, block_factor)
        assert best.tolist() == naive.best_of_blocks(
            block_ptr.tolist(), of_blocks, blocks.admitted.tolist(), own.tolist()
        )


def check_frequencies(found, rows):
    """Those of the lists count every indexed row, those of the tail the admitted ones."""
    indexed = rows.index.n
    for gram, key in enumerate(found.keys.tolist()):
        for level in (1, 2, 3):
            held = [n for n, row in enumerate(rows.grams) if row.get(key, 0) >= level]
            in_lists = [n for n in held if n < indexed]
            assert found.frequency[level - 1, gram] == len(in_lists)
            assert (found.lists[level - 1, gram] >= 0) == bool(in_lists)
            behind = [n for n in held if n >= indexed and rows.admitted[n]]
            assert found.tail.frequency[level - 1, gram] == len(behind)


@pytest.mark.parametrize("path", PATHS)
def test_the_arrays_of_both_paths_are_of_one_kind(path):
    rng = np.random.default_rng(0)
    texts = random_texts(rng, 40, 3, 0.7)
    found = path[0].find_grams(points_of(" green tea 緑茶 "), 3, *texts.given, *texts.given)
    assert [
        part.dtype for part in (found.keys, found.lists, found.frequency, found.block_lists)
    ] == [
        np.uint64,
        np.int64,
        np.int64,
        np.int64,
    ]
    for tail in (found.tail, found.block_tail):
        assert [part.dtype for part in tail] == [np.int64, np.int64, np.uint8, np.int64]
