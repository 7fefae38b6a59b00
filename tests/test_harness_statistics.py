"""Splits keep scopes together, intervals mean what they say, and the choice sees one part only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from harness_pools import write_pool
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from cpersona_jit.defaults import ROW_FUSION_SETTINGS
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings
from harness.bootstrap import stratified_intervals, task_means
from harness.config import RunConfig
from harness.evaluate import MEAN_OF_DATASETS, Evaluated, evaluate, macro_values, part_means
from harness.grid import RRF_BASELINE, build_settings, row_fusion_setting, setting_arrays
from harness.measures import MACRO
from harness.pool import load_pool
from harness.selection import BEST_ARM, BEST_FUSED, PROPOSAL, RRF, SHIPPED_ROLE, choose
from harness.splits import PARTS, UNSEEN, VALIDATION, validation_mask

CONFIG = RunConfig.model_validate(
    {
        "name": "made",
        "datasets": [{"name": "made"}],
        "arms": [{"name": "dense", "kind": "dense"}, {"name": "gram3", "kind": "gram"}],
        "freeze": {"depth": 40},
        "sweep": {
            "fusion": ["rrf", "score"],
            "depth": [5, 40],
            "weights": [{"dense": 1.0, "gram3": 1.0}, {"dense": 2.0, "gram3": 2.0}],
            "weight_grid": {"dense": [0.0, 1.0], "gram3": [0.0, 0.5, 1.0]},
        },
        "bootstrap": {"resamples": 400},
    }
)


def made(tmp_path, seed: int = 0, **options) -> Evaluated:
    pool = load_pool(write_pool(tmp_path / f"pool{seed}", seed=seed, queries=48, **options))
    return evaluate(pool, build_settings(CONFIG), CONFIG)


# --- settings ------------------------------------------------------------------------------------


def test_baselines_come_first_and_equal_points_are_one():
    settings = build_settings(CONFIG)
    names = [setting.name for setting in settings]
    assert names[:3] == ["arm:dense", "arm:gram3", RRF_BASELINE]
    assert len({setting.identity() for setting in settings}) == len(settings)
    # weights: both, dense only, gram3 only (two scales are one), dense with half of gram3;
    # fusion x depth = 4; of these the three baselines are there already.
    assert len(settings) == 3 + 4 * 4 - 3
    arrays = setting_arrays(settings, ("gram3", "dense"))
    assert arrays.weights[:3].tolist() == [[0, 1], [1, 0], [1, 1]]
    assert arrays.kind[:3].tolist() == [1, 1, 0]


def test_the_row_fusion_is_found_by_its_parameters_not_its_names():
    other_names = tuple(replace(arm, name=f"my_{arm.name}") for arm in ROW_FUSION_SETTINGS.arms)
    setting = row_fusion_setting(other_names, ROW_FUSION_SETTINGS)
    assert setting is not None
    assert setting.fusion.weights == {
        f"my_{arm.name}": ROW_FUSION_SETTINGS.fusion.weights[arm.name]
        for arm in ROW_FUSION_SETTINGS.active_arms
    }
    fusion = FusionSpec("score", {"a": 1.0})
    wanted = RecallSettings((ArmSpec("a", "gram", length_exponent=0.3),), fusion, 10)
    assert row_fusion_setting((ArmSpec("a", "gram", length_exponent=0.2),), wanted) is None


# --- splits --------------------------------------------------------------------------------------


@given(
    scopes=st.lists(st.integers(0, 30), min_size=2, max_size=80),
    share=st.floats(0.1, 0.9),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_split_keeps_scopes_together_and_fills_both_parts(scopes, share, seed):
    queries = [f"q{n}" for n in range(len(scopes))]
    names = [f"会話{scope}" for scope in scopes]
    mask = validation_mask(queries, names, share=share, seed=seed)
    assert mask.any()
    assert not mask.all()
    assert np.array_equal(mask, validation_mask(queries, names, share=share, seed=seed))
    if len(set(names)) >= 6:
        for scope in set(names):
            assert len({bool(mask[n]) for n, name in enumerate(names) if name == scope}) == 1


def test_a_split_does_not_depend_on_the_order_of_queries():
    queries = [f"q{n}" for n in range(40)]
    for scopes in ([f"s{n % 9}" for n in range(40)], ["only"] * 40):
        mask = validation_mask(queries, scopes, share=0.5, seed=3)
        back = validation_mask(queries[::-1], scopes[::-1], share=0.5, seed=3)
        assert np.array_equal(mask, back[::-1])


# --- intervals -----------------------------------------------------------------------------------


def test_intervals_equal_scipys_own_on_each_column():
    rng = np.random.default_rng(0)
    values, strata = rng.random((3, 60)), np.repeat([0, 1, 2], [10, 20, 30])
    got = stratified_intervals(
        values, strata, task_means(3), resamples=500, confidence=0.9, seed=11
    )
    for column in range(3):
        direct = bootstrap(
            [values[column, strata == task] for task in range(3)],
            lambda *tasks, axis: np.mean([task.mean(axis=axis) for task in tasks], axis=0),
            n_resamples=500,
            confidence_level=0.9,
            method="percentile",
            paired=False,
            batch=250,
            rng=np.random.default_rng(11),
        ).confidence_interval
        assert got.low[-1, column] == pytest.approx(direct.low, rel=1e-12)
        assert got.high[-1, column] == pytest.approx(direct.high, rel=1e-12)


def test_a_column_has_the_same_interval_whatever_stands_beside_it():
    rng = np.random.default_rng(1)
    values, strata = rng.random((150, 40)), np.arange(40) % 4
    options = {"resamples": 200, "confidence": 0.95, "seed": 5}
    together = stratified_intervals(values, strata, task_means(4), **options)
    alone = stratified_intervals(values[140:141], strata, task_means(4), **options)
    np.testing.assert_allclose(together.low[:, 140], alone.low[:, 0], rtol=1e-12)
    np.testing.assert_allclose(together.high[:, 140], alone.high[:, 0], rtol=1e-12)


def test_a_constant_difference_is_certain_although_its_sides_are_not():
    rng = np.random.default_rng(2)
    base, strata = rng.random(30), np.arange(30) % 2
    rows = np.stack([base, base + 0.1, (base + 0.1) - base])
    got = stratified_intervals(rows, strata, task_means(2), resamples=300, confidence=0.95, seed=0)
    assert got.high[-1, 0] > got.low[-1, 1]
    np.testing.assert_allclose([got.low[-1, 2], got.high[-1, 2]], 0.1, rtol=1e-9)


def test_a_task_of_one_query_cannot_vary():
    values = np.array([[0.25, 0.5, 1.0]])
    got = stratified_intervals(
        values, np.array([0, 1, 1]), task_means(2), resamples=200, confidence=0.95, seed=0
    )
    assert got.low[0, 0] == got.value[0, 0] == got.high[0, 0] == 0.25
    assert got.value[2, 0] == 0.5
    only = stratified_intervals(
        values[:, :1], np.array([0]), task_means(1), resamples=200, confidence=0.95, seed=0
    )
    assert only.low[1, 0] == only.high[1, 0] == 0.25


def test_the_mean_of_datasets_weighs_datasets_and_tasks_equally(tmp_path):
    both = [made(tmp_path, 0, tasks=2), made(tmp_path, 1, tasks=3, dataset="other")]
    for part in PARTS:
        means = part_means(both, [one.values for one in both], part, CONFIG)
        assert means.labels[-1] == (MEAN_OF_DATASETS, MACRO)
        expected = np.mean([macro_values(one, part) for one in both], axis=0)
        np.testing.assert_allclose(means.intervals.value[-1], expected, rtol=1e-12)
        assert np.all(means.intervals.low <= means.intervals.value + 1e-12)
        assert np.all(means.intervals.high >= means.intervals.value - 1e-12)
        assert means.counts[-1] == sum(len(one.part(part)) for one in both)


# --- choice --------------------------------------------------------------------------------------


def test_the_choice_sees_the_validation_part_only(tmp_path):
    one = made(tmp_path)
    settings = build_settings(CONFIG)
    chosen = choose([one], settings, CONFIG, {})
    blind = one.values.copy()
    blind[:, one.part(UNSEEN)] = np.random.default_rng(9).random(blind[:, one.part(UNSEEN)].shape)
    again = choose([replace(one, values=blind)], settings, CONFIG, {})
    assert again.proposal == chosen.proposal
    assert again.plateau == chosen.plateau
    assert again.roles[0][BEST_FUSED] == chosen.roles[0][BEST_FUSED]
    assert chosen.proposal == int(np.argmax(macro_values(one, VALIDATION)))


def test_the_plateau_holds_what_the_data_cannot_tell_apart(tmp_path):
    one = made(tmp_path)
    settings = build_settings(CONFIG)
    values = np.zeros_like(one.values)
    values[4] = 0.5
    values[5] = 0.5
    values[6] = 0.49 + np.random.default_rng(4).choice([-0.2, 0.2], values.shape[1])
    choice = choose([replace(one, values=values)], settings, CONFIG, {SHIPPED_ROLE: 5})
    assert choice.plateau[0] == choice.proposal
    assert set(choice.plateau) == {4, 5, 6}
    assert choice.roles[0][SHIPPED_ROLE] == 5


def test_the_best_arm_is_the_best_in_hindsight(tmp_path):
    one = made(tmp_path)
    values = one.values.copy()
    values[0], values[1] = 0.3, 0.4
    values[0, one.part(VALIDATION)] = 0.9
    choice = choose([replace(one, values=values)], build_settings(CONFIG), CONFIG, {})
    assert choice.roles[0][BEST_ARM] == 1
    assert choice.roles[0][RRF] == 2
    assert choice.roles[0][PROPOSAL] == choice.proposal
