"""The kernels of an adaptive recall, one by one, with what a recall over the store hands them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.intent import read_intent
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.numpy_path.draw import Measured
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings, Bounds, Scan
from cpersona_jit.recall.kernel_set import KernelSet, warm_all_kernels
from cpersona_jit.recall.process import run_process

from .base import OverRows
from .chat_rows import QUERIES, chat_vectors
from .stores import AGENT, SIZES, read_columns

# Of a small scope, of a large one, and of both.
KERNELS = (
    "score_vectors",
    "scope_moments",
    "draw_rows",
    "evidence_beside",
    "estimate_rows",
    "sample_moments",
    "draw_near_rows",
    "near_evidence_beside",
    "find_grams",
    "score_grams",
    "calibrate",
    "structure_terms",
    "clue_terms",
    "period_prior",
)
# However few or many rows there are: the small scope reads all codes, the large one a shortlist.
_SCANS = (Scan(1 << 30), Scan(0))
_PERIOD = {"after": "2025-01-01T06:00:00Z", "before": "2025-01-01T12:00:00Z"}


class AdaptiveKernels(OverRows):
    """One call of a kernel; its arrays are those of a whole recall."""

    params = (SIZES, KERNELS)
    param_names = ("rows", "kernel")

    def setup(self, stores: dict[int, Path], rows: int, kernel: str) -> None:
        self.call = first_call(stores[rows], kernel)
        self.call()  # loads the compiled kernel

    def time_kernel(self, stores: dict[int, Path], rows: int, kernel: str) -> None:
        self.call()


def first_call(folder: Path, kernel: str) -> Callable[[], object]:
    """Return the first call that a recall makes of a kernel, to be made again and again."""
    kernels, columns = warm_all_kernels(), read_columns(folder)
    calls: dict[str, tuple] = {}
    noting = noted(kernels, calls)
    for scan in _SCANS:
        chosen = replace(DEFAULT_SETTINGS, scan=scan, bounds=Bounds(milliseconds=None))
        _recall(columns, chosen, noting)
    again, arguments = getattr(kernels, kernel), calls[kernel]
    if not isinstance(arguments[-1], Measured):
        return partial(again, *arguments)

    def call() -> object:
        arguments[-1].known[:] = False  # a row that is known is not measured again
        return again(*arguments)

    return call


def noted(kernels: KernelSet, calls: dict[str, tuple]) -> KernelSet:
    """Return the kernels; what each is called with for the first time goes into `calls`."""

    def noting(name: str, kernel: Callable) -> Callable:
        def call(*arguments):
            calls.setdefault(name, arguments)
            return kernel(*arguments)

        return call

    found = {field.name: getattr(kernels, field.name) for field in fields(kernels)}
    called = {name: noting(name, one) for name, one in found.items() if callable(one)}
    return replace(kernels, **called)


def _recall(columns: Columns, settings: AdaptiveSettings, kernels: KernelSet) -> None:
    query, axes, vector = QUERIES["english"], Axes.agent(AGENT), chat_vectors(1)[0]
    cue = read_intent(query, _PERIOD, None, parse=False).cue
    run_process(columns, query, vector, axes, settings, cue, None, 10, kernels)
