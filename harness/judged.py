"""What every frozen pool has: queries, their candidates' documents, and what is relevant."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.pool_files import PoolError, check_pool_files

QUERY_COLUMNS = ("query_id", "scope_id", "task", "dataset", "latency_ms")
CANDIDATE_COLUMNS = ("query_index", "doc_id")


@dataclass(frozen=True)
class Judged:
    """All queries of one dataset with the documents of their candidates; Q queries, N candidates.

    Candidates of one query are contiguous and in the written tie order. The *relevant documents*
    (J of them, of all queries that have any) are listed whether or not they are in the pool, since
    the ideal ranking needs them.

    Parameters
    ----------
    offsets : int64 (Q + 1,)
        Candidates of query q are ``offsets[q]:offsets[q + 1]``.
    doc_codes : int32 (N,)
        Position of each candidate's document in ``doc_ids``.
    judged_ptr, judged_gain : int64 (Q + 1,), float64 (J,)
        Relevant documents of each query and their gains (> 0).
    judged_ids : list of str
        Ids of those J documents.
    gold_ptr, gold : int64 (Q + 1,), int64 (G,)
        Gold rows of each query, as positions inside the query's slice.
    gold_judged : int64 (G,)
        Which of the J relevant documents each gold row belongs to.
    """

    dataset: str
    query_ids: list[str]
    scope_ids: list[str]
    tasks: list[str]
    latency_ms: np.ndarray
    offsets: np.ndarray
    doc_ids: pa.Array
    doc_codes: np.ndarray
    judged_ptr: np.ndarray
    judged_gain: np.ndarray
    judged_ids: list[str]
    gold_ptr: np.ndarray
    gold: np.ndarray
    gold_judged: np.ndarray
    meta: dict

    @property
    def has_relevant(self) -> np.ndarray:
        """Bool (Q,): the query has at least one relevant document."""
        return np.diff(self.judged_ptr) > 0


def read_judged(pool_dir: Path, queries: pa.Table, candidates: pa.Table, meta: dict) -> dict:
    """Return the fields of :class:`Judged` from a pool's tables.

    Parameters
    ----------
    pool_dir : Path
        Folder of the pool, which also holds what is relevant.
    queries, candidates : Table
        With at least the columns ``QUERY_COLUMNS`` and ``CANDIDATE_COLUMNS``.
    meta : dict
        As :func:`read_meta` gives it.
    """
    qrels = read_table(pool_dir / "qrels.parquet", ["query_index", "doc_id", "score"])
    offsets = _offsets(candidates, queries.num_rows, pool_dir)
    doc_ids, doc_codes = _documents(candidates)
    judged = _judgements(qrels, queries.num_rows, pool_dir)
    return {
        "dataset": queries["dataset"][0].as_py() if queries.num_rows else "",
        "query_ids": queries["query_id"].to_pylist(),
        "scope_ids": queries["scope_id"].to_pylist(),
        "tasks": queries["task"].to_pylist(),
        "latency_ms": queries["latency_ms"].to_numpy(),
        "offsets": offsets,
        "doc_ids": doc_ids,
        "doc_codes": doc_codes,
        **judged,
        **_gold_rows(doc_ids, doc_codes, offsets, judged),
        "meta": meta,
    }


def read_meta(pool_dir: Path, kind: str) -> dict:
    """Return what a finished pool says of itself, once its files are known to be the frozen ones.

    Parameters
    ----------
    pool_dir : Path
        Folder of the pool.
    kind : str
        A key that only its kind has.
    """
    path = pool_dir / "meta.json"
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PoolError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise PoolError(
            f"{path}: not valid JSON; delete {pool_dir.name} to freeze it again"
        ) from error
    if not isinstance(meta, dict) or not isinstance(meta.get(kind), list | dict):
        raise PoolError(f"{path}: does not describe a pool of {kind} (no {kind} in it)")
    if meta.get("complete") is not True:
        raise PoolError(f"{path}: the pool is not complete; run again to finish freezing it")
    check_pool_files(pool_dir, meta)
    return meta


def read_table(path: Path, columns: list[str], dictionary: list[str] | None = None) -> pa.Table:
    """Read some columns of a Parquet file, or say what is wrong with it."""
    try:
        # A plain file handle: paths are never taken for a partitioned data set.
        with path.open("rb") as handle:
            file = pq.ParquetFile(handle, read_dictionary=dictionary)
            absent = sorted(set(columns) - set(file.schema_arrow.names))
            if absent:
                raise PoolError(f"{path}: column {absent[0]!r} is missing")
            table = file.read(columns=columns)
        table.validate(full=True)
        return table
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise PoolError(
            f"{path}: cannot be read ({reason}); delete {path.parent.name} to freeze it again"
        ) from error


def _offsets(candidates: pa.Table, queries: int, pool_dir: Path) -> np.ndarray:
    index = candidates["query_index"].to_numpy()
    in_order = np.all(index[1:] >= index[:-1])
    if not in_order or (index.size and not 0 <= index[0] <= index[-1] < queries):
        raise PoolError(
            f"{pool_dir / 'candidates.parquet'}: query_index must ascend inside 0..{queries - 1}"
        )
    return np.searchsorted(index, np.arange(queries + 1)).astype(np.int64)


def stack(table: pa.Table, columns: list[str], dtype: type) -> np.ndarray:
    """Return columns as one array, (columns, rows)."""
    out = np.empty((len(columns), table.num_rows), dtype=dtype)
    for row, column in enumerate(columns):
        out[row] = table[column].to_numpy()
    return out


def _documents(candidates: pa.Table) -> tuple[pa.Array, np.ndarray]:
    column = candidates["doc_id"]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return pa.array([], pa.string()), np.empty(0, np.int32)
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
    return column.chunk(0).dictionary, codes.astype(np.int32)


def _judgements(qrels: pa.Table, queries: int, pool_dir: Path) -> dict:
    index, gain = qrels["query_index"].to_numpy(), qrels["score"].to_numpy().astype(np.float64)
    if index.size and not (index.min() >= 0 and index.max() < queries):
        raise PoolError(f"{pool_dir / 'qrels.parquet'}: query_index must be in 0..{queries - 1}")
    kept = np.flatnonzero(gain > 0)
    kept = kept[np.argsort(index[kept], kind="stable")]
    return {
        "judged_ptr": np.searchsorted(index[kept], np.arange(queries + 1)).astype(np.int64),
        "judged_gain": gain[kept],
        "judged_ids": qrels["doc_id"].take(pa.array(kept)).cast(pa.string()).to_pylist(),
    }


def _gold_rows(doc_ids: pa.Array, doc_codes: np.ndarray, offsets: np.ndarray, judged: dict) -> dict:
    """Find the pool rows of the judged documents by one merge over (query, document) keys."""
    code_of = {doc: code for code, doc in enumerate(doc_ids.to_pylist())}
    queries, documents = len(offsets) - 1, max(len(code_of), 1)
    codes = np.array([code_of.get(doc, -1) for doc in judged["judged_ids"]], dtype=np.int64)
    judged_query = np.repeat(np.arange(queries), np.diff(judged["judged_ptr"]))
    pooled = np.flatnonzero(codes >= 0)
    keys = judged_query[pooled] * documents + codes[pooled]
    pooled = pooled[np.argsort(keys, kind="stable")]
    keys = np.sort(keys)

    row_query = np.repeat(np.arange(queries), np.diff(offsets))
    row_keys = row_query * documents + doc_codes
    place = np.searchsorted(keys, row_keys)
    place_in = np.minimum(place, max(len(keys) - 1, 0))
    hits = np.flatnonzero(keys[place_in] == row_keys) if keys.size else np.empty(0, np.int64)
    return {
        "gold_ptr": np.searchsorted(row_query[hits], np.arange(queries + 1)).astype(np.int64),
        "gold": (hits - offsets[row_query[hits]]).astype(np.int64),
        "gold_judged": pooled[place[hits]].astype(np.int64),
    }
