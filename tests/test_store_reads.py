"""Reading rows back: by reference, and as the columns follow the store."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from store_cases import NOW, clean, put, vector

from cpersona_jit.errors import CorruptStoreError, StoreError
from cpersona_jit.isolation import Axes
from cpersona_jit.store.changes import delete, update_content
from cpersona_jit.store.database import generation, open_database, read_snapshot
from cpersona_jit.store.models import (
    find_model,
    generation_and_model,
    list_models,
    register_model,
)
from cpersona_jit.store.reads import (
    CHANGED_COLUMNS,
    changed_rows,
    counts,
    deleted_since,
    fetch_rows,
    rows_without_vector,
)
from cpersona_jit.store.writes import insert_batch, set_vectors

ME = Axes.agent("me")


@pytest.fixture
def conn(tmp_path):
    connection = open_database(tmp_path / "store.db")
    yield connection
    connection.close()


def test_rows_come_in_the_order_asked_and_only_within_the_axes(conn):
    put(conn, clean("a"), clean("b", "you"), clean("c"), clean("d", project_id="p"))
    assert list(fetch_rows(conn, ME, [3, 2, 1, 3, 77, -1, 0])) == [3, 1]
    assert list(fetch_rows(conn, Axes.agent("me", project_id=""), [4, 1])) == [1]
    assert list(fetch_rows(conn, Axes.across_agents(), [2, 1])) == [2, 1]
    assert fetch_rows(conn, Axes.agent(""), [1, 2, 3, 4]) == {}
    assert fetch_rows(conn, ME, []) == {}
    assert list(fetch_rows(conn, ME, [2**63 - 1, 1])) == [1]


def test_many_rows_at_once(conn):
    put(conn, *(clean(f"row {i}") for i in range(1200)))
    wanted = list(range(1200, 0, -1))
    assert list(fetch_rows(conn, ME, wanted)) == wanted


@pytest.mark.parametrize("axes", [ME, Axes.agent("me", "p", "c"), Axes.across_agents()])
def test_fetching_a_few_rows_does_not_walk_the_others(conn, axes):
    put(conn, *(clean(f"row {i}") for i in range(3000)))
    turns = []
    conn.set_progress_handler(lambda: turns.append(1), 100)  # every 100 instructions of SQLite
    assert len(fetch_rows(conn, axes, range(1, 3000, 100))) == 30
    assert len(turns) < 30


def test_counts_stay_within_the_axes(conn):
    tiny, other = register_model(conn, "t", "1" * 64, 4), register_model(conn, "o", "2" * 64, 4)
    insert_batch(conn, [clean("a")], [vector(1)], tiny, NOW)
    insert_batch(conn, [clean("b")], [vector(1)], other, NOW)
    put(conn, clean("c"), clean("d", "you"))
    assert counts(conn, ME) == (3, 1)
    assert counts(conn, ME, tiny) == (3, 2)
    assert counts(conn, Axes.agent("stranger")) == (0, 0)
    assert counts(conn, Axes.across_agents(), tiny) == (4, 3)


def test_a_damaged_row_is_named(conn):
    put(conn, clean("a"))
    for damage in ("[1]", "{", ""):
        conn.execute("UPDATE memories SET metadata = ?", (damage,))
        with pytest.raises(CorruptStoreError, match="mem:1"):
            fetch_rows(conn, ME, [1])


def test_text_that_is_not_utf8_is_a_store_error(conn):
    put(conn, clean("a"))
    conn.execute("UPDATE memories SET content = CAST(x'ff' AS TEXT)")
    with pytest.raises(StoreError):
        fetch_rows(conn, ME, [1])


# --- models ---------------------------------------------------------------------------------------


def test_a_model_is_entered_once(conn):
    first = register_model(conn, "tiny", "f" * 64, 4)
    at = generation(conn)
    assert register_model(conn, "tiny again", "f" * 64, 4) == first
    assert generation(conn) == at
    assert find_model(conn, "f" * 64) == (first, "tiny", "f" * 64, 4)
    assert find_model(conn, "unknown") is None
    now = generation(conn)
    assert generation_and_model(conn, "f" * 64) == (now, find_model(conn, "f" * 64))
    assert generation_and_model(conn, "unknown") == (now, None)
    assert generation_and_model(conn, "") == (now, None)
    with pytest.raises(StoreError, match="dimensions"):
        register_model(conn, "tiny", "f" * 64, 5)
    second = register_model(conn, "日本語", "e" * 64, 8)
    assert [model.id for model in list_models(conn)] == [first, second]


# --- vectors that are missing ---------------------------------------------------------------------


def test_rows_wait_for_a_vector_until_they_have_one_of_this_model(conn):
    old, new = register_model(conn, "old", "1" * 64, 4), register_model(conn, "new", "2" * 64, 4)
    records = [clean(f"row {i}", source={"name": f"n{i}"}) for i in range(7)]
    vectors = [vector(1) if i % 2 else None for i in range(7)]
    insert_batch(conn, records, vectors, old, NOW)
    assert [row.id for row in rows_without_vector(conn, old, 0, 10)] == [1, 3, 5, 7]
    done, after = [], 0
    while batch := rows_without_vector(conn, new, after, 3):
        assert [(row.source_name, row.content) for row in batch] == [
            (f"n{row.id - 1}", f"row {row.id - 1}") for row in batch
        ]
        assert set_vectors(conn, batch, [vector(2)] * len(batch), new) == len(batch)
        done += [row.id for row in batch]
        after = batch[-1].id
    assert done == [1, 2, 3, 4, 5, 6, 7]
    assert rows_without_vector(conn, new, 0, 10) == []
    assert counts(conn, ME, new) == (7, 0)


def test_a_row_that_changed_meanwhile_keeps_waiting(conn):
    model = register_model(conn, "m", "1" * 64, 4)
    put(conn, clean("old"), clean("gone"), clean("failed"), clean("ok"))
    pending = rows_without_vector(conn, model, 0, 10)
    update_content(conn, ME, "mem:1", "new", None, None, NOW)
    delete(conn, ME, ["mem:2"])
    vectors = [vector(1), vector(2), None, vector(4)]
    assert set_vectors(conn, pending, vectors, model) == 1
    assert [row.id for row in rows_without_vector(conn, model, 0, 10)] == [1, 3]


# --- the columns follow ---------------------------------------------------------------------------


def test_changed_rows_have_the_named_columns(conn):
    put(conn, clean("あ", project_id="p", source={"type": "t", "id": "i", "name": "n"}))
    (row,) = changed_rows(conn, 0)
    named = dict(zip(CHANGED_COLUMNS, row, strict=True))
    assert named == {
        "id": 1,
        "agent_id": "me",
        "project_id": "p",
        "channel": "",
        "session_id": "",
        "source_type": "t",
        "source_id": "i",
        "source_name": "n",
        "event_time": None,
        "created_at": NOW,
        "content": "あ",
        "embedding": None,
        "model_id": None,
        "keywords": "",
    }


def test_rows_come_by_the_generation_that_wrote_them_last(conn):
    put(conn, clean("a"), clean("b"))
    put(conn, clean("c"))
    update_content(conn, ME, "mem:1", "い", None, None, NOW)
    assert [row[0] for row in changed_rows(conn, 0)] == [2, 3, 1]
    assert [row[0] for row in changed_rows(conn, 1)] == [3, 1]


def test_a_snapshot_does_not_move_while_another_process_writes(conn, tmp_path):
    put(conn, clean("a"))
    other = open_database(tmp_path / "store.db")
    with read_snapshot(conn):
        assert generation(conn) == 1
        put(other, clean("b"))
        delete(other, ME, ["mem:1"])
        assert generation(conn) == 1
        assert [row[0] for row in changed_rows(conn, 0)] == [1]
        assert deleted_since(conn, 0) == []
    assert generation(conn) == 3
    assert [row[0] for row in changed_rows(conn, 1)] == [2]
    assert deleted_since(conn, 1) == [1]
    other.close()


def test_an_abandoned_iterator_does_not_block(conn):
    put(conn, *(clean(str(i)) for i in range(50)))
    rows = changed_rows(conn, 0)
    next(rows)
    rows.close()
    assert delete(conn, ME, ["mem:1"])[0] == ("mem:1",)


class Follower(RuleBasedStateMachine):
    """A mirror that only applies changes always equals the store, whenever it looks."""

    @initialize(folder=st.uuids())
    def start(self, folder):
        self.conn = open_database(self.root / f"{folder}.db")
        self.model = register_model(self.conn, "m", "1" * 64, 4)
        self.mirror: dict[int, tuple] = {}
        self.seen = 0

    @rule(texts=st.lists(st.sampled_from("abcdeあいう"), min_size=1, max_size=3))
    def insert(self, texts):
        put(self.conn, *(clean(text) for text in texts))

    @rule(memory_id=st.integers(1, 9))
    def remove(self, memory_id):
        delete(self.conn, ME, [f"mem:{memory_id}"])

    @rule(memory_id=st.integers(1, 9), text=st.sampled_from("abcxyzえ"))
    def change(self, memory_id, text):
        update_content(self.conn, ME, f"mem:{memory_id}", text, None, None, NOW)

    @rule(limit=st.integers(1, 3))
    def embed(self, limit):
        pending = rows_without_vector(self.conn, self.model, 0, limit)
        set_vectors(self.conn, pending, [vector(1)] * len(pending), self.model)

    @rule()
    def refresh(self):
        with read_snapshot(self.conn):
            now = generation(self.conn)
            changed = list(changed_rows(self.conn, self.seen))
            # What was written last comes last, whichever generation is asked about.
            everything = list(changed_rows(self.conn, 0))
            assert changed == everything[len(everything) - len(changed) :]
            for memory_id in deleted_since(self.conn, self.seen):
                self.mirror.pop(memory_id, None)
            self.mirror.update((row[0], row) for row in changed)
            assert self.mirror == {row[0]: row for row in changed_rows(self.conn, 0)}
        self.seen = now

    @invariant()
    def an_equal_generation_means_nothing_to_do(self):
        if hasattr(self, "conn") and generation(self.conn) == self.seen:
            assert list(changed_rows(self.conn, self.seen)) == []
            assert deleted_since(self.conn, self.seen) == []

    def teardown(self):
        if hasattr(self, "conn"):
            self.conn.close()


def test_a_mirror_follows_the_store(tmp_path):
    Follower.root = tmp_path
    run_state_machine_as_test(
        Follower, settings=settings(max_examples=15, stateful_step_count=20, deadline=None)
    )
