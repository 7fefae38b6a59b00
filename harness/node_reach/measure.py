"""The same questions over the same rows: blocks as they are, and overflow nodes among them.

A node that finds rows is one more passage of its row: what it shows counts when it shows more than
every block of the row. So nodes are entered as further blocks, and all else stays as shipped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

import cpersona_jit
from cpersona_jit import Memory
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.store.block_reads import rows_to_split
from cpersona_jit.store.blocks import set_ranges
from cpersona_jit.store.database import open_database
from cpersona_jit.text.nodes import node_ranges
from harness.adaptive.splits import committed_split, keep_parts
from harness.bootstrap import stratified_intervals
from harness.datasets.registry import load_dataset
from harness.embedding_cache import CachedProvider
from harness.freeze import fill_cache, units_of
from harness.freeze_unit import Unit, ingest_scope
from harness.hashes import code_hash, dataset_hash, git_revision
from harness.machine import describe_machine
from harness.scale.quality import ndcg
from harness.splits import DEVELOPMENT, VALIDATION

DATASETS: dict[str, int | None] = {"longmemeval_s": 120, "scifact": None}  # questions sampled
PROVIDER = "default"
# The time cap would make a record depend on the machine; seats stand behind the ten best.
SETTINGS = replace(
    DEFAULT_SETTINGS, bounds=replace(DEFAULT_SETTINGS.bounds, milliseconds=None), seats=0
)
LIMIT = 10
_SEED, _RESAMPLES, _CONFIDENCE = 20261130, 2000, 0.95
_PER_UNIT = 200

Progress = Callable[[str, int, int], None]


class Judged(NamedTuple):
    """One question: NDCG@10 without and with nodes among the blocks."""

    long_relevant: bool  # a relevant row is longer than a node
    blocks: float
    with_nodes: float


def measure_node_reach(data: Path | None, cache: Path, command: str, progress: Progress) -> dict:
    """Ask the questions of every dataset; the record.

    Parameters
    ----------
    data : Path or None
        Folder with datasets.
    cache : Path
        Folder of the embedding cache.
    command : str
        What reproduces the record.
    progress : callable
        Called as ``progress(stage, done, total)``.
    """
    sets = [
        _measure_dataset(name, sample, data, cache, progress) for name, sample in DATASETS.items()
    ]
    return {
        "record": "node_reach",
        "regime": "production: limit 10, without seats and time cap; development and validation",
        "measure": "NDCG@10 x 100, mean over questions; difference with the 95 % interval of a "
        f"paired bootstrap ({_RESAMPLES:,} resamples)",
        "datasets": sets,
        "machine": describe_machine(),
        "revision": git_revision(),
        "code": code_hash(),
        "command": command,
    }


def _measure_dataset(
    name: str, sample: int | None, data: Path | None, cache: Path, progress: Progress
) -> dict[str, Any]:
    loaded = load_dataset(name, data, sample_queries=sample, seed=_SEED)
    dataset = keep_parts(loaded, committed_split(loaded.name), (DEVELOPMENT, VALIDATION))
    provider = load_provider(PROVIDER)
    window = provider.info.max_chars
    fill_cache(dataset, provider, False, cache, progress)
    provider.close()
    units = list(units_of(dataset, _PER_UNIT))
    asked = (delayed(judge_unit)(unit, dataset.qrels, window, cache) for unit in units)
    judged: list[Judged] = []
    for done, found in enumerate(Parallel(n_jobs=-1, return_as="generator")(asked), 1):
        judged += found
        progress(f"ask {name}", done, len(units))
    long_rows = sum(len(row.text) > window for row in dataset.rows)
    return {
        "dataset": name,
        "window": window,
        "rows": len(dataset.rows),
        "long_rows": long_rows,
        "data": dataset_hash(dataset),
        "all": _compared(judged),
        "long_relevant": _compared([one for one in judged if one.long_relevant]),
    }


def judge_unit(
    unit: Unit, qrels: dict[str, dict[str, int]], window: int, cache: Path
) -> list[Judged]:
    """Ask the questions of one scope twice; runs in a worker process."""
    provider = CachedProvider(load_provider(PROVIDER), cache)
    long_docs = {row.doc_id for row in unit.rows if len(row.text) > window}
    with tempfile.TemporaryDirectory(prefix="cpersona-jit-nodes-") as folder:
        path = Path(folder) / "scope.db"
        with cpersona_jit.open(path, embedder=provider) as memory:
            documents = ingest_scope(memory, unit, None)
            queries = [query for query in unit.queries if qrels.get(query.query_id)]
            before = [_ndcg(memory, query, documents, qrels) for query in queries]
            add_nodes(path, window)
            memory.reembed()
            after = [_ndcg(memory, query, documents, qrels) for query in queries]
    return [
        Judged(not long_docs.isdisjoint(qrels[query.query_id]), *values)
        for query, *values in zip(queries, before, after, strict=True)
    ]


def add_nodes(path: Path, window: int) -> int:
    """Enter the nodes of every row that has some as further blocks of it; return their number."""
    added, last = 0, 0
    with closing(open_database(path, create=False)) as conn:
        while rows := rows_to_split(conn, last, 1000):
            last = rows[-1].id
            nodes = [node_ranges(row.ranges, window) for row in rows]
            added += sum(map(len, nodes))
            set_ranges(
                conn, rows, [[*row.ranges, *own] for row, own in zip(rows, nodes, strict=True)]
            )
    return added


def _ndcg(memory: Memory, query: Any, documents: dict[int, str], qrels: dict) -> float:
    found = memory.recall(
        query.text, agent_id=query.scope_id, limit=LIMIT, now=query.timestamp, settings=SETTINGS
    )
    best = [documents[int(row.ref.removeprefix("mem:"))] for row in found.rows]
    # Parts of one document count once, where the first of them stands.
    return ndcg(list(dict.fromkeys(best)), set(qrels[query.query_id]))


def _compared(judged: list[Judged]) -> dict[str, Any]:
    if not judged:
        return {"questions": 0}
    pairs = np.array([[one.blocks, one.with_nodes] for one in judged]).T
    alone = np.zeros(len(judged), np.int64)
    options = {"resamples": _RESAMPLES, "confidence": _CONFIDENCE, "seed": _SEED}
    difference = stratified_intervals(
        (pairs[1] - pairs[0])[None], alone, np.ones((1, 1)), **options
    )
    low, value, high = (
        round(100 * float(part[0, 0]), 2)
        for part in (difference.low, difference.value, difference.high)
    )
    return {
        "questions": len(judged),
        "blocks": round(100 * float(pairs[0].mean()), 2),
        "with_nodes": round(100 * float(pairs[1].mean()), 2),
        "difference": value,
        "interval": [low, high],
    }
