"""Centred vectors: what sets a text apart from the rest of what its agent remembers.

Some models put all texts into one corner of their space: every cosine is high, and what the texts
have in common drowns what tells them apart. Seen from the middle of an agent's own rows, the rest
of the space opens up. Whether that helps is a property of the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

# The mean counts as if this many vectors of zero were in it as well. A mean of few rows is mostly
# what they say: without this, the only row of an agent would be its own centre and vanish.
PRIOR_ROWS = 16


class Centre(NamedTuple):
    """From where the vectors of one agent are seen.

    Attributes
    ----------
    rows : ndarray of int64
        The memories it is the mean of: the first 2^k by id that have a vector, 2^k being the
        largest power of two for which there are enough. So it moves rarely, and depends on which
        rows there are, never on when they came.
    vector : ndarray of float64, shape (dim,)
        ``sum / (2^k + PRIOR_ROWS)``.
    """

    rows: np.ndarray
    vector: np.ndarray


def leading_rows(agent: np.ndarray, embedded: np.ndarray) -> dict[int, np.ndarray]:
    """Return the rows that make the centre of each agent.

    Parameters
    ----------
    agent : ndarray of int32, shape (n,)
        Code of each row's agent; rows ascend by memory id.
    embedded : ndarray of bool, shape (n,)
        Whether the row has a vector.

    Returns
    -------
    dict of int to ndarray of int64
        Of each agent that has vectors, the first 2^k rows that have one, ascending.
    """
    rows = np.flatnonzero(embedded)
    by_agent = rows[np.argsort(agent[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(agent[by_agent], prepend=-1))
    parts = np.split(by_agent, starts[1:]) if starts.size else []
    return {int(agent[part[0]]): part[: 1 << (part.size.bit_length() - 1)] for part in parts}


def centre_vector(vectors: Iterable[np.ndarray], count: int, dim: int) -> np.ndarray:
    """Return the vector of a centre: float64, shape (dim,).

    Parameters
    ----------
    vectors : iterable of ndarray of float32, shape (dim,)
        The vectors of its rows, by ascending id.
    count : int
        How many they are in all.
    dim : int
        Length of a vector.
    """
    total = np.zeros(dim)
    for vector in vectors:  # one after the other, in float64: the same sum wherever it is made
        total += vector
    return total / (count + PRIOR_ROWS)


def centred(vectors: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return unit vectors as they are seen from their centres.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n, dim)
        Unit vectors.
    centres : ndarray of float64, shape (n, dim) or (dim,)
        The centre of each.

    Returns
    -------
    ndarray of float32, shape (n, dim)
        Unit vectors; zero where a vector is its centre.
    """
    seen = vectors - centres
    # add.reduce sums in the same order on every CPU and for every number of rows.
    norms = np.sqrt(np.add.reduce(seen * seen, axis=1))
    norms[norms == 0.0] = 1.0
    return (seen / norms[:, np.newaxis]).astype(np.float32)
