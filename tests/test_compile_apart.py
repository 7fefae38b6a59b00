"""Kernels are compiled in processes of their own; what these leave undone is compiled here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cpersona_jit.recall import compile_apart
from cpersona_jit.recall.compile_apart import FIRST, LATE, finish_compiling, start_compiling
from cpersona_jit.recall.kernel_calls import CALLS, LAST_COMPILED

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import json, sys
from cpersona_jit.recall import compile_apart
from cpersona_jit.recall.kernel_set import warm_kernels
from numba.core import event
class Compiled(event.Listener):
    def __init__(self): self.names = []
    def on_start(self, told): pass
    def on_end(self, told): self.names.append(told.data["dispatcher"].__name__)
here = Compiled()
event.register("numba:compile", here)
kernels = warm_kernels()
status = {part: child.returncode for part, child in compile_apart._children.items()}
print(json.dumps([kernels.name, kernels.notes, status, here.names]))
"""


def warmed(cache: Path) -> list:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="children are for a second core")
def test_children_compile_and_this_process_loads(tmp_path: Path) -> None:
    name, notes, status, here = warmed(tmp_path)
    assert (name, notes) == ("numba", [])
    assert status == dict.fromkeys(FIRST, 0)
    assert here == []
    # The next process finds them, and starts nobody.
    assert warmed(tmp_path)[2:] == [{}, []]


@pytest.fixture
def nobody_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_apart, "_children", {})
    monkeypatch.setattr(compile_apart, "_is_kept", lambda part: False)


def test_a_child_that_fails_or_hangs_is_no_error(
    nobody_started: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for lines in ("exit 3", "exec sleep 600"):
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{lines}\n")
        program.chmod(0o755)
        monkeypatch.setattr(compile_apart, "_children", {})
        monkeypatch.setattr(compile_apart, "_PATIENCE_SECONDS", 0.2)
        monkeypatch.setattr(sys, "executable", str(program))
        start_compiling(FIRST)
        finish_compiling(FIRST)
        assert all(child.poll() for child in compile_apart._children.values())


@pytest.mark.parametrize("executable", ["", None, "/nowhere/python"])
def test_an_interpreter_that_cannot_be_started_again(
    nobody_started: None, monkeypatch: pytest.MonkeyPatch, executable: str | None
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    start_compiling(LATE)
    finish_compiling(LATE)
    assert compile_apart._children == {}


def test_nobody_is_started_on_one_core_or_without_a_folder(
    nobody_started: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    monkeypatch.setattr(compile_apart, "_start", started.append)
    with monkeypatch.context() as patch:
        patch.setattr(compile_apart, "usable_cores", lambda: 1)
        start_compiling(FIRST)
    with monkeypatch.context() as patch:
        patch.setattr("cpersona_jit.kernels.compiled.kernel_folder", lambda: None)
        start_compiling(FIRST)
    assert started == []


def test_every_part_has_its_calls_and_its_last_kernel() -> None:
    assert set(CALLS) == set(LAST_COMPILED) == {*FIRST, *LATE}
    for module, function in LAST_COMPILED.values():
        file = ROOT / "cpersona_jit" / "kernels" / f"{module}.py"
        assert f"def {function}(" in file.read_text(encoding="utf-8")
