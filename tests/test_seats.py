"""Reserved seats: bounded, the best of each kind of evidence first, then what one alone found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from adaptive_cases import (
    CUE,
    EVERYTHING,
    QUESTIONS,
    adaptive,
    answer,
    ask,
    filled,
    leading_ids,
    talk,
)
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.recall.adaptive_settings import Bounds, CueWeights
from cpersona_jit.recall.seats import leading_rows, reserve_seats


@given(st.data())
def test_seats_go_to_the_leaders_and_then_in_turns_to_what_one_kind_alone_reached(
    data: st.DataObject,
) -> None:
    size = data.draw(st.integers(0, 12))
    order = np.array(data.draw(st.permutations(range(size))), np.int64)
    order = order[: data.draw(st.integers(0, size))]  # the gate removed the others
    reached = np.array(
        data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=size, max_size=size)),
        bool,
    ).reshape(size, 2)
    leaders = np.array(data.draw(st.tuples(*[st.integers(-1, size - 1)] * 2)), np.int64)
    limit, seats = data.draw(st.integers(0, 14)), data.draw(st.integers(0, 6))
    found = reserve_seats(order, reached.T, leaders, limit, seats).tolist()
    outside = order.tolist()[limit:] if limit else []
    led = list(dict.fromkeys(row for row in leaders.tolist() if row in outside))
    alone = [[c for c in outside if reached[c, k] and not reached[c, 1 - k]] for k in (0, 1)]
    assert found == sorted(found, key=order.tolist().index)
    assert len(set(found)) == len(found) == min(seats, len({*led, *alone[0], *alone[1]}))
    assert set(led[:seats]) <= set(found)
    rest = [row for row in found if row not in led]
    taken = [[row for row in rest if row in kind] for kind in alone]
    assert len(taken[0]) + len(taken[1]) == len(rest)
    left = [[row for row in kind if row not in led] for kind in alone]
    assert all(one == kind[: len(one)] for one, kind in zip(taken, left, strict=True))
    # A kind that got none of the other seats had led already, had no row left, or came too late.
    room = seats - len(led)
    for one, kind in zip(taken, alone, strict=True):
        assert len([row for row in kind if row in found]) >= min(len(kind), max(room, 0) // 2)
        assert len(one) <= max(room, 0)


@given(st.data())
def test_the_leader_has_the_most_evidence_and_of_equals_the_lowest_row(
    data: st.DataObject,
) -> None:
    size = data.draw(st.integers(0, 9))
    rows = np.array(data.draw(st.permutations(range(20, 20 + size))), np.int64)
    flags, levels = st.booleans(), st.sampled_from([-1.0, 0.0, 2.5])
    reached = np.array([[data.draw(flags) for _ in range(size)] for _ in (0, 1)], bool)
    evidence = np.array([[data.draw(levels) for _ in range(size)] for _ in (0, 1)])
    found = leading_rows(reached.reshape(2, size), evidence.reshape(2, size), rows)
    for kind in (0, 1):
        listed = [c for c in range(size) if reached[kind][c]]
        best = min(listed, key=lambda c: (-evidence[kind][c], rows[c]), default=-1)
        assert found[kind] == best


def test_seats_are_marked_stand_after_the_window_and_change_nothing_in_it(tmp_path: Path) -> None:
    seen = 0
    with filled(tmp_path, "m.db", talk(times=3)) as memory:
        for query in QUESTIONS:
            plain = answer(ask(memory, query, adaptive(depth=6)))
            result = ask(memory, query, adaptive(depth=6, seats=3))
            rows = answer(result)
            assert rows[:4] == plain
            assert {admission for _, _, admission in rows[4:]} <= {"reservation"}
            assert len(rows) <= 4 + 3
            assert len({ref for ref, _, _ in rows}) == len(rows)
            trace = result.trace
            assert [ref for ref, _, _ in rows[4:]] == [f"mem:{i}" for i in trace.reserved]
            alone = trace.pool_ids[trace.pool_reached.sum(axis=0) == 1].tolist()
            assert set(trace.reserved.tolist()) <= {*alone, *leading_ids(trace)}
            scores = [score for _, score, _ in rows[4:]]
            assert scores == sorted(scores, reverse=True)
            seen += len(scores)
    assert seen > 5


def test_two_seats_return_the_best_row_of_either_kind(tmp_path: Path) -> None:
    """Also where a cap leaves few candidates; a gate that a leader fails is stronger."""
    needed = gated = 0
    with filled(tmp_path, "m.db", talk(times=3)) as memory:
        for query in QUESTIONS:
            for limit in (1, 2, 4):
                for more in ({}, {"bounds": Bounds(candidates=5, milliseconds=None)}):
                    chosen = adaptive(depth=EVERYTHING, seats=2, **more)
                    result = ask(memory, query, chosen, limit=limit)
                    returned = [int(row.ref[4:]) for row in result.rows]
                    assert set(leading_ids(result.trace)) <= set(returned)
                    needed += not set(leading_ids(result.trace)) <= set(returned[:limit])
                gate = adaptive(depth=EVERYTHING, seats=2, gate=2.0)
                trace = ask(memory, query, gate, limit=limit).trace
                out = set(trace.pool_ids[trace.pool_gated].tolist())
                assert not out & set(trace.reserved.tolist())
                gated += bool(out & set(leading_ids(trace)))
    assert needed > 5 and gated > 0


def test_a_cue_wins_a_bounded_number_of_seats_of_its_period(tmp_path: Path) -> None:
    """The cue weighs nothing here, so that its rows need the seats."""
    seen = 0
    with filled(tmp_path, "m.db", talk(times=3)) as memory:
        for query in QUESTIONS:
            weightless = CueWeights(said=0.0, seats=2)
            result = ask(memory, query, adaptive(depth=6, seats=1, cues=weightless), time_cue=CUE)
            admissions = [admission for _, _, admission in answer(result)]
            assert admissions == sorted(admissions)  # "", reservation, time_cue
            assert admissions.count("") == 4
            assert admissions.count("reservation") <= 1
            cued = [row for row in result.rows if row.admission == "time_cue"]
            assert len(cued) <= 2
            assert {row.timestamp[:10] for row in cued} <= {"2024-05-01", "2024-05-02"}
            assert len({row.ref for row in result.rows}) == len(result.rows)
            assert result.trace.cued.tolist() == [int(row.ref[4:]) for row in cued]
            seen += len(cued)
    assert seen > 5


def test_no_seat_is_kept_for_a_row_that_no_evidence_found(tmp_path: Path) -> None:
    """One row shares a gram with the query; the gram list is not filled up with others."""
    with filled(tmp_path, "m.db", talk(times=3)) as memory:
        trace = ask(memory, "K-4471", adaptive(depth=10, seats=4), limit=2).trace
        matches = trace.pool_signals[2:6].any(axis=0)
        assert 0 < trace.pool_reached[1].sum() < 10
        assert not (trace.pool_reached[1] & ~matches).any()


def test_who_asks_for_nothing_gets_no_seats_either(tmp_path: Path) -> None:
    with filled(tmp_path, "m.db", talk()) as memory:
        chosen = adaptive(depth=6, seats=3, cues=CueWeights(seats=3))
        assert ask(memory, "tea", chosen, limit=0, time_cue=CUE).rows == ()
