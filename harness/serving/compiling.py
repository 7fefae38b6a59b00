"""What the first compilation of the kernels takes: part by part, function by function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from cpersona_jit.recall.compile_apart import FIRST

_SHOWN = 5  # functions of a part that the record names

# Compiles one part as a child of a server does. A function's own time is without that of the
# functions that are compiled because it calls them.
_PROGRAM = """
import gc, json, sys, time
start = time.process_time()
from numba.core import event
from cpersona_jit.recall.kernel_calls import CALLS
from cpersona_jit.recall.kernel_set import compiled_kernels
class Compiled(event.Listener):
    def __init__(self): self.open, self.own = [], {}
    def on_start(self, told): self.open.append([time.process_time(), 0.0])
    def on_end(self, told):
        begun, inner = self.open.pop()
        spent = time.process_time() - begun
        if self.open: self.open[-1][1] += spent
        function = told.data["dispatcher"].py_func
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.own[name] = self.own.get(name, 0.0) + spent - inner
seen = Compiled()
event.register("numba:compile", seen)
kernels = compiled_kernels()
imported = time.process_time()
gc.disable()
CALLS[sys.argv[1]](kernels)
print(json.dumps([imported - start, time.process_time() - imported, seen.own]))
"""


def measure_compiling() -> list[dict[str, Any]]:
    """Compile each part of what every recall needs, alone, with an empty folder of kernels.

    Returns
    -------
    list of dict
        Of each part its name, CPU seconds of imports and of compiling, how many functions were
        compiled, and the functions that took longest with their own seconds.
    """
    return [_measure_part(part) for part in FIRST]


def _measure_part(part: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, part],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            stdout=subprocess.PIPE,
            check=True,
        )
    imports, compiling, own = json.loads(done.stdout)
    longest = sorted(own.items(), key=lambda pair: -pair[1])[:_SHOWN]
    return {
        "part": part,
        "imports_s": round(imports, 2),
        "compiling_s": round(compiling, 2),
        "functions": len(own),
        "longest": [{"function": name, "own_s": round(spent, 2)} for name, spent in longest],
    }
