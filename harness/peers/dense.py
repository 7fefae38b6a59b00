"""The int8 scan beside reading its bytes, faiss, usearch and sqlite-vec."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.int8_scan import dense_top_k
from cpersona_jit.kernels.topk_order import unpack_keys
from harness.peers.figures import ENGINE, add_ratio, comparison, rounded
from harness.peers.goals import FAISS_INT8, INT8, READ, SQLITE_VEC, USEARCH
from harness.peers.installed import Skip, available
from harness.peers.read_kernel import read_all
from harness.peers.searcher import Searcher, all_queries, share_in_common
from harness.peers.turns import take_turns
from harness.peers.vectors import Coded

DIMS = (384, 512, 768)
MAIN_DIM = 512  # as the bundled default embedding; the slow peers are compared at this one alone
K = 10
_CHUNK = 16_384
_SQLITE_MOST_ROWS = 100_000


def compare_int8(data: Coded, budget: float, skip: Skip) -> dict:
    """Time the scan of all codes for the ten best rows, and every peer on the same codes.

    Parameters
    ----------
    data : Coded
        Rows and queries.
    budget : float
        Seconds to spend on rounds.
    skip : callable
        Told of peers that are not compared.

    Returns
    -------
    dict
        The comparison.
    """
    count = len(data.planes)
    searchers = {ENGINE: full_scan(data), **_peers(data, skip)}
    calls = all_queries(searchers, count)
    calls[READ] = lambda: [read_all(data.codes) for _ in range(count)]
    seconds = take_turns(calls, budget)
    found = comparison(INT8, data.rows, seconds, count, dim=data.dim, k=K)
    found["gigabytes_per_second"] = {
        name: rounded(data.codes.nbytes / found["milliseconds"][name] / 1e6)
        for name in (ENGINE, READ)
    }
    engine = searchers.pop(ENGINE)
    found["rows_in_common"] = {
        name: share_in_common(engine, peer, count) for name, peer in searchers.items()
    }
    for name in (READ, *searchers):
        add_ratio(found, seconds, name)
    return found


def full_scan(data: Coded) -> Searcher:
    """The engine's scan of all codes by the 15-bit query."""
    return Searcher(
        lambda query: dense_top_k(data.codes, data.planes[query], data.mask, K),
        lambda answer: unpack_keys(answer[0])[0],
    )


def faiss_int8(data: Coded) -> Searcher:
    """Put the codes into faiss as they are.

    It turns a query into int8 too, so it is asked by the high plane: half the multiplications of
    the engine's, and a coarser score.
    """
    import faiss

    faiss.omp_set_num_threads(1)
    kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
    index = faiss.IndexScalarQuantizer(data.dim, kind, faiss.METRIC_INNER_PRODUCT)
    for start in range(0, data.rows, _CHUNK):
        index.add(data.codes[start : start + _CHUNK].astype(np.float32))
    highs = [planes[:1].astype(np.float32) for planes in data.planes]
    return Searcher(lambda query: index.search(highs[query], K), lambda answer: answer[1][0])


def usearch_int8(data: Coded) -> Searcher:
    """Search exactly by the high plane: usearch multiplies int8 by int8."""
    from usearch.index import MetricKind, search

    def by_high_plane(query: int) -> object:
        high = data.planes[query][0]
        return search(data.codes, high, K, MetricKind.IP, exact=True, threads=1)

    return Searcher(by_high_plane, lambda answer: answer.keys.astype(np.int64))


def sqlite_vec_int8(data: Coded) -> Searcher:
    """Search a virtual table of int8 vectors by cosine, the closest that it has."""
    import apsw
    import sqlite_vec

    db = apsw.Connection(":memory:")
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    dim = data.dim
    db.execute(f"CREATE VIRTUAL TABLE codes USING vec0(v int8[{dim}] distance_metric=cosine)")
    insert = "INSERT INTO codes(rowid, v) VALUES (?, vec_int8(?))"
    with db:
        db.executemany(insert, ((row, code.tobytes()) for row, code in enumerate(data.codes)))
    sql = "SELECT rowid FROM codes WHERE v MATCH vec_int8(?) ORDER BY distance LIMIT ?"
    highs = [planes[0].tobytes() for planes in data.planes]
    return Searcher(
        lambda query: list(db.execute(sql, (highs[query], K))),
        lambda answer: np.array([row for (row,) in answer], np.int64),
    )


def _peers(data: Coded, skip: Skip) -> dict[str, Searcher]:
    found: dict[str, Searcher] = {}
    if available("faiss-cpu", skip):
        found[FAISS_INT8] = faiss_int8(data)
    if data.dim != MAIN_DIM:
        return found
    if available("usearch", skip):
        found[USEARCH] = usearch_int8(data)
    if data.rows > _SQLITE_MOST_ROWS:
        skip("sqlite-vec", f"slow: not compared above {_SQLITE_MOST_ROWS:,} rows")
    elif available("apsw", skip) and available("sqlite-vec", skip):
        found[SQLITE_VEC] = sqlite_vec_int8(data)
    return found
