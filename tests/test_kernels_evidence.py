"""Evidence: Numba, NumPy and the naive twins give the same bytes and the same rows."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signal_cases import admitted_share, random_arrays, random_weights

from cpersona_jit.kernels import evidence
from cpersona_jit.kernels.numpy_path import evidence as numpy_evidence
from cpersona_jit.kernels.row_mask import pack_mask

REPOSITORY = Path(__file__).parent.parent
MODULES = [evidence, numpy_evidence]
LAWS = settings(deadline=None, max_examples=60)
SIZES = st.one_of(st.integers(0, 9), st.integers(60, 70), st.integers(500, 600))
SHARES = st.sampled_from([0.0, 0.02, 0.5, 1.0])
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("module", MODULES)
@LAWS
@given(seed=SEEDS, n=SIZES, arms=st.integers(0, 8), share=SHARES)
def test_linear_scores_to_the_last_bit(module, seed, n, arms, share):
    rng = np.random.default_rng(seed)
    values = rng.integers(-(2**29), 2**32, (arms, n))
    weights, bias = rng.normal(size=arms) / 2.0 ** rng.integers(0, 30, arms), rng.normal()
    weights[rng.random(arms) < 0.2] = 0.0
    admitted, out = admitted_share(rng, n, share), np.full(n, 77.0)
    module.linear_scores(values, weights, bias, pack_mask(admitted), out)
    expected = naive.linear_scores(
        values.tolist(), weights.tolist(), float(bias), admitted.tolist()
    )
    assert out.tolist() == expected


@pytest.mark.parametrize("module", MODULES)
@LAWS
@given(
    seed=SEEDS,
    n=st.one_of(st.integers(0, 70), st.integers(250, 700)),
    levels=st.sampled_from([1, 3, 1000]),
    missing=st.sampled_from([0.0, 0.5, 1.0]),
    k=st.sampled_from([-1, 0, 1, 7, 64, 100, 10**12]),
)
def test_best_rows(module, seed, n, levels, missing, k):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-levels, levels + 1, n) / 3.0
    scores[rng.random(n) < missing] = -math.inf
    rows = module.top_rows(scores, k)
    assert rows.tolist() == naive.top_rows(scores.tolist(), k)
    assert rows.dtype == np.int64


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("k", [1, 64, 65, 300])
@pytest.mark.parametrize("order", ["ascending", "descending", "equal", "step", "mixed"])
def test_best_rows_in_orders_that_fill_the_buffer_again_and_again(module, k, order):
    n = 4001
    scores = {
        "ascending": np.arange(n) / 7,
        "descending": -np.arange(n) / 7,
        "equal": np.full(n, -0.1),
        "step": np.where(np.arange(n) < n // 2, 0.25, 0.5),
        "mixed": (np.arange(n) * 37) % 101 / 3,
    }[order]
    assert module.top_rows(scores, k).tolist() == naive.top_rows(scores.tolist(), k)


@pytest.mark.parametrize("module", MODULES)
def test_best_rows_with_infinities_signed_zeros_and_nan(module):
    scores = np.array([0.0, -0.0, math.nan, math.inf, -math.inf, 0.0, 5e-324, math.inf])
    for k in range(10):
        assert module.top_rows(scores, k).tolist() == [3, 7, 6, 0, 1, 5][:k]


@pytest.mark.parametrize("module", MODULES)
@LAWS
@given(seed=SEEDS, n=SIZES, parted=SHARES)
def test_evidence_of_some_rows_to_the_last_bit(module, seed, n, parted):
    rng = np.random.default_rng(seed)
    arrays = random_arrays(rng, n, parted)
    weights = np.array([random_weights(rng) for _ in range(3)])
    bias = rng.normal(size=3)
    rows = rng.integers(0, n, 40) if n else np.zeros(0, np.int64)
    signals = arrays.signals()
    of_rows = module.signals_at(*arrays, rows)
    assert of_rows.tolist() == [[signal[row] for row in rows] for signal in signals]
    assert of_rows.dtype == np.int64
    found = module.evidence_at(*arrays, weights, bias, rows)
    for form in range(3):
        everyone = naive.linear_scores(
            arrays.signals(), weights[form].tolist(), float(bias[form]), [True] * n
        )
        assert found[form].tolist() == [everyone[row] for row in rows]


@pytest.mark.parametrize("module", MODULES)
@LAWS
@given(
    seed=SEEDS,
    n=st.one_of(st.integers(0, 70), st.integers(500, 1400)),
    parted=SHARES,
    share=SHARES,
    levels=st.sampled_from([1, 2, 2**29]),
    kind=st.sampled_from(["dense", "gram", "both", "nothing"]),
    k=st.sampled_from([-1, 0, 1, 7, 64, 100, 10**12]),
)
def test_rows_of_the_most_evidence(module, seed, n, parted, share, levels, kind, k):
    rng = np.random.default_rng(seed)
    arrays, weights = random_arrays(rng, n, parted, levels), random_weights(rng)
    if kind in ("dense", "nothing"):
        weights[2:6] = 0.0
    if kind in ("gram", "nothing"):
        weights[:2] = 0.0
    if kind == "nothing":
        weights[6] = 0.0
    admitted, bias = admitted_share(rng, n, share), float(rng.choice([0.0, -0.0, rng.normal()]))
    rows = module.best_rows(*arrays, weights, bias, pack_mask(admitted), k)
    scores = naive.linear_scores(arrays.signals(), weights.tolist(), bias, admitted.tolist())
    assert rows.tolist() == naive.top_rows(scores, k)
    assert rows.dtype == np.int64


# --- where it runs -------------------------------------------------------------------------------


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


PROGRAM = """
import numpy as np
from cpersona_jit.kernels.row_mask import pack_mask
rng = np.random.default_rng(1)
values, weights = rng.integers(0, 2**31, (7, 999)), rng.normal(size=(2, 7))
mask, out = pack_mask(rng.random(999) < 0.6), np.empty(999)
evidence.linear_scores(values, weights[0], 0.1, mask, out)
print(out.tolist(), evidence.top_rows(out, 50).tolist())
dense, grams = values[0].astype(np.int32), values[1:3].astype(np.uint32)
parted, place = np.arange(0, 999, 9), np.full(999, -1, np.int32)
place[parted] = np.arange(111)
arrays = dense, *grams, parted, place, values[:, parted]
print(evidence.best_rows(*arrays, weights[0], 0.1, mask, 50).tolist())
print(evidence.evidence_at(*arrays, weights, np.array([0.1, 0.2]), np.arange(999)).tolist())
"""


def test_a_processor_without_vector_extensions_finds_the_same(tmp_path):
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    numpy_run = run(f"from cpersona_jit.kernels.numpy_path import evidence{PROGRAM}")
    numba_run = run(
        f"from cpersona_jit.kernels import evidence{PROGRAM}",
        NUMBA_CACHE_DIR=str(tmp_path),
        **plain,
    )
    assert numba_run.returncode == 0, numba_run.stderr
    assert numba_run.stdout == numpy_run.stdout != ""
