"""What the tests of freezing freeze: bilingual conversations with ties and undated rows."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from cpersona_jit import Record, Source
from harness.config import RunConfig
from harness.datasets.base import Dataset, DatasetRow
from harness.datasets.build import build_dataset
from harness.datasets.synthetic import make_synthetic
from harness.pool_files import HASHES

SCOPES = ("en-1", "ja-1", "en-2")
DEPTH = 30


def conversations(rows: int = 120, queries: int = 9, scopes: tuple[str, ...] = SCOPES) -> Dataset:
    """Take the first rows and queries of some scopes; repeat some rows, undate others."""
    made = make_synthetic()
    grouped = made.rows_by_scope()
    kept = [row for scope in scopes for row in _with_ties(grouped[scope][:rows])]
    asked = [
        query
        for scope in scopes
        for query in [query for query in made.queries if query.scope_id == scope][:queries]
    ]
    known = {row.doc_id for row in kept}
    qrels = [
        (query.query_id, doc_id, grade)
        for query in asked
        for doc_id, grade in made.qrels[query.query_id].items()
        if doc_id in known
    ]
    return build_dataset("talk", kept, asked, qrels)


def _with_ties(rows: list[DatasetRow]) -> list[DatasetRow]:
    kept: list[DatasetRow] = []
    for number, row in enumerate(rows):
        if number % 5 == 4:
            row = row._replace(timestamp=None)
        if number % 6 == 5:  # equal to its neighbour in all that ranking sees, but for the id
            last = kept[-1]
            row = row._replace(text=last.text, speaker=last.speaker, timestamp=last.timestamp)
        kept.append(row)
    return kept


def as_record(row: DatasetRow) -> Record:
    """Return a row as freezing stores it."""
    return Record(
        row.text,
        row.scope_id,
        msg_id=f"{row.doc_id}#{row.part}",
        source=Source("", row.speaker or "", row.speaker or ""),
        session_id=row.session_id or "",
        timestamp=row.timestamp or "",
    )


def run_config(provider: str, *, depth: int = DEPTH, **sections: object) -> RunConfig:
    """Return a config with two gram arms and, unless the provider is ``none``, a dense one."""
    arms = [
        {"name": "gram3", "kind": "gram", "term_frequency": "2bit"},
        {"name": "gram4", "kind": "gram", "size": 4, "length_exponent": 0.0},
    ]
    if provider != "none":
        arms.insert(0, {"name": "dense", "kind": "dense"})
    document = {
        "name": "frozen",
        "datasets": [{"name": "talk"}],
        "model": {"provider": provider},
        "arms": arms,
        "freeze": {"depth": depth},
        "sweep": {"depth": [1], "weights": [{"gram3": 1.0}]},
    }
    return RunConfig.model_validate(document | sections)


def same_pools(first: Path, second: Path) -> bool:
    """Whether two pools hold the same: all bytes, and every column but the measured time."""
    bytes_equal = all(
        (first / name).read_bytes() == (second / name).read_bytes()
        for name in ("candidates.parquet", "qrels.parquet")
    ) and _timeless_meta(first) == _timeless_meta(second)
    queries = [pq.read_table(pool / "queries.parquet") for pool in (first, second)]
    return bytes_equal and queries[0].drop_columns("latency_ms").equals(
        queries[1].drop_columns("latency_ms")
    )


def _timeless_meta(pool: Path) -> dict:
    meta = json.loads((pool / "meta.json").read_text(encoding="utf-8"))
    del meta[HASHES]["queries.parquet"]  # this file holds the measured time
    return meta
