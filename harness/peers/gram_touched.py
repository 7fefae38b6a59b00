"""What a question's grams make a search touch: bytes of lists and of sums, and postings."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.gram_index import GramIndex

_COUNTER_BYTES = 2
# A sum is written and read again, and multiplied by the factor of its row.
_PASSES_OF_ROWS = 3
_BM25_POSTING_BYTES = 8  # a float32 score and an int32 row


def touched(index: GramIndex, asked: list[np.ndarray]) -> dict[str, float]:
    """Count what the engine and bm25s read for a question, in the mean of the questions.

    Parameters
    ----------
    index : GramIndex
        The engine's.
    asked : list of ndarray of int64
        Posting lists of each question, of level 1.

    Returns
    -------
    dict
        ``bitmaps`` and ``sparse_postings``, the engine's lists; ``list_bytes`` of both;
        ``row_bytes``, sums and factors of all rows; ``postings`` in all lists, each of which bm25s
        adds to a sum, and ``bm25s_bytes`` of those.
    """
    every = np.concatenate(asked) if asked else np.zeros(0, np.int64)
    dense = index.dense_slot[every] >= 0
    bitmaps, postings = int(dense.sum()), int(index.df[every].sum())
    sparse = int((index.ptr[every + 1] - index.ptr[every]).sum())
    row_bytes = index.rows.itemsize
    found = {
        "bitmaps": bitmaps,
        "sparse_postings": sparse,
        "list_bytes": bitmaps * index.bitmaps[:1].nbytes + sparse * row_bytes,
        "postings": postings,
        "bm25s_bytes": postings * _BM25_POSTING_BYTES,
    }
    per = max(len(asked), 1)
    means = {name: round(value / per, 1) for name, value in found.items()}
    return {**means, "row_bytes": float(_PASSES_OF_ROWS * _COUNTER_BYTES * index.n)}


def as_many_bytes(of: dict[str, float]) -> np.ndarray:
    """Return an array of as many bytes as the engine touches for one question, all written."""
    return np.ones(int(of["list_bytes"] + of["row_bytes"]), np.int8)
