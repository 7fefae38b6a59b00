"""Kernels that cannot be compiled or loaded: recall answers by their twins and says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).parent.parent

RECALL = """
import json, sys
from adaptive_cases import adaptive
from memory_cases import BagOfWords, settings
import cpersona_jit
from cpersona_jit import Record
from cpersona_jit.recall.kernel_set import current_kernels, warm_kernels
with cpersona_jit.open(sys.argv[1], BagOfWords()) as memory:
    memory.store_many([Record(text, "a") for text in ("green tea", "京都で抹茶を飲んだ")])
    results = [
        memory.recall("抹茶 tea", agent_id="a", settings=chosen)
        for chosen in (settings(), adaptive(), settings())
    ]
print(json.dumps({
    "kernels": [current_kernels().name, warm_kernels().name],
    "rows": [[row.ref for row in result.rows] for result in results],
    "degraded": [list(result.degraded) for result in results],
}))
"""


def recalled(folder: Path, cache: str, **environment: str) -> dict:
    """Recall in a process of its own whose compiled kernels belong to `cache`."""
    found = subprocess.run(
        [sys.executable, "-c", RECALL, str(folder / "m.db")],
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": cache,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def assert_served_by_numpy(told: dict) -> None:
    assert told["kernels"] == ["numpy", "numpy"]
    assert all(len(rows) == 2 for rows in told["rows"])
    for notes in told["degraded"]:
        assert [note for note in notes if note.startswith("kernels_unavailable: ")] == notes[-1:]


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    if not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"):
        pytest.skip("this Numba always finds another folder when the tests may write to the code")
    file = tmp_path / "file"
    file.touch()
    told = recalled(
        tmp_path, str(file / "cache"), NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator"
    )
    assert_served_by_numpy(told)


def test_a_cache_that_is_cut_short(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cut = (
        "import pathlib, sys\n"
        "from cpersona_jit.kernels import fusion\n"
        "import numpy as np\n"
        "one = np.ones(1)\n"
        "fusion.rrf_scores(np.ones((1, 1), np.int32), one, 60.0, one)\n"
        "for file in pathlib.Path(sys.argv[1]).rglob('*.nbi'):\n"
        "    file.write_bytes(file.read_bytes()[:40])\n"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", cut, str(cache)], env=env, check=True)
    assert list(cache.rglob("*.nbi"))
    told = recalled(tmp_path, str(cache))
    assert_served_by_numpy(told)
    assert "NUMBA_CACHE_DIR" in told["degraded"][0][-1]
