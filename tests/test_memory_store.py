"""Storing: one outcome per record, vectors from the model or from the caller."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from memory_cases import BagOfWords, settings

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.errors import UsageError


def opened(path: Path, embedder: object = "none", **options) -> Memory:
    return cpersona_jit.open(path, embedder, wait_for_kernels=False, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    with opened(path, BagOfWords()) as memory:
        yield memory


def test_a_row_comes_back_as_it_was_stored(memory: Memory) -> None:
    content = "  京都で抹茶を飲んだ🍵\n(twice)\t "
    outcome = memory.store(
        content,
        agent_id="a",
        project_id="p",
        channel="c",
        msg_id="m1",
        source={"type": "user", "id": "u1", "name": "愛子"},
        session_id="s1",
        timestamp="2024-05-01T09:30:00+09:00",
        metadata={"mood": "良い", "n": [1, None]},
    )
    assert (outcome.status, outcome.ref, outcome.reason) == ("stored", "mem:1", "")
    (row,) = memory.recall("抹茶", agent_id="a").rows
    assert (row.ref, row.id, row.content) == ("mem:1", "m1", content)
    assert row.source == Source("user", "u1", "愛子")
    assert (row.session_id, row.project_id, row.channel) == ("s1", "p", "c")
    assert row.timestamp == "2024-05-01T09:30:00+09:00"
    assert row.created_at.endswith("Z")
    assert isinstance(row.score, float)
    (full,) = memory.get_contents(["mem:1"], agent_id="a").rows
    assert (full.content, full.metadata) == (content, {"mood": "良い", "n": [1, None]})


def test_the_speaker_is_indexed_and_not_stored_in_the_content(memory: Memory) -> None:
    memory.store("はい、そうです", agent_id="a", source=Source(name="Haruka"))
    memory.store("はい、そうですね", agent_id="a", source=Source(name="Kenta"))
    first = memory.recall("Kenta", agent_id="a", settings=settings(weights={"gram3": 1.0})).rows[0]
    assert (first.content, first.source.name) == ("はい、そうですね", "Kenta")


def test_outcomes_come_one_per_record_in_order(memory: Memory) -> None:
    outcomes = memory.store_many(
        iter(
            [
                Record("tea", "a"),
                Record(" ", "a"),
                Record("tea", "a"),
                Record("ramen", "a", msg_id="m"),
                Record("other", "a", msg_id="m"),
                Record("x" * 16_001, "a"),
                Record("y" * 16_000, "a"),
                Record("tea", ""),
                Record("\ud800", "a"),
                Record("later", "a", timestamp="some day"),
            ]
        ),
        batch_size=3,
    )
    assert [(outcome.status, outcome.reason) for outcome in outcomes] == [
        ("stored", ""),
        ("rejected", "empty_content"),
        ("skipped", "duplicate_content"),
        ("stored", ""),
        ("skipped", "duplicate_msg_id"),
        ("rejected", "content_too_long"),
        ("stored", ""),
        ("rejected", "agent_id_required"),
        ("rejected", "lone_surrogate"),
        ("stored", ""),
    ]
    assert outcomes[2].ref == outcomes[0].ref
    assert outcomes[9].warnings == ("timestamp_unparsable",)
    assert memory.status().rows == 4


def test_duplicates_and_rejected_records_are_not_embedded(path: Path) -> None:
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store("tea", agent_id="a")
        memory.store_many([Record("tea", "a"), Record("\0", "a"), Record("ramen", "a")])
    assert model.embedded == ["tea", "ramen"]


def test_equal_contents_are_kept_when_dedup_is_off(memory: Memory) -> None:
    twice = [Record("はい", "a"), Record("はい", "a")]
    assert [o.status for o in memory.store_many(twice, dedup=False)] == ["stored"] * 2
    assert [o.status for o in memory.store_many(twice)] == ["skipped"] * 2


def test_progress_is_told_after_each_batch(memory: Memory) -> None:
    told: list[int] = []
    records = [Record(f"tea {i}", "a") for i in range(5)]
    memory.store_many(records, batch_size=2, progress=told.append)
    assert told == [2, 4, 5]
    assert memory.store_many([]) == []


def test_vectors_made_elsewhere_are_those_of_the_model(path: Path, tmp_path: Path) -> None:
    model = BagOfWords()
    contents = ["tea", "抹茶", "ramen"]
    vectors = 7.0 * model.embed(contents, kind="passage")
    model.embedded.clear()
    records = [Record(content, "a") for content in contents]
    records.insert(1, Record("", "a"))  # a rejected record takes its vector with it
    with_rejected = np.insert(vectors, 1, 1.0, axis=0)
    with opened(path, model) as memory, opened(tmp_path / "n.db", BagOfWords()) as other:
        memory.store_many(records, vectors=with_rejected, batch_size=2)
        other.store_many(records)
        assert model.embedded == []
        assert memory.columns().embedded.count == 3
        assert np.array_equal(memory.columns().codes, other.columns().codes)


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        (np.ones((2, 64)), "vectors has 2 rows for 3 records"),
        (np.ones((4, 64)), "vectors has 4 rows for 3 records"),
        (np.ones((3, 32)), "vectors have 32 dimensions; embedder 'bag' has 64"),
        (np.ones(64), "vectors has shape (64,)"),
        (np.full((3, 64), np.nan), "vectors[0] is zero or not finite"),
        (np.vstack([np.ones((2, 64)), np.zeros((1, 64))]), "vectors[2] is zero or not finite"),
        (np.full((3, 64), 1e300), "vectors[0] is zero or not finite"),
        ([[1.0], [1.0, 2.0], [1.0]], "vectors has ragged rows"),
        ([["a"] * 64] * 3, "vectors has shape (3, 64) of <U1"),
    ],
)
def test_vectors_that_do_not_fit_are_refused_before_anything_is_stored(
    memory: Memory, vectors: object, told: str
) -> None:
    with pytest.raises(UsageError) as raised:
        memory.store_many([Record(f"tea {i}", "a") for i in range(3)], vectors=vectors)
    assert told in str(raised.value)
    assert memory.status().rows == 0


def test_vectors_need_an_embedder_that_makes_such(path: Path) -> None:
    with opened(path) as memory, pytest.raises(UsageError, match="embedder 'none' makes none"):
        memory.store_many([Record("tea", "a")], vectors=np.ones((1, 64)))


@pytest.mark.parametrize("count", [1, 3])
def test_lazy_records_that_do_not_match_their_vectors_are_told(memory: Memory, count: int) -> None:
    with pytest.raises(UsageError, match="vectors has 2 rows"):
        memory.store_many((Record(f"{i}", "a") for i in range(count)), vectors=np.ones((2, 64)))


def test_what_is_no_record_is_named_by_its_position(memory: Memory) -> None:
    with pytest.raises(UsageError, match=r"records\[1\] is a dict"):
        memory.store_many([Record("tea", "a"), {"content": "tea", "agent_id": "a"}])
    assert memory.status().rows == 0
