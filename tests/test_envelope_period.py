"""The period that retrieval aims at: which rows it holds, and the prior of those it does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.columns.event_times import UNDATED, EventTimes
from cpersona_jit.cues.time_cue import EARLIEST_US, LATEST_US, SessionReference, TimeCue
from cpersona_jit.recall.adaptive_settings import CueWeights
from cpersona_jit.recall.envelope import DAY_US, envelope_prior, open_envelope
from cpersona_jit.recall.kernel_set import numpy_kernels
from cpersona_jit.recall.process_trace import describe_envelope
from cpersona_jit.server.responses import period_fields


def rows_of(times: Sequence[float | None], sessions: Sequence[int] | None = None):
    """As much of a snapshot as an envelope reads; times in days, None for undated."""
    event_time = np.array([UNDATED if t is None else int(t * DAY_US) for t in times], np.int64)
    return SimpleNamespace(
        n=len(times),
        event_time=event_time,
        times=EventTimes(event_time),
        session_key=np.array([-1] * len(times) if sessions is None else sessions, np.int64),
    )


def cue_of(start: float | None, end: float | None, certainty="sure", event=False) -> TimeCue:
    ends = [None if t is None else int(t * DAY_US) for t in (start, end)]
    return TimeCue(*ends, None, certainty, "", "test", event)


def prior_of(columns, cue: TimeCue, weights: CueWeights | None = None) -> np.ndarray:
    weights = weights or CueWeights()
    envelope = open_envelope(columns, np.ones(columns.n, bool), cue, weights)
    return envelope_prior(columns, np.arange(columns.n), envelope, weights, numpy_kernels())


@given(
    st.lists(st.one_of(st.none(), st.floats(-9000, 9000)), min_size=1, max_size=12),
    st.tuples(st.floats(-9000, 9000), st.floats(0, 4000)),
    st.sampled_from(["sure", "likely", "vague"]),
    st.booleans(),
    st.sampled_from(["both", "start", "end"]),
)
def test_the_prior_is_one_inside_and_falls_with_the_distance(
    times: list, period: tuple[float, float], certainty: str, event: bool, ends: str
) -> None:
    start = period[0] if ends != "end" else None
    end = period[0] + period[1] if ends != "start" else None
    cue = cue_of(start, end, certainty, event)
    columns = rows_of([*times, period[0] if start is not None else end])  # one row is inside
    prior = prior_of(columns, cue)
    assert ((prior > 0.0) & (prior <= 1.0)).all()
    at = columns.event_time
    dated = at != UNDATED
    low = -np.inf if cue.start_us is None else cue.start_us
    high = np.inf if cue.end_us is None else cue.end_us
    inside = dated & (at >= low) & (at <= high)
    assert (prior[inside] == 1.0).all()
    assert (prior[~inside] <= 0.8).all()
    for side in (dated & (at < low), dated & (at > high)):
        distance = np.where(at < low, low - at, at - high)[side]
        falling = prior[side][np.argsort(distance, kind="stable")]
        assert (np.diff(falling) <= 1e-12).all()


def test_the_prior_follows_its_formula() -> None:
    columns = rows_of([9.0, 10.0, 12.0, 15.0, None])
    sure = prior_of(columns, cue_of(10.0, 12.0))
    expected = [0.6 * math.exp(-1 / 0.75), 1.0, 1.0, 0.6 * math.exp(-3 / 1.5), 0.6 * math.exp(-0.5)]
    np.testing.assert_allclose(sure, expected, rtol=1e-12)
    event = prior_of(columns, cue_of(10.0, 12.0, "likely", event=True))
    expected = [0.6 * math.exp(-1 / 2), 1.0, 1.0, 0.8 * math.exp(-3 / 3), 0.6 * math.exp(-0.5)]
    np.testing.assert_allclose(event, expected, rtol=1e-12)
    wide = prior_of(rows_of([0.0, 50.0]), cue_of(20.0, 120.0, "vague"))
    np.testing.assert_allclose(wide[0], 0.6 * math.exp(-20 / 35), rtol=1e-12)


def test_a_cue_weighs_by_what_it_is_about_and_how_sure_it_is() -> None:
    columns = rows_of([10.0])
    weights = CueWeights(said=4, event=3, bare=32, likely=0.75, vague=0.5)
    for certainty, left in (("sure", 1.0), ("likely", 0.75), ("vague", 0.5)):
        for event, bare, full in (
            *((False, False, 4.0), (True, False, 3.0)),
            *((False, True, 32.0), (True, True, 32.0)),
        ):
            cue = replace(cue_of(9.0, 11.0, certainty, event), bare=bare)
            opened = open_envelope(columns, np.ones(1, bool), cue, weights)
            assert opened.weight == full * left


# -- a period decides by the rows that are stored -------------------------------------------------


def opened_at(times: Sequence[float], cue: TimeCue):
    columns = rows_of(times)
    return open_envelope(columns, np.ones(columns.n, bool), cue, CueWeights())


def read_as(cue: TimeCue, readings: Sequence = (), earlier: Sequence = ()) -> TimeCue:
    as_us = [
        tuple((int(a * DAY_US), int(b * DAY_US)) for a, b in some) for some in (readings, earlier)
    ]
    return replace(cue, readings=as_us[0], earlier=as_us[1])


def test_readings_that_hold_rows_count() -> None:
    cue = read_as(cue_of(10.0, 11.0), readings=[(9.5, 10.5)])
    both = opened_at([8.0, 9.75, 10.25, 10.75], cue)
    assert both.inside.tolist() == [False, True, True, True]
    assert (both.start_us, both.end_us) == (int(9.5 * DAY_US), 11 * DAY_US)
    assert len(both.readings) == 2 and not both.moved
    usual = opened_at([8.0, 10.75], cue)
    assert (usual.readings, usual.moved, usual.start_us) == ((), False, 10 * DAY_US)
    other = opened_at([8.0, 9.75], cue)
    assert (other.readings, other.moved, other.start_us) == ((), True, int(9.5 * DAY_US))
    assert other.inside.tolist() == [False, True]


def test_a_row_of_all_readings_comes_before_a_row_of_one() -> None:
    cue = read_as(cue_of(10.0, 11.0), readings=[(9.5, 10.5)])
    columns = rows_of([8.0, 9.75, 10.25, 10.75, None])
    prior = prior_of(columns, cue)
    sides = [prior_of(columns, cue_of(*ends)) for ends in ((10.0, 11.0), (9.5, 10.5))]
    np.testing.assert_array_equal(prior, (sides[0] + sides[1]) / 2)
    assert prior[2] == 1.0 > max(prior[1], prior[3]) and min(prior[1], prior[3]) > prior[0] > 0.0


def test_the_latest_earlier_occurrence_with_rows_is_meant() -> None:
    cue = read_as(cue_of(30.0, 31.0), earlier=[(23.0, 24.0), (16.0, 17.0), (9.0, 10.0)])
    opened = opened_at([9.5, 16.5, 16.6, 29.9], cue)
    assert (opened.start_us, opened.end_us, opened.moved) == (16 * DAY_US, 17 * DAY_US, True)
    assert opened.inside.tolist() == [False, True, True, False]
    at_hand = opened_at([9.5, 16.5, 30.5], cue)
    assert (at_hand.start_us, at_hand.moved) == (30 * DAY_US, False)


@pytest.mark.parametrize(
    ("times", "certainty", "event", "inside", "period"),
    [
        # The nearest row on either side, and what lies within the width from it on.
        ([8.0, 9.25, 9.5, 14.0], "sure", False, [1, 2], (8.5, 9.5)),
        ([8.0, 11.5, 11.75, 14.0], "sure", False, [1, 2], (11.5, 12.5)),
        ([9.5, 11.25, 14.0], "sure", False, [1], (11.25, 12.25)),
        # A day on either side is near, even when the cue is sure; a vague one reaches further.
        ([8.9, 12.1], "sure", False, None, None),
        ([8.9, 13.0], "likely", False, [0], (7.9, 8.9)),
        ([4.0, 16.1], "vague", False, None, None),
        ([5.5, 16.1], "vague", False, [0], (4.5, 5.5)),
        # An event is told of later.
        ([7.0, 12.9], "sure", True, [1], (12.9, 13.9)),
        ([7.0, 13.1], "sure", True, None, None),
    ],
)
def test_an_empty_period_moves_to_rows_near_it(
    times: list, certainty: str, event: bool, inside: list | None, period: tuple | None
) -> None:
    opened = opened_at(times, cue_of(10.0, 11.0, certainty, event))
    if inside is None:
        assert opened is None
        return
    assert np.flatnonzero(opened.inside).tolist() == inside and opened.moved
    assert (opened.start_us, opened.end_us) == tuple(int(t * DAY_US) for t in period)


def test_a_period_that_moves_stays_in_the_calendar() -> None:
    first, last = EARLIEST_US / DAY_US, LATEST_US // DAY_US
    early = opened_at([first + 9], cue_of(first + 10, first + 400))
    assert (early.start_us, early.end_us) == (EARLIEST_US, EARLIEST_US + 9 * DAY_US)
    late = opened_at([last - 9], cue_of(last - 400, last - 10))
    assert (late.start_us, late.end_us) == ((last - 9) * DAY_US, LATEST_US)
    for opened in (early, late):
        assert period_fields(describe_envelope(opened))["moved"]


def test_a_period_with_an_open_end_does_not_move() -> None:
    assert opened_at([9.9], cue_of(10.0, None)) is None
    assert opened_at([11.1], cue_of(None, 11.0)) is None


def test_rows_out_of_sight_move_no_period() -> None:
    columns = rows_of([9.5, 11.5])
    opened = open_envelope(columns, np.array([False, True]), cue_of(10.0, 11.0), CueWeights())
    assert opened.inside.tolist() == [False, True]
    assert open_envelope(columns, np.zeros(2, bool), cue_of(10.0, 11.0), CueWeights()) is None


SESSIONS = rows_of(
    # of session 4, then 9 (began later, told of first), 2 (undated), none, 7 (one row undated)
    [1.0, 2.0, 5.0, 4.0, None, None, 9.0, 6.0, None],
    [4, 4, 9, 9, 2, 2, -1, 7, 7],
)
COUNTED = [
    (SessionReference("ago", 1), [7, 8]),
    (SessionReference("ago", 2), [2, 3]),
    (SessionReference("ago", 3), [0, 1]),
    (SessionReference("ago", 4), []),
    (SessionReference("ordinal", 1), [0, 1]),
    (SessionReference("ordinal", 3), [7, 8]),
    (SessionReference("ordinal", 4), []),
    (SessionReference("range", 2, 3), [2, 3, 7, 8]),
    (SessionReference("range", 3, 99), [7, 8]),
    (SessionReference("first", 2), [0, 1, 2, 3]),
    (SessionReference("last", 2), [2, 3, 7, 8]),
    (SessionReference("last", 99), [0, 1, 2, 3, 7, 8]),
]


@pytest.mark.parametrize(("session", "rows"), COUNTED, ids=str)
def test_sessions_are_counted_in_the_order_in_which_they_began(
    session: SessionReference, rows: list[int]
) -> None:
    cue = TimeCue(None, None, session, "sure", "", "test", False)
    opened = open_envelope(SESSIONS, np.ones(SESSIONS.n, bool), cue, CueWeights())
    if not rows:
        assert opened is None
        return
    assert np.flatnonzero(opened.inside).tolist() == rows
    dated = [SESSIONS.event_time[row] for row in rows if SESSIONS.event_time[row] != UNDATED]
    assert (opened.start_us, opened.end_us) == (min(dated), max(dated))


def test_sessions_out_of_sight_are_not_counted() -> None:
    admitted = np.array([True, True, False, False, True, True, True, False, False])
    cue = TimeCue(None, None, SessionReference("ago", 1), "sure", "", "test", False)
    opened = open_envelope(SESSIONS, admitted, cue, CueWeights())
    assert np.flatnonzero(opened.inside).tolist() == [0, 1]
