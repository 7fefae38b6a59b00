"""Overflow nodes: runs of blocks that fit the embedder's window, each with a vector."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import BagOfWords
from store_cases import is_sound

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.embed.provider import DEFAULT_WINDOW, window_chars
from cpersona_jit.errors import EmbeddingError
from cpersona_jit.isolation import Axes
from cpersona_jit.records import Node
from cpersona_jit.store.blocks import NewBlock
from cpersona_jit.store.nodes import long_rows, nodes_of, rows_without_chain, set_chains
from cpersona_jit.text.blocks import split_blocks
from cpersona_jit.text.nodes import node_ranges

ENGLISH = " ".join(
    f"On day {i} the keeper wrote down the wind and the height of it." for i in range(80)
)
JAPANESE = "".join(f"{i}日目、灯台守は風の向きと波の高さを日誌に書き留めた。" for i in range(150))
TEXTS = [ENGLISH, JAPANESE]
SHORT = "お茶 and tea"
WINDOW = 700


class Windowed(BagOfWords):
    """A bag of words that says how much text one vector stands for."""

    def __init__(self, name: str = "bag", window: int | None = WINDOW, **options) -> None:
        super().__init__(name, **options)
        self.info = replace(self.info, max_chars=window)


def opened(path, embedder) -> Memory:
    return cpersona_jit.open(path, embedder, wait_for_kernels=False)


@pytest.fixture
def memory(tmp_path):
    with opened(tmp_path / "m.db", Windowed()) as memory:
        yield memory


def chain(memory: Memory, memory_id: int = 1, agent_id: str = "me") -> list[Node]:
    return nodes_of(memory._conn, Axes.agent(agent_id), [memory_id]).get(memory_id, [])


def check_chain(memory: Memory, content: str, nodes: list[Node], window: int = WINDOW) -> None:
    """The nodes partition the content, end with its blocks, and have the vectors of their texts."""
    assert [(node.start, node.end) for node in nodes] == node_ranges(split_blocks(content), window)
    assert [0, *(node.end for node in nodes)] == [*(node.start for node in nodes), len(content)]
    made = BagOfWords(memory._provider.info.label).embed(
        [content[node.start : node.end] for node in nodes], kind="passage"
    )
    stored = np.array([np.frombuffer(node.embedding, "<f4") for node in nodes])
    np.testing.assert_allclose(stored, made / np.linalg.norm(made, axis=1)[:, None], atol=1e-6)


# --- packing --------------------------------------------------------------------------------------

BLOCKS = st.lists(st.integers(1, 900), max_size=30)


@given(BLOCKS, st.integers(1, 2000))
def test_nodes_partition_the_text_at_the_ends_of_blocks(sizes, window):
    ends = np.cumsum([0, *sizes]).tolist()
    blocks = list(pairwise(ends))
    nodes = node_ranges(blocks, window)
    if len(nodes) == 0:
        assert len(blocks) < 2 or ends[-1] <= window
        return
    assert len(nodes) > 1
    assert [nodes[0][0], *(end for _, end in nodes)] == [*(start for start, _ in nodes), ends[-1]]
    assert {end for _, end in nodes} <= set(ends)
    for start, end in nodes:
        assert end - start <= window or (start, end) in blocks
    for (start, _), (_, end) in pairwise(nodes):  # greedy: no two could be one
        assert end - start > window


@given(st.text(alphabet="あa。. \n", max_size=5000), st.integers(600, 2000))
def test_a_node_of_a_real_text_is_never_longer_than_a_window_of_blocks(text, window):
    blocks = split_blocks(text)
    nodes = node_ranges(blocks, window)
    assert "".join(text[start:end] for start, end in nodes) == (text if nodes else "")
    assert all(end - start <= window or (start, end) in blocks for start, end in nodes)


@pytest.mark.parametrize(
    ("dim", "max_chars", "window"), [(8, 400, 400), (8, None, DEFAULT_WINDOW), (None, 2000, None)]
)
def test_the_window_of_a_model(dim, max_chars, window):
    assert window_chars(replace(BagOfWords().info, dim=dim, max_chars=max_chars)) == window


# --- storing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", TEXTS, ids=["en", "ja"])
def test_a_long_content_is_stored_with_its_nodes_and_says_how_many(memory, content):
    outcome = memory.store(content, agent_id="me")
    nodes = chain(memory)
    assert outcome.nodes == len(nodes) > 3
    check_chain(memory, content, nodes)
    assert is_sound(memory._conn)


def test_what_fits_the_window_has_no_nodes(memory):
    assert memory.store(SHORT, agent_id="me").nodes == 0
    assert memory.store(ENGLISH[:WINDOW], agent_id="me").nodes == 0
    assert memory.store(" " * 5000 + SHORT, agent_id="me").nodes == 0  # one block, however long
    assert [chain(memory, i) for i in (1, 2, 3)] == [[], [], []]


def test_a_skipped_record_has_none(memory):
    memory.store(ENGLISH, agent_id="me")
    assert memory.store(ENGLISH, agent_id="me").nodes == 0
    assert memory._conn.execute("SELECT count(DISTINCT memory_id) FROM nodes").fetchone() == (1,)


def test_the_name_of_the_speaker_is_part_of_what_is_embedded(memory):
    outcome = memory.store(JAPANESE, agent_id="me", source={"name": "灯台守"})
    embedded = memory._provider.embedded[-outcome.nodes :]
    assert all(text.startswith("灯台守: ") for text in embedded)
    assert "".join(text.removeprefix("灯台守: ") for text in embedded) == JAPANESE


def test_episodes_have_nodes_too_without_their_keywords(memory):
    span = {"start": "2026-03-01", "end": "2026-03-02"}
    outcome = memory.archive_episode(ENGLISH, agent_id="me", keywords=["船便"], **span)
    assert (outcome.ref, outcome.nodes) == ("ep:1", len(chain(memory)))
    check_chain(memory, ENGLISH, chain(memory))


def test_without_a_model_there_are_none(tmp_path):
    with opened(tmp_path / "m.db", "none") as memory:
        assert memory.store(ENGLISH, agent_id="me").nodes == 0
        assert chain(memory) == []


def test_a_model_that_fails_leaves_nodes_that_wait(tmp_path):
    with opened(tmp_path / "m.db", Windowed(fails_after=0)) as memory:
        outcome = memory.store(ENGLISH, agent_id="me")
        assert outcome.warnings == ("not_embedded",)
        assert outcome.nodes == len(chain(memory)) > 1
        assert {node.embedding for node in chain(memory)} == {None}


def test_given_vectors_are_of_rows_and_the_nodes_wait(memory):
    records = [Record(ENGLISH, "me"), Record(SHORT, "me")]
    outcomes = memory.store_many(records, vectors=np.ones((2, 64), np.float32))
    assert [o.nodes for o in outcomes] == [len(chain(memory)), 0]
    assert outcomes[0].nodes > 1
    assert {node.model_id for node in chain(memory)} == {None}
    result = memory.reembed()
    assert (result.chains_done, result.chains_remaining) == (1, 0)
    check_chain(memory, ENGLISH, chain(memory))


# --- changing -------------------------------------------------------------------------------------


def test_an_update_replaces_the_nodes(memory):
    memory.store(ENGLISH, agent_id="me")
    assert memory.update("mem:1", JAPANESE, agent_id="me").nodes == len(chain(memory))
    check_chain(memory, JAPANESE, chain(memory))
    assert memory.update("mem:1", SHORT, agent_id="me").nodes == 0
    assert chain(memory) == []


def test_deleting_a_row_deletes_its_nodes(memory):
    memory.store(ENGLISH, agent_id="me")
    memory.delete(["mem:1"], agent_id="me")
    assert memory._conn.execute("SELECT count(*) FROM nodes").fetchone() == (0,)


def test_a_foreign_row_shows_no_nodes(memory):
    memory.store(ENGLISH, agent_id="you", project_id="p", channel="c")
    conn = memory._conn
    for axes in (
        Axes.agent("me"),
        Axes.agent(""),
        Axes.agent("you", "q"),
        Axes.agent("you", ""),
        Axes.agent("you", "p", "d"),
    ):
        assert nodes_of(conn, axes, [1]) == {}
    assert len(nodes_of(conn, Axes.agent("you", "p", "c"), [1, 2, 1])[1]) > 1


# --- reembed and reblock --------------------------------------------------------------------------


def test_reembed_makes_the_chains_of_an_older_file(tmp_path):
    path = tmp_path / "m.db"
    with opened(path, "none") as memory:
        memory.store_many([Record(ENGLISH, "me"), Record(SHORT, "me"), Record(JAPANESE, "you")])
    with opened(path, Windowed()) as memory:
        told = []
        result = memory.reembed(
            batch_size=1, progress=lambda done, total: told.append((done, total))
        )
        assert (result.done, result.chains_done, result.chains_remaining) == (3, 2, 0)
        assert told[-1] == (told[-1][1], told[-1][1])
        check_chain(memory, ENGLISH, chain(memory))
        check_chain(memory, JAPANESE, chain(memory, 3, "you"))
        memory._provider.embedded.clear()
        assert memory.reembed().chains_done == 0
        assert memory._provider.embedded == []


def test_reembed_follows_another_model_and_its_window(tmp_path):
    path = tmp_path / "m.db"
    with opened(path, Windowed()) as memory:
        memory.store_many([Record(ENGLISH, "me"), Record(JAPANESE[:2000], "me")])
        assert len(chain(memory, 2)) > 1
    with opened(path, Windowed("other", 2000)) as memory:
        result = memory.reembed()
        assert (result.chains_done, result.chains_remaining) == (1, 0)
        check_chain(memory, ENGLISH, chain(memory), 2000)
        assert chain(memory, 2) == []  # it fits this window


def test_reembed_keeps_what_was_finished_when_the_model_dies(tmp_path):
    path = tmp_path / "m.db"
    with opened(path, "none") as memory:
        memory.store_many([Record(ENGLISH, "me"), Record(JAPANESE, "me")])
        blocks = memory._conn.execute("SELECT count(*) FROM blocks").fetchone()[0]
    with opened(path, Windowed(fails_after=2 + blocks + 1)) as memory:
        with pytest.raises(EmbeddingError):
            memory.reembed(batch_size=1)
        assert [len(chain(memory, i)) > 1 for i in (1, 2)] == [True, False]
    with opened(path, Windowed()) as memory:
        assert memory.reembed(batch_size=1).chains_done == 1


def test_reblock_drops_nodes_of_other_blocks_and_makes_them_again(memory):
    memory.store(ENGLISH, agent_id="me")
    before = chain(memory)
    memory._conn.execute("DELETE FROM blocks WHERE block_index > 3")  # as an older splitter's
    assert memory.reblock().changed == 1
    assert chain(memory) == before


def test_a_row_that_changed_meanwhile_keeps_its_own_nodes(memory):
    memory.store(ENGLISH, agent_id="me")
    conn = memory._conn
    (row,) = long_rows(conn, [1])
    assert row.blocks == tuple(split_blocks(ENGLISH))
    memory.update("mem:1", JAPANESE, agent_id="me")
    assert set_chains(conn, [row], [[NewBlock(0, 5)]], 1) == 0
    check_chain(memory, JAPANESE, chain(memory))
    assert rows_without_chain(conn, 1, WINDOW) == []
    assert rows_without_chain(conn, 2, WINDOW) == [1]
    assert rows_without_chain(conn, 2, len(JAPANESE)) == []
