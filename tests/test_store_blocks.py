"""Blocks in the store: they live and die with the text they were cut from."""

from __future__ import annotations

import sqlite3

import pytest
from store_cases import NOW, clean, contents, is_sound, put, ranges, vector

from cpersona_jit.errors import StoreError, UsageError
from cpersona_jit.isolation import Axes
from cpersona_jit.store.block_reads import (
    block_counts,
    blocks_without_vector,
    changed_blocks,
    rows_to_split,
    unsplit_rows,
)
from cpersona_jit.store.blocks import NewBlock, adopt_splitter, set_block_vectors, set_ranges
from cpersona_jit.store.changes import delete, update_content
from cpersona_jit.store.database import generation, open_database
from cpersona_jit.store.models import register_model
from cpersona_jit.store.reads import changed_rows
from cpersona_jit.store.schema import MIGRATIONS, SCHEMA_VERSION, migrate, schema_version
from cpersona_jit.store.writes import insert_batch

ME = Axes.agent("me")
TEXT = "雨🎉. Tea."
HALVES = [NewBlock(0, 4), NewBlock(4, 8)]


@pytest.fixture
def conn(tmp_path):
    connection = open_database(tmp_path / "store.db")
    yield connection
    assert is_sound(connection)
    connection.close()


@pytest.fixture
def model(conn):
    return register_model(conn, "m", "1" * 64, 4)


def put_halves(conn, *contents, model_id=None, vectors=(None, None)):
    blocks = [block._replace(vector=v) for block, v in zip(HALVES, vectors, strict=True)]
    records = [clean(content) for content in contents]
    return insert_batch(
        conn, records, [None] * len(records), model_id, NOW, blocks=[blocks] * len(records)
    )


def test_blocks_are_written_with_their_row(conn, model):
    put(conn, clean("one block"))
    put_halves(conn, TEXT, model_id=model, vectors=(vector(1), None))
    assert ranges(conn) == {2: [(0, 4), (4, 8)]}
    assert list(changed_blocks(conn, 0)) == [
        (2, 0, 4, vector(1), model),
        (2, 4, 8, None, None),
    ]
    assert block_counts(conn, model) == (2, 1, 0)


def test_a_skipped_record_writes_no_blocks(conn):
    put_halves(conn, TEXT, TEXT)
    assert ranges(conn) == {1: [(0, 4), (4, 8)]}


def test_a_row_and_its_blocks_are_one_transaction(conn):
    bad = [NewBlock(0, 4), NewBlock(4, 4)]
    with pytest.raises(StoreError):
        insert_batch(conn, [clean("a"), clean(TEXT)], [None, None], None, NOW, blocks=[HALVES, bad])
    assert contents(conn) == []
    assert ranges(conn) == {}
    put_halves(conn, TEXT)
    with pytest.raises(StoreError):
        update_content(conn, ME, "mem:1", "new", None, None, NOW, bad)
    assert contents(conn) == [TEXT]
    assert ranges(conn) == {1: [(0, 4), (4, 8)]}


def test_blocks_need_vectors_of_the_model_and_one_list_a_record(conn, model):
    with pytest.raises(UsageError, match="model 'm' has 4 dimensions"):
        put_halves(conn, TEXT, model_id=model, vectors=(vector(1), b"1234"))
    with pytest.raises(UsageError, match="model_id None is not a model"):
        put_halves(conn, TEXT, vectors=(vector(1), None))
    with pytest.raises(UsageError, match="blocks of 0 and"):
        insert_batch(conn, [clean(TEXT)], [None], None, NOW, blocks=[])
    assert contents(conn) == []


def test_a_deleted_row_takes_its_blocks_along(conn):
    put_halves(conn, TEXT, "another one")
    delete(conn, ME, ["mem:1"])
    assert ranges(conn) == {2: [(0, 4), (4, 8)]}


def test_a_new_text_has_its_own_blocks_and_none_of_the_old(conn, model):
    put_halves(conn, TEXT, "another one")
    update_content(conn, ME, "mem:1", "short", None, None, NOW)
    assert ranges(conn) == {2: [(0, 4), (4, 8)]}
    blocks = [NewBlock(0, 2, vector(1)), NewBlock(2, 3, vector(2)), NewBlock(3, 5)]
    update_content(conn, ME, "mem:2", "other", None, model, NOW, blocks)
    assert ranges(conn) == {2: [(0, 2), (2, 3), (3, 5)]}
    assert [row[3:] for row in changed_blocks(conn, 0)] == [
        (vector(1), model),
        (vector(2), model),
        (None, None),
    ]
    # A refused update leaves everything.
    assert update_content(conn, ME, "mem:2", "short", None, None, NOW).status == "skipped"
    assert update_content(conn, Axes.agent("you"), "mem:2", "x", None, None, NOW).ref is None
    assert ranges(conn) == {2: [(0, 2), (2, 3), (3, 5)]}


# --- vectors --------------------------------------------------------------------------------------


def test_blocks_that_wait_for_a_vector_come_with_their_texts(conn, model):
    other = register_model(conn, "o", "2" * 64, 4)
    put_halves(conn, TEXT, model_id=other, vectors=(vector(1), None))
    put_halves(conn, "12345678", model_id=model, vectors=(vector(1), None))
    insert_batch(
        conn,
        [clean("abcdefgh", source={"name": "愛子"})],
        [None],
        None,
        NOW,
        blocks=[HALVES],
    )
    pending = blocks_without_vector(conn, model, (0, -1), 9)
    assert [(b.memory_id, b.block_index, b.source_name, b.content) for b in pending] == [
        (1, 0, "", "雨🎉. "),
        (1, 1, "", "Tea."),
        (2, 1, "", "5678"),
        (3, 0, "愛子", "abcd"),
        (3, 1, "愛子", "efgh"),
    ]
    assert blocks_without_vector(conn, model, (0, -1), 2) == pending[:2]
    assert blocks_without_vector(conn, model, (1, 1), 9) == pending[2:]


def test_vectors_of_blocks_change_the_revision_of_their_row_once(conn, model):
    put_halves(conn, TEXT, "abcdefgh")
    before = generation(conn)
    pending = blocks_without_vector(conn, model, (0, -1), 9)
    assert set_block_vectors(conn, pending[:3], [vector(1)] * 3, model) == 3
    assert generation(conn) == before + 1
    assert [row[0] for row in changed_rows(conn, before)] == [1, 2]
    assert [row[0] for row in changed_blocks(conn, before)] == [1, 1, 2, 2]
    assert block_counts(conn, model) == (4, 1, 0)
    # The fourth was read before its row's revision moved on: it keeps waiting.
    assert set_block_vectors(conn, pending[3:], [vector(1)], model) == 0
    pending = blocks_without_vector(conn, model, (0, -1), 9)
    assert [(block.memory_id, block.block_index) for block in pending] == [(2, 1)]
    assert set_block_vectors(conn, pending, [vector(1)], model) == 1


def test_blocks_of_a_row_that_changed_meanwhile_get_no_stale_vectors(conn, model):
    put_halves(conn, "old text", "gone row", "good row")
    pending = blocks_without_vector(conn, model, (0, -1), 9)
    update_content(conn, ME, "mem:1", "new text", None, None, NOW, HALVES)
    delete(conn, ME, ["mem:2"])
    assert set_block_vectors(conn, pending, [vector(1)] * 6, model) == 2
    assert [(row[0], row[3]) for row in changed_blocks(conn, 0)] == [
        (1, None),
        (1, None),
        (3, vector(1)),
        (3, vector(1)),
    ]
    with pytest.raises(UsageError, match="1 blocks but 0 vectors"):
        set_block_vectors(conn, pending[:1], [], model)


# --- splitting what is stored ---------------------------------------------------------------------


def test_a_new_splitter_marks_the_rows_it_may_part(conn, model):
    put_halves(conn, "x" * 8, model_id=model, vectors=(vector(1), vector(2)))
    put(conn, clean("語" * 7), clean("x" * 7))
    assert adopt_splitter(conn, 1, 7) == 1
    assert unsplit_rows(conn) == [1]
    before = generation(conn)
    assert adopt_splitter(conn, 1, 7) == 0
    assert adopt_splitter(conn, 0, 1) == 0  # an older package: newer blocks stay
    assert generation(conn) == before
    assert adopt_splitter(conn, 2, 6) == 2
    assert unsplit_rows(conn) == [1, 2, 3]
    # Until it is split again a row keeps the blocks that it has.
    assert ranges(conn) == {1: [(0, 4), (4, 8)]}
    assert block_counts(conn, model) == (2, 0, 3)
    update_content(conn, ME, "mem:1", "new", None, None, NOW)
    delete(conn, ME, ["mem:2"])
    assert unsplit_rows(conn) == [3]


def test_rows_are_split_in_batches_and_only_when_it_changes_something(conn, model):
    put_halves(conn, TEXT, model_id=model, vectors=(vector(1), vector(2)))
    put(conn, clean("abcdefgh"), clean("ijklmnop"))
    adopt_splitter(conn, 1, 2)
    rows = rows_to_split(conn, 0, 2)
    assert [(r.id, r.content, r.ranges, r.unsplit) for r in rows] == [
        (1, TEXT, ((0, 4), (4, 8)), True),
        (2, "abcdefgh", (), True),
    ]
    before = generation(conn)
    assert set_ranges(conn, rows, [[(0, 4), (4, 8)], [(0, 3), (3, 8)]]) == 1
    assert unsplit_rows(conn) == [3]
    # The first row's vectors are of these blocks, so it was not touched.
    assert [row[0] for row in changed_rows(conn, before)] == [2]
    assert block_counts(conn, model) == (4, 2, 1)
    (last,) = rows_to_split(conn, 2, 9)
    assert (last.id, last.unsplit) == (3, True)
    assert rows_to_split(conn, 3, 9) == []
    assert set_ranges(conn, rows_to_split(conn, 0, 1), [[]]) == 1
    assert ranges(conn) == {2: [(0, 3), (3, 8)]}
    before = generation(conn)
    assert set_ranges(conn, rows_to_split(conn, 0, 2), [[], [(0, 3), (3, 8)]]) == 0
    assert generation(conn) == before


def test_a_row_that_changed_meanwhile_is_not_split_by_its_old_text(conn):
    put(conn, clean("abcdefgh"), clean("ijklmnop"))
    adopt_splitter(conn, 1, 2)
    rows = rows_to_split(conn, 0, 9)
    update_content(conn, ME, "mem:1", "new text", None, None, NOW, [NewBlock(0, 3), NewBlock(3, 8)])
    delete(conn, ME, ["mem:2"])
    assert set_ranges(conn, rows, [[(0, 4), (4, 8)]] * 2) == 0
    assert ranges(conn) == {1: [(0, 3), (3, 8)]}


# --- files of schema version 1 --------------------------------------------------------------------


def test_a_file_without_blocks_moves_forward_and_waits_for_them(tmp_path):
    path = tmp_path / "old.db"
    old = sqlite3.connect(path, isolation_level=None)
    assert migrate(old, MIGRATIONS[:1]) == 1
    old.executemany(
        "INSERT INTO memories (revision, created_at, agent_id, content_hash, content)"
        " VALUES (?, 0, 'me', x'00', ?)",
        [(1, "長" * 20), (2, "short")],
    )
    old.execute("UPDATE meta SET generation = 2")
    old.close()
    conn = open_database(path, create=False)
    assert schema_version(conn) == SCHEMA_VERSION
    assert contents(conn) == ["長" * 20, "short"]
    assert (generation(conn), block_counts(conn), unsplit_rows(conn)) == (2, (0, 0, 0), [])
    assert adopt_splitter(conn, 1, 19) == 1
    assert unsplit_rows(conn) == [1]
    assert put_halves(conn, TEXT)[0].ref == "mem:3"
    assert is_sound(conn)
    conn.close()
