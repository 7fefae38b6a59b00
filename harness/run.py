"""One run: load, freeze, replay, choose, record. The command line and the report stand outside."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cpersona_jit.defaults import DEFAULT_SETTINGS, ROW_FUSION_SETTINGS
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import UsageError
from harness.adaptive.config import AdaptiveConfig, SignalModelConfig
from harness.adaptive.gate_study import ask_elsewhere
from harness.adaptive.grid import (
    AnySetting,
    build_adaptive_settings,
    row_fusion_baseline,
    shipped_setting,
)
from harness.adaptive.ledger import open_holdout
from harness.adaptive.pool import SignalPool, load_signal_pool
from harness.adaptive.splits import committed_split, keep_parts
from harness.adaptive.studies import studies
from harness.adaptive.wrong_cue import hold_to_wrong_cues
from harness.config import ConfigError, RunConfig
from harness.datasets.base import Dataset
from harness.datasets.registry import load_dataset
from harness.evaluate import Evaluated, evaluate
from harness.freeze import freeze
from harness.grid import Setting, build_settings, row_fusion_setting
from harness.hashes import code_hash, config_hash, git_revision
from harness.judged import Judged
from harness.machine import describe_machine
from harness.pool import load_pool
from harness.pool_files import HASHES, POOL_FILES
from harness.proposal import describe_proposal
from harness.selection import ROW_FUSION_ROLE, SHIPPED_ROLE, choose
from harness.splits import DEVELOPMENT, HOLDOUT, VALIDATION
from harness.summary import (
    REGIME,
    difference_records,
    headline_records,
    sweep_records,
    write_summary,
)

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much is done, of how many."""


def run(
    config: RunConfig | AdaptiveConfig,
    *,
    data_dir: Path | None,
    out_dir: Path,
    cache_dir: Path,
    command: str,
    progress: Progress,
    holdout: str | None = None,
) -> dict:
    """Do everything that a config asks for and write its summary.

    Parameters
    ----------
    config : RunConfig or AdaptiveConfig
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
    holdout : str, optional
        Why the holdout is opened; only an adaptive config has one. It is written to the ledger.

    Returns
    -------
    dict
        The summary, as it was written.
    """
    check_model(config)
    settings, named, notes = _settings(config)
    if holdout is not None:
        _open_holdout(config, holdout)
    evaluated: list[Evaluated] = []
    elsewhere: list[SignalPool | None] = []
    for entry in config.datasets:
        progress(f"load {entry.name}", 0, 1)
        dataset = load_dataset(
            entry.name, data_dir, seed=config.seed, sample_queries=entry.sample_queries
        )
        if isinstance(config, AdaptiveConfig):
            parts = (VALIDATION, DEVELOPMENT if holdout is None else HOLDOUT)
            dataset = keep_parts(dataset, committed_split(dataset.name), parts)
        progress(f"load {entry.name}", 1, 1)
        for model in config.models if isinstance(config, AdaptiveConfig) else [None]:
            pool = _frozen_pool(config, dataset, model, out_dir, cache_dir, progress)
            notes += [f"{pool.dataset}: {note}" for note in _dataset_notes(dataset, pool)]
            evaluated.append(_replayed(pool, settings, config, progress))
            if isinstance(config, AdaptiveConfig) and config.gates:
                other = ask_elsewhere(dataset)
                place = (config, other, model, out_dir, cache_dir, progress)
                elsewhere.append(other and _frozen_pool(*place))
    progress("choose and estimate intervals", 0, 1)
    if isinstance(config, AdaptiveConfig):
        settings = hold_to_wrong_cues(evaluated, settings, config)
    summary, records = summarise(config, evaluated, settings, named, elsewhere)
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
    config: RunConfig | AdaptiveConfig,
    evaluated: Sequence[Evaluated],
    settings: Sequence[Setting] | Sequence[AnySetting],
    named: Mapping[str, int],
    elsewhere: Sequence[SignalPool | None] = (),
) -> tuple[dict, list[dict]]:
    """Choose a setting and record everything that was measured.

    Parameters
    ----------
    config : RunConfig
        The run's config.
    evaluated, settings : sequences of Evaluated and of Setting
        One per dataset, all over the same settings: baselines and sweep.
    named : mapping of str to int
        Roles of settings that are given and not chosen; see :func:`harness.selection.choose`.
    elsewhere : sequence of SignalPool or None
        For each dataset its questions asked of other scopes, when gates are studied.

    Returns
    -------
    summary : dict
        Choice, proposal, differences, hashes, and the records of the settings with a role.
    records : list of dict
        The records of all settings.
    """
    choice = choose(evaluated, settings, config, named)
    shipped = named.get(SHIPPED_ROLE, named.get(ROW_FUSION_ROLE))
    headline = headline_records(evaluated, settings, choice, config, shipped)
    told = {(record["setting"], record["measure"]) for record in headline}
    sweep = sweep_records(evaluated, settings, config, shipped)
    rest = [record for record in sweep if (record["setting"], record["measure"]) not in told]
    differences = difference_records(evaluated, choice, config)
    summary = {
        "config": config.model_dump(mode="json"),
        "regime": REGIME,
        "judged_on": evaluated[0].rest,
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
        "proposal": describe_proposal(
            config, settings, choice, headline, differences, evaluated[0].rest
        ),
        "differences": differences,
        "records": headline,
    }
    if isinstance(config, AdaptiveConfig):
        summary |= studies(evaluated, settings, choice, config, elsewhere)
    return summary, headline + rest


def check_model(config: RunConfig | AdaptiveConfig) -> None:
    """Refuse a dense arm when the provider makes no vectors.

    Raises
    ------
    ConfigError
        Names the arm.
    """
    if isinstance(config, AdaptiveConfig):
        for model in config.models:
            load_provider(model.provider).close()
        return
    dense = [arm.name for arm in config.arms if arm.kind == "dense"]
    if dense and config.model.provider == "none":
        raise ConfigError(
            f"model.provider is 'none', which makes no vectors, but arm {dense[0]!r} is dense; "
            "allowed: gram arms only, or another provider"
        )
    load_provider(config.model.provider).close()


def _open_holdout(config: RunConfig | AdaptiveConfig, reason: str) -> None:
    if not isinstance(config, AdaptiveConfig):
        raise UsageError("--holdout: only a config of kind 'adaptive' keeps a holdout")
    names = [dataset.name for dataset in config.datasets]
    open_holdout(config.name, config_hash(config), names, reason)


def _settings(
    config: RunConfig | AdaptiveConfig,
) -> tuple[list[Setting] | list[AnySetting], dict[str, int], list[str]]:
    """Build all settings; find, or add, those that have a role whatever is chosen."""
    if isinstance(config, AdaptiveConfig):
        settings: list = build_adaptive_settings(config)
        wanted = {
            ROW_FUSION_ROLE: row_fusion_baseline(config, ROW_FUSION_SETTINGS),
            SHIPPED_ROLE: shipped_setting(config, DEFAULT_SETTINGS),
        }
    else:
        settings = build_settings(config)
        wanted = {ROW_FUSION_ROLE: row_fusion_setting(config.arm_specs(), ROW_FUSION_SETTINGS)}
    named: dict[str, int] = {}
    notes = []
    for role, setting in wanted.items():
        if setting is None:
            notes.append(f"the {role} uses arms that this run does not freeze: no records of it")
            continue
        if setting.depth > config.freeze.depth:
            notes.append(
                f"the depth {setting.depth} of the {role} is above freeze.depth "
                f"{config.freeze.depth}: its records show what the pool can"
            )
        same = [n for n, known in enumerate(settings) if known.identity() == setting.identity()]
        named[role] = same[0] if same else len(settings)
        settings += [] if same else [setting]
    return settings, named, notes


def _frozen_pool(
    config: RunConfig | AdaptiveConfig,
    dataset: Dataset,
    model: SignalModelConfig | None,
    out_dir: Path,
    cache_dir: Path,
    progress: Progress,
) -> Judged:
    adaptive = isinstance(config, AdaptiveConfig)
    label = dataset.name
    if adaptive and len(config.models) > 1:
        label = f"{dataset.name} ({model.label})"
    pool_dir = freeze(
        config,
        dataset,
        model=model,
        cache_dir=cache_dir,
        # Adaptive runs of one dataset share its pool: they differ only in what they replay.
        pools_dir=(cache_dir.parent if adaptive else out_dir) / "pools",
        progress=lambda stage, done, total: progress(f"{stage} {label}", done, total),
    )
    pool = load_signal_pool(pool_dir) if adaptive else load_pool(pool_dir)
    pool.meta["pool_hash"] = config_hash([pool.meta[HASHES][name] for name in POOL_FILES])
    return replace(pool, dataset=label)


def _replayed(
    pool: Judged,
    settings: Sequence[Setting] | Sequence[AnySetting],
    config: RunConfig | AdaptiveConfig,
    progress: Progress,
) -> Evaluated:
    done = 0
    total = len(pool.query_ids if isinstance(pool, SignalPool) else settings)

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(f"replay {pool.dataset}", done, total)

    return evaluate(pool, settings, config, advance)


def _dataset_notes(dataset: Dataset, pool: Judged) -> list[str]:
    notes = list(dataset.notes)
    lost = len(pool.judged_ids) - np.unique(pool.gold_judged).size
    if lost:
        notes.append(
            f"{lost} of {len(pool.judged_ids)} relevant documents are no candidate of any arm "
            f"at depth {pool.meta.get('depth')}: no setting can find them"
        )
    return notes
