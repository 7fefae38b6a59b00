"""Calibrated fusion in closed form: what standardising signal by signal, sum by sum, gives."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.kernels import calibration as compiled
from cpersona_jit.kernels.numpy_path import calibration as in_python
from cpersona_jit.kernels.numpy_path.calibration import (
    CONDITIONAL,
    DENSE_BLOCK,
    DENSE_ROW,
    GRAM3_BLOCK,
    GRAM3_ROW,
    GRAM4_BLOCK,
    GRAM4_ROW,
    GRAM_WEIGHT,
    LN_BLOCKS,
    PARAMETERS,
    SIGNALS,
)
from cpersona_jit.recall.adaptive_settings import Calibration

CALIBRATIONS = [in_python.calibrate, compiled.calibrate]
DENSE, GRAM, FUSED = range(3)
GRAMS = [GRAM3_ROW, GRAM4_ROW, GRAM3_BLOCK, GRAM4_BLOCK]


def moments(signals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance, each number rounded once from the exact fraction."""
    rows = [[int(value) for value in signal] for signal in signals]
    n = len(rows[0])
    mean = [Fraction(sum(row), n) for row in rows]
    products = [[Fraction(sum(map(int.__mul__, a, b)), n) for b in rows] for a in rows]
    covariance = [
        [float(products[i][j] - mean[i] * mean[j]) for j in range(SIGNALS)] for i in range(SIGNALS)
    ]
    return np.array([float(value) for value in mean]), np.array(covariance)


def random_signals(seed: int, n: int) -> np.ndarray:
    """Signals as recall makes them: correlated, of very different sizes, grams mostly 0."""
    rng = np.random.default_rng(seed)
    topic = rng.standard_normal(n)
    signals = np.zeros((SIGNALS, n))
    for signal in (DENSE_ROW, DENSE_BLOCK):
        signals[signal] = 2.0e7 * (topic + rng.standard_normal(n))
    for signal in GRAMS:
        signals[signal] = 1.0e8 * np.maximum(topic + rng.standard_normal(n) - 0.5, 0.0)
    signals[LN_BLOCKS] = 4096 * np.log(rng.integers(1, 9, n))
    return np.rint(signals).astype(np.int64)


parameter_sets = st.builds(
    lambda values, given: np.array([*values, float(given)]),
    st.lists(
        st.sampled_from([0.0, 0.2, 0.7, 1.0, 3.0]), min_size=PARAMETERS - 1, max_size=PARAMETERS - 1
    ),
    st.booleans(),
)


def evidence(forms: np.ndarray, signals: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return forms @ (signals - mean[:, None])


@pytest.mark.parametrize("calibrate", CALIBRATIONS)
@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(8, 60),
    parameters=parameter_sets,
    constant=st.sets(st.integers(0, SIGNALS - 1)),
)
def test_the_closed_form_is_the_nested_pipeline(calibrate, seed, n, parameters, constant) -> None:
    signals = random_signals(seed, n)
    for signal in constant:
        signals[signal] = 7 * signal
    mean, covariance = moments(signals)
    found = evidence(calibrate(covariance, parameters), signals, mean)
    expected = naive.calibrated_evidence(signals.tolist(), parameters.tolist())
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(parameter_sets, min_size=1, max_size=3))
def test_both_kernels_give_the_same_bits(seed: int, parameters: list[np.ndarray]) -> None:
    covariance = np.array([moments(random_signals(seed + i, 3 + 9 * i))[1] for i in range(3)])
    covariance[1, seed % SIGNALS], covariance[1, :, seed % SIGNALS] = 0.0, 0.0
    many = compiled.calibrate_many(covariance, np.array(parameters))
    for s, one in enumerate(parameters):
        for q, of_query in enumerate(covariance):
            slow = in_python.calibrate(of_query, one)
            assert compiled.calibrate(of_query, one).tobytes() == slow.tobytes()
            assert many[s, q].tobytes() == slow.tobytes()


@pytest.mark.parametrize("calibrate", CALIBRATIONS)
def test_signals_that_say_nothing_weigh_nothing(calibrate) -> None:
    default = Calibration().parameters()
    assert not calibrate(np.zeros((SIGNALS, SIGNALS)), default).any()
    signals = random_signals(5, 40)
    signals[GRAMS] = 0
    forms = calibrate(moments(signals)[1], default)
    assert not forms[GRAM].any()
    assert forms[FUSED].tobytes() == forms[DENSE].tobytes()
    signals = random_signals(5, 40)
    signals[[DENSE_ROW, DENSE_BLOCK]] = 12
    forms = calibrate(moments(signals)[1], default)
    assert not forms[DENSE].any()
    assert forms[FUSED].tobytes() == forms[GRAM].tobytes()


@pytest.mark.parametrize("calibrate", CALIBRATIONS)
def test_evidence_is_in_deviations_and_free_of_units(calibrate) -> None:
    signals = random_signals(11, 50)
    mean, covariance = moments(signals)
    parameters = Calibration().parameters()
    found = evidence(calibrate(covariance, parameters), signals, mean)
    np.testing.assert_allclose(found[:2].mean(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(found[:2].std(axis=1), 1.0, atol=1e-9)
    scaled = signals.copy()
    scaled[GRAM3_ROW] = 8 * signals[GRAM3_ROW] + 1000
    scaled[DENSE_ROW] = 2 * signals[DENSE_ROW] - 5
    mean, covariance = moments(scaled)
    again = evidence(calibrate(covariance, parameters), scaled, mean)
    np.testing.assert_allclose(again, found, atol=1e-9)


@pytest.mark.parametrize("calibrate", CALIBRATIONS)
def test_a_row_of_more_blocks_needs_more(calibrate) -> None:
    """Two rows with the same scores: the one with more blocks has less evidence of each kind."""
    signals = random_signals(3, 30)
    signals[:, 0] = signals[:, 1]
    signals[LN_BLOCKS, :2] = 0, 4096
    mean, covariance = moments(signals)
    for penalty, sign in ((0.0, 0), (0.7, 1), (1.5, 1)):
        parameters = Calibration(block_penalty=penalty).parameters()
        found = evidence(calibrate(covariance, parameters), signals, mean)
        assert (np.sign(np.round(found[:, 0] - found[:, 1], 12)) == sign).all(), penalty


@pytest.mark.parametrize("calibrate", CALIBRATIONS)
def test_conditional_evidence_leaves_out_what_the_dense_one_said(calibrate) -> None:
    default = Calibration().parameters()
    given = default.copy()
    given[CONDITIONAL] = 1.0
    signals = random_signals(17, 60)
    _, covariance = moments(signals)
    dense, gram, fused = calibrate(covariance, given)
    rho = dense @ covariance @ gram
    assert 0.1 < rho < 0.9
    rest = (fused - dense) / given[GRAM_WEIGHT]
    assert abs(rest @ covariance @ dense) < 1e-9
    assert calibrate(covariance, default)[:2].tobytes() == np.array([dense, gram]).tobytes()
    signals[GRAMS] = signals[GRAMS].max() - signals[GRAMS]  # now they contradict each other
    _, covariance = moments(signals)
    assert calibrate(covariance, given).tobytes() == calibrate(covariance, default).tobytes()
