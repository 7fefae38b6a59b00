"""Freezing: each query runs its arms once, and the candidate pool goes to Parquet.

A pool is named by the hashes of the data, the embedding model, the arms with their depth, and the
engine's code, so the same run finds it again and a changed one makes its own. Work is done in
units of one scope and a slice of its queries; each finished unit is a file, so a run that was
stopped goes on where it was.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from joblib import Parallel, delayed

from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.provider import Provider
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.passages import passages
from cpersona_jit.recall.settings import FusionSpec, RecallSettings
from harness.adaptive.candidates import signal_candidates
from harness.adaptive.config import AdaptiveConfig, SignalModelConfig
from harness.config import RunConfig
from harness.datasets.base import Dataset, DatasetQuery
from harness.embedding_cache import CachedProvider
from harness.freeze_alone import interrupts_ignored, only_freezer
from harness.freeze_arms import arm_candidates
from harness.freeze_unit import Ask, FreezeError, Unit, freeze_unit, write_table
from harness.hashes import config_hash, dataset_hash, engine_hash
from harness.pool_files import HASHES, is_finished, pool_file_hashes

QUERIES_PER_UNIT = 256
EMBED_AT_ONCE = 1024  # texts between two movements of the progress bar

Progress = Callable[[str, int, int], None]  # what is being done, done, of how many


def freeze(
    config: RunConfig | AdaptiveConfig,
    dataset: Dataset,
    *,
    model: SignalModelConfig | None = None,
    cache_dir: Path,
    pools_dir: Path,
    jobs: int = -1,
    progress: Progress | None = None,
) -> Path:
    """Freeze the candidate pool of a dataset, or find the one that is already there.

    Parameters
    ----------
    config : RunConfig or AdaptiveConfig
        Its model, and what is frozen: arms or signals, and how deep.
    dataset : Dataset
        Rows, queries and relevance.
    model : SignalModelConfig, optional
        Which of the config's models, when it has several; the first unless given.
    cache_dir : Path
        Folder of the embedding cache.
    pools_dir : Path
        Folder of pools; the pool is a folder in it.
    jobs : int
        Worker processes (joblib); -1 takes every core.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Path
        The pool's folder.

    Raises
    ------
    FreezeError
        Rows were refused by the store, a unit failed, or its file is damaged. Units that are done
        are kept.
    """
    ask, kept = _asking(config)
    model = model or _first_model(config)
    provider = load_provider(model.provider)
    kept["rows_only"] = model.rows_only
    kept["centred"] = provider.info.centred if model.centred is None else model.centred
    meta = _describe(kept, dataset, provider)
    pool_dir = Path(pools_dir) / f"{dataset.name.replace('/', '_')}-{config_hash(meta)[:12]}"
    if is_finished(pool_dir):
        return pool_dir
    pool_dir.mkdir(parents=True, exist_ok=True)
    progress = progress or (lambda stage, done, total: None)
    with only_freezer(pool_dir, progress):
        if not is_finished(pool_dir):  # by the run that was waited for
            _freeze_missing(
                pool_dir,
                dataset,
                provider,
                ask,
                model,
                cache_dir=cache_dir,
                jobs=jobs,
                progress=progress,
            )
            _finish(pool_dir, meta)
    return pool_dir


def _freeze_missing(
    pool_dir: Path,
    dataset: Dataset,
    provider: Provider,
    ask: Ask,
    model: SignalModelConfig,
    *,
    cache_dir: Path,
    jobs: int,
    progress: Progress,
) -> None:
    """Freeze the units that are not done and put all of them together."""
    parts = pool_dir / "parts"
    parts.mkdir(exist_ok=True)
    units = list(units_of(dataset))
    missing = [unit for unit in units if not unit.is_done(parts)]
    if missing and provider.info.dim is not None:
        fill_cache(dataset, provider, model.rows_only, cache_dir, progress)
    provider.close()
    calls = (delayed(freeze_unit)(unit, ask, model, cache_dir, parts) for unit in missing)
    done = len(units) - len(missing)
    progress("freeze", done, len(units))
    try:
        with interrupts_ignored():
            finishing = Parallel(n_jobs=jobs, return_as="generator_unordered")(calls)
        for _ in finishing:
            done += 1
            progress("freeze", done, len(units))
    except BrokenProcessPool as error:
        raise FreezeError(
            f"{pool_dir.name}: a worker process was ended from outside, often for want of memory; "
            "what is finished is kept: run again to go on"
        ) from error
    _join(pool_dir, units, dataset)


def _finish(pool_dir: Path, meta: dict) -> None:
    """Write what the pool says of itself; from then on it is found."""
    temporary = pool_dir / "meta.json.tmp"
    finished = {**meta, HASHES: pool_file_hashes(pool_dir), "complete": True}
    temporary.write_text(json.dumps(finished, indent=1), encoding="utf-8")
    os.replace(temporary, pool_dir / "meta.json")
    # Workers of a run that was killed may still be writing here; the pool no longer needs it.
    shutil.rmtree(pool_dir / "parts", ignore_errors=True)


def _join(pool_dir: Path, units: list[Unit], dataset: Dataset) -> None:
    """Put the finished units together, in the order of the queries."""
    parts = pool_dir / "parts"
    candidates = [_read_part(parts / unit.candidates_file) for unit in units]
    queries = [_read_part(parts / unit.queries_file) for unit in units]
    write_table(pool_dir / "candidates.parquet", pa.concat_tables(candidates).combine_chunks())
    joined = pa.concat_tables(queries)
    named = pa.array([dataset.name] * joined.num_rows, pa.string())
    write_table(pool_dir / "queries.parquet", joined.append_column("dataset", named))
    write_table(pool_dir / "qrels.parquet", _qrels(joined["query_id"].to_pylist(), dataset))


def _read_part(path: Path) -> pa.Table:
    try:
        with path.open("rb") as handle:
            table = pq.ParquetFile(handle).read()
        table.validate(full=True)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise FreezeError(
            f"{path}: cannot be read ({reason}); delete it and run again to freeze that part again"
        ) from error
    return table


def _qrels(query_ids: list[str], dataset: Dataset) -> pa.Table:
    judged = [
        (index, doc_id, grade)
        for index, query_id in enumerate(query_ids)
        for doc_id, grade in dataset.qrels.get(query_id, {}).items()
    ]
    index, doc_ids, grades = zip(*judged, strict=True) if judged else ((), (), ())
    return pa.table(
        {
            "query_index": pa.array(index, pa.int32()),
            "doc_id": pa.array(doc_ids, pa.string()),
            "score": pa.array(grades, pa.int32()),
        }
    )


def _asking(config: RunConfig | AdaptiveConfig) -> tuple[Ask, dict]:
    """Return what is asked of each query, and what of the config decides the answers."""
    depth = config.freeze.depth
    if isinstance(config, AdaptiveConfig):
        settings = config.freezing()
        kept = {"signals": {"gram3": asdict(settings.gram3), "gram4": asdict(settings.gram4)}}
        return partial(signal_candidates, settings=settings), {**kept, "depth": depth}
    arms = config.arm_specs()
    settings = RecallSettings(arms, FusionSpec("score", {arm.name: 1.0 for arm in arms}), depth)
    kept = {"arms": [arm.model_dump() for arm in config.arms], "depth": depth}
    return partial(arm_candidates, settings=settings), kept


def _first_model(config: RunConfig | AdaptiveConfig) -> SignalModelConfig:
    """Return the model of a config; arms rank whole rows, so they need no vectors of blocks."""
    if isinstance(config, AdaptiveConfig):
        return config.models[0]
    return SignalModelConfig(provider=config.model.provider, rows_only=True)


def _describe(kept: dict, dataset: Dataset, provider: Provider) -> dict:
    return {
        "dataset": dataset.name,
        "data_hash": dataset_hash(dataset),
        "model": provider.info.label,
        "fingerprint": provider.info.fingerprint,
        **kept,
        "engine_hash": engine_hash(),
        "notes": dataset.notes,
    }


def units_of(dataset: Dataset, most: int | None = None) -> Iterator[Unit]:
    """Yield slices of at most so many queries of one scope, with the scope's rows."""
    rows = dataset.rows_by_scope()
    by_scope: dict[str, list[DatasetQuery]] = {}
    for query in dataset.queries:
        by_scope.setdefault(query.scope_id, []).append(query)
    first, size = 0, most or QUERIES_PER_UNIT
    for scope_id, queries in by_scope.items():
        for start in range(0, len(queries), size):
            part = queries[start : start + size]
            yield Unit(scope_id, rows.get(scope_id, []), first, part)
            first += len(part)


def fill_cache(
    dataset: Dataset, provider: Provider, rows_only: bool, cache_dir: Path, progress: Progress
) -> None:
    """Fill the embedding cache, so that the workers only read it."""
    # What storing a row will ask for: its whole text and, when it is long, its blocks.
    texts = _texts(dataset, rows_only)
    with closing(CachedProvider(provider, cache_dir)) as cached:
        guarded_embed(cached, [query.text for query in dataset.queries], "query")
        for start in range(0, len(texts), EMBED_AT_ONCE):
            part = texts[start : start + EMBED_AT_ONCE]
            progress("embed", start, len(texts))
            guarded_embed(cached, part, "passage")
    progress("embed", len(texts), len(texts))


def _texts(dataset: Dataset, rows_only: bool) -> list[str]:
    """Return what will be asked of the model: each row as a whole, and its blocks."""
    texts: dict[str, None] = {}
    for row in dataset.rows:
        asked = passages(row.speaker or "", row.text).texts
        texts.update(dict.fromkeys(asked[:1] if rows_only else asked))
    return list(texts)
