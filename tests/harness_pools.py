"""Small frozen pools made from a seed, in the on-disk form that freezing writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.pool_files import HASHES, pool_file_hashes

ARMS = ("dense", "gram3")
DEPTH = 40


def write_pool(
    pool_dir: Path,
    *,
    seed: int = 0,
    queries: int = 24,
    scopes: int = 8,
    tasks: int = 3,
    candidates: int = 30,
    arms: tuple[str, ...] = ARMS,
    dataset: str = "made",
    without_gold: int = 2,
) -> Path:
    """Write a pool whose arms each know something about relevance; coarse scores make ties."""
    rng = np.random.default_rng(seed)
    pool_dir.mkdir(parents=True, exist_ok=True)
    columns: dict[str, list] = {"query_index": [], "doc_id": []}
    columns |= {f"{arm}_{part}": [] for arm in arms for part in ("rank", "score")}
    qrels: list[tuple[int, str, int]] = []
    for query in range(queries):
        size = int(rng.integers(0 if query == 3 else 1, candidates + 1))
        docs = [f"文書{n}" for n in rng.permutation(candidates * 2)[:size]]
        gains = rng.integers(1, 4, size) * (rng.random(size) < 0.15)
        if query >= without_gold:
            qrels += [(query, doc, int(gain)) for doc, gain in zip(docs, gains, strict=True)]
            qrels.append((query, "out of the pool", 1))
        columns["query_index"] += [query] * size
        columns["doc_id"] += docs
        for arm in arms:
            scores = rng.integers(0, 12, size) + gains * 2
            listed = rng.random(size) < 0.8
            ranks = np.zeros(size, np.int32)
            order = np.lexsort((np.arange(size), -scores))
            order = order[listed[order]]
            ranks[order] = np.arange(1, len(order) + 1)
            columns[f"{arm}_rank"] += ranks.tolist()
            columns[f"{arm}_score"] += scores.tolist()
    _write(pool_dir, columns, qrels, arms)
    statistics = {}
    for arm in arms:
        statistics[f"{arm}_mean"] = rng.normal(5.0, 1.0, queries)
        statistics[f"{arm}_std"] = np.where(
            np.arange(queries) == 5, 0.0, rng.uniform(1, 3, queries)
        )
        statistics[f"{arm}_count"] = np.full(queries, candidates, np.int64)
    pq.write_table(
        pa.table(
            {
                "query_id": [f"{dataset}-q{n}" for n in range(queries)],
                "scope_id": [f"scope{n % scopes}" for n in range(queries)],
                "task": [f"task{n // scopes % tasks}" for n in range(queries)],
                "dataset": [dataset] * queries,
                "latency_ms": rng.random(queries),
                **statistics,
            }
        ),
        pool_dir / "queries.parquet",
    )
    meta = {"arms": [{"name": arm} for arm in arms], "depth": DEPTH, "model": "made-model"}
    meta |= {"dataset": dataset, "data_hash": f"{seed:064x}", "complete": True}
    (pool_dir / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return seal(pool_dir)


def seal(pool_dir: Path) -> Path:
    """Let the pool's hashes be those of its files as they are, as freezing does at its end."""
    path = pool_dir / "meta.json"
    meta = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(meta | {HASHES: pool_file_hashes(pool_dir)}), encoding="utf-8")
    return pool_dir


def _write(
    pool_dir: Path, columns: dict[str, list], qrels: list[tuple[int, str, int]], arms: tuple
) -> None:
    types = {"query_index": pa.int32(), "doc_id": pa.string()}
    types |= {f"{arm}_rank": pa.int32() for arm in arms}
    types |= {f"{arm}_score": pa.int64() for arm in arms}
    table = pa.table({name: pa.array(columns[name], types[name]) for name in types})
    encoded = table["doc_id"].dictionary_encode()
    pq.write_table(table.set_column(1, "doc_id", encoded), pool_dir / "candidates.parquet")
    index, docs, scores = zip(*qrels, strict=True)
    pq.write_table(
        pa.table(
            {
                "query_index": pa.array(index, pa.int32()),
                "doc_id": list(docs),
                "score": pa.array(scores, pa.int32()),
            }
        ),
        pool_dir / "qrels.parquet",
    )
