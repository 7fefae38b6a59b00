"""Several recalls at once, and recalls while kernels are compiled: none waits, none differs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from memory_cases import BagOfWords
from numba.core.dispatcher import Dispatcher
from test_one_way_imports import PACKAGE, ROOT, modules

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.recall.kernel_set import numpy_kernels

TEXTS = ("green tea from Uji", "京都で抹茶を飲んだ", "the tea room opens at nine", "先週の予約")
QUESTIONS = ("Where did the tea come from?", "京都で何を飲みましたか。")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    with cpersona_jit.open(tmp_path / "m.db", BagOfWords(), wait_for_kernels=False) as memory:
        memory.store_many([Record(text, "a") for text in TEXTS])
        yield memory


def refs(memory: Memory, question: str) -> list[str]:
    return [row.ref for row in memory.recall(question, agent_id="a").rows]


def meeting(kernel: Callable, barrier: threading.Barrier) -> Callable:
    """The kernel, which returns once another thread is in it too."""

    def meet(*arguments):
        barrier.wait(timeout=60)
        return kernel(*arguments)

    return meet


@pytest.mark.parametrize("name", ["score_vectors", "score_grams", "calibrate", "draw_rows"])
def test_two_recalls_are_in_a_kernel_at_the_same_time(memory: Memory, name: str) -> None:
    expected = [refs(memory, question) for question in QUESTIONS]
    kernels = numpy_kernels()
    barrier = threading.Barrier(2)  # both must be inside, or it breaks
    together = replace(kernels, **{name: meeting(getattr(kernels, name), barrier)})
    memory._kernels = lambda: together
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda question: refs(memory, question), QUESTIONS))
    assert found == expected
    assert all(expected)


def test_a_store_is_done_while_a_recall_is_in_a_kernel(memory: Memory) -> None:
    kernels, inside, done = numpy_kernels(), threading.Event(), threading.Event()

    def held(*arguments):
        inside.set()
        assert done.wait(timeout=60)  # until something was stored
        return kernels.calibrate(*arguments)

    memory._kernels = lambda: replace(kernels, calibrate=held)
    with ThreadPoolExecutor(1) as pool:
        recall = pool.submit(refs, memory, QUESTIONS[0])
        assert inside.wait(timeout=60)
        memory.store("tea again", agent_id="a")
        done.set()
        before = recall.result(timeout=60)
    memory._kernels = numpy_kernels
    after = refs(memory, QUESTIONS[0])
    assert len(after) == len(before) + 1 == len(TEXTS) + 1


@pytest.mark.parametrize("file", modules(f"{PACKAGE}/kernels"), ids=lambda file: file.stem)
def test_every_kernel_lets_go_of_the_interpreter(file: Path) -> None:
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for attribute, value in vars(import_module(name)).items():
        if isinstance(value, Dispatcher):
            assert value.targetoptions.get("nogil") is True, f"{name}.{attribute}"
            assert value.targetoptions.get("error_model") == "numpy", f"{name}.{attribute}"


BEFORE_AND_AFTER = f"""
import json, sys
from memory_cases import BagOfWords, settings
import cpersona_jit
from cpersona_jit import Record
from cpersona_jit.recall.kernel_set import LATE, current_kernels, warm_all_kernels, warm_kernels
def found():
    return [
        [(row.ref, row.score.hex()) for row in memory.recall(question, agent_id="a", **how).rows]
        for question in {QUESTIONS!r}
        for how in ({{}}, {{"settings": settings()}})
    ]
def state():
    kernels = current_kernels()
    compiled = [name for name in LATE if "numpy_path" not in getattr(kernels, name).__module__]
    return kernels.name, "numpy_path" in kernels.draw_rows.__module__, len(compiled)
with cpersona_jit.open(sys.argv[1], BagOfWords(), wait_for_kernels=False) as memory:
    memory.store_many([Record(text, "a") for text in {TEXTS!r}])
    states, results = [state()], [found()]
    for warm in (warm_kernels, warm_all_kernels):
        warm()
        states.append(state())
        results.append(found())
with cpersona_jit.open(sys.argv[1], BagOfWords()) as memory:
    results.append(found())
print(json.dumps([states, results]))
"""


def test_kernels_take_over_in_two_steps_and_nothing_differs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_AND_AFTER, str(tmp_path / "m.db")],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    states, results = json.loads(done.stdout)
    assert states[0] == ["numpy", True, 0]
    assert states[1] == ["numba", False, 0]
    assert states[2][:2] == ["numba", False]
    assert states[2][2] > 8  # one of them is NumPy's own in both sets
    assert results[1:] == [results[0]] * 3
    assert all(results[0])
