"""Isolation at every exit: no foreign row, no foreign count, and no trace of a neighbour's words.

A caller's view of a full store is compared with the same calls on a store that holds nothing but
the rows this caller may see: every score, statistic and rank must be the same float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from memory_cases import BagOfWords, plain, settings

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.errors import UsageError
from cpersona_jit.recall.settings import RecallSettings

WORDS = ["tea", "tea tea tea", "green tea", "京都で抹茶", "抹茶抹茶抹茶", "ramen", "Kyoto tea tea"]
QUERIES = ["green tea", "抹茶", "tea tea Kyoto", "zzz"]
AGENTS, PROJECTS, CHANNELS = ["a", "b", "c"], ["", "p", "q"], ["", "x", "y"]

records = st.builds(
    Record,
    content=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    agent_id=st.sampled_from(AGENTS),
    project_id=st.sampled_from(PROJECTS),
    channel=st.sampled_from(CHANNELS),
    timestamp=st.sampled_from(["", "2024-05-01", "2024-05-02"]),
)


@dataclass(frozen=True)
class Caller:
    """Who asks, in plain values."""

    agent_id: str
    project_id: str | None
    channel: str | None

    def may_see(self, record: Record) -> bool:
        """Whether the axes admit the record; written again, apart from the code under test."""
        if record.agent_id != self.agent_id:
            return False
        if self.project_id is not None and record.project_id not in ("", self.project_id):
            return False
        return not self.channel or record.channel in ("", self.channel)

    @property
    def axes(self) -> dict[str, str | None]:
        """The same as arguments."""
        return {
            "agent_id": self.agent_id,
            "project_id": self.project_id,
            "channel": self.channel,
        }


callers = st.builds(
    Caller,
    st.sampled_from([*AGENTS, "nobody"]),
    st.sampled_from([None, *PROJECTS, "new"]),
    st.sampled_from([None, *CHANNELS, "new"]),
)


def filled(folder: str, name: str, rows: Sequence[Record]) -> Memory:
    memory = cpersona_jit.open(Path(folder) / name, BagOfWords(), wait_for_kernels=False)
    outcomes = memory.store_many(rows, dedup=False)
    assert all(outcome.status == "stored" for outcome in outcomes)
    return memory


def told(memory: Memory, query: str, caller: Caller, chosen: RecallSettings) -> object:
    """Everything a recall tells but ids, generations and times: rows, degraded notes and trace.

    Ids become the position among the rows that the caller may see.
    """
    result = memory.recall(query, **caller.axes, settings=chosen, limit=8, trace=True)
    trace = result.trace
    assert trace is not None
    everyone = memory.recall(
        query, **caller.axes, settings=replace(chosen, depth=1000), limit=0, trace=True
    ).trace
    assert everyone is not None
    known = np.sort(everyone.pool_ids)

    def anonymous(ids: np.ndarray) -> np.ndarray:
        return np.searchsorted(known, ids)

    arms = [replace(arm, ids=anonymous(arm.ids)) for arm in trace.arms]
    rows = [replace(row, ref="", created_at="", revision=0) for row in result.rows]
    trace = replace(
        trace,
        arms=tuple(arms),
        pool_ids=anonymous(trace.pool_ids),
        ranking=anonymous(trace.ranking),
        generation=0,
        milliseconds={},
    )
    return plain(rows), result.degraded, plain(trace)


def assert_neighbours_are_not_felt(
    rows: Sequence[Record], caller: Caller, chosen: RecallSettings
) -> None:
    with TemporaryDirectory() as folder:
        crowded = filled(folder, "crowded.db", rows)
        alone = filled(folder, "alone.db", [row for row in rows if caller.may_see(row)])
        with crowded, alone:
            if not alone.status().models:
                return  # a store without rows has not met its model, and says so
            for query in QUERIES:
                assert told(crowded, query, caller, chosen) == told(alone, query, caller, chosen)


@given(
    st.lists(records, max_size=14),
    callers,
    st.sampled_from(["score", "rrf"]),
    st.sampled_from([1, 3, 50]),
)
@examples(max_examples=30, deadline=None)
def test_rows_outside_the_axes_change_nothing(
    rows: list[Record], caller: Caller, kind: str, depth: int
) -> None:
    assert_neighbours_are_not_felt(rows, caller, settings(kind, depth))


def test_a_neighbour_who_repeats_a_word_is_not_felt() -> None:
    """Posting lists of repeated grams exist because of the neighbour alone."""
    mine = [Record("green tea in Kyoto", "a"), Record("tea with ramen", "a")]
    theirs = [Record("tea tea tea tea green green green Kyoto Kyoto Kyoto", "b")]
    assert_neighbours_are_not_felt([*theirs, *mine], Caller("a", None, None), settings())


def test_a_crowd_of_better_rows_is_not_felt() -> None:
    """Enough rows for bitmaps, and a neighbour whose rows answer every query better."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(240):
        words = " ".join(rng.choice(WORDS, rng.integers(1, 6)))
        rows.append(Record(f"{words} {i}", "a" if i % 4 == 0 else "b"))
        rows.append(Record(QUERIES[i % 3], "b"))
    for depth in (5, 100):
        assert_neighbours_are_not_felt(rows, Caller("a", None, None), settings(depth=depth))


@given(st.lists(records, min_size=1, max_size=14), callers)
@examples(max_examples=30, deadline=None)
def test_no_exit_shows_a_foreign_row_or_counts_it(rows: list[Record], caller: Caller) -> None:
    mine = {i for i, row in enumerate(rows, 1) if caller.may_see(row)}
    refs = [f"mem:{i}" for i in range(1, len(rows) + 3)]
    with TemporaryDirectory() as folder, filled(folder, "m.db", rows) as memory:
        for query in QUERIES:
            result = memory.recall(query, **caller.axes, settings=settings(), limit=50, trace=True)
            trace = result.trace
            assert trace is not None
            assert {row.ref for row in result.rows} <= {f"mem:{i}" for i in mine}
            assert trace.admitted == len(mine)
            assert [arm.count for arm in trace.arms] == [len(mine)] * 3
            for ids in (trace.pool_ids, trace.ranking, *(arm.ids for arm in trace.arms)):
                assert set(ids.tolist()) <= mine
            assert len(result.rows) == len(mine)  # the dense arm scores every row
            assert result.degraded == ()
        contents = memory.get_contents(refs, **caller.axes)
        assert [row.id for row in contents.rows] == sorted(mine)
        assert set(contents.missing) == set(refs) - {f"mem:{i}" for i in mine}


@given(st.lists(records, min_size=1, max_size=8), callers)
@examples(max_examples=20, deadline=None)
def test_foreign_rows_cannot_be_changed_or_deleted(rows: list[Record], caller: Caller) -> None:
    foreign = [f"mem:{i}" for i, row in enumerate(rows, 1) if not caller.may_see(row)]
    with TemporaryDirectory() as folder, filled(folder, "m.db", rows) as memory:
        generation = memory.status().generation
        for ref in foreign:
            outcome = memory.update(ref, "changed", **caller.axes)
            assert (outcome.status, outcome.reason, outcome.ref) == ("rejected", "not_found", None)
        assert memory.delete(foreign, **caller.axes).missing == tuple(foreign)
        assert memory.status().generation == generation
        assert memory.status().rows == len(rows)


def test_notes_count_the_callers_rows_only(tmp_path: Path) -> None:
    model = BagOfWords()
    with cpersona_jit.open(tmp_path / "m.db", model, wait_for_kernels=False) as memory:
        memory.store("tea", agent_id="a")
        model.fails_after = 0
        memory.store_many([Record(f"{i} 抹茶", "b") for i in range(5)])
        memory.store("green tea", agent_id="a")
        model.fails_after = None
        (note,) = memory.recall("tea", agent_id="a").degraded
        assert note.startswith("rows_without_vector: 1 of 2 rows ")
        assert memory.recall("tea", agent_id="nobody").degraded == ()


def test_an_administrator_sees_every_agent_and_nobody_does_by_accident(tmp_path: Path) -> None:
    with filled(str(tmp_path), "m.db", [Record("tea", "a"), Record("tea", "b")]) as memory:
        assert len(memory.recall("tea", across_agents=True).rows) == 2
        assert memory.recall("tea", agent_id="").rows == ()
        with pytest.raises(UsageError, match="agent_id is required"):
            memory.recall("tea")
        with pytest.raises(UsageError, match="agent_id is required"):
            memory.get_contents(["mem:1"], agent_id=None)
