"""bm25s over given grams, and SQLite's FTS5 with its trigram tokenizer."""

from __future__ import annotations

import copy
import sqlite3
from typing import Any

import numpy as np

from harness.peers.goals import BM25_NUMBA, BM25_NUMPY
from harness.peers.gram_rows import Grams, questions
from harness.peers.installed import Skip, installed
from harness.peers.searcher import Searcher


def bm25s_searchers(grams: Grams, k: int) -> dict[str, Searcher]:
    """Index the rows' grams, as often as they occur, and ask by each of its two backends."""
    import bm25s
    from bm25s.tokenization import Tokenized

    numbers, row_ptr = np.repeat(grams.numbers, grams.counts), np.zeros_like(grams.row_ptr)
    np.cumsum(np.add.reduceat(grams.counts, grams.row_ptr[:-1], dtype=np.int64), out=row_ptr[1:])
    ids = [part.tolist() for part in np.split(numbers, row_ptr[1:-1])]
    vocabulary = {str(number): number for number in range(grams.index.keys.size)}
    asked = [[numbers.tolist()] for numbers in grams.asked]
    plain = bm25s.BM25(backend="numpy")
    plain.index(Tokenized(ids=ids, vocab=vocabulary), create_empty_token=False, show_progress=False)
    # The backend decides how an index is asked, not what is in it: both ask the same one.
    compiled = copy.copy(plain)
    compiled.backend = "numba"
    k = min(k, len(ids))
    return {
        BM25_NUMPY: _bm25s_searcher(plain, "numpy", asked, k),
        BM25_NUMBA: _bm25s_searcher(compiled, "numba", asked, k),
    }


def _bm25s_searcher(retriever: Any, backend: str, asked: list, k: int) -> Searcher:
    def search(query: int) -> Any:
        if not asked[query][0]:  # it refuses a question of which it has no gram
            return None
        return retriever.retrieve(
            asked[query], k=k, show_progress=False, n_threads=0, backend_selection=backend
        )

    def read(answer: Any) -> np.ndarray:
        return np.asarray([] if answer is None else answer.documents[0], np.int64)

    return Searcher(search, read)


def fts5_searcher(texts: list[str], k: int, skip: Skip) -> Searcher | None:
    """Index texts in memory; ask for any of a question's trigrams, the best by bm25 first."""
    db = _memory_database()
    try:
        db.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='trigram')")
    except Exception as error:  # of apsw or of sqlite3: either may lack the module
        skip("SQLite FTS5", f"this SQLite has no trigram index: {error}")
        return None
    with db:
        db.executemany("INSERT INTO texts(rowid, text) VALUES (?, ?)", list(enumerate(texts)))
    sql = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
    asked = [any_trigram(question) for question in questions()]
    return Searcher(
        lambda query: list(db.execute(sql, (asked[query], k))),
        lambda answer: np.array([row for (row,) in answer], np.int64),
    )


def any_trigram(text: str) -> str:
    """Return the FTS5 expression of any trigram of a text."""
    trigrams = dict.fromkeys(text[i : i + 3] for i in range(len(text) - 2))
    return " OR ".join('"' + trigram.replace('"', '""') + '"' for trigram in trigrams)


def _memory_database() -> Any:
    """Open SQLite as apsw brings it, which is newer than Python's, or as Python does."""
    if installed("apsw"):
        import apsw

        return apsw.Connection(":memory:")
    return sqlite3.connect(":memory:")
