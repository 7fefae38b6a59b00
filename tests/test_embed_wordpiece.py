"""WordPiece against ids of the reference tokenizer, and on small vocabularies."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cpersona_jit.embed
from cpersona_jit.embed.weights import file_sha256
from cpersona_jit.embed.wordpiece import WordPiece
from cpersona_jit.errors import EmbeddingError

BERT = Path(cpersona_jit.embed.__file__).parent / "data" / "bert_base_uncased_vocab.txt"


@pytest.fixture(scope="module")
def bert():
    return WordPiece(BERT, 256)


@pytest.fixture
def make(tmp_path):
    def make(tokens, max_tokens=32, lowercase=True):
        path = tmp_path / "vocab.txt"
        path.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *tokens]), "utf-8")
        return WordPiece(path, max_tokens, lowercase)

    return make


def test_the_shipped_vocabulary_is_the_documented_one():
    readme = (BERT.parent / "README.md").read_text("utf-8")
    assert file_sha256(BERT) in readme


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (
            "I adopted a kitten, didn't I?",
            [101, 1045, 4233, 1037, 18401, 1010, 2134, 1005, 1056, 1045, 1029, 102],
        ),
        (
            "Naïve café: $5.30 + tax",
            [101, 15743, 7668, 1024, 1002, 1019, 1012, 2382, 1009, 4171, 102],
        ),
        ("ＡＢＣ１２３ ½", [101, 100, 1092, 102]),
        (
            "東京タワーへ行った！\u3000楽しかった。",
            [
                101,
                1879,
                1755,
                1709,
                30262,
                30265,
                30201,
                1945,
                1663,
                30187,
                1986,
                100,
                1657,
                30177,
                30189,
                30187,
                1636,
                102,
            ],
        ),
        (
            "アナ: リスボンに引っ越しました",
            [
                101,
                1693,
                30241,
                1024,
                1732,
                30233,
                30248,
                30263,
                30194,
                100,
                1663,
                100,
                1657,
                30203,
                30183,
                30187,
                102,
            ],
        ),
        ("İSTANBUL ΟΔΟΣ straße", [101, 9960, 1169, 29722, 29730, 29733, 2358, 27807, 102]),
        ("zero\u200bwidth\x00and\ufffdodd", [101, 5717, 9148, 11927, 11774, 7716, 2094, 102]),
        ("𠮷野家 😺", [101, 100, 1963, 1825, 100, 102]),
        (
            "supercalifragilisticexpialidocious",
            [101, 3565, 9289, 10128, 29181, 24411, 4588, 10288, 19312, 21273, 10085, 6313, 102],
        ),
    ],
)
def test_ids_of_the_reference(bert, text, ids):
    """Ids made once with the Rust package tokenizers 0.23 and the same vocabulary."""
    assert bert(text) == ids


def test_longest_piece_first(make):
    wordpiece = make(["un", "##aff", "##able", "##a", "unaff"])
    assert wordpiece("unaffable") == [2, 8, 6, 3]
    assert wordpiece("UNAFFABLE unx") == [2, 8, 6, 1, 3]


def test_ideographs_are_words_and_kana_are_not(make):
    wordpiece = make(["猫", "か", "##わ", "##いい"])
    assert wordpiece("猫猫") == [2, 4, 4, 3]
    assert wordpiece("猫かわいい猫") == [2, 4, 5, 6, 7, 4, 3]


def test_punctuation_white_space_and_controls(make):
    wordpiece = make(["a", "b", "$", "。", "ab"])
    assert wordpiece("a$b。") == [2, 4, 6, 5, 7, 3]
    assert wordpiece("a\u3000b\tb\u2028a") == [2, 4, 5, 5, 4, 3]
    assert wordpiece("a\0\u200b\ufffdb") == [2, 8, 3]


def test_case_and_accents(make):
    tokens = ["cafe", "Café", "か"]
    assert make(tokens)("Café CAFE が") == [2, 4, 4, 6, 3]  # a voiced mark is an accent to BERT
    assert make(tokens, lowercase=False)("Café cafe が") == [2, 5, 4, 1, 3]


def test_a_word_of_more_than_100_characters_is_unknown(make):
    wordpiece = make(["a", "##a"], max_tokens=200)
    assert wordpiece("a" * 100) == [2, 4, *[5] * 99, 3]
    assert wordpiece("a" * 101) == [2, 1, 3]


def test_nothing_but_the_frame(make):
    assert make([])("") == [2, 3]


@settings(max_examples=30)
@given(text=st.text(max_size=300), room=st.integers(3, 12))
def test_a_short_window_is_the_start_of_a_long_one(text, room):
    whole = WordPiece(BERT, 1000)(text)
    assert WordPiece(BERT, room)(text) == (
        whole if len(whole) <= room else [*whole[: room - 1], 102]
    )


def test_a_file_that_is_no_vocabulary_is_named(tmp_path):
    path = tmp_path / "vocab.txt"
    with pytest.raises(EmbeddingError, match=r"cannot read vocabulary .*vocab\.txt"):
        WordPiece(path, 32)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(EmbeddingError, match="cannot read vocabulary"):
        WordPiece(path, 32)
    path.write_text("[UNK]\nword\n")
    with pytest.raises(EmbeddingError, match=r"lacks \[CLS\], \[SEP\]"):
        WordPiece(path, 32)
