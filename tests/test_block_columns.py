"""Blocks and sessions in the snapshot: what each entry belongs to, and what it is scored by."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.columns.lengths import median_of
from cpersona_jit.columns.neighbours import ordered_sessions
from cpersona_jit.columns.postings import grams_of_rows
from cpersona_jit.columns.snapshot import BlockColumns, Columns, mask_of
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.quantize import quantize_rows, sign_words
from cpersona_jit.kernels.row_mask import admitted_rows
from cpersona_jit.passages import passages
from cpersona_jit.text.blocks import split_blocks
from cpersona_jit.text.grams import code_points, gram_keys, normalise

LONG = "The harbour was quiet that day, and nobody came. " * 14
JAPANESE = "港は静かな一日で、だれも船を見に来なかった。" * 40
RECORDS = [
    Record("Is it late?", "a", session_id="s"),
    Record(LONG, "a", "p", source=Source(name="Mia"), session_id="s"),
    Record("もう遅い。", "b", session_id="s"),
    Record(JAPANESE, "b", channel="c"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def opened(path: Path, embedder: object) -> Memory:
    return cpersona_jit.open(path, embedder, wait_for_kernels=False)


@pytest.fixture
def columns(path: Path) -> Columns:
    with opened(path, BagOfWords(dim=100)) as memory:
        memory.store_many(RECORDS)
        return memory.columns()


def test_blocks_belong_to_their_rows(columns: Columns) -> None:
    blocks = columns.blocks
    english, japanese = split_blocks(LONG), split_blocks(JAPANESE)
    assert columns.block_count.tolist() == [1, len(english), 1, len(japanese)]
    assert columns.block_count.dtype == np.int32
    assert blocks.row.tolist() == [1] * len(english) + [3] * len(japanese)
    assert np.diff(blocks.row_ptr).tolist() == [0, len(english), 0, len(japanese)]
    found = list(zip(blocks.start.tolist(), blocks.end.tolist(), strict=True))
    assert found == english + japanese
    assert blocks.n == len(found)
    assert columns.unsplit.count == 0


def test_blocks_are_scored_by_their_own_texts(columns: Columns) -> None:
    blocks = columns.blocks
    texts = [*passages("Mia", LONG).texts[1:], *passages("", JAPANESE).texts[1:]]
    vectors = BagOfWords(dim=100).embed(texts, kind="passage")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert blocks.codes.shape == (len(texts), 128)
    assert np.abs(blocks.codes - quantize_rows(unit).astype(int)).max() <= 1
    signs = blocks.signs.transpose(0, 2, 1).reshape(-1, 2)[: blocks.n]
    assert np.array_equal(signs, sign_words(blocks.codes))
    assert blocks.embedded.count == blocks.n
    assert blocks.lengths.tolist() == [len(normalise(text)) for text in texts]
    for size in (3, 4):
        index = blocks.gram_index[size]
        rows = grams_of_rows(index)
        assert index.n == blocks.n
        for number, text in enumerate(texts):
            keys, counts = gram_keys(code_points(normalise(text)), size)
            own = slice(rows.row_ptr[number], rows.row_ptr[number + 1])
            assert np.array_equal(rows.keys[own], keys)
            assert np.array_equal(rows.counts[own], counts)


def test_length_factors_of_blocks_are_those_of_rows_of_that_length(columns: Columns) -> None:
    factor = columns.blocks.length_factor(0.15)
    expected = [round(65535 * length**-0.15) for length in columns.blocks.lengths.tolist()]
    assert (factor.dtype, factor.tolist()) == (np.uint16, expected)
    assert columns.blocks.length_factor(0.15) is factor


def test_the_texts_of_rows_are_described(columns: Columns) -> None:
    assert columns.text_length.tolist() == [len(record.content) for record in RECORDS]
    assert columns.text_length.dtype == np.int32
    assert columns.is_question.tolist() == [True, False, False, False]


def test_a_scope_has_the_blocks_of_its_rows(columns: Columns) -> None:
    english, japanese = len(split_blocks(LONG)), len(split_blocks(JAPANESE))
    for axes, expected in (
        (Axes.agent("a"), range(english)),
        (Axes.agent("b"), range(english, english + japanese)),
        (Axes.agent("a", project_id=""), range(0)),
        (Axes.agent("b", channel="d"), range(0)),
        (Axes.across_agents(), range(english + japanese)),
        (Axes.agent("nobody"), range(0)),
    ):
        mask = columns.block_mask(axes)
        assert admitted_rows(mask.words).tolist() == list(expected)
        assert mask.count == len(expected)
        assert columns.block_mask(axes) is mask


def test_a_store_of_short_rows_has_no_blocks(path: Path) -> None:
    with opened(path, BagOfWords()) as memory:
        assert memory.columns().blocks.n == 0
        memory.store_many(RECORDS[::2])
        blocks = memory.columns().blocks
        assert blocks.row_ptr.tolist() == [0, 0, 0]
        assert (blocks.codes.shape, blocks.gram_index[3].n) == ((0, 64), 0)
        assert memory.columns().block_mask(Axes.agent("a")).count == 0


def test_short_rows_that_come_later_leave_the_blocks_as_they_are(path: Path) -> None:
    with opened(path, BagOfWords()) as memory:
        memory.store_many(RECORDS)
        before = memory.columns().blocks
        memory.store("one more", agent_id="a")
        after = memory.columns().blocks
        assert all(after.gram_index[size] is before.gram_index[size] for size in (3, 4))
        assert after.row_ptr.tolist() == [*before.row_ptr.tolist(), before.n]
        memory.delete(["mem:1"], agent_id="a")
        assert memory.columns().blocks.row.tolist() == before.row.tolist()  # places stay


def test_blocks_without_a_vector_of_the_model_are_not_embedded(path: Path) -> None:
    with opened(path, BagOfWords()) as memory:
        memory.store_many(RECORDS, vectors=np.eye(4, 64))
        blocks: BlockColumns = memory.columns().blocks
        assert blocks.n > 4
        assert blocks.embedded.count == 0
        assert not blocks.codes.any()
        assert memory.columns().embedded.count == 4
        memory.reembed()
        assert memory.columns().blocks.embedded.count == blocks.n


def test_rows_that_wait_to_be_split_are_known(path: Path) -> None:
    with opened(path, "none") as memory:
        memory.store_many(RECORDS)
        looked = memory.columns()
        conn = sqlite3.connect(path)
        conn.execute("UPDATE meta SET blocks_version = 0")
        conn.execute("DELETE FROM blocks WHERE memory_id = 4")
        conn.commit()
        conn.close()
        with opened(path, "none"):  # notes it, as a newer package would
            assert admitted_rows(memory.columns().unsplit.words).tolist() == [1, 3]
        assert memory.columns().blocks.n == looked.blocks.n  # what is there serves until then
        memory.reblock()
        columns = memory.columns()
        assert columns.unsplit.count == 0
        rows = columns.positions(looked.ids)
        assert rows.tolist() == [0, 1, 2, 4]  # the place of a row that was made anew is the last
        assert columns.block_count[rows].tolist() == looked.block_count.tolist()


# -- sessions -------------------------------------------------------------------------------------

NAMES = ("agent_id", "project_id", "channel", "session_id")


@given(st.lists(st.tuples(*[st.sampled_from(["", "x", "y"])] * 4), max_size=30))
def test_neighbours_are_the_next_rows_of_the_same_session(rows: list[tuple[str, ...]]) -> None:
    tables: dict[str, dict[str, int]] = {name: {} for name in NAMES}
    codes = {
        name: np.array([tables[name].setdefault(row[a], len(tables[name])) for row in rows], int)
        for a, name in enumerate(NAMES)
    }
    everyone = mask_of(np.ones(len(rows), bool))
    before, after, _ = ordered_sessions(codes, tables, np.arange(len(rows)), everyone)
    for r, row in enumerate(rows):
        same = [other for other in range(len(rows)) if rows[other] == row and row[3]]
        assert before[r] == max([other for other in same if other < r], default=-1)
        assert after[r] == min([other for other in same if other > r], default=-1)


def test_a_session_does_not_cross_agents_projects_or_channels(path: Path) -> None:
    homes = [("a", "", ""), ("b", "", ""), ("a", "p", ""), ("a", "", "c"), ("a", "", "")]
    with opened(path, "none") as memory:
        memory.store_many(
            Record(f"turn {n}", *home, session_id="s") for n, home in enumerate(homes)
        )
        columns = memory.columns()
        assert columns.before.tolist() == [-1, -1, -1, -1, 0]
        assert columns.after.tolist() == [4, -1, -1, -1, -1]
        memory.store("no session", agent_id="a")
        memory.delete(["mem:1"], agent_id="a")
        assert memory.columns().before.tolist() == [-1] * 6


@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=30))
def test_a_median_is_counted(lengths: list[int]) -> None:
    assert median_of(np.array(lengths, np.int32)) == float(np.median(lengths))
