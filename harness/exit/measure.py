"""Measuring datasets: every scope is stored once, its questions are asked, the numbers are kept."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from joblib import Parallel, delayed

import cpersona_jit
from cpersona_jit.embed.registry import load_provider
from harness.adaptive.config import SignalModelConfig
from harness.adaptive.splits import committed_split, keep_parts
from harness.datasets.base import Dataset
from harness.datasets.registry import load_dataset
from harness.embedding_cache import CachedProvider
from harness.exit.ask import QUERY_SCHEMA, SCHEMA, ask, question_time
from harness.exit.config import ExitConfig, ExitDatasetConfig
from harness.exit.measures import gold_of
from harness.freeze import fill_cache, units_of
from harness.freeze_alone import interrupts_ignored
from harness.freeze_unit import FreezeError, Unit, ingest_scope, write_table
from harness.hashes import code_hash, config_hash, dataset_hash
from harness.splits import DEVELOPMENT, VALIDATION

PARTS = (DEVELOPMENT, VALIDATION)
_PER_UNIT = 64  # questions: small enough that the cores end together

Progress = Callable[[str, int, int], None]


class Found(NamedTuple):
    """What the questions of one dataset gave."""

    dataset: Dataset
    points: pa.Table
    queries: pa.Table  # with the part of each
    texts: dict[str, dict[str, str]]  # by query id, for a reader


def measure_dataset(
    section: ExitDatasetConfig,
    config: ExitConfig,
    data: Path | None,
    cache: Path,
    out: Path,
    progress: Progress,
) -> Found:
    """Ask every question of a dataset's development and validation parts.

    Finished units are kept in `out` and found again by the next run of the same code, data and
    configuration.
    """
    loaded = load_dataset(
        section.name, data, seed=config.seed, sample_queries=section.sample_queries
    )
    split = committed_split(loaded.name)
    dataset = keep_parts(loaded, split, PARTS)
    judged = [query for query in dataset.queries if query.query_id in dataset.qrels]
    provider = load_provider(config.model.provider)
    model = SignalModelConfig(provider=config.model.provider)
    if provider.info.dim is not None:
        fill_cache(dataset, provider, False, cache, progress)
    provider.close()
    key = config_hash([config, section, dataset_hash(dataset), code_hash()])[:12]
    folder = out / "units" / f"{section.name.replace('/', '_')}-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    kept = {query.query_id for query in judged}
    units = [
        unit._replace(queries=[query for query in unit.queries if query.query_id in kept])
        for unit in units_of(dataset, _PER_UNIT)
    ]
    units = [unit for unit in units if unit.queries]
    calls = (
        delayed(measure_unit)(
            unit,
            {query.query_id: dataset.qrels[query.query_id] for query in unit.queries},
            section.answers,
            model,
            config,
            cache,
            folder,
        )
        for unit in units
        if not (folder / unit.queries_file).is_file()
    )
    _run(list(calls), section.name, len(units), progress)
    points = pa.concat_tables([pq.read_table(folder / unit.candidates_file) for unit in units])
    queries = pa.concat_tables([pq.read_table(folder / unit.queries_file) for unit in units])
    asked = {query.query_id: query for query in judged}
    parts = [
        split.part_of(query_id, asked[query_id].scope_id)
        for query_id in queries["query_id"].to_pylist()
    ]
    texts: dict[str, dict[str, str]] = {}
    for unit in units:
        texts |= json.loads((folder / _texts_file(unit)).read_text(encoding="utf-8"))
    return Found(dataset, points, queries.append_column("part", pa.array(parts)), texts)


def measure_unit(
    unit: Unit,
    qrels: dict[str, dict[str, int]],
    answers: bool,
    model: SignalModelConfig,
    config: ExitConfig,
    cache: Path,
    folder: Path,
) -> None:
    """Ask the questions of one unit and write what they gave; runs in a worker process."""
    provider = load_provider(model.provider)
    if provider.info.dim is not None:
        provider = CachedProvider(provider, cache)
    texts: dict[str, list[str]] = {}
    for row in unit.rows:
        texts.setdefault(row.doc_id, []).append(row.text)
    newest = max((row.timestamp for row in unit.rows if row.timestamp), default=None)
    points, queries, shown = [], [], {}
    with (
        tempfile.TemporaryDirectory(prefix="cpersona-jit-exit-") as place,
        cpersona_jit.open(Path(place) / "scope.db", embedder=provider) as memory,
    ):
        documents = ingest_scope(memory, unit, None)
        for position, query in enumerate(unit.queries):
            gold = gold_of(query, qrels[query.query_id], texts, answers)
            now = question_time(query, newest)
            number = unit.first_query + position
            found = ask(memory, query, number, gold, documents, now, config)
            points.append(found.points)
            queries.append(found.query)
            if config.reader.endpoint and gold.answer is not None:
                oracle = [text for one in qrels[query.query_id] for text in texts.get(one, ())]
                shown[query.query_id] = {"oracle": "\n\n".join(oracle), **found.texts}
    (folder / _texts_file(unit)).write_text(json.dumps(shown), encoding="utf-8")
    write_table(folder / unit.candidates_file, pa.concat_tables(points).cast(SCHEMA))
    write_table(folder / unit.queries_file, pa.concat_tables(queries).cast(QUERY_SCHEMA))


def _run(calls: list, name: str, units: int, progress: Progress) -> None:
    stage, done = f"ask {name}", units - len(calls)
    progress(stage, done, units)
    try:
        with interrupts_ignored():
            finishing = Parallel(n_jobs=-1, return_as="generator_unordered")(calls)
        for _ in finishing:
            done += 1
            progress(stage, done, units)
    except BrokenProcessPool as error:
        raise FreezeError(
            f"{name}: a worker process was ended from outside, often for want of memory; "
            "what is finished is kept: run again to go on"
        ) from error


def _texts_file(unit: Unit) -> str:
    return f"{unit.first_query:07d}.texts.json"
