"""Quotes: which blocks of a row are chosen, and what a quote always is."""

from __future__ import annotations

import math
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_cases import BagOfWords
from test_blocks import texts

import cpersona_jit
from cpersona_jit.exits.block_rank import (
    QueryCodes,
    QueryGrams,
    rank_blocks,
    searchable,
)
from cpersona_jit.exits.quote import JOINER, Quote, fill
from cpersona_jit.exits.quoter import Quoter
from cpersona_jit.kernels.quantize import quantize_rows
from cpersona_jit.text.blocks import split_blocks
from cpersona_jit.text.grams import normalise
from cpersona_jit.text.widening import MAX_PASSAGE_CHARS, sentence_ends_in, widen

FILLER = "The garden has many roses and they bloom early in June. "
ENGLISH = FILLER * 20 + "Mia moved to Lisbon. However, she came back in May. " + FILLER * 20
庭 = "庭には薔薇がたくさんあり、六月に咲きます。"
JAPANESE = 庭 * 40 + "ユキは京都で茶道を習う。ただし、今は休んでいる。" + 庭 * 40
CASES = {
    "english": (ENGLISH, "Where did Mia move?", "Mia moved to Lisbon. However, she came back"),
    "japanese": (JAPANESE, "茶道を習っているのは誰？", "茶道を習う。ただし、今は休んでいる。"),
    "full width": (
        "ＡＢＣ　の話。" * 100 + "会員番号は４２７１です。" + "ＡＢＣ　の話。" * 100,
        "会員番号 4271",
        "会員番号は４２７１です。",
    ),
    "no spaces": ("ｘ" * 700 + "aquarium" + "y" * 900, "aquarium", "aquarium"),
    "astral": (
        "😀𠮷野家。" * 150 + "𩸽を京都で食べた。" + "😀𠮷野家。" * 150,
        "𩸽 京都",
        "𩸽を京都で食べた。",
    ),
    "code": (
        "Notes.\n" * 90 + "```python\nretry_limit = 7\n```\n" + "More notes.\n" * 90,
        "retry_limit",
        "retry_limit = 7",
    ),
}  # fmt: skip


def check(quote: Quote, text: str, max_chars: int) -> None:
    """A quote never breaks these."""
    assert len(quote.content) <= max_chars
    assert quote.content == JOINER.join(text[start:end] for start, end in quote.ranges)
    before = None
    for start, end in quote.ranges:
        assert 0 <= start < end <= len(text)
        if before is not None:  # ascending, and visible text lies between
            assert text[before:start].strip()
        before = end
    if quote.basis == "whole":
        assert quote.content == text


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("quotes")
    with cpersona_jit.open(folder / "memory.db", "none") as memory:
        for text, *_ in CASES.values():
            assert memory.store(text, agent_id="a").status == "stored"
        yield memory


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("max_chars", [800, 400])
def test_the_passage_that_answers_is_quoted(memory, case: str, max_chars: int) -> None:
    text, query, wanted = CASES[case]
    result, quoter = memory.recall_to_quote(query, agent_id="a")
    row = next(row for row in result.rows if row.content == text)
    quote = quoter.quote(row, max_chars)
    check(quote, text, max_chars)
    assert wanted in quote.content
    assert (quote.basis, quote.by_vector) == ("blocks", False)
    lexical = quoter.quote_text(text, max_chars)
    check(lexical, text, max_chars)
    assert (lexical.basis, lexical.by_vector) == ("lexical", False)
    assert quoter.quote(row, max_chars) == quote


def test_a_row_that_fits_is_quoted_whole_and_its_excerpt_has_a_basis(memory) -> None:
    text = CASES["code"][0]
    result, quoter = memory.recall_to_quote("notes", agent_id="a")
    row = next(row for row in result.rows if row.content == text)
    assert quoter.quote(row, len(text)) == (text, ((0, len(text)),), "whole", False, None)
    assert quoter.excerpt(row, len(text))[:3] == (text.strip(), ((0, len(text) - 1),), "blocks")


def test_rows_that_the_snapshot_does_not_hold_as_they_are(tmp_path: Path) -> None:
    with cpersona_jit.open(tmp_path / "m.db", BagOfWords()) as memory:
        ref = memory.store(ENGLISH, agent_id="a").ref
        quoter = memory.recall_to_quote("Where did Mia move?", agent_id="a")[1]
        changed = ENGLISH.replace("Lisbon", "Madrid")
        assert len(changed) == len(ENGLISH)
        memory.update(ref, changed, agent_id="a")
        row = memory.get_contents([ref], agent_id="a").rows[0]
        quote = quoter.quote(row, 800)  # asked with the snapshot from before
        check(quote, changed, 800)
        assert "Madrid" in quote.content
        assert (quote.basis, quote.by_vector) == ("lexical", False)
        _, quoter = memory.recall_to_quote("Where did Mia move?", agent_id="a")
        assert quoter.quote(row, 800).basis == "blocks"
        other = SimpleNamespace(ref="mem:999", content=ENGLISH, revision=1)
        assert quoter.quote(other, 800).basis == "lexical"


def test_without_vectors_words_choose_and_without_words_vectors_do(tmp_path: Path) -> None:
    with cpersona_jit.open(tmp_path / "m.db", "none") as memory:
        memory.store(JAPANESE, agent_id="a")
        result, quoter = memory.recall_to_quote("茶道", agent_id="a")
        quote = quoter.quote(result.rows[0], 800)
        assert "茶道" in quote.content
        assert (quote.basis, quote.by_vector) == ("blocks", False)
    with cpersona_jit.open(tmp_path / "n.db", BagOfWords()) as memory:
        memory.store(ENGLISH, agent_id="a")
        row = memory.recall("x", agent_id="a").rows[0]
        blocks = memory.columns().blocks
        for start, end in zip(blocks.start.tolist(), blocks.end.tolist(), strict=True):
            vector = BagOfWords().embed([ENGLISH[start:end]], kind="query")[0]
            vector /= np.linalg.norm(vector)
            quote = Quoter(memory.columns(), "zz qq", vector).quote(row, 300)
            assert quote.by_vector
            taken = quote.ranges[0]
            alike = ENGLISH[start:end] == ENGLISH[slice(*taken)] or FILLER in ENGLISH[start:end]
            assert alike or taken[0] <= start < taken[1]


def test_a_row_of_one_block_is_quoted_from_its_start(tmp_path: Path) -> None:
    with cpersona_jit.open(tmp_path / "m.db", "none") as memory:
        text = " The aquarium opens at nine. " + "It is near the river. " * 15
        assert len(split_blocks(text)) == 1
        memory.store(text, agent_id="a")
        result, quoter = memory.recall_to_quote("river", agent_id="a")
        for quote in (quoter.quote(result.rows[0], 60), quoter.quote_text(text, 60)):
            assert quote == (text[1:61], ((1, 61),), "start", False, None)
            check(quote, text, 60)
        for nothing in (0, -5):
            assert quoter.quote(result.rows[0], nothing)[:2] == ("", ())
            assert quoter.quote_text(ENGLISH, nothing)[:2] == ("", ())


@given(
    texts, st.text(max_size=30) | st.sampled_from(["train late", "雨だった"]), st.integers(1, 1500)
)
@settings(max_examples=300, deadline=None)
def test_laws_of_quotes(text: str, query: str, max_chars: int) -> None:
    quoter = Quoter(None, query, None)
    quote = quoter.quote_text(text, max_chars)
    check(quote, text, max_chars)
    if len(text) <= max_chars:
        assert quote.basis == "whole"
    elif text.strip():
        assert quote.content
        assert quote.basis == ("start" if len(split_blocks(text)) < 2 else "lexical")


def test_of_the_passage_that_does_not_fit_whole_sentences_are_taken() -> None:
    lines = [f"Line {n} has some words in it." for n in range(40)]
    lines[21] = "However, line 21 is not so."
    text = "\n".join(lines)
    blocks = split_blocks(text)
    first, second = blocks[0], next(b for b in blocks if b[0] <= text.index("Line 20") < b[1])
    for max_chars in range(first[1], first[1] + 300):
        found = fill(text, [first, second], max_chars)
        assert sum(b - a for a, b in found) + 3 * (len(found) - 1) <= max_chars
        for start, end in found:
            assert text[start:end].splitlines() == [x for x in lines if x in text[start:end]]
            assert not text[start:end].endswith(lines[20])
    assert len(fill(text, [first, second], first[1] + 100)) == 2


@given(texts, st.integers(1, 1500), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_a_quote_is_filled_as_naively(text: str, max_chars: int, random) -> None:
    ranges = [block for block in split_blocks(text) if text[slice(*block)].strip()]
    random.shuffle(ranges)
    passages = [widen(text, block, min(max_chars, MAX_PASSAGE_CHARS)) for block in ranges]
    wanted, misfit = naive.filled(text, passages, max_chars)
    if misfit is not None:  # of which the first sentences are taken that fit
        block = ranges[passages.index(misfit)]
        start = block[1] - len(text[slice(*block)].lstrip())
        taken = wanted
        for end, overturned in sentence_ends_in(text, *misfit):
            more, too_long = naive.filled(text, [*taken, (misfit[0], end)], max_chars)
            if end > start and not overturned and too_long is None:
                wanted = more
    assert fill(text, ranges, max_chars) == wanted


# -- ranking --------------------------------------------------------------------------------------


@given(st.text(max_size=80) | st.text(st.characters(max_codepoint=127), max_size=80))
def test_searchable_is_what_the_index_normalises(text: str) -> None:
    ranges = split_blocks(text) or [(0, 0)]
    assert searchable(text, ranges) == [normalise(text[start:end]) for start, end in ranges]


@given(
    st.text(max_size=40) | st.sampled_from(["京都の茶道", "ｶﾌｪ 42", "Mia's"]),
    st.lists(texts, max_size=4),
)
@settings(max_examples=100, deadline=None)
def test_shared_grams_are_counted_as_naively(query: str, parts: list[str]) -> None:
    parts = [*parts, query, query[: len(query) // 2], "", " "]
    ends = list(accumulate(map(len, parts)))
    ranges = list(zip([0, *ends[:-1]], ends, strict=True))
    found = QueryGrams(query).evidence("".join(parts), ranges)
    assert found == naive.shared_grams(normalise(query), [normalise(part) for part in parts])


numbers = st.integers(0, 4) | st.sampled_from([0.25, -1.5])


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12), st.booleans())
def test_blocks_are_ranked_as_naively(evidence: list[tuple[float, float]], both: bool) -> None:
    grams, cosines = (list(kind) for kind in zip(*evidence, strict=True))
    if not both:
        cosines = None
    assert rank_blocks(grams, cosines) == naive.quoted_order(grams, cosines)


def test_cosines_of_codes_are_close_to_those_of_vectors() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((40, 100), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = vectors[7] + 0.5 * vectors[3]
    query /= np.linalg.norm(query)
    found = np.array(QueryCodes(query).cosines(quantize_rows(vectors)))
    exact = vectors @ query
    scale = found @ exact / (exact @ exact)
    assert np.abs(found / scale - exact).max() < 0.01
    assert math.isfinite(QueryCodes(np.zeros(100, np.float32)).cosines(quantize_rows(vectors))[0])
    assert QueryCodes(query).cosines(np.zeros((2, 128), np.int8)) == [0.0, 0.0]
