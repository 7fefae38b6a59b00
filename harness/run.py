"""One run: load, freeze, replay, choose, record. The command line and the report stand outside."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from pathlib import Path

from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.embed.registry import load_provider
from harness.config import ConfigError, RunConfig
from harness.datasets.base import Dataset
from harness.datasets.registry import load_dataset
from harness.evaluate import Evaluated, evaluate
from harness.freeze import freeze
from harness.grid import Setting, build_settings, shipped_setting
from harness.hashes import code_hash, config_hash, file_hash, git_revision
from harness.machine import describe_machine
from harness.pool import Pool, load_pool
from harness.proposal import describe_proposal
from harness.selection import choose
from harness.summary import (
    REGIME,
    difference_records,
    headline_records,
    sweep_records,
    write_summary,
)

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much is done, of how many."""

POOL_FILES = ("candidates.parquet", "queries.parquet", "qrels.parquet")


def run(
    config: RunConfig,
    *,
    data_dir: Path | None,
    out_dir: Path,
    cache_dir: Path,
    command: str,
    progress: Progress,
) -> dict:
    """Do everything that a config asks for and write its summary.

    Parameters
    ----------
    config : RunConfig
        What to run.
    data_dir : Path or None
        Where local datasets lie.
    out_dir : Path
        Written to: ``pools/``, ``summary.json``, ``records.parquet``.
    cache_dir : Path
        Folder of the embedding cache, shared by runs.
    command : str
        What reproduces the run, for the record.
    progress : callable
        Told about all long work.

    Returns
    -------
    dict
        The summary, as it was written.
    """
    check_model(config)
    settings, shipped, notes = _settings(config)
    evaluated: list[Evaluated] = []
    for entry in config.datasets:
        progress(f"load {entry.name}", 0, 1)
        dataset = load_dataset(
            entry.name, data_dir, seed=config.seed, sample_queries=entry.sample_queries
        )
        progress(f"load {entry.name}", 1, 1)
        pool = _frozen_pool(config, dataset, out_dir, cache_dir, progress)
        notes += [f"{entry.name}: {note}" for note in _dataset_notes(dataset, pool)]
        evaluated.append(_replayed(pool, settings, config, progress))
    progress("choose and estimate intervals", 0, 1)
    summary, records = summarise(config, evaluated, settings, shipped)
    summary |= {
        "command": command,
        "degraded": notes,
        "machine": describe_machine(),
        "revision": git_revision(),
        "version": importlib.metadata.version("cpersona-jit"),
    }
    write_summary(out_dir, summary, records)
    progress("choose and estimate intervals", 1, 1)
    return summary


def summarise(
    config: RunConfig,
    evaluated: Sequence[Evaluated],
    settings: Sequence[Setting],
    shipped: int | None,
) -> tuple[dict, list[dict]]:
    """Choose a setting and record everything that was measured.

    Parameters
    ----------
    config : RunConfig
        The run's config.
    evaluated : sequence of Evaluated
        One per dataset, all over the same settings.
    settings : sequence of Setting
        Baselines and sweep.
    shipped : int or None
        Which setting is the shipped default.

    Returns
    -------
    summary : dict
        Choice, proposal, differences, hashes, and the records of the settings with a role.
    records : list of dict
        The records of all settings.
    """
    choice = choose(evaluated, settings, config, shipped)
    headline = headline_records(evaluated, settings, choice, config, shipped)
    told = {(record["setting"], record["measure"]) for record in headline}
    sweep = sweep_records(evaluated, settings, config, shipped)
    rest = [record for record in sweep if (record["setting"], record["measure"]) not in told]
    differences = difference_records(evaluated, choice, config)
    summary = {
        "config": config.model_dump(mode="json"),
        "regime": REGIME,
        "hashes": {
            "config": config_hash(config),
            "code": code_hash(),
            "data": {one.dataset: one.pool.meta.get("data_hash") for one in evaluated},
            "pool": {one.dataset: one.pool.meta.get("pool_hash") for one in evaluated},
        },
        "settings": {setting.name: setting.as_dict() for setting in settings},
        "roles": {
            one.dataset: {role: settings[number].name for role, number in roles.items()}
            for one, roles in zip(evaluated, choice.roles, strict=True)
        },
        "proposal": describe_proposal(config, settings, choice, headline, differences),
        "differences": differences,
        "records": headline,
    }
    return summary, headline + rest


def check_model(config: RunConfig) -> None:
    """Refuse a dense arm when the provider makes no vectors.

    Raises
    ------
    ConfigError
        Names the arm.
    """
    dense = [arm.name for arm in config.arms if arm.kind == "dense"]
    if dense and config.model.provider == "none":
        raise ConfigError(
            f"model.provider is 'none', which makes no vectors, but arm {dense[0]!r} is dense; "
            "allowed: gram arms only, or another provider"
        )
    load_provider(config.model.provider).close()


def _settings(config: RunConfig) -> tuple[list[Setting], int | None, list[str]]:
    """Build all settings, find the shipped default among them or add it."""
    settings = build_settings(config)
    default = shipped_setting(config.arm_specs(), DEFAULT_SETTINGS)
    if default is None:
        note = "the shipped default uses arms that this run does not freeze: it has no records here"
        return settings, None, [note]
    notes = []
    if default.depth > config.freeze.depth:
        notes.append(
            f"the shipped default's depth {default.depth} is above freeze.depth "
            f"{config.freeze.depth}: its records show what the pool can"
        )
    for number, setting in enumerate(settings):
        if setting.identity() == default.identity():
            return settings, number, notes
    return [*settings, default], len(settings), notes


def _frozen_pool(
    config: RunConfig, dataset: Dataset, out_dir: Path, cache_dir: Path, progress: Progress
) -> Pool:
    pool_dir = freeze(
        config,
        dataset,
        cache_dir=cache_dir,
        pools_dir=out_dir / "pools",
        progress=lambda stage, done, total: progress(f"{stage} {dataset.name}", done, total),
    )
    pool = load_pool(pool_dir)
    pool.meta["pool_hash"] = config_hash([file_hash(pool_dir / name) for name in POOL_FILES])
    return pool


def _replayed(
    pool: Pool, settings: Sequence[Setting], config: RunConfig, progress: Progress
) -> Evaluated:
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(f"replay {pool.dataset}", done, len(settings))

    return evaluate(pool, settings, config, advance)


def _dataset_notes(dataset: Dataset, pool: Pool) -> list[str]:
    notes = list(dataset.notes)
    lost = len(pool.judged_ids) - len(pool.gold)
    if lost:
        notes.append(
            f"{lost} of {len(pool.judged_ids)} relevant documents are no candidate of any arm "
            f"at depth {pool.meta.get('depth')}: no setting can find them"
        )
    return notes
