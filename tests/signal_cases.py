"""Signals of rows for the tests of the kernels that weigh them."""

from __future__ import annotations

from typing import NamedTuple

import naive
import numpy as np


def admitted_share(rng, n, share):
    """Random admitted rows, with some words of the mask empty and some full."""
    admitted = rng.random(n) < share
    for first in range(0, n, 64):
        whole = rng.integers(0, 4)
        if whole < 2:
            admitted[first : first + 64] = bool(whole) and share > 0
    return admitted


class Arrays(NamedTuple):
    """The signals as the kernels take them."""

    dense: np.ndarray
    gram3: np.ndarray
    gram4: np.ndarray
    parted: np.ndarray
    place: np.ndarray
    parted_values: np.ndarray

    def signals(self):
        """The seven signals of every row, as lists."""
        rows = naive.whole_signals(*(part.tolist() for part in self[:3]))
        for at, row in enumerate(self.parted.tolist()):
            rows[row] = self.parted_values[:, at].tolist()
        return [[of_row[signal] for of_row in rows] for signal in range(7)]


def random_arrays(rng, n, parted_share, levels=2**29):
    """Signals of `levels` sizes: few levels make rows of equal evidence."""
    dense = rng.integers(-levels, levels, n).astype(np.int32)
    gram3, gram4 = rng.integers(0, 8 * levels, (2, n)).astype(np.uint32)
    parted = np.flatnonzero(rng.random(n) < parted_share)
    place = np.full(n, -1, np.int32)
    place[parted] = np.arange(parted.size)
    values = rng.integers(0, levels, (7, parted.size))
    return Arrays(dense, gram3, gram4, parted, place, values)


def random_weights(rng):
    """Weights of the seven signals, of many sizes, some of them 0."""
    weights = rng.normal(size=7) / 2.0 ** rng.integers(0, 30, 7)
    weights[rng.random(7) < 0.3] = 0.0
    return weights
