"""Adaptive recall is bounded, whatever it is asked, and its scores add up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from adaptive_cases import (
    CUE,
    EVERYTHING,
    QUESTIONS,
    SETTINGS,
    UNTIMED,
    adaptive,
    answer,
    ask,
    complete,
    counted,
    leading_ids,
    serve_by,
    talk,
    talked,
)

from cpersona_jit import Memory, Source
from cpersona_jit.recall.adaptive_settings import Bounds, Structure
from cpersona_jit.recall.kernel_set import numpy_kernels


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with talked(tmp_path_factory.mktemp("process")) as memory:
        yield memory


@pytest.mark.parametrize("revisions", [0, 1, 10])
@pytest.mark.parametrize("cue", [None, CUE])
def test_the_arms_are_called_once_and_lists_drawn_at_most_twice(
    memory: Memory, cue: dict | None, revisions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels, calls = counted(numpy_kernels())
    serve_by(kernels, memory, monkeypatch)
    chosen = complete(bounds=Bounds(revisions=revisions, milliseconds=None))
    for query in QUESTIONS:
        calls.clear()
        trace = ask(memory, query, chosen, time_cue=cue).trace
        rounds = 1 if cue is None else 2
        assert trace.retrievals == rounds
        assert calls["regions"] == rounds  # a list of either kind in each
        assert calls["draw_rows"] == calls["score_vectors"] == 1
        assert calls["find_grams"] == calls["score_grams"] == 2  # two gram sizes
        assert calls["scope_moments"] == calls["calibrate"] == 1
        assert calls["structure_terms"] == calls["clue_terms"] == min(revisions, 1)
        assert not calls["dense_top_k"] and not calls["overlap_top_k"]


CAPS = [
    (Bounds(revisions=0, milliseconds=None), "revisions: 0"),
    (Bounds(milliseconds=0.0), "milliseconds: 0"),
    (Bounds(candidates=5, milliseconds=None), "candidates: 5 of "),
]


@pytest.mark.parametrize(("bounds", "named"), CAPS)
def test_a_cap_that_acts_is_named_in_trace_and_response(
    memory: Memory, bounds: Bounds, named: str
) -> None:
    chosen = adaptive(structure=Structure())
    for query in QUESTIONS[:5]:
        free = ask(memory, query, chosen)
        assert free.trace.caps == () == free.degraded
        capped = ask(memory, query, replace(chosen, bounds=bounds))
        (cap,) = capped.trace.caps
        assert cap.startswith(named)
        assert capped.degraded == (f"cap_reached: {cap}",)
        if bounds.candidates == 5:
            assert capped.trace.pool_ids.size == 5
            whole = ask(memory, query, adaptive()).trace
            kept = set(capped.trace.pool_ids.tolist())
            led = set(leading_ids(whole))
            best = [i for i in whole.ranking.tolist() if i not in led]
            assert kept == led | set(best[: 5 - len(led)])
        else:
            assert answer(capped) == answer(ask(memory, query, adaptive()))


def test_what_is_returned_does_not_grow_with_revisions(memory: Memory) -> None:
    for query in QUESTIONS:
        answers = [
            ask(memory, query, complete(bounds=replace(UNTIMED, revisions=n)), time_cue=CUE)
            for n in (1, 2, 10)
        ]
        assert [answer(one) for one in answers] == [answer(answers[0])] * 3
        none = ask(memory, query, complete(bounds=replace(UNTIMED, revisions=0)), time_cue=CUE)
        assert len(none.rows) == len(answers[0].rows)


# -- explained ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETTINGS)
def test_contributions_add_up_to_the_score_and_the_order_follows_it(
    memory: Memory, name: str
) -> None:
    for query in QUESTIONS:
        for cue in (None, CUE, {"named": "recently"}):
            result = ask(memory, query, SETTINGS[name], time_cue=cue)
            trace = result.trace
            total = sum(trace.contributions.values())
            np.testing.assert_allclose(total, trace.pool_score, atol=1e-9)
            score = dict(zip(trace.pool_ids.tolist(), trace.pool_score.tolist(), strict=True))
            assert all(score[int(row.ref[4:])] == row.score for row in result.rows)
            places = trace.pool_ids.tolist()  # in tie order
            stays = [i for i, out in zip(places, trace.pool_gated, strict=True) if not out]
            expected = sorted(stays, key=lambda i: -score[i])
            assert trace.ranking.tolist() == expected


def test_the_pool_lies_in_the_order_that_breaks_ties(memory: Memory) -> None:
    columns = memory.columns()
    for query in QUESTIONS:
        ids = ask(memory, query, adaptive(depth=EVERYTHING)).trace.pool_ids
        times = columns.event_time[columns.positions(ids)].tolist()
        keys = [(-time, i) for time, i in zip(times, ids.tolist(), strict=True)]
        assert keys == sorted(keys)  # undated is the smallest time


def test_signals_of_the_trace_replay_every_list(memory: Memory) -> None:
    """Moments and signals are all that the evidence is made of."""
    for query in QUESTIONS:
        trace = ask(memory, query, adaptive(depth=EVERYTHING)).trace
        evidence = trace.forms @ (trace.pool_signals - trace.mean[:, None])
        np.testing.assert_allclose(evidence[2], trace.pool_score, atol=1e-9)
        lists = ask(memory, query, adaptive(depth=5)).trace
        for kind in (0, 1):
            listed = lists.pool_ids[lists.pool_reached[kind]]
            floor = np.sort(evidence[kind])[::-1][min(5, listed.size) - 1] if listed.size else 0.0
            inside = evidence[kind][np.isin(trace.pool_ids, listed)]
            assert (inside >= floor - 1e-9).all()


@pytest.mark.parametrize(
    ("query", "speaker"), [("What did Ken say?", "Ken"), ("ユキは何と言いましたか", "ユキ")]
)
def test_rows_of_a_named_speaker_are_lifted(memory: Memory, query: str, speaker: str) -> None:
    chosen = adaptive(structure=Structure(speaker=50.0), depth=EVERYTHING)
    rows = ask(memory, query, chosen, limit=5).rows
    assert {row.source for row in rows} == {Source("user", speaker, speaker)}


def test_neighbours_of_a_strong_row_are_lifted_and_questions_lowered(memory: Memory) -> None:
    trace = ask(memory, "K-4471", adaptive(structure=Structure(), depth=EVERYTHING)).trace
    place = {i: n for n, i in enumerate(trace.pool_ids.tolist())}
    key = next(
        n
        for n, row in enumerate(talk(), 1)
        if row.content == "The staging key is K-4471, keep it safe."
    )
    terms = trace.contributions
    assert terms["neighbours"][place[key + 1]] > terms["neighbours"][place[key + 2]] > 0
    assert terms["neighbours"][place[1]] == 0
    assert terms["question"][place[key + 1]] < 0 == terms["question"][place[key]]
