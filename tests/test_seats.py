"""Reserved seats: bounded, in turns, for what one kind of evidence alone found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from adaptive_cases import CUE, QUESTIONS, adaptive, answer, ask, filled, talk
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.recall.adaptive_settings import CueWeights
from cpersona_jit.recall.seats import reserve_seats


@given(st.data())
def test_seats_go_in_turns_to_the_best_that_one_kind_alone_reached(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 12))
    order = np.array(data.draw(st.permutations(range(size))), np.int64)
    reached = np.array(
        data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=size, max_size=size)),
        bool,
    ).reshape(size, 2)
    limit, seats = data.draw(st.integers(0, 14)), data.draw(st.integers(0, 6))
    found = reserve_seats(order, reached.T, limit, seats).tolist()
    outside = order.tolist()[limit:] if limit else []
    alone = [[c for c in outside if reached[c, k] and not reached[c, 1 - k]] for k in (0, 1)]
    assert found == sorted(found, key=order.tolist().index)
    assert len(set(found)) == len(found) == min(seats, len(alone[0]) + len(alone[1]))
    taken = [[c for c in found if c in kind] for kind in alone]
    assert len(taken[0]) + len(taken[1]) == len(found)
    assert all(one == kind[: len(one)] for one, kind in zip(taken, alone, strict=True))
    fewest = min(len(alone[0]), len(alone[1]), seats // 2)
    assert min(len(taken[0]), len(taken[1])) >= fewest


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
            alone = trace.pool_reached.sum(axis=0) == 1
            assert set(trace.reserved.tolist()) <= set(trace.pool_ids[alone].tolist())
            scores = [score for _, score, _ in rows[4:]]
            assert scores == sorted(scores, reverse=True)
            seen += len(scores)
    assert seen > 5


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
