"""Snapshots: refreshed step by step they equal one built at once, whoever wrote to the store."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from memory_cases import BagOfWords, plain_columns

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.columns.arrays import empty_columns
from cpersona_jit.columns.keeper import Limits
from cpersona_jit.columns.postings import NUMPY_GRAMS
from cpersona_jit.columns.rows import NO_MODEL
from cpersona_jit.columns.snapshot import UNDATED
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.quantize import quantize_rows, sign_words
from cpersona_jit.kernels.row_mask import admitted_rows

WORDS = [
    "tea",
    "tea tea tea",
    "green tea in Kyoto",
    "抹茶",
    "京都で抹茶を飲んだ",
    "🎉",
    "a",
    "ramen",
]
# Texts of several blocks.
LONG = ["海は静かだった。" * 80, "tea? " + "y" * 600, "京都で抹茶を飲んだ？" * 60]
DATES = ["", "2024-05-01", "2024-05-01T10:00:00Z", "no date", "1969-12-31"]

records = st.builds(
    Record,
    content=st.sampled_from(WORDS + LONG),
    agent_id=st.sampled_from(["a", "b"]),
    project_id=st.sampled_from(["", "p", "q"]),
    channel=st.sampled_from(["", "c"]),
    source=st.sampled_from([None, Source("user", "u1", "Aiko")]),
    session_id=st.sampled_from(["", "s1", "s2"]),
    timestamp=st.sampled_from(DATES),
)


def opened(path: Path, embedder: object, *, beside: str = "") -> Memory:
    """Open a store whose columns are made compact, and get their file, at every turn."""
    memory = cpersona_jit.open(path, embedder, wait_for_kernels=False)
    memory._keeper.limits = Limits(3, 2000, 2, 8, 1)
    memory._keeper.file.path += beside
    return memory


def rebuilt(path: Path, embedder: object) -> object:
    memory = opened(path, embedder, beside="-none")
    memory._keeper.limits = Limits(file_rows=1 << 30)
    with memory:
        return plain_columns(memory.columns())


class OneStoreTwoWriters(RuleBasedStateMachine):
    """Two handles on one file write in any order; each looks now and then."""

    centred = False

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "m.db"
        self.models = [BagOfWords(centred=self.centred) for _ in range(2)]
        self.handles = [opened(self.path, model) for model in self.models]
        self.generations = [0, 0]

    def teardown(self) -> None:
        for handle in getattr(self, "handles", ()):
            handle.close()
        self.folder.cleanup()

    @rule(who=st.integers(0, 1), batch=st.lists(records, max_size=4), dedup=st.booleans())
    def store(self, who: int, batch: list[Record], dedup: bool) -> None:
        self.handles[who].store_many(batch, dedup=dedup)

    @rule(who=st.integers(0, 1), at=st.integers(1, 8), agent=st.sampled_from(["a", "b"]))
    def delete(self, who: int, at: int, agent: str) -> None:
        self.handles[who].delete([f"mem:{at}"], agent_id=agent)

    @rule(
        who=st.integers(0, 1),
        at=st.integers(1, 8),
        content=st.sampled_from(WORDS + LONG),
        agent=st.sampled_from(["a", "b"]),
    )
    def update(self, who: int, at: int, content: str, agent: str) -> None:
        self.handles[who].update(f"mem:{at}", content, agent_id=agent)

    @rule(who=st.integers(0, 1))
    def lose_the_model(self, who: int) -> None:
        self.models[who].fails_after = 0

    @rule(who=st.integers(0, 1))
    def embed_what_is_missing(self, who: int) -> None:
        self.models[who].fails_after = None
        self.handles[who].reembed(batch_size=2)

    @rule(who=st.integers(0, 1), old=st.booleans())
    def split_again(self, who: int, old: bool) -> None:
        if old:  # as if the file came from before the splitter
            conn = sqlite3.connect(self.path)
            conn.execute("UPDATE meta SET blocks_version = 0")
            conn.commit()
            conn.close()
            opened(self.path, "none").close()
        self.models[who].fails_after = None
        self.handles[who].reblock(batch_size=2)

    @rule(who=st.integers(0, 1))
    def look(self, who: int) -> None:
        columns = self.handles[who].columns()
        assert columns.generation >= self.generations[who]
        self.generations[who] = columns.generation
        assert columns.generation == self.handles[who].status().generation

    @rule(who=st.integers(0, 1))
    def compact(self, who: int) -> None:
        for _ in range(3):  # rows that are gone, the tail, and what came meanwhile
            columns = self.handles[who].columns()
            self.handles[who]._keeper.wait()
        assert columns.n - columns.gram_index[3].n <= 3
        gone = columns.n - columns.alive.count
        assert gone < 2 or gone * 8 <= columns.n
        assert columns is self.handles[who].columns()  # nothing changed: nothing is built

    @rule(who=st.integers(0, 1))
    def reopen(self, who: int) -> None:
        self.handles[who].close()
        self.handles[who] = opened(self.path, self.models[who])
        # It may be of another model: no file is from a state that the store never had.
        said = self.handles[who].status().columns
        assert not any(word in said for word in ("belong", "checksum", "generation")), said

    @invariant()
    def one_handle_is_like_a_new_one(self) -> None:
        if hasattr(self, "handles"):
            model = BagOfWords(centred=self.centred)
            assert plain_columns(self.handles[0].columns()) == rebuilt(self.path, model)


OneStoreTwoWriters.TestCase.settings = settings(
    max_examples=15, stateful_step_count=20, deadline=None
)
TestOneStoreTwoWriters = OneStoreTwoWriters.TestCase


class CentredVectors(OneStoreTwoWriters):
    """The same where every row that comes or goes may move what its agent's codes are seen from."""

    centred = True


CentredVectors.TestCase.settings = OneStoreTwoWriters.TestCase.settings
TestCentredVectors = CentredVectors.TestCase


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def test_columns_hold_what_was_stored(path: Path) -> None:
    with opened(path, BagOfWords()) as memory:
        memory.store("tea", agent_id="a", project_id="p", session_id="s", timestamp="2024-05-01")
        memory.store("抹茶", agent_id="b", source=Source("user", "u1", "愛子"))
        columns = memory.columns()
    assert columns.n == 2
    assert columns.ids.tolist() == [1, 2]
    assert columns.event_time.tolist() == [1_714_521_600_000_000, UNDATED]

    def names(column: str) -> list[str]:
        table = list(columns.tables[column])
        return [table[code] for code in columns.codes_by_name[column]]

    assert names("agent_id") == ["a", "b"]
    assert names("project_id") == ["p", ""]
    assert names("session_id") == ["s", ""]
    assert names("source_name") == ["", "愛子"]
    assert columns.lengths.tolist() == [len(" tea "), len(" 愛子 抹茶 ")]
    # What is indexed and embedded is the same text: the speaker, then what was said.
    model = BagOfWords()
    vectors = model.embed(["tea", "愛子: 抹茶"], kind="passage")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.abs(columns.codes - quantize_rows(unit).astype(int)).max() <= 1
    assert (columns.fingerprint, columns.dim) == (model.info.fingerprint, 64)
    blocks = columns.signs
    assert np.array_equal(blocks[0, :, :2].T, sign_words(columns.codes))


def test_an_empty_store_has_an_empty_snapshot(path: Path) -> None:
    with opened(path, "none") as memory:
        columns = memory.columns()
    assert columns.n == 0
    assert columns.codes.shape == (0, 0)
    assert columns.positions(np.array([1, 2])).tolist() == [-1, -1]
    assert columns.mask(Axes.agent("a")).count == 0


def test_another_process_is_seen_by_the_next_recall(path: Path) -> None:
    write = (
        "import sys, cpersona_jit\n"
        "with cpersona_jit.open(sys.argv[1], 'none') as memory:\n"
        "    print(memory.store('抹茶 and tea', agent_id='a').ref)\n"
    )
    with opened(path, "none") as memory:
        assert memory.recall("抹茶", agent_id="a").rows == ()
        told = subprocess.run(
            [sys.executable, "-c", write, str(path)], capture_output=True, text=True, check=True
        )
        assert [row.ref for row in memory.recall("抹茶", agent_id="a").rows] == [
            told.stdout.strip()
        ]


def test_vectors_of_another_model_are_left_out(path: Path) -> None:
    with opened(path, BagOfWords("one")) as memory:
        memory.store_many([Record("tea", "a"), Record("ramen", "a")])
        assert memory.columns().embedded.count == 2
    with opened(path, BagOfWords("two")) as memory:
        # The store has not met this model: no codes at all.
        columns = memory.columns()
        assert (columns.dim, columns.embedded.count, columns.fingerprint) == (0, 0, "")
        memory.store("抹茶", agent_id="a")
        columns = memory.columns()
        assert admitted_rows(columns.embedded.words).tolist() == [2]
        assert not columns.codes[:2].any()
        assert columns.codes[2].any()


def test_a_model_of_another_width_rebuilds_the_codes(path: Path) -> None:
    with opened(path, BagOfWords("one", dim=64)) as memory:
        memory.store("tea", agent_id="a")
        assert memory.columns().codes.shape == (1, 64)
    with opened(path, BagOfWords("two", dim=100)) as memory:
        memory.reembed()
        columns = memory.columns()
        assert (columns.dim, columns.codes.shape, columns.embedded.count) == (100, (1, 128), 1)


def test_masks_are_remembered_and_stay_right(path: Path) -> None:
    with opened(path, "none") as memory:
        memory.store_many([Record("tea", f"agent {i}") for i in range(100)])
        columns = memory.columns()
    for _ in range(2):
        for i in range(100):
            mask = columns.mask(Axes.agent(f"agent {i}"))
            assert (mask.count, admitted_rows(mask.words).tolist()) == (1, [i])
    assert columns.mask(Axes.agent("agent 99")) is columns.mask(Axes.agent("agent 99"))
    assert columns.mask(Axes.across_agents()).count == 100
    assert columns.mask(Axes.agent("")).count == 0


def test_each_axis_has_masks_of_its_own(path: Path) -> None:
    rows = [Record("tea", a, p, c) for a in "ab" for p in ("", "p", "q") for c in ("", "c", "d")]
    with opened(path, "none") as memory:
        memory.store_many(rows)
        columns = memory.columns()
    for agent_id in ("a", "b"):
        for project_id in (None, "", "p"):
            for channel in (None, "", "c"):
                mask = columns.mask(Axes.agent(agent_id, project_id, channel))
                assert admitted_rows(mask.words).tolist() == [
                    r
                    for r, row in enumerate(rows)
                    if row.agent_id == agent_id
                    and (project_id is None or row.project_id in ("", project_id))
                    and (not channel or row.channel in ("", channel))
                ]


@given(st.lists(st.sampled_from([UNDATED, -5, 0, 3, 2**62]), min_size=1, max_size=12), st.data())
def test_ties_go_to_the_newest_then_to_the_oldest_memory(
    event_time: list[int], data: st.DataObject
) -> None:
    ids = data.draw(st.permutations(range(1, len(event_time) + 1)))

    def place(row: int) -> tuple[bool, int, int]:
        undated = event_time[row] == UNDATED
        return undated, 0 if undated else -event_time[row], ids[row]

    expected = sorted(range(len(event_time)), key=place)
    empty = empty_columns(NO_MODEL, NUMPY_GRAMS)
    columns = replace(empty, ids=np.array(ids), event_time=np.array(event_time))
    assert columns.tie_order(np.arange(len(ids))).tolist() == expected


@pytest.mark.parametrize("exponent", [0.0, 0.1, 1.0])
def test_a_rows_length_factor_is_its_own(path: Path, exponent: float) -> None:
    with opened(path, "none") as memory:
        memory.store_many([Record(content, "a") for content in WORDS])
        columns = memory.columns()
    factor = columns.length_factor(exponent)
    assert factor.dtype == np.uint16
    assert factor.tolist() == [
        max(1, round(65535 * max(length, 1) ** -exponent)) for length in columns.lengths.tolist()
    ]
