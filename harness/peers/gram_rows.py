"""Texts of made-up talk as grams: what the engine and the lexical peers all search."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from cpersona_jit.kernels.gram_index import GramIndex, build_gram_index
from cpersona_jit.kernels.gram_lookup import lookup_keys
from cpersona_jit.text.grams import code_points, gram_keys, normalise
from harness.speed.talk import CHAT, QUESTIONS, records


class Grams(NamedTuple):
    """Grams of one size.

    Attributes
    ----------
    row_ptr : ndarray of int64, shape (n + 1,)
        Row r holds the postings ``row_ptr[r]`` to ``row_ptr[r + 1]``.
    numbers : ndarray of int64, shape (row_ptr[n],)
        Each posting's gram, as its place in ``index.keys``.
    counts : ndarray of uint8, shape (row_ptr[n],)
        How often the row has it, at most 3.
    index : GramIndex
        The engine's.
    asked : list of ndarray of int64
        The numbers of each question's grams that some row has; gram t's list is list t.
    """

    row_ptr: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray
    index: GramIndex
    asked: list[np.ndarray]


def talk_texts(rows: int) -> list[str]:
    """Return normalised texts of made-up talk, chat rows."""
    return [normalise(record.content) for record in islice(records(rows, CHAT), rows)]


def questions() -> list[str]:
    """Return the questions, normalised."""
    return [normalise(question) for question in QUESTIONS]


def cut_grams(texts: Iterable[str], size: int) -> Grams:
    """Cut normalised texts and the questions into grams, and index those of the texts."""
    cut = [gram_keys(code_points(text), size) for text in texts]
    row_ptr = np.zeros(len(cut) + 1, np.int64)
    np.cumsum([keys.size for keys, _ in cut], out=row_ptr[1:])
    keys = np.concatenate([keys for keys, _ in cut])
    counts = np.concatenate([counts for _, counts in cut])
    index = build_gram_index(row_ptr, keys, counts, len(cut))
    asked = [lookup_keys(index, gram_keys(code_points(one), size)[0]) for one in questions()]
    known = [numbers[numbers >= 0] for numbers in asked]
    return Grams(row_ptr, lookup_keys(index, keys), counts, index, known)
