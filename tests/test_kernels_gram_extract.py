"""Grams of many texts at once: Numba, NumPy and the naive twin agree exactly."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import gram_extract
from cpersona_jit.kernels.numpy_path import gram_extract as numpy_gram_extract
from cpersona_jit.text.grams import GRAM_SIZES, code_points, gram_keys, normalise

MODULES = [gram_extract, numpy_gram_extract]
WRITTEN = st.text(st.sampled_from("abcdeAB _.記憶がガｶﾞ々ーＡ１𠮷🎉\0"), max_size=120)
ANY_TEXT = st.text(max_size=60)


def as_points(texts):
    points = [code_points(text).astype(np.uint32) for text in texts]
    ptr = np.cumsum([0] + [p.size for p in points]).astype(np.int64)
    return np.concatenate([np.zeros(0, np.uint32), *points]), ptr


def check(texts, size):
    for module in MODULES:
        row_ptr, keys, counts = module.extract_grams(*as_points(texts), size)
        assert (row_ptr.dtype, keys.dtype, counts.dtype) == (np.int64, np.uint64, np.uint8)
        assert row_ptr.size == len(texts) + 1
        assert row_ptr[-1] == keys.size == counts.size
        for text, start, end in zip(texts, row_ptr[:-1], row_ptr[1:], strict=True):
            found = list(zip(keys[start:end].tolist(), counts[start:end].tolist(), strict=True))
            assert found == sorted(naive.gram_keys(text, size).items())


@pytest.mark.parametrize("size", GRAM_SIZES)
@settings(deadline=None, max_examples=80)
@given(texts=st.lists(WRITTEN | ANY_TEXT, max_size=8))
def test_grams_are_those_of_each_text(size, texts):
    check([normalise(text) for text in texts], size)


@pytest.mark.parametrize("size", GRAM_SIZES)
@settings(deadline=None, max_examples=40)
@given(texts=st.lists(st.text(max_size=40), max_size=5))
def test_texts_that_are_not_normalised_are_cut_alike(size, texts):
    """A pair of letters has the key of a triple that begins with code point 0."""
    check([*texts, "\0記憶\0記憶"], size)


@pytest.mark.parametrize("size", GRAM_SIZES)
@pytest.mark.parametrize("length", [20, 30, 90, 1022, 1030, 2500, 5000, 9000])
@pytest.mark.parametrize("letters", [2, 30, 3000, 30_000])
def test_texts_of_any_length_and_alphabet(size, length, letters):
    rng = np.random.default_rng(length)
    drawn = (letters * rng.random((2, length)) ** 2).astype(int)
    latin, cjk = ("".join(map(chr, row)) for row in drawn + np.array([[97], [0x4E00]]))
    check([f" {latin} ", f" {cjk} ", f" {latin[: length // 2]}{cjk[: length // 2]} "], size)


def test_a_text_whose_hashes_begin_alike_is_sorted_all_the_same():
    """Each letter is chosen so that its gram's hash begins with ten zeros."""
    letters = np.arange(0x4E00, 0x9F00, dtype=np.uint64)
    text = [0x4E00, 0x4E01, 0x4E02]
    while len(text) < 600:
        grams = np.repeat(np.array([[*text[-3:], 0]], np.uint64), letters.size, axis=0)
        grams[:, 3] = letters
        begins = hashes(grams) >> np.uint64(54) == 0
        text.append(int(np.random.default_rng(len(text)).choice(letters[begins])))
    check(["".join(map(chr, text))], 4)


def hashes(grams):
    """Key of each row of four code points, through texts of four letters."""
    ptr = np.arange(0, grams.size + 1, 4)
    return gram_extract.extract_grams(grams.astype(np.uint32).ravel(), ptr, 4)[1]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("size", GRAM_SIZES)
def test_no_texts_and_texts_without_letters(module, size):
    assert [a.tolist() for a in module.extract_grams(*as_points([]), size)] == [[0], [], []]
    row_ptr, keys, counts = module.extract_grams(*as_points(["", " a ", ""]), size)
    assert row_ptr.tolist() == ([0, 0, 1, 1] if size == 3 else [0, 0, 0, 0])
    assert keys.size == counts.size == row_ptr[-1]


@pytest.mark.parametrize("size", GRAM_SIZES)
def test_code_points_that_cannot_be_written_to_are_taken(size):
    text = normalise("昨日は京都で抹茶を飲みました")
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    _, keys, counts = gram_extract.extract_grams(points, np.array([0, points.size]), size)
    expected = gram_keys(code_points(text), size)
    assert keys.tobytes() == expected[0].tobytes()
    assert counts.tobytes() == expected[1].tobytes()
