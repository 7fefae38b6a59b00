"""Priors on scan position and age in live recall: shapes, identities to the last bit, bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from adaptive_cases import (
    CUE,
    EVERYTHING,
    QUESTIONS,
    adaptive,
    answer,
    ask,
    complete,
    counted,
    filled,
    serve_by,
    talk,
    talked,
    told,
)

from cpersona_jit import Memory, Record
from cpersona_jit.errors import UsageError
from cpersona_jit.recall.adaptive_settings import Structure
from cpersona_jit.recall.kernel_set import KernelSet, numpy_kernels, warm_kernels
from cpersona_jit.recall.process_trace import ProcessTrace
from cpersona_jit.recall.row_prior import RowPrior, scan_positions, scan_regions

DAY_US = 86_400_000_000
NEAR = RowPrior(window=9)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with talked(tmp_path_factory.mktemp("prior")) as memory:
        yield memory


def scored(memory: Memory, query: str, prior: RowPrior | None, cue: dict | None = None) -> tuple:
    """Everything that a recall weighed and returned, to the last bit."""
    chosen = adaptive(depth=7, seats=2, structure=Structure(), cues=complete().cues, prior=prior)
    result = ask(memory, query, chosen, time_cue=cue)
    trace = result.trace
    arrays = (trace.pool_ids, trace.pool_reached, trace.pool_score, trace.ranking, trace.reserved)
    return answer(result), [array.tobytes() for array in arrays], trace.retrievals


IDENTITIES = {
    "a far weight of 0 is the window alone": (
        RowPrior(window=9, reach=20, far_weight=0.0, weight=3.0),
        RowPrior(window=9, weight=3.0),
    ),
    "no far rows that count are the window alone": (
        RowPrior(window=9, reach=20, far_count=0),
        NEAR,
    ),
    "a reach within the window is the window alone": (RowPrior(window=9, reach=9), NEAR),
    "a far weight of 1 is reach": (
        RowPrior(window=9, reach=20, far_weight=1.0, weight=5.0),
        RowPrior(window=9, reach=20),
    ),
    "a far list as long as the reach is reach": (
        RowPrior(window=9, reach=20, far_count=11),
        RowPrior(window=9, reach=20),
    ),
    "an infinite half-life is no recency": (
        RowPrior(window=9, half_life_days=math.inf, floor=0.3),
        NEAR,
    ),
    "a floor of 1 is no recency": (RowPrior(window=9, half_life_days=2.0, floor=1.0), NEAR),
    "no window is no prior": (RowPrior(), None),
    "a window of everything is no prior": (RowPrior(window=EVERYTHING, reach=2000), None),
    "recency without a weight is no prior": (RowPrior(half_life_days=1.0, weight=0.0), None),
}


@pytest.mark.parametrize("kernels", [numpy_kernels, warm_kernels])
@pytest.mark.parametrize("name", IDENTITIES)
def test_identities_hold_to_the_last_bit(
    memory: Memory,
    name: str,
    kernels: Callable[[], KernelSet],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serve_by(kernels(), memory, monkeypatch)
    one, other = IDENTITIES[name]
    for query in QUESTIONS:
        for cue in (None, CUE):
            assert scored(memory, query, one, cue) == scored(memory, query, other, cue)


def positions(memory: Memory, trace: ProcessTrace) -> list[int]:
    """Scan position of each candidate among the rows of agent a, counted by hand."""
    columns = memory.columns()
    mine = columns.codes_by_name["agent_id"] == columns.tables["agent_id"]["a"]
    ids = columns.ids[mine].tolist()[::-1]
    return [ids.index(i) for i in trace.pool_ids.tolist()]


@pytest.mark.parametrize("depth", [4, EVERYTHING])
def test_the_far_region_has_lists_of_its_own(memory: Memory, depth: int) -> None:
    """Shapes one to four: window, reach, far list length, priced far vote."""
    for query in QUESTIONS:
        window = ask(memory, query, adaptive(depth=depth, prior=NEAR)).trace
        near = positions(memory, window)
        assert max(near) < 9 and window.retrievals == 1
        assert not window.contributions["prior"].any()
        if depth == EVERYTHING:
            assert sorted(near) == list(range(9))
        reach = RowPrior(window=9, reach=20)
        reached = ask(memory, query, adaptive(depth=depth, prior=reach)).trace
        far = sorted(p for p in positions(memory, reached) if p >= 9)
        assert set(near) < set(positions(memory, reached)) and max(far) < 20
        assert reached.retrievals == 2 and not reached.contributions["prior"].any()
        listed = ask(memory, query, adaptive(depth=depth, prior=RowPrior(9, 20, 2))).trace
        assert sorted(p for p in positions(memory, listed) if p >= 9) == far[:2]
        assert stage(listed, "prior")["removed"] == len(far) - 2
        priced = RowPrior(window=9, reach=20, far_weight=0.25, weight=3.0)
        trace = ask(memory, query, adaptive(depth=depth, prior=priced)).trace
        expected = [3.0 * (0.25 - 1.0) if p >= 9 else 0.0 for p in positions(memory, trace)]
        assert trace.contributions["prior"].tolist() == expected
        assert trace.pool_ids.tolist() == reached.pool_ids.tolist()


def stage(trace: ProcessTrace, name: str) -> dict:
    (found,) = [one for one in trace.stages if one["stage"] == name]
    return found


def test_recency_is_a_half_life_above_a_floor_and_unknown_ages_are_neutral(memory: Memory) -> None:
    recency = RowPrior(half_life_days=3.0, floor=0.25, weight=2.0)
    columns = memory.columns()
    for query in QUESTIONS:
        trace = ask(memory, query, adaptive(prior=recency, depth=EVERYTHING)).trace
        told_at = columns.event_time[columns.positions(trace.pool_ids)].tolist()
        asked = trace.now_us
        for term, when in zip(trace.contributions["prior"].tolist(), told_at, strict=True):
            p = 1.0
            if when > 0:
                p = 0.25 + 0.75 * 2.0 ** -((asked - when) / DAY_US / 3.0)
            assert term == pytest.approx(2.0 * (p - 1.0), abs=1e-12)
        assert {when < 0 for when in told_at} == {True, False}  # some are undated
        facts = stage(trace, "prior")
        assert (facts["ages_from"], facts["now_us"]) == ("the question", asked)


def test_without_a_time_of_the_question_ages_count_from_the_newest_row_of_the_caller(
    tmp_path: Path,
) -> None:
    rows = [
        Record("緑茶 green tea", "a", timestamp="2024-05-01"),
        Record("緑茶 green tea again", "a", timestamp="2024-05-09"),
        Record("緑茶 green tea, undated", "a"),
        Record("tea of a neighbour", "b", timestamp="2025-01-01"),
    ]
    chosen = adaptive(prior=RowPrior(half_life_days=8.0))
    with filled(tmp_path, "m.db", rows) as memory:
        for query in ("green tea", "緑茶"):
            by_default, by_hand, later = (
                ask(memory, query, chosen, now=now).trace
                for now in (None, "2024-05-09T00:00:00Z", "2024-05-17T00:00:00Z")
            )
            prior = by_default.contributions["prior"]
            assert dict(zip(by_default.pool_ids.tolist(), prior.tolist(), strict=True)) == {
                1: -0.5,
                2: 0.0,
                3: 0.0,
            }
            facts = stage(by_default, "prior")
            assert facts["ages_from"] == "the newest row" and by_default.now_us is None
            assert facts["now_us"] == by_hand.now_us
            assert by_default.pool_score.tobytes() == by_hand.pool_score.tobytes()
            assert sorted(later.contributions["prior"].tolist()) == [-0.75, -0.5, 0.0]


def test_a_row_of_the_future_is_neutral_and_a_store_without_dates_is_as_without_a_prior(
    tmp_path: Path,
) -> None:
    rows = [Record("green tea", "a"), Record("緑茶", "a"), Record("tea", "a")]
    chosen = adaptive(prior=RowPrior(half_life_days=1.0, weight=50.0))
    with filled(tmp_path, "m.db", rows) as memory:
        for now in (None, "2024-05-09T00:00:00Z"):
            for query in ("green tea", "緑茶"):
                plain = ask(memory, query, adaptive(), now=now)
                assert answer(ask(memory, query, chosen, now=now)) == answer(plain)
        memory.store("tea to come", agent_id="a", timestamp="2030-01-01")
        found = ask(memory, "tea", chosen, now="2024-05-09T00:00:00Z").trace
        assert not found.contributions["prior"].any()


def test_a_period_is_looked_for_where_the_prior_admits_rows(memory: Memory) -> None:
    """A cue and a prior together stay within two retrievals, and prior 0 is no candidate."""
    cues = complete().cues
    for query in QUESTIONS:
        for prior in (NEAR, RowPrior(window=9, reach=20, far_weight=0.5)):
            chosen = adaptive(depth=3, cues=cues, prior=prior)
            trace = ask(memory, query, chosen, time_cue=CUE).trace
            assert trace.retrievals == 2
            assert max(positions(memory, trace)) < (prior.reach or prior.window)


@pytest.mark.parametrize("cue", [None, CUE])
@pytest.mark.parametrize(("prior", "lists"), [(NEAR, 1), (RowPrior(window=9, reach=20), 2)])
def test_priors_call_no_arm_twice(
    memory: Memory, prior: RowPrior, lists: int, cue: dict | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels, calls = counted(numpy_kernels())
    serve_by(kernels, memory, monkeypatch)
    for query in QUESTIONS:
        calls.clear()
        trace = ask(memory, query, complete(prior=prior), time_cue=cue).trace
        assert trace.retrievals == min(lists + (cue is not None), 2)
        assert (calls["draw_rows"], calls["regions"]) == (1, lists + (cue is not None))
        assert (calls["score_vectors"], calls["score_grams"]) == (1, 2)
        assert (calls["row_prior"], calls["period_prior"]) == (1, cue is not None)


def test_scores_add_up_and_both_kernels_give_the_same_bytes(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    prior = RowPrior(window=9, reach=25, far_count=4, far_weight=0.5, half_life_days=2.0, floor=0.1)
    for query in QUESTIONS:
        for cue in (None, CUE):
            by = []
            for kernels in (numpy_kernels(), warm_kernels()):
                serve_by(kernels, memory, monkeypatch)
                by.append(ask(memory, query, complete(prior=prior), time_cue=cue))
            assert told(by[0]) == told(by[1])
            trace = by[0].trace
            total = sum(trace.contributions.values())
            np.testing.assert_allclose(total, trace.pool_score, atol=1e-9)
            assert (trace.contributions["prior"] < 0).any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"window": 0}, "prior.window is 0; allowed: a whole number from 1"),
        ({"reach": 2.5}, "prior.reach is 2.5"),
        ({"far_count": -1}, "prior.far_count is -1"),
        ({"far_weight": 1.5}, "prior.far_weight is 1.5; allowed: a number from 0 to 1"),
        ({"half_life_days": 0}, "prior.half_life_days is 0; allowed: above 0"),
        ({"half_life_days": 10**400}, "prior.half_life_days is a whole number that no float holds"),
        ({"half_life_days": math.nan}, "prior.half_life_days is nan"),
        ({"floor": True}, "prior.floor is True"),
        ({"weight": math.inf}, "prior.weight is inf"),
    ],
)
def test_mistakes_are_named(wrong: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        RowPrior(**wrong)
    with pytest.raises(UsageError, match="prior is 3; allowed: RowPrior or None"):
        adaptive(prior=3)


def test_a_talk_that_grows_pushes_rows_out_of_the_window(tmp_path: Path) -> None:
    with filled(tmp_path, "m.db", talk()) as memory:
        chosen = adaptive(prior=RowPrior(window=30), depth=EVERYTHING)
        before = set(ask(memory, "K-4471", chosen, limit=EVERYTHING).trace.pool_ids.tolist())
        memory.store_many([Record(f"tea {n}", "b") for n in range(40)])
        same = ask(memory, "K-4471", chosen, limit=EVERYTHING).trace.pool_ids.tolist()
        assert set(same) == before  # the neighbour's rows take no place in the window
        memory.store_many([Record(f"coffee {n}", "a") for n in range(28)])
        after = set(ask(memory, "K-4471", chosen, limit=EVERYTHING).trace.pool_ids.tolist())
        assert len(after & before) == 2 and len(after) == 30


def test_rows_that_are_not_admitted_are_neither_near_nor_far() -> None:
    """An older row of another agent must not make a second retrieval, which the trace tells."""
    prior = RowPrior(window=3, reach=10)
    alone = scan_regions(prior, scan_positions(np.ones(3, bool)))
    crowded = scan_regions(prior, scan_positions(np.array([False, True, True, True, False])))
    assert len(alone) == len(crowded) == 1
    assert crowded[0].tolist() == [False, True, True, True, False]
    far = scan_regions(prior, scan_positions(np.array([True, False, True, True, True])))
    assert [region.tolist() for region in far] == [
        [False, False, True, True, True],
        [True, False, False, False, False],
    ]
