"""Second sorts on pools made by hand: what a monotone confidence keeps, what cosine x age moves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.columns.snapshot import UNDATED
from cpersona_jit.cues.time_cue import US_PER_DAY
from cpersona_jit.kernels.numpy_path.calibration import DENSE_BLOCK, DENSE_ROW, LN_BLOCKS, SIGNALS
from cpersona_jit.recall.adaptive_settings import Calibration
from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.grid import AdaptiveSetting, build_adaptive_settings
from harness.adaptive.pool import SignalPool, load_signal_pool
from harness.adaptive.replay import replay_adaptive
from harness.adaptive.resort import (
    CONFIDENCES,
    COSINE,
    CPERSONA,
    ages_of,
    cpersona_confidence,
    half_life_name,
    resort,
    sort_names,
)
from harness.adaptive.resort_study import (
    FULL,
    PRODUCTION,
    REGIMES,
    SHALLOW,
    resort_study,
    sort_again,
)
from harness.adaptive.splits import committed_split
from harness.datasets.base import DatasetQuery, DatasetRow
from harness.datasets.build import build_dataset
from harness.evaluate import evaluate
from harness.freeze import freeze

NOW = 1_700_000_000_000_000
UNIT = 1e-6
ROWS = 12
LIMIT = 3
SCOPE = next(s for s, part in committed_split("synthetic").scopes.items() if part == "validation")


def config(**resort_section: object) -> AdaptiveConfig:
    document = {"kind": "adaptive", "name": "r", "datasets": [{"name": "synthetic"}]}
    document |= {
        "models": [{"provider": "none"}],
        "limit": LIMIT,
        "base": {"depth": 50},
        "freeze": {"depth": 50},
    }
    document |= {"resort": resort_section, "bootstrap": {"resamples": 100}}
    return AdaptiveConfig.model_validate(document)


def words_only(config: AdaptiveConfig, **changes: object) -> AdaptiveSetting:
    """The base, fused from grams alone, so that its order is theirs."""
    base = next(setting for setting in build_adaptive_settings(config) if setting.name == "base")
    calibration = Calibration(dense_weight=0.0)
    return replace(base, settings=replace(base.settings, calibration=calibration, **changes))


@pytest.fixture(scope="module")
def frozen(tmp_path_factory) -> SignalPool:
    """One question over rows that are alike in all but their numbers."""
    rows = [DatasetRow(f"文書{n}", f"港の灯り {n}", None, None, None, SCOPE) for n in range(ROWS)]
    asked = [DatasetQuery("q", "港の灯りは?", None, SCOPE, "t", None)]
    data = build_dataset("synthetic", rows, asked, [("q", "文書0", 1)])
    folder = tmp_path_factory.mktemp("resort")
    folders = {"cache_dir": folder / "cache", "pools_dir": folder / "pools"}
    pool = load_signal_pool(freeze(config(), data, jobs=1, **folders))
    assert pool.row.tolist() == list(range(ROWS)) and pool.doc_codes.tolist() == pool.row.tolist()
    return pool


def remade(
    frozen: SignalPool,
    cosines: list[float],
    grams: list[int],
    gold: int,
    *,
    ages_days: list[float | None] | None = None,
    asked: bool = True,
    parts: list[int] | None = None,
) -> SignalPool:
    """The frozen pool with signals, ages and documents of the test's own."""
    signals = np.zeros((SIGNALS, ROWS), np.int64)
    signals[:] = np.array(grams) << 11
    signals[[DENSE_ROW, DENSE_BLOCK]] = np.round(np.array(cosines) / UNIT)
    signals[LN_BLOCKS] = 0
    documents = np.array(range(ROWS) if parts is None else parts, np.int32)
    gold_rows = np.flatnonzero(documents == documents[gold])
    ages = ages_days or [1.0] * ROWS
    times = [UNDATED if age is None else NOW - round(age * US_PER_DAY) for age in ages]
    return replace(
        frozen,
        doc_codes=documents,
        judged_ids=[f"文書{documents[gold]}"],
        gold_ptr=np.array([0, gold_rows.size]),
        gold=gold_rows,
        gold_judged=np.zeros(gold_rows.size, np.int64),
        signals=signals,
        event_time=np.array(times),
        asked_us=np.array([NOW if asked else UNDATED]),
        cosine_unit=np.array([UNIT]),
        mean=signals.mean(axis=1)[None, :],
        covariance=np.cov(signals, bias=True)[None, :, :],
    )


@pytest.fixture
def opposed(frozen) -> SignalPool:
    """Words order the rows one way and cosines the other; the relevant row is the words' first."""
    return remade(frozen, [0.02 * (n + 1) for n in range(ROWS)], list(range(ROWS, 0, -1)), 0)


def study_of(pool: SignalPool, setting: AdaptiveSetting, config: AdaptiveConfig) -> dict:
    return resort_study([evaluate(pool, [setting], config)], setting, config)


def value_of(study: dict, regime: str, order: str, kind: str = "values") -> float:
    (row,) = [
        row
        for row in study[kind]
        if (row["regime"], row["order"], row["measure"], row["part"])
        == (regime, order, "nDCG@10", "all")
    ]
    return row["value"]


def test_a_sort_by_cosine_undoes_fusion_as_far_as_its_regime_lets_it(opposed):
    made = config(half_lives_days=[30])
    study = study_of(opposed, words_only(made), made)
    # The first of 12 becomes the last of them; the last of the window; the last of two lists of 3.
    expected = {FULL: 0.0, PRODUCTION: 1 / math.log2(4), SHALLOW: 1 / math.log2(7)}
    for regime in REGIMES:
        assert value_of(study, regime, "fused score") == 1.0
        for order in (COSINE, half_life_name(30)):
            assert value_of(study, regime, order) == pytest.approx(expected[regime], abs=1e-15)
            lost = value_of(study, regime, order, "differences")
            assert lost == pytest.approx(expected[regime] - 1.0, abs=1e-15)
    assert {row["share"] for row in study["moved"] if row["order"] == COSINE} == {1.0}


def test_no_monotone_confidence_moves_a_row(opposed):
    made = config()
    study = study_of(opposed, words_only(made), made)
    assert study["monotone"] == [
        {"confidence": name, "sorted": len(REGIMES), "changed": 0} for name in CONFIDENCES
    ]


RUNS = st.lists(st.tuples(st.floats(-40.0, 40.0), st.integers(1, 9)), max_size=12)


@settings(deadline=None)
@given(RUNS, st.sampled_from(list(CONFIDENCES.values())))
def test_a_confidence_keeps_the_order_also_of_neighbouring_numbers(runs, confidence):
    scores = [start + step * np.spacing(start) for start, length in runs for step in range(length)]
    ordered = -np.sort(-np.array(scores))
    order = np.arange(ordered.size)[::-1]
    assert resort(order, confidence(ordered)).tobytes() == order.tobytes()


def test_a_map_that_falls_is_seen(opposed, monkeypatch):
    monkeypatch.setitem(CONFIDENCES, "falling", lambda score: -score)
    made = config()
    study = study_of(opposed, words_only(made), made)
    assert {row["confidence"]: row["changed"] for row in study["monotone"]}["falling"] == 3


def test_age_decides_where_cosines_are_equal_and_an_undated_row_is_neutral(frozen):
    made = config(half_lives_days=[90], floor=0.0)
    place = sort_names(made.resort).index(half_life_name(90))
    cosines, grams = [0.5] * 4 + [0.0] * 8, list(range(ROWS, 0, -1))
    ages = [2.0, 400.0, 200.0, None, *[300.0] * 8]
    # Without the question's date ages count from the newest row, which is then as good as undated.
    for asked, expected in ((True, [2, 4, 3, 1]), (False, [1, 4, 3, 2])):
        for gold, rank in enumerate(expected):
            pool = remade(frozen, cosines, grams, gold, ages_days=ages, asked=asked)
            ranks = sort_again(pool, words_only(made), made).ranks
            assert ranks[0, place, 0] == rank
            assert ranks[0, 1, 0] == gold + 1, "cosines alone change nothing"


def test_the_fused_order_is_the_one_that_replay_ranks_also_with_parts_of_documents(frozen):
    made = config()
    cosines = [0.02 * (n + 1) for n in range(ROWS)]
    grams = [3, 9, 4, 12, 5, 5, 8, 1, 2, 7, 10, 11]
    setting = words_only(made, seats=2)
    shallow = replace(setting, settings=replace(setting.settings, depth=LIMIT))
    for gold in (0, 1, 4, 9):
        pool = remade(frozen, cosines, grams, gold, parts=[0, 1, 1, 2, 3, 3, 0, 4, 5, 6, 7, 3])
        found = sort_again(pool, setting, made).ranks
        ranks = replay_adaptive(pool, [setting, shallow], jobs=1)
        assert found[0, 0].tolist() == ranks[0].tolist()
        assert found[2, 0].tolist() == ranks[1].tolist()
        if ranks[0, 0] <= LIMIT:
            assert found[1, 0].tolist() == ranks[0].tolist()


def naive_confidence(
    cosine: float, age_hours: float | None, newest_hours: float, span_hours: float
) -> float:
    """The older line's formula, one row at a time, for a store that nobody recalled from."""
    reach = max(24.0, span_hours)
    rate = 0.005 / max(1.0, reach / 168.0) if span_hours > 0 else 0.005
    if age_hours is None:
        age_hours = newest_hours + (span_hours / 2 if span_hours > 0 else reach / 2)
    decay = max(0.3, 1.0 / (1.0 + max(age_hours, 0.0) * rate))
    scaled = min(max((cosine - 0.20) / (0.75 - 0.20), 0.0), 1.0)
    return round(math.sqrt(scaled * decay), 4)


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize(
    "ages",
    [[0.0, 1.0, 3.0, None], [5.0, 5.0, 5.0, None], [9.0, 40.0, 4000.0, 0.5], [-2.0, 1.0, 7.0, 8.0]],
)
def test_the_older_confidence_is_its_formula(ages, asked):
    cosines = np.array([0.475, 0.1, 0.9, 0.6])
    times = np.array([UNDATED if a is None else NOW - round(a * US_PER_DAY) for a in ages])
    known = [age for age in ages if age is not None]
    now = 0.0 if asked else min(known)  # in days before NOW
    span = 24.0 * (max(known) - min(known))
    newest = 24.0 * max(min(known) - now, 0.0)
    expected = [
        naive_confidence(cosine, None if age is None else 24.0 * (age - now), newest, span)
        for cosine, age in zip(cosines.tolist(), ages, strict=True)
    ]
    found = cpersona_confidence(cosines, ages_of(times, NOW if asked else UNDATED))
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


def test_the_older_confidence_of_rows_without_any_date_is_their_cosine_and_one_decay():
    found = cpersona_confidence(np.array([0.475, 0.2, 0.8]), np.full(3, np.nan))
    assert found.tolist() == pytest.approx([0.6868, 0.0, 0.9713], abs=1e-12)
    assert CPERSONA in sort_names(config().resort)
