"""Scans of sign bits: Hamming distance beside faiss, the two-phase search beside the full scan."""

from __future__ import annotations

import numpy as np

from cpersona_jit.defaults import ROW_FUSION_SETTINGS
from cpersona_jit.kernels.quantize import query_bit_planes
from cpersona_jit.kernels.sign_scan import hamming_top_k, two_phase_top_k
from cpersona_jit.kernels.topk_order import unpack_keys
from harness.peers.dense import K, full_scan
from harness.peers.figures import ENGINE, add_ratio, comparison, rounded
from harness.peers.goals import FAISS_BINARY, FULL_SCAN, HAMMING, READ, TWO_PHASE
from harness.peers.installed import Skip, available
from harness.peers.read_kernel import read_all
from harness.peers.searcher import Searcher, all_queries
from harness.peers.turns import ratio, take_turns
from harness.peers.vectors import Coded

SHORTLIST = 2 * ROW_FUSION_SETTINGS.depth


def compare_hamming(data: Coded, budget: float, skip: Skip) -> dict:
    """Time the search of the ten rows whose signs differ least from the query's.

    Parameters and result are those of ``dense.compare_int8``. ``of_reading`` says which share of
    the speed of pure reading each reaches: nobody's scan can be faster than 1 over its own share.
    """
    count, signs = len(data.planes), data.signs
    searchers = {ENGINE: _engine_hamming(data)}
    if available("faiss-cpu", skip):
        searchers[FAISS_BINARY] = _faiss_hamming(data)
    calls = all_queries(searchers, count)
    calls[READ] = lambda: [read_all(signs) for _ in range(count)]
    seconds = take_turns(calls, budget)
    found = comparison(HAMMING, data.rows, seconds, count, dim=data.dim, k=K)
    found["gigabytes_per_second"] = {
        name: rounded(signs.nbytes / found["milliseconds"][name] / 1e6) for name in (ENGINE, READ)
    }
    found["of_reading"] = {
        name: rounded(ratio(seconds[READ], seconds[name]).value) for name in searchers
    }
    engine = searchers.pop(ENGINE)
    found["same_distances"] = {
        name: all(np.array_equal(engine.answer(q), peer.answer(q)) for q in range(count))
        for name, peer in searchers.items()
    }
    for name in (READ, *searchers):
        add_ratio(found, seconds, name)
    return found


def compare_two_phase(data: Coded, budget: float) -> dict:
    """Time the search by sign bits and then int8, and the scan of all int8 codes."""
    searchers = {ENGINE: two_phase_search(data), FULL_SCAN: full_scan(data)}
    count = len(data.planes)
    seconds = take_turns(all_queries(searchers, count), budget)
    found = comparison(TWO_PHASE, data.rows, seconds, count, dim=data.dim, k=K, shortlist=SHORTLIST)
    add_ratio(found, seconds, FULL_SCAN)
    return found


def two_phase_search(data: Coded) -> Searcher:
    """Return the search of a query's best rows in two phases."""
    signs = data.signs
    bit_planes = [query_bit_planes(query) for query in data.queries]
    return Searcher(
        lambda query: two_phase_top_k(
            signs, bit_planes[query], data.codes, data.planes[query], data.mask, SHORTLIST, K
        ),
        lambda answer: unpack_keys(answer)[0],
    )


def _engine_hamming(data: Coded) -> Searcher:
    """Read as distances: rows at the same distance are interchangeable."""
    signs = data.signs
    return Searcher(
        lambda query: hamming_top_k(signs, data.query_words[query], data.rows, data.mask, K),
        lambda answer: -unpack_keys(answer)[1],
    )


def _faiss_hamming(data: Coded) -> Searcher:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryFlat(data.dim)
    index.add(data.words.view(np.uint8))
    queries = np.stack(data.query_words).view(np.uint8)
    return Searcher(
        lambda query: index.search(queries[query : query + 1], K),
        lambda answer: answer[0][0].astype(np.int64),
    )
