"""Grams: the normal form of a text, and its keys against a twin in plain Python."""

from __future__ import annotations

import unicodedata

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.text.grams import GRAM_SIZES, MAX_COUNT, code_points, gram_keys, normalise

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
MIXED = st.text(st.sampled_from("abAB _.記憶がガｶﾞ々ーＡ１𠮷🎉\u0301\u200d\ud800\0"), max_size=40)
TEXTS = ANY_TEXT | MIXED


def grams(text: str, size: int) -> dict[int, int]:
    keys, counts = gram_keys(code_points(normalise(text)), size)
    return dict(zip(keys.tolist(), counts.tolist(), strict=True))


def held(text: str, gram: str) -> bool:
    """Whether the gram, in its normal form, is among those of the text."""
    return naive.packed_gram(gram) in grams(text, 3)


@given(TEXTS, st.sampled_from(GRAM_SIZES))
def test_keys_and_counts_are_those_of_the_twin(text: str, size: int) -> None:
    assert grams(text, size) == naive.gram_keys(normalise(text), size)


@given(TEXTS, st.sampled_from(GRAM_SIZES))
def test_keys_are_sorted_and_distinct_and_counts_clipped(text: str, size: int) -> None:
    keys, counts = gram_keys(code_points(normalise(text)), size)
    assert keys.dtype == np.uint64
    assert counts.dtype == np.uint8
    assert np.all(keys[1:] > keys[:-1])
    assert counts.size == keys.size
    assert np.all((counts >= 1) & (counts <= MAX_COUNT))


@given(TEXTS)
def test_normal_form_has_one_space_between_words_and_at_either_end(text: str) -> None:
    form = normalise(text)
    if not form:
        assert not any(c.isalnum() for c in unicodedata.normalize("NFKC", text))
        return
    assert form[0] == form[-1] == " "
    words = form[1:-1].split(" ")
    assert all(word and word.isalnum() for word in words)


@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(TEXTS)
def test_code_points_are_those_of_the_text(text: str) -> None:
    assert code_points(text).tolist() == [ord(char) for char in text]


@given(st.text(st.sampled_from("abｱ語 "), max_size=12), st.text(max_size=12))
def test_grams_of_a_part_are_grams_of_the_whole(part: str, rest: str) -> None:
    whole = grams(f"{part} {rest}", 4)
    assert set(grams(part, 4)) <= set(whole)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ｍｅｍｏｒｙ　１２３", "memory 123"),  # full width, ideographic space
        ("ｶﾞｷﾞｸﾞ", "ガギグ"),  # half-width kana with their voice marks
        ("ﾒﾓﾘｰ", "メモリー"),
        ("㍿", "株式会社"),  # one sign that stands for four
        ("ﬁne", "fine"),
        ("cafe\u0301", "café"),  # letter and accent apart, or in one
        ("が", "か\u3099"),
        ("Straße!", "straße"),
        ("don't", "don t"),
        ("snake_case", "snake case"),
        ("  a\n\tb ", "a b"),
    ],
)
def test_two_ways_of_writing_one_text_have_one_form(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


def test_japanese_without_spaces_is_found_by_its_words() -> None:
    text = "昨日は京都で抹茶を飲みました"
    assert held(text, "京都")
    assert held(text, "抹茶")
    assert not held(text, "東京")
    # A query of two characters shares its 2-gram; as a 3-gram it would have none but its edges.
    assert set(grams("抹茶", 3)) & set(grams(text, 3))


def test_pairs_are_taken_inside_cjk_runs_only() -> None:
    assert held("東京tower", "東京")
    assert not held("東京tower", "京t")
    assert not held("東 京", "東京")
    assert not held("tokyo", "to")


def test_a_repeated_ideograph_is_part_of_its_run() -> None:
    assert held("人々が集まる", "人々")
    assert held("二〇二五年", "〇二")


def test_latin_words_keep_grams_of_their_edges() -> None:
    assert held("I like tea", "tea")
    assert held("I like tea", " te")
    assert held("I like tea", "ea ")
    assert held("tea", " te")
    assert not held("steam", " te")


def test_ideographs_beyond_the_first_plane_are_one_character_each() -> None:
    assert normalise("𠮷野家") == " 𠮷野家 "
    assert held("𠮷野家で", "𠮷野")
    assert held("𠮷野家で", "𠮷野家")


@pytest.mark.parametrize(
    "text", ["", " ", "...!?", "🎉🎉", "👩\u200d👧", "\0", "\ud800", "。、", "_"]
)
@pytest.mark.parametrize("size", GRAM_SIZES)
def test_a_text_without_word_characters_has_no_grams(text: str, size: int) -> None:
    assert normalise(text) == ""
    assert grams(text, size) == {}


@pytest.mark.parametrize("separator", ["🎉", "\0", "\udc00", "\u200b", "・"])
def test_what_is_no_word_character_separates(separator: str) -> None:
    assert normalise(f"tea{separator}cup") == " tea cup "


def test_a_single_character_has_its_own_gram() -> None:
    assert set(grams("猫", 3)) == {naive.packed_gram(" 猫 ")}
    assert grams("猫", 4) == {}


def test_counts_stop_at_three() -> None:
    assert grams("aaaaaaa", 3)[naive.packed_gram("aaa")] == 3
    assert grams("tea tea", 3)[naive.packed_gram("tea")] == 2


def test_a_pair_is_never_taken_for_a_triple() -> None:
    """Both live in one vocabulary: the smallest triple starts with a space."""
    largest_pair = naive.packed_gram("\U000323af\U000323af")
    assert largest_pair < naive.packed_gram("   ")
