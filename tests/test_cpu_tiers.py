"""The choice of a tier, and every tier in a process of its own: an abort would kill this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cpersona_jit.kernels import cpu

REPOSITORY = Path(__file__).parent.parent
TIERS = cpu.available_tiers(cpu.compiled_features())

# Makes the same arrays everywhere, scans them, and prints the tier and every integer found.
ARRAYS = """
import numpy as np
from cpersona_jit.kernels.row_mask import pack_mask
rng = np.random.default_rng(3)
codes = rng.integers(-127, 128, (151, 192)).astype(np.int8)
planes = rng.integers(-60, 61, (2, 192)).astype(np.int8)
mask = pack_mask(rng.random(151) < 0.8)
signs = rng.integers(0, 2**64, (19, 3, 8), dtype=np.uint64)
words = rng.integers(0, 2**64, (4, 3), dtype=np.uint64)
"""
SCAN = """
keys, stats = int8_scan.dense_top_k(codes, planes, mask, 20)
print(keys.tolist(), tuple(stats))
print(int8_scan.dense_scores(codes, planes, np.arange(151)).tolist())
print(sign_scan.planes_top_k(signs, words, 151, mask, 20).tolist())
"""
TIER = "from cpersona_jit.kernels.cpu import cpu_tier\nprint(cpu_tier())\n"
NUMBA_SCAN = f"{TIER}from cpersona_jit.kernels import int8_scan, sign_scan\n{ARRAYS}{SCAN}"
NUMPY_SCAN = f"from cpersona_jit.kernels.numpy_path import int8_scan, sign_scan\n{ARRAYS}{SCAN}"


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUMBA_CPU", "NUMBA_ENABLE_AVX")) and name != cpu.TIER_VARIABLE
    }
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**inherited, **environment},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def expected() -> str:
    finished = run(NUMPY_SCAN)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.parametrize(
    ("name", "features", "tier"),
    [
        ("x86-64", "", "plain"),
        ("haswell", "+avx,+avx2", "avx2"),
        ("alderlake", "+avx2,+avxvnni", "avx_vnni"),
    ],
)
def test_a_machine_with_less_runs_and_finds_the_same(name, features, tier, expected):
    if tier not in TIERS:
        pytest.skip(f"this machine has no {tier}")
    finished = run(NUMBA_SCAN, NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES=features)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == f"{tier}\n{expected}"


def test_a_second_process_compiles_nothing_and_tiers_do_not_mix(tmp_path, expected):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path), cpu.TIER_VARIABLE: TIERS[0]}
    first = run(NUMBA_SCAN, **cache)
    assert first.stdout == f"{TIERS[0]}\n{expected}", first.stderr
    written = sorted(tmp_path.rglob("*.nb*"))
    assert any("_scan" in path.name for path in written)
    # Numba prints "data saved" for each entry that it had to compile.
    second = run(NUMBA_SCAN, NUMBA_DEBUG_CACHE="1", **cache)
    assert second.returncode == 0, second.stderr
    assert "data loaded from" in second.stdout
    assert "data saved to" not in second.stdout
    assert sorted(tmp_path.rglob("*.nb*")) == written
    lower = run(NUMBA_SCAN, NUMBA_DEBUG_CACHE="1", **{**cache, cpu.TIER_VARIABLE: "plain"})
    assert lower.returncode == 0, lower.stderr
    assert ("data saved to" in lower.stdout) == (TIERS[0] != "plain")
    assert lower.stdout.splitlines()[0] == "plain"


@pytest.mark.parametrize("tier", TIERS)
def test_the_variable_lowers_the_tier_of_the_scan(tier):
    program = (
        "from cpersona_jit.kernels import int8_scan as scan\n"
        "print([name for name, tag in scan.TIER_TAGS.items() if tag == scan.TIER])"
    )
    finished = run(program, **{cpu.TIER_VARIABLE: tier})
    assert finished.stdout == f"['{tier}']\n", finished.stderr


@pytest.mark.parametrize(
    "settings",
    [{"NUMBA_CPU_FEATURES": ""}, {"NUMBA_CPU_NAME": "generic"}, {"NUMBA_ENABLE_AVX": "0"}],
)
def test_settings_of_numba_that_leave_only_the_plain_tier(settings):
    finished = run(TIER, **settings)
    assert finished.stdout == "plain\n", finished.stderr


@pytest.mark.parametrize(
    ("features", "tiers"),
    [
        ("", ["plain"]),
        ("sse2 neon", ["plain"]),
        ("avx2", ["avx2", "plain"]),
        ("avx2 avxvnni", ["avx_vnni", "avx2", "plain"]),
        ("avx2 avx512f avx512bw avx512vl", ["avx2", "plain"]),
        ("avx2 avx512f avx512vl avx512vnni", ["avx_vnni", "avx2", "plain"]),
        (
            "avx2 avx512f avx512bw avx512vl avx512vnni",
            ["avx512_vnni", "avx_vnni", "avx2", "plain"],
        ),
    ],
)
def test_features_decide_the_tiers(features, tiers):
    assert list(cpu.available_tiers(frozenset(features.split()))) == tiers


def test_the_best_tier_is_taken_and_may_be_lowered(monkeypatch):
    monkeypatch.setattr(cpu, "compiled_features", lambda: frozenset({"avx2"}))
    monkeypatch.delenv(cpu.TIER_VARIABLE, raising=False)
    assert cpu.cpu_tier() == "avx2"
    monkeypatch.setenv(cpu.TIER_VARIABLE, "plain")
    assert cpu.cpu_tier() == "plain"


@pytest.mark.parametrize("wanted", ["avx512_vnni", "AVX2", "sse9"])
def test_a_tier_that_the_machine_lacks_is_refused_by_name(wanted, monkeypatch):
    monkeypatch.setattr(cpu, "compiled_features", lambda: frozenset({"avx2"}))
    monkeypatch.setenv(cpu.TIER_VARIABLE, wanted)
    with pytest.raises(cpu.CpuTierError, match=rf"{wanted}.*may be one of avx2, plain"):
        cpu.cpu_tier()


def test_the_numpy_path_does_not_import_numba():
    modules = ["numpy_path.int8_scan", "numpy_path.sign_scan", "quantize", "row_mask", "cpu"]
    program = "\n".join(f"import cpersona_jit.kernels.{name}" for name in modules)
    finished = run(
        f"{program}\nimport sys; print('numba' in sys.modules, 'llvmlite' in sys.modules)"
    )
    assert finished.stdout == "False False\n", finished.stderr
