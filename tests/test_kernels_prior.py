"""The prior: its six shapes, the identities between them, and equality of the paths."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import prior
from cpersona_jit.kernels.numpy_path import prior as numpy_prior

MODULES = [prior, numpy_prior]
INF, NAN = math.inf, math.nan
EVERY_POSITION = 2**40
DAYS = st.just(NAN) | st.floats(-5, 1e7) | st.sampled_from([0.0, 30.0, 1e300, INF])
OFF = {
    "reach": -1,
    "far_weight": 0.0,
    "far_count": -1,
    "half_life_days": INF,
    "floor": 0.0,
    "tail_days": INF,
}


def priors(module, positions, ages=None, distances=None, **settings_):
    unknown = [NAN] * len(positions)
    return module.row_prior(
        np.array(positions, np.int64),
        np.array(unknown if ages is None else ages, float),
        np.array(unknown if distances is None else distances, float),
        **{**OFF, **settings_},
    ).tolist()


@st.composite
def cases(draw):
    positions = draw(st.lists(st.integers(0, 40), unique=True, max_size=25))
    ages, distances = (
        draw(st.lists(DAYS, min_size=len(positions), max_size=len(positions))) for _ in range(2)
    )
    smooth = {
        "half_life_days": draw(st.sampled_from([INF, 1.0, 30.0, 365.25])),
        "floor": draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])),
        "tail_days": draw(st.sampled_from([INF, 0.5, 14.0])),
    }
    region = {
        "window": draw(st.sampled_from([0, 5, 20, 50])),
        "reach": draw(st.sampled_from([-1, 3, 20, 30, EVERY_POSITION])),
        "far_weight": draw(st.sampled_from([0.0, 0.25, 1.0])),
        "far_count": draw(st.sampled_from([-1, 0, 1, 4, 100])),
    }
    return positions, ages, distances, region, smooth


@settings(deadline=None, max_examples=200)
@given(case=cases())
def test_both_paths_give_the_same_bytes_and_the_naive_values(case):
    positions, ages, distances, region, smooth = case
    fast, slow = (priors(m, positions, ages, distances, **region, **smooth) for m in MODULES)
    assert fast == slow
    expected = naive.row_prior(positions, ages, distances, *region.values(), *smooth.values())
    # The twin takes the C library's exponentials, which are not ours to the last bit.
    assert fast == pytest.approx(expected, rel=1e-12, abs=0)
    if smooth["half_life_days"] == smooth["tail_days"] == INF:
        assert fast == expected


@pytest.mark.parametrize("module", MODULES)
def test_the_shapes_of_the_far_region(module):
    positions = [0, 9, 10, 14, 15, 99]
    reach = {"window": 10, "reach": 15, "far_weight": 1.0}
    assert priors(module, positions, window=10) == [1, 1, 0, 0, 0, 0]
    assert priors(module, positions, **reach) == [1, 1, 1, 1, 0, 0]
    assert priors(module, positions, **{**reach, "far_weight": 0.25}) == [1, 1, 0.25, 0.25, 0, 0]
    far_list = {"window": 10, "reach": EVERY_POSITION, "far_weight": 1.0, "far_count": 2}
    assert priors(module, [99, 12, 0, 15, 11], **far_list) == [0, 1, 1, 0, 1]


@pytest.mark.parametrize("module", MODULES)
def test_recency_halves_per_half_life_above_its_floor(module):
    ages = [0, 30, 60, 1e9, NAN, -3]
    recency = {"window": 10, "half_life_days": 30.0}
    assert priors(module, range(6), ages, **recency)[:3] == [1.0, 0.5, 0.25]
    assert priors(module, range(6), ages, **recency)[4:] == [1.0, 1.0]
    with_floor = priors(module, range(6), ages, floor=0.2, **recency)
    assert with_floor == pytest.approx([1.0, 0.6, 0.4, 0.2, 1.0, 1.0])


@pytest.mark.parametrize("module", MODULES)
def test_a_cue_decays_with_distance_and_removes_no_row(module):
    distances = [0, 7, 14, 1e12, INF, NAN, -2]
    cued = priors(module, range(7), None, distances, window=10, tail_days=7.0)
    assert cued[:3] == pytest.approx([1, math.exp(-1), math.exp(-2)], rel=1e-15)
    assert cued[5:] == [1.0, 1.0]
    assert min(cued) > 0
    both = {"half_life_days": 1e-3, "tail_days": 1e-3, "window": 10}
    assert min(priors(module, range(7), [1e9] * 7, distances, **both)) > 0


@pytest.mark.parametrize("module", MODULES)
@settings(deadline=None)
@given(case=cases())
def test_identity_controls_hold_exactly(module, case):
    positions, ages, distances, region, smooth = case

    def with_region(**changes):
        return priors(module, positions, ages, distances, **{**region, **changes}, **smooth)

    window_only = with_region(reach=-1)
    assert with_region(far_weight=0.0) == window_only
    assert with_region(far_count=0) == window_only
    reached = with_region(far_weight=1.0, far_count=-1)
    assert with_region(far_weight=1.0, far_count=len(positions)) == reached
    if max(positions, default=0) < region["reach"]:
        everything = with_region(window=EVERY_POSITION)
        assert with_region(far_weight=1.0, far_count=-1) == everything

    def with_smooth(**changes):
        return priors(module, positions, ages, distances, **region, **{**smooth, **changes})

    no_recency = with_smooth(half_life_days=INF)
    assert with_smooth(floor=1.0) == no_recency
    assert with_smooth(half_life_days=INF, floor=0.0) == no_recency


def test_powers_of_two_are_accurate_to_the_last_bits():
    times = np.concatenate([np.linspace(0, 40, 4001), [499.9, 500.0, 1e9]])
    ours = numpy_prior.halvings(times)
    exact = np.exp2(-np.minimum(times, 500.0))
    assert np.max(np.abs(ours / exact - 1)) < 4e-16
    assert np.all(np.diff(ours[:4001]) < 0)
    assert ours[0] == 1.0 and ours[100] == 0.5


# --- the period of a cue -------------------------------------------------------------------------

UNDATED = -(2**63)
DAY_US = 86_400_000_000
NOON = 19_000 * DAY_US
TIMES = st.sampled_from([UNDATED, NOON - 1, NOON, NOON + 1, NOON + 9 * DAY_US]) | st.integers(
    NOON - 400 * DAY_US, NOON + 400 * DAY_US
)
READINGS = st.tuples(
    st.integers(-30, 30),  # days from noon to the start
    st.integers(0, 90),  # days to the end
    st.sampled_from([0.75, 2.0, 31.5]),
    st.sampled_from([NAN, 3.0, 14.0]),
)


def period_priors(module, times, inside, readings, outside=0.6, later=0.8):
    starts = [NOON + first * DAY_US for first, *_ in readings]
    return module.period_prior(
        np.array(times, np.int64),
        np.array(inside, bool),
        np.array(starts, np.int64),
        np.array([s + r[1] * DAY_US for s, r in zip(starts, readings, strict=True)], np.int64),
        np.array([tail for *_, tail, _ in readings]),
        np.array([told for *_, told in readings]),
        outside,
        later,
    ).tolist()


def naive_period_prior(time, inside, readings, outside, later):
    total = 0.0
    for first, days, tail, told in readings:
        start, end = NOON + first * DAY_US, NOON + (first + days) * DAY_US
        before, after = max(start - time, 0) / DAY_US, max(time - end, 0) / DAY_US
        if inside and (len(readings) == 1 or start <= time <= end):
            total += 1.0
        elif time == UNDATED:
            total += outside * math.exp(-0.5)
        elif after and not math.isnan(told):
            total += later * math.exp(-after / told)
        else:
            total += outside * math.exp(-(before + 0.5 * after) / tail)
    return total / len(readings)


@settings(deadline=None, max_examples=200)
@given(
    rows=st.lists(st.tuples(TIMES, st.booleans()), max_size=20),
    readings=st.lists(READINGS, min_size=1, max_size=3),
)
def test_the_period_of_a_cue(rows, readings):
    times, inside = [time for time, _ in rows], [there for _, there in rows]
    fast, slow = (period_priors(module, times, inside, readings) for module in MODULES)
    assert fast == slow
    expected = [naive_period_prior(*row, readings, 0.6, 0.8) for row in rows]
    assert fast == pytest.approx(expected, rel=1e-12, abs=1e-100)


@pytest.mark.parametrize("module", MODULES)
def test_the_factor_of_a_period_is_that_of_the_prior(module):
    """One function: what a row's distance from a period costs, whoever asks."""
    times = [NOON - days * DAY_US for days in (1, 2, 30)]
    of_period = period_priors(module, times, [False] * 3, [(0, 5, 2.0, NAN)], outside=1.0)
    of_distance = priors(
        module, [0, 1, 2], None, [1.0, 2.0, 30.0], window=EVERY_POSITION, tail_days=2.0
    )
    assert of_period == of_distance
