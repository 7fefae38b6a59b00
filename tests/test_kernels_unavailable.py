"""Kernels that cannot be compiled or loaded: recall answers by their twins and says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from cpersona_jit.kernels.compiled import kernel_folder

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


def cut_short(cache: Path, module: str, program: str) -> None:
    """Cut what the cache says of one kernel; the others are there if they ever were compiled."""
    folder = kernel_folder()
    if folder is not None:
        shutil.copytree(folder, cache / folder.name)
    cut = (
        "import pathlib, sys\n"
        "import numpy as np\n"
        f"from cpersona_jit.kernels import {module}\n"
        f"{module}.{program}\n"
        f"for file in pathlib.Path(sys.argv[1]).glob('*/{module}-*/*/*.nbi'):\n"
        "    file.write_bytes(file.read_bytes()[:40])\n"
        "    print(file)\n"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", cut, str(cache)], env=env, check=True, stdout=subprocess.PIPE
    )
    assert done.stdout


def test_a_cache_that_is_cut_short(tmp_path: Path) -> None:
    one_clue = "clue_terms(np.zeros(2), np.array([[0, 1]]), np.ones(1), 0.5)"
    cut_short(tmp_path, "structure_clues", one_clue)
    told = recalled(tmp_path, str(tmp_path))
    assert_served_by_numpy(told)
    assert "NUMBA_CACHE_DIR" in told["degraded"][0][-1]


def test_a_cache_that_is_cut_short_where_only_some_recalls_look(tmp_path: Path) -> None:
    one_row = "score_fusion(np.ones((1, 1)), np.ones(1), np.ones(1), 0.0)"
    cut_short(tmp_path, "fusion", one_row)
    told = recalled(tmp_path, str(tmp_path))
    # The first recall fuses rows, which shows it; those after it say so.
    assert told["kernels"] == ["numpy", "numpy"]
    assert all(len(rows) == 2 for rows in told["rows"])
    assert told["degraded"][0] == []
    for notes in told["degraded"][1:]:
        assert notes[-1].startswith("kernels_unavailable: ")
