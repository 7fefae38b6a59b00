"""Blocks through the library: made and embedded with their rows, mended and remade by commands."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from memory_cases import BagOfWords
from store_cases import ranges

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.degraded import missing_blocks
from cpersona_jit.embed.provider import TextKind
from cpersona_jit.errors import EmbeddingError, UsageError
from cpersona_jit.isolation import Axes
from cpersona_jit.passages import passages
from cpersona_jit.store.schema import MIGRATIONS, migrate
from cpersona_jit.text.blocks import split_blocks

LONG = "The harbour was quiet that day, and nobody came. " * 14
JAPANESE = "港は静かな一日で、だれも船を見に来なかった。" * 40
RECORDS = [
    Record("short", "a"),
    Record(LONG, "a", source=Source(name="Mia")),
    Record(JAPANESE, "b"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def opened(path: Path, embedder: object) -> Memory:
    return cpersona_jit.open(path, embedder, wait_for_kernels=False)


def stored_ranges(path: Path) -> dict[int, list[tuple[int, int]]]:
    conn = sqlite3.connect(path)
    found = ranges(conn)
    conn.close()
    return found


def block_vectors(path: Path) -> list[bytes | None]:
    conn = sqlite3.connect(path)
    found = conn.execute("SELECT embedding FROM blocks ORDER BY memory_id, block_index").fetchall()
    conn.close()
    return [blob for (blob,) in found]


def block_texts() -> list[str]:
    return [*passages("Mia", LONG).texts[1:], *passages("", JAPANESE).texts[1:]]


def expected_vectors() -> list[bytes]:
    rows = BagOfWords().embed(block_texts(), kind="passage").astype(np.float64)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return [row.astype("<f4").tobytes() for row in unit]


def same(found: Sequence[bytes | None], expected: Sequence[bytes]) -> bool:
    assert None not in found
    return np.allclose(
        np.frombuffer(b"".join(found), "<f4"), np.frombuffer(b"".join(expected), "<f4"), atol=1e-6
    )


def old_file(path: Path, contents: Sequence[str]) -> None:
    """Write a file as version 1 of the schema had it."""
    conn = sqlite3.connect(path, isolation_level=None)
    migrate(conn, MIGRATIONS[:1])
    conn.executemany(
        "INSERT INTO memories (revision, created_at, agent_id, content_hash, content)"
        " VALUES (1, 0, 'a', x'00', ?)",
        [(content,) for content in contents],
    )
    conn.execute("UPDATE meta SET generation = 1")
    conn.close()


# -- storing --------------------------------------------------------------------------------------


def test_rows_and_blocks_are_embedded_in_one_call(path: Path) -> None:
    class Counting(BagOfWords):
        calls = 0

        def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
            self.calls += 1
            return super().embed(texts, kind=kind)

    model = Counting()
    with opened(path, model) as memory:
        memory.store_many(RECORDS)
        status = memory.status()
    assert model.calls == 1
    assert model.embedded == [
        "short",
        *passages("Mia", LONG).texts,
        *passages("", JAPANESE).texts,
    ]
    assert all(text.startswith("Mia: ") for text in passages("Mia", LONG).texts)
    assert stored_ranges(path) == {2: split_blocks(LONG), 3: split_blocks(JAPANESE)}
    assert same(block_vectors(path), expected_vectors())
    blocks = len(split_blocks(LONG)) + len(split_blocks(JAPANESE))
    assert (status.blocks, status.blocks_without_vector, status.rows_without_blocks) == (
        blocks,
        0,
        0,
    )


def test_an_update_and_a_deletion_change_the_blocks(path: Path) -> None:
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store_many(RECORDS)
        model.embedded.clear()
        memory.update("mem:2", JAPANESE, agent_id="a")
        assert model.embedded == passages("Mia", JAPANESE).texts
        assert stored_ranges(path)[2] == split_blocks(JAPANESE)
        memory.update("mem:2", "brief", agent_id="a")
        memory.update("mem:1", LONG, agent_id="a")
        memory.delete(["mem:3"], agent_id="b")
        assert stored_ranges(path) == {1: split_blocks(LONG)}
        assert memory.status().blocks_without_vector == 0


def test_a_dead_embedder_leaves_blocks_that_wait(path: Path) -> None:
    model = BagOfWords(fails_after=0)
    told: list[tuple[int, int]] = []
    with opened(path, model) as memory:
        memory.store_many(RECORDS)
        blocks = len(block_texts())
        assert memory.status().blocks_without_vector == blocks
        model.fails_after = None
        result = memory.reembed(batch_size=2, progress=lambda *now: told.append(now))
    assert (result.done, result.remaining) == (3, 0)
    assert (result.blocks_done, result.blocks_remaining) == (blocks, 0)
    assert model.embedded[3:] == block_texts()
    assert told[0] == (2, 3 + blocks)
    assert told[-1] == (3 + blocks, 3 + blocks)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert same(block_vectors(path), expected_vectors())


def test_vectors_made_elsewhere_are_of_rows_and_their_blocks_wait(path: Path) -> None:
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store_many(RECORDS, vectors=np.eye(3, 64))
        assert model.embedded == []
        status = memory.status()
        assert (status.rows_without_vector, status.blocks_without_vector) == (0, status.blocks)
        assert memory.reembed().done == 0
        assert model.embedded == block_texts()


def test_another_model_embeds_the_blocks_again(path: Path) -> None:
    with opened(path, BagOfWords("one")) as memory:
        memory.store_many(RECORDS)
    with opened(path, BagOfWords("two")) as memory:
        assert memory.status().blocks_without_vector == len(block_texts())
        memory.reembed()
        assert memory.status().blocks_without_vector == 0
    with opened(path, "none") as memory:
        assert memory.status().blocks_without_vector == len(block_texts())


# -- rebuilding -----------------------------------------------------------------------------------


def test_a_file_from_before_blocks_gets_them_by_the_command(path: Path) -> None:
    old_file(path, ["short", LONG, JAPANESE, " " * 600 + "x"])
    told: list[tuple[str, int, int]] = []
    with opened(path, BagOfWords()) as memory:
        status = memory.status()
        assert (status.blocks, status.rows_without_blocks) == (0, 3)
        before = status.generation
        assert memory.recall("harbour", agent_id="a").rows
        memory.reembed()
        result = memory.reblock(batch_size=4, progress=lambda *now: told.append(now))
        blocks = len(split_blocks(LONG)) + len(split_blocks(JAPANESE))
        assert (result.rows, result.changed) == (4, 2)
        assert (result.blocks_done, result.blocks_remaining) == (blocks, 0)
        assert told[0] == ("split", 4, 4)
        assert told[-1] == ("embed", blocks, blocks)
        assert memory.status().rows_without_blocks == 0
        assert memory.status().generation > before
    assert stored_ranges(path) == {2: split_blocks(LONG), 3: split_blocks(JAPANESE)}


def test_rebuilding_what_is_right_writes_nothing(path: Path) -> None:
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store_many(RECORDS)
        model.embedded.clear()
        before = memory.status()
        result = memory.reblock()
        assert (result.rows, result.changed, result.blocks_done) == (3, 0, 0)
        assert memory.status() == before
        assert model.embedded == []


def test_wrong_blocks_are_made_anew_and_right_ones_keep_their_vectors(path: Path) -> None:
    with opened(path, BagOfWords()) as memory:
        memory.store_many(RECORDS)
    conn = sqlite3.connect(path)
    conn.execute("DELETE FROM blocks WHERE memory_id = 2 AND block_index = 1")
    conn.execute(
        "INSERT INTO blocks (memory_id, block_index, start_char, end_char) VALUES (1, 0, 0, 2)"
    )
    conn.commit()
    conn.close()
    model = BagOfWords()
    with opened(path, model) as memory:
        assert memory.reblock().changed == 2
    assert model.embedded == passages("Mia", LONG).texts[1:]
    assert stored_ranges(path) == {2: split_blocks(LONG), 3: split_blocks(JAPANESE)}
    assert same(block_vectors(path), expected_vectors())


def test_without_a_model_blocks_are_made_without_vectors(path: Path) -> None:
    old_file(path, [LONG])
    with opened(path, "none") as memory:
        result = memory.reblock()
        blocks = len(split_blocks(LONG))
        assert (result.changed, result.blocks_done, result.blocks_remaining) == (1, 0, blocks)
    assert block_vectors(path) == [None] * blocks


def test_rebuilding_goes_on_where_it_was_stopped(path: Path) -> None:
    old_file(path, [LONG, JAPANESE])
    model = BagOfWords(fails_after=2)
    with opened(path, model) as memory:
        with pytest.raises(EmbeddingError, match="the model died"):
            memory.reblock(batch_size=2)
        assert memory.status().rows_without_blocks == 0
        model.fails_after = None
        result = memory.reblock(batch_size=2)
        assert (result.changed, result.blocks_remaining) == (0, 0)
        assert result.blocks_done == memory.status().blocks - 4
    assert model.embedded == [*passages("", LONG).texts[1:], *passages("", JAPANESE).texts[1:]]


def test_a_row_that_changes_while_its_blocks_are_embedded_keeps_no_stale_vector(path: Path) -> None:
    class Meddler(BagOfWords):
        """While this model works, somebody edits the row through another handle."""

        def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
            with opened(path, "none") as other:
                other.update("mem:1", JAPANESE, agent_id="a")
            return super().embed(texts, kind=kind)

    old_file(path, [LONG])
    with opened(path, Meddler()) as memory:
        result = memory.reblock()
        assert result.blocks_done == 0
        assert result.blocks_remaining == len(split_blocks(JAPANESE))
    assert stored_ranges(path) == {1: split_blocks(JAPANESE)}


@pytest.mark.parametrize("size", [0, True, "8"])
def test_a_batch_size_that_is_none_is_refused(path: Path, size: object) -> None:
    with (
        opened(path, BagOfWords()) as memory,
        pytest.raises(UsageError, match=f"batch_size is {size!r}; allowed: a whole number"),
    ):
        memory.reblock(batch_size=size)


# -- what recall can say about it -----------------------------------------------------------------


def notes(memory: Memory, agent_id: str) -> list[str]:
    return [
        note.partition(":")[0] for note in missing_blocks(memory.columns(), Axes.agent(agent_id))
    ]


def test_missing_blocks_are_named_for_the_rows_of_the_call(path: Path) -> None:
    old_file(path, [LONG, JAPANESE, "short"])
    with opened(path, BagOfWords()) as memory:
        memory.store(JAPANESE, agent_id="b")
        (note,) = missing_blocks(memory.columns(), Axes.agent("a"))
        assert note == (
            "rows_without_blocks: 2 of 3 rows are not split by the current rules and count as "
            "they are; run `cpersona-jit reblock` on this file"
        )
        assert notes(memory, "b") == []
        memory.reblock()
        assert notes(memory, "a") == []


def test_missing_vectors_of_blocks_are_named_once(path: Path) -> None:
    with opened(path, BagOfWords()) as memory:
        memory.store_many([Record(JAPANESE, "b")])
        memory.store_many([Record(LONG, "a")], vectors=np.eye(1, 64))
        blocks = len(split_blocks(LONG))
        (note,) = missing_blocks(memory.columns(), Axes.agent("a"))
        assert note.startswith(f"blocks_without_vector: {blocks} of {blocks} blocks have no vector")
        assert notes(memory, "b") == []
    with opened(path, BagOfWords("two")) as memory:
        # No row has a vector of this model, which is said elsewhere.
        assert notes(memory, "a") == []
