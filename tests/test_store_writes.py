"""Inserting, skipping, deleting and updating rows."""

from __future__ import annotations

import sqlite3
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import NOW, clean, contents, is_sound, put, statuses, vector

from cpersona_jit.errors import NewerSchemaError, StoreBusyError, StoreError, UsageError
from cpersona_jit.isolation import Axes
from cpersona_jit.records import Source
from cpersona_jit.store.changes import delete, update_content
from cpersona_jit.store.database import generation, open_database, write_transaction
from cpersona_jit.store.duplicates import would_skip
from cpersona_jit.store.models import register_model
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.reasons import REASONS
from cpersona_jit.store.writes import insert_batch

ME = Axes.agent("me")


@pytest.fixture
def conn(tmp_path):
    connection = open_database(tmp_path / "記憶.db")
    yield connection
    assert is_sound(connection)
    connection.close()


# --- insert ---------------------------------------------------------------------------------------


def test_everything_comes_back_as_it_went_in(conn):
    record = clean(
        " 今日は\u3000晴れ。\n\tFine! ",
        project_id="計画",
        channel="雑談",
        msg_id="m-1",
        session_id="s-1",
        source=Source("User", "u1", "花子"),
        timestamp="２０２６－０１－０２",
        metadata={"鍵": [1, None, {"x": "ｙ"}]},
    )
    (outcome,) = put(conn, record)
    assert statuses([outcome]) == [("stored", "")]
    row = fetch_rows(conn, ME, [1])[1]
    assert row.ref == outcome.ref == "mem:1"
    assert row.content == " 今日は\u3000晴れ。\n\tFine! "
    assert (row.agent_id, row.project_id, row.channel) == ("me", "計画", "雑談")
    assert (row.msg_id, row.session_id) == ("m-1", "s-1")
    assert row.source == Source("User", "u1", "花子")
    assert row.timestamp == "２０２６－０１－０２"
    assert row.event_time == 1_767_312_000_000_000
    assert (row.created_at, row.updated_at) == (NOW, None)
    assert row.metadata == {"鍵": [1, None, {"x": "ｙ"}]}
    assert (row.model_id, row.revision) == (None, 1)


def test_a_warning_reaches_the_outcome(conn):
    (outcome,) = put(conn, clean(timestamp="先週"))
    assert outcome.status == "stored"
    assert outcome.warnings == ("timestamp_unparsable",)


def test_a_msg_id_is_stored_once_within_its_axes(conn):
    put(conn, clean("first", msg_id="m"))
    same, other = put(conn, clean("first", msg_id="m"), clean("changed", msg_id="m"))
    assert statuses([same, other]) == [("skipped", "duplicate_msg_id")] * 2
    assert same.ref == other.ref == "mem:1"
    assert "update" in other.detail
    assert "update" not in same.detail
    elsewhere = put(
        conn,
        clean("a", msg_id="m", project_id="p"),
        clean("b", msg_id="m", channel="c"),
        clean("c", "you", msg_id="m"),
        clean("d", msg_id="M"),
    )
    assert statuses(elsewhere) == [("stored", "")] * 4
    assert contents(conn) == ["first", "a", "b", "c", "d"]


def test_content_is_a_duplicate_only_with_its_whole_key(conn):
    base = {
        "session_id": "s",
        "source": Source("User", "u", "n"),
        "timestamp": "2026-01-01T09:00:00+09:00",
    }
    put(conn, clean("はい", **base))
    variations = [
        {"session_id": "t"},
        {"source": Source("User", "v", "n")},
        {"timestamp": "2026-01-01T09:00:01+09:00"},
        {"timestamp": ""},
        {"project_id": "p"},
        {"channel": "c"},
    ]
    for changed in variations:
        assert statuses(put(conn, clean("はい", **(base | changed)))) == [("stored", "")], changed
    assert statuses(put(conn, clean("ハイ", **base))) == [("stored", "")]
    assert statuses(put(conn, clean("はい", "you", **base))) == [("stored", "")]
    # Not part of the key: how the instant is written, the source's name and type, metadata.
    again = base | {
        "timestamp": "2026-01-01T00:00:00Z",
        "source": Source("", "u", ""),
        "metadata": {"x": 1},
    }
    (twin,) = put(conn, clean("はい", **again))
    assert (twin.status, twin.reason, twin.ref) == ("skipped", "duplicate_content", "mem:1")


def test_undated_rows_are_duplicates_only_when_their_stamps_are_written_alike(conn):
    outcomes = put(
        conn,
        clean("yes", timestamp="last Monday"),
        clean("yes", timestamp="last Tuesday"),
        clean("yes"),
        clean("yes", timestamp="last Monday"),
        clean("yes"),
    )
    assert [outcome.status for outcome in outcomes] == ["stored"] * 3 + ["skipped"] * 2
    assert [outcome.ref for outcome in outcomes[3:]] == ["mem:1", "mem:3"]


def test_duplicates_within_one_batch_are_found(conn):
    outcomes = put(conn, clean("a"), clean("a"), clean("b", msg_id="m"), clean("c", msg_id="m"))
    assert statuses(outcomes) == [
        ("stored", ""),
        ("skipped", "duplicate_content"),
        ("stored", ""),
        ("skipped", "duplicate_msg_id"),
    ]
    assert outcomes[1].ref == outcomes[0].ref


def test_without_dedup_only_the_msg_id_counts(conn):
    outcomes = put(conn, clean("a"), clean("a"), clean("a", msg_id="m"), dedup=False)
    assert statuses(outcomes) == [("stored", "")] * 3
    (outcome,) = put(conn, clean("b", msg_id="m"), dedup=False)
    assert outcome.reason == "duplicate_msg_id"


def test_the_probe_agrees_with_the_insert(conn):
    put(conn, clean("a", msg_id="m"))
    for record in (clean("a"), clean("x", msg_id="m"), clean("new")):
        foretold = would_skip(conn, record)
        (outcome,) = put(conn, record)
        assert outcome == foretold or (foretold is None and outcome.status == "stored")


def test_equal_hashes_do_not_make_equal_contents(conn):
    put(conn, clean("a"))
    conn.execute("UPDATE memories SET content = 'not a'")
    assert statuses(put(conn, clean("a"))) == [("stored", "")]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "あ"]),
            st.sampled_from(["me", "you"]),
            st.sampled_from(["", "p"]),
            st.sampled_from(["", "m1", "m2"]),
        ),
        max_size=12,
    ),
    st.integers(1, 4),
)
@settings(max_examples=20, deadline=None)
def test_the_split_into_batches_changes_nothing(tmp_path_factory, items, size):
    records = [clean(c, agent, project_id=p, msg_id=m) for c, agent, p, m in items]
    folder = tmp_path_factory.mktemp("batches")
    one, many = open_database(folder / "one.db"), open_database(folder / "many.db")
    whole = put(one, *records)
    parts = [
        outcome
        for start in range(0, len(records), size)
        for outcome in put(many, *records[start : start + size])
    ]
    assert whole == parts
    assert contents(one) == contents(many)
    one.close()
    many.close()


# --- vectors --------------------------------------------------------------------------------------


def test_vectors_must_be_the_models(conn):
    model = register_model(conn, "tiny", "f" * 64, 4)
    with pytest.raises(UsageError, match="16 bytes"):
        insert_batch(conn, [clean()], [vector(1)[:-4]], model, NOW)
    with pytest.raises(UsageError, match="model_id None"):
        insert_batch(conn, [clean()], [vector(1)], None, NOW)
    with pytest.raises(UsageError, match="model_id 77"):
        insert_batch(conn, [clean()], [vector(1)], 77, NOW)
    with pytest.raises(UsageError, match="1 records but 2 vectors"):
        insert_batch(conn, [clean()], [None, None], model, NOW)
    assert contents(conn) == []
    outcomes = insert_batch(conn, [clean("a"), clean("b")], [vector(1), None], model, NOW)
    assert statuses(outcomes) == [("stored", "")] * 2
    rows = fetch_rows(conn, ME, [1, 2])
    assert [row.model_id for row in rows.values()] == [model, None]
    assert conn.execute("SELECT embedding FROM memories WHERE id = 1").fetchone()[0] == vector(1)


# --- delete ---------------------------------------------------------------------------------------


def test_delete_reports_what_it_could_not_find(conn):
    put(conn, clean("a"), clean("b"), clean("c", "you"))
    deleted, missing = delete(
        conn, ME, ["mem:3", "mem:1", "mem:9", "nonsense", "mem:1", "mem:\ud800", None]
    )
    assert deleted == ("mem:1",)
    assert missing == ("mem:3", "mem:9", "nonsense", "mem:\ud800", None)
    assert contents(conn) == ["b", "c"]


def test_delete_stays_within_the_axes(conn):
    put(conn, clean("pool"), clean("p", project_id="p"), clean("q", project_id="q"))
    put(conn, clean("c", channel="c"), clean("d", channel="d"))
    everything = [f"mem:{i}" for i in range(1, 6)]
    assert delete(conn, Axes.agent(""), everything)[0] == ()
    assert delete(conn, Axes.agent("me", "p", "c"), everything)[0] == ("mem:1", "mem:2", "mem:4")
    assert delete(conn, Axes.across_agents("q"), everything)[0] == ("mem:3", "mem:5")


def test_an_id_is_never_used_again(conn):
    put(conn, clean("a"), clean("b"))
    delete(conn, ME, ["mem:2"])
    assert put(conn, clean("b"))[0].ref == "mem:3"


# --- update ---------------------------------------------------------------------------------------


def test_update_replaces_the_content_and_nothing_else(conn):
    model = register_model(conn, "tiny", "f" * 64, 4)
    record = clean("old", msg_id="m", timestamp="2026-01-01", metadata={"k": 1}, project_id="p")
    insert_batch(conn, [record], [vector(1)], model, NOW)
    before = fetch_rows(conn, ME, [1])[1]
    outcome = update_content(conn, ME, "mem:1", "新しい", vector(2), model, NOW + 5)
    assert (outcome.status, outcome.ref) == ("stored", "mem:1")
    after = fetch_rows(conn, ME, [1])[1]
    assert after.content == "新しい"
    assert after.updated_at == NOW + 5
    assert after.revision == before.revision + 1 == generation(conn)
    unchanged = set(before.__slots__) - {"content", "updated_at", "revision"}
    assert all(getattr(before, name) == getattr(after, name) for name in unchanged)
    # The index of duplicates follows: the old text is free again, the new one is taken.
    assert would_skip(conn, clean("old", timestamp="2026-01-01", project_id="p")) is None
    taken = would_skip(conn, clean("新しい", timestamp="2026-01-01", project_id="p"))
    assert taken is not None
    assert taken.ref == "mem:1"


def test_update_without_a_vector_leaves_none_of_the_old_text(conn):
    model = register_model(conn, "tiny", "f" * 64, 4)
    insert_batch(conn, [clean("old")], [vector(1)], model, NOW)
    update_content(conn, ME, "mem:1", "new", None, model, NOW)
    assert conn.execute("SELECT embedding, model_id FROM memories").fetchone() == (None, None)


def test_an_update_that_changes_nothing_says_so(conn):
    put(conn, clean("a"), clean("b"), clean("c", "you"))
    at = generation(conn)
    cases = {
        ("mem:1", "a"): ("skipped", "unchanged", "mem:1"),
        ("mem:1", "b"): ("skipped", "duplicate_content", "mem:2"),
        ("mem:3", "x"): ("rejected", "not_found", None),
        ("mem:9", "x"): ("rejected", "not_found", None),
        ("記憶", "x"): ("rejected", "not_found", None),
        ("mem:\ud800", "x"): ("rejected", "not_found", None),
        ("mem:1", "\u3000"): ("rejected", "empty_content", None),
        ("mem:1", "x\0"): ("rejected", "nul_character", None),
        ("mem:1", "\ud800"): ("rejected", "lone_surrogate", None),
        ("mem:1", "x" * 16_001): ("rejected", "content_too_long", None),
    }
    for (ref, content), expected in cases.items():
        outcome = update_content(conn, ME, ref, content, None, None, NOW)
        assert (outcome.status, outcome.reason, outcome.ref) == expected
        assert REASONS[outcome.reason].status == outcome.status
        outcome.detail.encode("utf-8")
    assert contents(conn) == ["a", "b", "c"]
    assert generation(conn) == at


# --- transactions ---------------------------------------------------------------------------------


def test_the_generation_counts_the_changes(conn):
    assert generation(conn) == 0
    put(conn, clean("a"), clean("b"))
    assert generation(conn) == 1
    put(conn, clean("a"))
    delete(conn, ME, ["mem:99"])
    put(conn)
    assert generation(conn) == 1
    delete(conn, ME, ["mem:1"])
    assert generation(conn) == 2


def test_a_failing_block_leaves_no_trace(conn):
    put(conn, clean("kept"))
    with pytest.raises(RuntimeError), write_transaction(conn):
        conn.execute("UPDATE memories SET content = 'lost'")
        raise RuntimeError
    with pytest.raises(StoreError), write_transaction(conn):
        conn.execute("UPDATE memories SET content = 'lost'")
        conn.execute("no such statement")
    assert contents(conn) == ["kept"]
    assert generation(conn) == 1
    assert not conn.in_transaction
    put(conn, clean("later"))
    assert contents(conn) == ["kept", "later"]


def test_a_locked_store_is_busy_and_then_free(conn, tmp_path):
    other = open_database(tmp_path / "記憶.db")
    conn.execute("PRAGMA busy_timeout = 20")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError, match="記憶"):
        put(conn, clean("a"))
    other.execute("ROLLBACK")
    other.close()
    assert put(conn, clean("a"))[0].status == "stored"


def test_a_file_that_a_newer_version_moved_on_is_not_written(conn, tmp_path):
    newer = sqlite3.connect(tmp_path / "記憶.db")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(NewerSchemaError, match="99"):
        put(conn, clean("a"))
    assert contents(conn) == []


def test_a_closed_store_is_a_clear_error(tmp_path):
    connection = open_database(tmp_path / "x.db")
    connection.close()
    with pytest.raises(StoreError, match="closed"):
        put(connection, clean("a"))


def test_threads_share_a_connection_under_a_lock(conn):
    lock = threading.Lock()
    failures = []

    def work(number: int) -> None:
        try:
            for i in range(20):
                with lock:
                    put(conn, clean(f"{number}/{i}"))
                    fetch_rows(conn, ME, range(1, 30))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(set(contents(conn))) == 80
    assert generation(conn) == 80
