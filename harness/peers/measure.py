"""The record of the peers: every comparison in one run, on one thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from cpersona_jit.kernels.cpu import cpu_tier
from harness import replay_speed
from harness.machine import load_average
from harness.peers.cpersona_env import PeerError, cpersona_python
from harness.peers.dense import DIMS, MAIN_DIM, compare_int8
from harness.peers.figures import add_figure, rounded
from harness.peers.goals import CPERSONA, REPLAY, SETTINGS
from harness.peers.grams import compare_grams
from harness.peers.installed import versions
from harness.peers.real_vectors import MOST_ROWS, compare_recall
from harness.peers.signs import compare_hamming, compare_two_phase
from harness.peers.top_k import compare_top_k
from harness.peers.vectors import coded_vectors
from harness.peers.whole import compare_whole_recall
from harness.provenance import provenance
from harness.run import Progress

# Seconds of rounds that each comparison may take, once it has its least number of rounds.
SCAN_SECONDS, GRAM_SECONDS, RECALL_SECONDS = 2.0, 5.0, 10.0

EMBEDDINGS, CPERSONA_ENVIRONMENT = "embeddings", "cpersona-2.6"


def measure_peers(
    sizes: Sequence[int], data: Path | None, cache: Path, command: str, progress: Progress
) -> dict[str, Any]:
    """Compare the engine with every peer that is installed.

    Parameters
    ----------
    sizes : sequence of int
        Rows that are searched.
    data : Path or None
        Folder with datasets, for real vectors.
    cache : Path
        Folder of caches: embeddings, and the environment of cpersona.
    command : str
        What reproduces the record.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    dict
        The record.
    """
    skipped: dict[str, str] = {}
    load_before = load_average()
    with threadpool_limits(1):
        comparisons = list(_comparisons(sizes, data, cache, skipped, progress))
    goals = [
        {"comparison": one["comparison"], "rows": one["rows"], **_what(one), **figure}
        for one in comparisons
        for figure in one["figures"]
        if "goal" in figure
    ]
    return {
        "record": "peers",
        "measure": "medians of rounds in which every variant has its turn, each round beginning "
        "with another one; a figure is the median of the ratios of paired rounds, one thread. "
        "Kernels: CPU time of the process, so that other work on the machine is not in it; whole "
        "recall: wall time, as a caller waits for it, without the embedding of the query",
        "comparisons": comparisons,
        "goals": goals,
        "reached": all(goal["reached"] for goal in goals) if goals else None,
        "skipped": [{"peer": peer, "reason": reason} for peer, reason in skipped.items()],
        "peers": versions(),
        "tier": cpu_tier(),
        **provenance(command, load_before),
    }


def _comparisons(
    sizes: Sequence[int],
    data: Path | None,
    cache: Path,
    skipped: dict[str, str],
    progress: Progress,
) -> Iterator[dict]:
    skip = skipped.setdefault
    progress("kernels and replay", 0, len(sizes) + 1)
    for number, rows in enumerate(sizes):
        for dim in DIMS:
            coded = coded_vectors(rows, dim)
            yield compare_int8(coded, SCAN_SECONDS, skip)
            yield compare_hamming(coded, SCAN_SECONDS, skip)
            if dim == MAIN_DIM:
                yield compare_two_phase(coded, SCAN_SECONDS)
                yield from compare_top_k(coded, SCAN_SECONDS)
        yield from compare_grams(rows, GRAM_SECONDS, skip)
        progress("kernels and replay", number + 1, len(sizes) + 1)
    yield from _replay()
    progress("kernels and replay", len(sizes) + 1, len(sizes) + 1)
    most = min(max(sizes), MOST_ROWS)
    if (real := compare_recall(data, cache / EMBEDDINGS, most, skip, progress)) is not None:
        yield real
    progress("whole recall", 0, len(sizes))
    python = _python(cache, skip)
    for number, rows in enumerate(sizes):
        yield compare_whole_recall(rows, RECALL_SECONDS, python, skip)
        progress("whole recall", number + 1, len(sizes))


def _python(cache: Path, skip: Any) -> Path | None:
    try:
        return cpersona_python(cache / "peers" / CPERSONA_ENVIRONMENT)
    except PeerError as error:
        skip(CPERSONA, str(error))
        return None


def _replay() -> Iterator[dict]:
    """Settings a second, of each mix of settings; that ranks equal a stable sort's is checked."""
    record = replay_speed.measure_replay_speed("", lambda *told: None)
    shape = record["shape"]
    for mix in record["mixes"]:
        found = {
            "comparison": REPLAY,
            "rows": shape["queries"] * shape["candidates"],
            "mix": mix["mix"],
            "milliseconds": {"engine": mix["kernel_ms"], "numpy": mix["numpy_ms"]},
            "rounds": shape["rounds"],
            "figures": [],
        }
        each = shape["settings_per_call"] / mix["kernel_ms"] * 1e3
        add_figure(found, SETTINGS, rounded(each), "a second")
        yield found


def _what(comparison: dict) -> dict:
    """Return what tells comparisons of one name apart."""
    return {
        name: comparison[name]
        for name in ("dim", "k", "gram_size", "mix", "limit")
        if name in comparison
    }
