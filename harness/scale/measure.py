"""The record of scale: every store in its turn, then what decides how a large one is scanned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import cpersona_jit
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.kernels.cpu import cpu_tier
from harness.hashes import config_hash
from harness.machine import load_average
from harness.provenance import provenance
from harness.scale.config import ScaleConfig, StoresConfig
from harness.scale.figures import goals_of, slopes_of
from harness.scale.latency import LIMIT, recall_latency
from harness.scale.planted import plant, without_plants
from harness.scale.quality import compared, two_phase_scan
from harness.scale.real import NotThereError, measure_real
from harness.scale.resident import ask_fresh_process, touched_megabytes
from harness.scale.scan import choice, compare_scans, crossing, pair_name, sweep_scan
from harness.scale.stores import COLUMNS, ScaleStore, disk_bytes, make_store, open_built
from harness.speed.talk import QUESTIONS

BUILT, OPENED = "built", "opened"
_CHAT = "chat"

Progress = Callable[[str, int, int], None]


def measure_scale(
    config: ScaleConfig,
    data: Path | None,
    cache: Path,
    out: Path,
    command: str,
    progress: Progress,
) -> dict[str, Any]:
    """Measure everything that a config asks for.

    Parameters
    ----------
    config : ScaleConfig
        What to measure.
    data : Path or None
        Folder with datasets, for real vectors.
    cache : Path
        Folder of the embedding cache.
    out : Path
        Stores are made in a folder inside, one at a time, and removed.
    command : str
        What reproduces the record.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    dict
        The record.
    """
    load_before, skipped = load_average(), []
    stores: list[dict[str, Any]] = []
    swept: list[dict[str, Any]] = []
    with threadpool_limits(1), TemporaryDirectory(dir=out, prefix="stores-") as folder:
        for kind in config.stores:
            for rows in kind.rows:
                found, scans = _measure_store(Path(folder), config, kind, rows, progress)
                stores.append(found)
                swept += scans
        threshold = list(_threshold(Path(folder), config, progress))
        real = None
        if config.real is not None:
            try:
                real = measure_real(config.real, config.sweep, config.seed, data, cache, progress)
            except NotThereError as error:
                skipped.append({"part": "real vectors", "reason": str(error)})
    # Random vectors are harder to tell apart by their signs than those of a model: they show
    # what is lost, and decide only where there is nothing better.
    decides = swept if real is None else [{"place": real["dataset"], "scans": real["scans"]}]
    return {
        "record": "scale",
        "name": config.name,
        "description": config.description,
        "measure": f"milliseconds, median over {len(QUESTIONS)} questions in "
        f"{config.latency.rounds} rounds, variants turn about, one thread, kernels compiled, "
        f"snapshot current, no time cap; Memory.recall(limit={LIMIT}) without the query's "
        "embedding, every part of the default on",
        "config": config.model_dump(mode="json"),
        "config_hash": config_hash(config),
        "settings": _settings(config),
        "stores": stores,
        "slopes": slopes_of(stores),
        "goals": goals_of(stores),
        "swept": swept,
        "threshold": threshold,
        "crossing": crossing(threshold),
        "real": real,
        "choice": choice(decides, config.sweep.tolerance),
        "skipped": skipped,
        "tier": cpu_tier(),
        **provenance(command, load_before),
    }


def _measure_store(
    folder: Path, config: ScaleConfig, kind: StoresConfig, rows: int, progress: Progress
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a store shows, and the sweep over it if it is one of the largest chat stores."""
    name = f"{rows:,} {kind.text} rows"
    store = _made(folder, config, kind.text, rows, lambda done: progress(name, done, rows))
    with ExitStack() as stack:
        memories = {BUILT: stack.enter_context(open_built(store))}
        # The first process makes the columns and their file, the second one finds it.
        memory = {BUILT: ask_fresh_process(store.path)}
        disk, touched = disk_bytes(store.path), None
        if disk["columns"] is not None:
            memory[OPENED] = ask_fresh_process(store.path)
            memories[OPENED] = stack.enter_context(
                cpersona_jit.open(store.path, store.vectors, create=False)
            )
            memories[OPENED].columns()
            touched = touched_megabytes(store.path.with_name(store.path.name + COLUMNS))
        columns = memories[BUILT].columns()
        found = {
            "rows": rows,
            "text": kind.text,
            "blocks_per_row": round(float(columns.block_count.mean()), 2),
            "median_characters": float(np.median(columns.text_length)),
            "latency": recall_latency(memories, config.latency.rounds),
            "memory": memory,
            "disk": disk,
            "touched": touched,
        }
        swept = []
        if store.questions:
            asked = (memories[BUILT], store.questions, store.gold)
            found["quality"] = compared(*asked)
            if rows in kind.rows[-config.sweep.sizes :]:
                stage, of = f"scans of {name}", config.sweep.rounds
                scans = sweep_scan(*asked, config.sweep, lambda turn: progress(stage, turn + 1, of))
                swept.append({"place": name, "rows": rows, "scans": scans})
    _remove(store)
    return found, swept


def _threshold(folder: Path, config: ScaleConfig, progress: Progress) -> Iterator[dict[str, Any]]:
    sizes = config.threshold.rows
    for number, rows in enumerate(sizes):
        progress("exact or two phases", number, len(sizes))
        store = _made(folder, config, _CHAT, rows, lambda done: None)
        with open_built(store) as memory:
            yield {"rows": rows, **compare_scans(memory, config.threshold.rounds)}
        _remove(store)
    progress("exact or two phases", len(sizes), len(sizes))


def _made(
    folder: Path, config: ScaleConfig, text: str, rows: int, told: Callable[[int], None]
) -> ScaleStore:
    fits = text == _CHAT and config.planted.rows <= rows // 2
    planted = plant(rows, config.planted, config.seed) if fits else without_plants()
    return make_store(folder / f"{text}{rows}.db", rows, text, planted, told)


def _remove(store: ScaleStore) -> None:
    for path in store.path.parent.glob(f"{store.path.name}*"):
        path.unlink()


def _settings(config: ScaleConfig) -> dict[str, dict]:
    """What was measured, by name: the shipped default, and the swept scans of it."""
    return {"shipped": asdict(DEFAULT_SETTINGS)} | {
        pair_name(shortlist, sample): {"scan": asdict(two_phase_scan(shortlist, sample))}
        for shortlist in config.sweep.shortlist
        for sample in config.sweep.sample
    }
