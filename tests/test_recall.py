"""Recall: one order, the same bytes every time, and a depth that the count has no part in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import BagOfWords, plain, plain_trace, settings

import cpersona_jit
from cpersona_jit import Memory, RecallResult, Record
from cpersona_jit.recall.fuse import order
from cpersona_jit.recall.kernel_set import numpy_kernels, warm_kernels
from cpersona_jit.recall.settings import RecallSettings
from cpersona_jit.recall.trace import RecallTrace

WORDS = ["tea", "tea", "green", "Kyoto", "ramen", "bicycle", "river", "抹茶", "京都で", "自転車"]
DATES = ["", "2024-05-01", "2024-05-02", "2023-01-01T10:00:00Z", "unknown"]
QUERIES = ["green tea in Kyoto", "京都の抹茶", "tea", "where is my bicycle", "zzzz"]
BOTH = pytest.mark.parametrize("kind", ["score", "rrf"])


def sentences(n: int, seed: int) -> list[Record]:
    rng = np.random.default_rng(seed)
    return [
        Record(
            " ".join(rng.choice(WORDS, rng.integers(1, 8))), "a", timestamp=str(rng.choice(DATES))
        )
        for _ in range(n)
    ]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Hold 150 rows, some with equal content, date or neither."""
    path = tmp_path_factory.mktemp("recall") / "m.db"
    with cpersona_jit.open(path, BagOfWords(), wait_for_kernels=False) as memory:
        memory.store_many(sentences(150, seed=1), dedup=False)
        yield memory


def traced(memory: Memory, query: str, **options) -> RecallTrace:
    result = memory.recall(query, agent_id="a", trace=True, **options)
    assert result.trace is not None
    return result.trace


# -- determinism ----------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("query", QUERIES)
def test_a_recall_gives_the_same_bytes_twice(memory: Memory, query: str, kind: str) -> None:
    def once(handle: Memory) -> tuple[object, object]:
        result = handle.recall(query, agent_id="a", settings=settings(kind), trace=True)
        assert result.trace is not None
        return plain(result.rows), plain_trace(result.trace)

    first = once(memory)
    assert once(memory) == first
    path = memory.status().path
    with cpersona_jit.open(path, BagOfWords(), wait_for_kernels=False) as reopened:
        assert once(reopened) == first


@BOTH
@pytest.mark.parametrize("depth", [1, 7, 200])
def test_numpy_and_compiled_kernels_give_equal_traces(
    memory: Memory, kind: str, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {}
    for kernels in (numpy_kernels(), warm_kernels()):
        with cpersona_jit.open(memory.status().path, BagOfWords()) as handle:
            monkeypatch.setattr(handle, "_kernels", lambda kernels=kernels: kernels)
            for query in QUERIES:
                result = handle.recall(
                    query, agent_id="a", settings=settings(kind, depth), trace=True, limit=50
                )
                assert result.trace is not None
                assert result.trace.kernels == kernels.name
                trace = plain_trace(replace(result.trace, kernels=""))
                seen.setdefault(query, []).append((plain(result.rows), trace))
    assert all(numpy == numba for numpy, numba in seen.values())


def test_compiled_kernels_answer_several_threads_at_once_as_they_answer_one(
    memory: Memory,
) -> None:
    with cpersona_jit.open(memory.status().path, BagOfWords()) as handle:

        def ask(query: str) -> object:
            return plain(handle.recall(query, agent_id="a", settings=settings(depth=150)).rows)

        alone = {query: ask(query) for query in QUERIES}
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(ask, QUERIES * 8)) == [alone[query] for query in QUERIES * 8]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_store_whose_rows_are_all_gone_answers_nothing(tmp_path: Path, compiled: bool) -> None:
    with cpersona_jit.open(tmp_path / "m.db", BagOfWords(), wait_for_kernels=compiled) as handle:
        for _ in range(2):
            result = handle.recall("tea 抹茶", agent_id="a", trace=True)
            assert (result.rows, result.degraded, result.trace.admitted) == ((), (), 0)
            ref = handle.store("tea 抹茶", agent_id="a").ref
            (row,) = handle.recall("tea 抹茶", agent_id="a").rows
            assert row.ref == ref
            handle.delete([ref], agent_id="a")


# -- order ----------------------------------------------------------------------------------------


def place(memory: Memory) -> Callable[[int], tuple]:
    """How the total order breaks ties: newest first, undated last, then the lowest id."""
    columns = memory.columns()
    undated = np.iinfo(np.int64).min
    times = dict(zip(columns.ids.tolist(), columns.event_time.tolist(), strict=True))
    return lambda i: (times[i] == undated, 0 if times[i] == undated else -times[i], i)


@BOTH
@pytest.mark.parametrize("query", QUERIES)
def test_rows_come_in_the_total_order(memory: Memory, query: str, kind: str) -> None:
    trace = traced(memory, query, settings=settings(kind, depth=150))
    tie = place(memory)
    fused = dict(zip(trace.pool_ids.tolist(), trace.pool_fused.tolist(), strict=True))
    expected = sorted(fused, key=lambda i: (-fused[i], tie(i)))
    assert trace.ranking.tolist() == expected
    assert trace.pool_ids.tolist() == sorted(fused, key=tie)
    if kind == "score":  # ranks differ even where the content is the same
        assert len(set(fused.values())) < len(fused)
    rows = memory.recall(query, agent_id="a", settings=settings(kind, depth=150), limit=20).rows
    assert [row.ref for row in rows] == [f"mem:{i}" for i in expected[:20]]
    assert [row.score for row in rows] == [fused[i] for i in expected[:20]]


@given(st.lists(st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 2.5]), max_size=10))
def test_order_is_a_stable_sort_without_the_removed(scores: list[float]) -> None:
    kept = [p for p, score in enumerate(scores) if score != -np.inf]
    expected = sorted(kept, key=lambda p: -scores[p])
    assert order(np.array(scores)).tolist() == expected


@pytest.mark.parametrize("query", ["zzzz", "ξφψ", "!?", "🎉"])
def test_without_lexical_evidence_the_order_is_the_dense_arms(memory: Memory, query: str) -> None:
    trace = traced(memory, query, settings=settings(depth=150))
    dense, *grams = trace.arms
    assert [arm.ids.size for arm in grams] == [0, 0]
    scores = dict(zip(dense.ids.tolist(), dense.scores.tolist(), strict=True))
    tie = place(memory)
    assert trace.ranking.tolist() == sorted(scores, key=lambda i: (-scores[i], tie(i)))
    by_rank = traced(memory, query, settings=settings("rrf", depth=150))
    assert by_rank.ranking.tolist() == dense.ids.tolist()


def test_each_arm_returns_its_best_rows_best_first(memory: Memory) -> None:
    trace = traced(memory, "green tea", settings=settings(depth=10))
    deep = traced(memory, "green tea", settings=settings(depth=150))
    for arm, all_of_it in zip(trace.arms, deep.arms, strict=True):
        assert arm.ids.tolist() == all_of_it.ids.tolist()[:10]
        pairs = list(zip((-arm.scores).tolist(), arm.ids.tolist(), strict=True))
        assert pairs == sorted(pairs)
        assert (arm.mean, arm.std, arm.count) == (all_of_it.mean, all_of_it.std, all_of_it.count)


def test_the_pool_holds_every_arms_score_of_every_candidate(memory: Memory) -> None:
    """Also of those candidates that only another arm reached."""
    shallow = traced(memory, "京都で 抹茶", settings=settings(depth=5))
    deep = traced(memory, "京都で 抹茶", settings=settings(depth=150))
    at = {i: p for p, i in enumerate(deep.pool_ids.tolist())}
    columns = [at[i] for i in shallow.pool_ids.tolist()]
    assert np.array_equal(shallow.pool_scores, deep.pool_scores[:, columns])
    assert np.array_equal(shallow.pool_z, deep.pool_z[:, columns])
    expected = (shallow.pool_scores - [[arm.mean] for arm in shallow.arms]) / [
        [arm.std] for arm in shallow.arms
    ]
    assert np.array_equal(shallow.pool_z, expected)


# -- depth is not count ---------------------------------------------------------------------------


def assert_count_has_no_part_in_retrieval(handle: Memory) -> None:
    """Only `limit` changes: the candidates and their order do not, and the rows are a prefix."""
    for query in QUERIES:
        results: list[RecallResult] = [
            handle.recall(query, agent_id="a", limit=limit, settings=settings(depth=10), trace=True)
            for limit in (0, 1, 3, 10, 1000)
        ]
        traces = [result.trace for result in results]
        assert all(trace is not None for trace in traces)
        most = results[-1].rows
        for result, trace in zip(results, traces, strict=True):
            assert trace.pool_ids.tolist() == traces[-1].pool_ids.tolist()
            assert trace.ranking.tolist() == traces[-1].ranking.tolist()
            assert result.rows == most[: min(trace.limit, len(most))]


class DepthIsCount(Memory):
    """The mistake that the assertion is there for: ``depth = limit``."""

    def recall(self, query: str, *, limit: int, settings: RecallSettings, **options):
        wrong = replace(settings, depth=max(limit, 1))
        return super().recall(query, limit=limit, settings=wrong, **options)


def test_count_has_no_part_in_retrieval(memory: Memory) -> None:
    assert_count_has_no_part_in_retrieval(memory)


def test_the_mutation_depth_is_count_turns_that_test_red(memory: Memory) -> None:
    path = memory.status().path
    with (
        DepthIsCount(path, BagOfWords(), wait_for_kernels=False) as mutated,
        pytest.raises(AssertionError),
    ):
        assert_count_has_no_part_in_retrieval(mutated)


@BOTH
def test_depth_decides_how_many_candidates_fusion_sees(memory: Memory, kind: str) -> None:
    sizes = []
    before: set[int] = set()
    for depth in (1, 5, 40, 150):
        trace = traced(memory, "green tea in Kyoto", settings=settings(kind, depth), limit=10)
        assert all(arm.ids.size <= depth for arm in trace.arms)
        candidates = set(trace.pool_ids.tolist())
        assert candidates == {i for arm in trace.arms for i in arm.ids.tolist()}
        assert before <= candidates
        before = candidates
        sizes.append(len(candidates))
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == 150


def test_arms_without_weight_do_not_run(memory: Memory) -> None:
    trace = traced(memory, "tea", settings=settings(weights={"gram3": 1.0, "dense": 0.0}))
    assert [arm.name for arm in trace.arms] == ["gram3"]
