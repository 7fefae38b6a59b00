"""The gram overlap beside bm25s on the same grams, and beside SQLite's trigram index."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.gram_index import GramIndex
from cpersona_jit.kernels.gram_overlap import overlap_all, overlap_top_k
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.kernels.topk_order import unpack_keys
from harness.peers.figures import ENGINE, add_ratio, comparison, rounded
from harness.peers.goals import BM25_NUMBA, BM25_NUMPY, FTS5, GRAMS, READ
from harness.peers.gram_rows import Grams, cut_grams, talk_texts
from harness.peers.gram_touched import as_many_bytes, touched
from harness.peers.installed import Skip, available
from harness.peers.lexical_peers import bm25s_searchers, fts5_searcher
from harness.peers.read_kernel import read_all
from harness.peers.searcher import Searcher, all_queries
from harness.peers.turns import take_turns

SIZES = (3, 4)
K = 10
ALL_ROWS = "engine, every row's sum and no ranking"
_BM25_MOST_ROWS = 200_000
_WEIGHTS_SUM = 65_535  # what the engine's counters hold
_FACTOR = 40_000


def compare_grams(rows: int, budget: float, skip: Skip) -> list[dict]:
    """Time the ten rows that share most with a question, by the rarity of what they share.

    Timed from the numbers of the question's grams on, weighing them included. bm25s scores the same
    grams of the same rows by BM25; SQLite's FTS5 has its own trigrams of the same texts.

    Parameters
    ----------
    rows : int
        Of made-up talk.
    budget : float
        Seconds to spend on the rounds of one gram size.
    skip : callable
        Told of peers that are not compared.

    Returns
    -------
    list of dict
        A comparison for each gram size. ``touched`` is what a question makes them read, and
        ``split_ms`` where the engine's time goes.
    """
    texts = talk_texts(rows)
    return [_compare(texts, size, budget, skip) for size in SIZES]


def _compare(texts: list[str], size: int, budget: float, skip: Skip) -> dict:
    grams = cut_grams(texts, size)
    count = len(grams.asked)
    searchers = {ENGINE: overlap_searcher(grams), ALL_ROWS: _all_rows_searcher(grams)}
    if len(texts) > _BM25_MOST_ROWS:
        skip("bm25s", f"not compared above {_BM25_MOST_ROWS:,} rows: it takes grams as lists")
    elif available("bm25s", skip):
        searchers |= bm25s_searchers(grams, K)
    if size == 3 and (fts5 := fts5_searcher(texts, K, skip)) is not None:
        searchers[FTS5] = fts5
    reads = touched(grams.index, grams.asked)
    as_many = as_many_bytes(reads)
    calls = all_queries(searchers, count)
    calls[READ] = lambda: [read_all(as_many) for _ in range(count)]
    seconds = take_turns(calls, budget)
    grams_asked = round(float(np.mean([asked.size for asked in grams.asked])), 1)
    found = comparison(
        GRAMS, len(texts), seconds, count, gram_size=size, k=K, grams_a_query=grams_asked
    )
    times = found["milliseconds"]
    found["touched"] = reads
    found["split_ms"] = {
        "sums of all rows": times[ALL_ROWS],
        "the ten best of them": rounded(max(times[ENGINE] - times[ALL_ROWS], 0.0)),
        "reading as many bytes": times[READ],
    }
    for name in (BM25_NUMPY, BM25_NUMBA, FTS5):
        if name in searchers:
            add_ratio(found, seconds, name)
    return found


def overlap_searcher(grams: Grams) -> Searcher:
    """The engine's search of the ten best rows."""
    index = grams.index
    mask = pack_mask(np.ones(index.n, bool))
    factor = np.full(index.n, _FACTOR, np.uint16)
    counters = np.zeros(64 * mask.size, np.uint16)

    def search(query: int) -> np.ndarray:
        lists = grams.asked[query]
        return overlap_top_k(index, lists, rarity(index, lists), factor, mask, K, counters)[0]

    return Searcher(search, lambda answer: unpack_keys(answer)[0])


def rarity(index: GramIndex, lists: np.ndarray) -> np.ndarray:
    """Return the weights of posting lists by the idf of their grams, uint16."""
    frequency = index.df[lists]
    idf = np.log1p((index.n - frequency + 0.5) / (frequency + 0.5))
    share = (_WEIGHTS_SUM - lists.size) / max(idf.sum(), 1e-9)
    return np.maximum(np.rint(idf * share), 1).astype(np.uint16)


def _all_rows_searcher(grams: Grams) -> Searcher:
    index = grams.index
    mask = pack_mask(np.ones(index.n, bool))
    counters = np.zeros(64 * mask.size, np.uint16)

    def search(query: int) -> np.ndarray:
        lists = grams.asked[query]
        overlap_all(index, lists, rarity(index, lists), mask, counters)
        return counters

    return Searcher(search, lambda answer: np.argsort(-answer.astype(np.int64), kind="stable")[:K])
