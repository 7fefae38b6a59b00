"""A batch does what its records would do one by one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_cases import clean, contents, put

from cpersona_jit.errors import CorruptStoreError, UsageError
from cpersona_jit.store.database import PAGE_SIZE, generation, open_database
from cpersona_jit.store.duplicates import would_skip
from cpersona_jit.store.imports import import_state, keep_import_state
from cpersona_jit.store.writes import insert_batch

# Few values each, so that duplicates of every kind come up in the store and in the batch.
RECORDS = st.builds(
    clean,
    st.sampled_from(["tea", "お茶", "tea "]),
    st.sampled_from(["me", "you"]),
    project_id=st.sampled_from(["", "p"]),
    msg_id=st.sampled_from(["", "m1", "m2", "番号"]),
    session_id=st.sampled_from(["", "s"]),
    source=st.sampled_from([None, {"id": "u"}]),
    timestamp=st.sampled_from(["", "2026-01-01", "2026-01-01T00:00Z", "some day", "いつか"]),
)


@given(st.lists(st.lists(RECORDS, max_size=12), max_size=3), st.booleans())
def test_a_batch_equals_its_records_one_by_one(batches, dedup):
    with tempfile.TemporaryDirectory() as folder:
        whole = open_database(Path(folder) / "whole.db")
        single = open_database(Path(folder) / "single.db")
        for batch in batches:
            together = put(whole, *batch, dedup=dedup)
            assert together == [put(single, record, dedup=dedup)[0] for record in batch]
        rows = "SELECT id, agent_id, msg_id, session_id, timestamp, content FROM memories"
        assert whole.execute(rows).fetchall() == single.execute(rows).fetchall()
        whole.close()
        single.close()


@pytest.fixture
def conn(tmp_path):
    conn = open_database(tmp_path / "m.db")
    yield conn
    conn.close()


def test_more_duplicates_than_one_statement_asks_about(conn):
    records = [clean(f"row {i} 行", msg_id=f"m{i}") for i in range(1200)]
    assert {outcome.status for outcome in put(conn, *records)} == {"stored"}
    again = put(conn, *reversed(records))
    assert [outcome.ref for outcome in again] == [f"mem:{i}" for i in range(1200, 0, -1)]
    assert {outcome.reason for outcome in again} == {"duplicate_msg_id"}
    assert again[0] == would_skip(conn, records[-1])


def test_what_is_written_alongside_goes_with_the_batch(conn):
    def alongside(outcomes):
        keep_import_state(conn, "k", {"stored": len(outcomes), "語": "値"})

    insert_batch(conn, [clean("a")], [None], None, 0, alongside=alongside)
    assert import_state(conn, "k") == {"stored": 1, "語": "値"}

    def fails(outcomes):
        alongside([None] * 9)
        raise UsageError("no")

    with pytest.raises(UsageError):
        insert_batch(conn, [clean("b")], [None], None, 0, alongside=fails)
    assert import_state(conn, "k") == {"stored": 1, "語": "値"}
    assert contents(conn) == ["a"]
    assert generation(conn) == 1


@pytest.mark.parametrize("state", ["{", "[]", '"x"', "[" * 9999])
def test_a_damaged_state_is_said(conn, state):
    assert import_state(conn, "k") is None
    conn.execute("INSERT INTO imports VALUES ('k', ?)", (state,))
    with pytest.raises(CorruptStoreError, match=r"m\.db.*damaged"):
        import_state(conn, "k")


def test_three_rows_with_vectors_fit_one_page(conn):
    assert conn.execute("PRAGMA page_size").fetchone() == (PAGE_SIZE,)
    assert PAGE_SIZE >= 3 * (4 * 768 + 500)
