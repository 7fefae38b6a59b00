"""The pool of a recall with NumPy alone; same rows and bits as `cpersona_jit.kernels.draw`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.kernels.numpy_path.evidence import best_rows, evidence_at, signals_at, top_rows
from cpersona_jit.kernels.numpy_path.int8_scan import dense_at
from cpersona_jit.kernels.numpy_path.sign_scan import best_estimates

_DENSE, _GRAM = 0, 1
_OF_GRAMS = ((2, 4), (3, 5))  # signals of row and best block by 3-grams and by 4-grams


class Wanted(NamedTuple):
    """What a list is to hold."""

    depth: int  # rows at most
    by_3_grams: bool  # whether sharing a 3-gram brings a row into a gram list
    by_4_grams: bool


class Measured(NamedTuple):
    """What `int8_scan.dense_at` is called with, but for the rows and the signals' arrays."""

    codes: np.ndarray
    block_codes: np.ndarray
    planes: np.ndarray
    mask: np.ndarray
    block_mask: np.ndarray
    block_ptr: np.ndarray
    means: np.ndarray
    known: np.ndarray
    own: np.ndarray
    best: np.ndarray


class DrawnRows(NamedTuple):
    """The rows of all lists, P of them, in tie order."""

    rows: np.ndarray  # int64 (P,)
    reached: np.ndarray  # bool (2, P), whether a dense and whether a gram list holds it
    evidence: np.ndarray  # float64 (3, P)


def draw_rows(
    arrays: tuple[np.ndarray, ...],
    forms: np.ndarray,
    bias: np.ndarray,
    regions: np.ndarray,
    embedded: np.ndarray,
    wanted: Wanted,
    event_time: np.ndarray,
    ids: np.ndarray,
) -> DrawnRows:
    """Draw the lists of a small scope; see the kernel of the same name."""
    lists: list[list[np.ndarray]] = [[], []]
    for region in regions:
        near = forms[_DENSE], bias[_DENSE], region & embedded, wanted.depth
        lists[_DENSE].append(best_rows(*arrays, *near))
        lists[_GRAM].append(_gram_list(arrays, forms, bias, region, wanted))
    rows, reached = _united(lists, event_time, ids)
    return DrawnRows(rows, reached, evidence_at(*arrays, forms, bias, rows))


def draw_near_rows(
    arrays: tuple[np.ndarray, ...],
    forms: np.ndarray,
    bias: np.ndarray,
    regions: np.ndarray,
    embedded: np.ndarray,
    wanted: Wanted,
    event_time: np.ndarray,
    ids: np.ndarray,
    estimates: np.ndarray,
    shortlist: int,
    measured: Measured,
) -> DrawnRows:
    """Draw the lists of a large scope; see the kernel of the same name."""
    lists: list[list[np.ndarray]] = [[], []]
    for region in regions:
        near = best_estimates(estimates, region & embedded, shortlist)
        measure(arrays, measured, near)
        scores = evidence_at(*arrays, forms[:1], bias[:1], near)[0]
        lists[_DENSE].append(near[top_rows(scores, wanted.depth)])
        lists[_GRAM].append(_gram_list(arrays, forms, bias, region, wanted))
    rows, reached = _united(lists, event_time, ids)
    measure(arrays, measured, rows)
    return DrawnRows(rows, reached, evidence_at(*arrays, forms, bias, rows))


def measure(arrays: tuple[np.ndarray, ...], measured: Measured, rows: np.ndarray) -> None:
    """Write the dense signals of some rows, as far as that is not done yet."""
    *where, block_ptr, means, known, own, best = measured
    dense_at(*where, arrays[4], block_ptr, means, rows, known, arrays[0], own, best)


def _gram_list(
    arrays: tuple[np.ndarray, ...],
    forms: np.ndarray,
    bias: np.ndarray,
    region: np.ndarray,
    wanted: Wanted,
) -> np.ndarray:
    rows = best_rows(*arrays, forms[_GRAM], bias[_GRAM], region, wanted.depth)
    values, shown = signals_at(*arrays, rows), np.zeros(len(rows), bool)
    for counts, signals in zip(wanted[1:], _OF_GRAMS, strict=True):
        if counts:
            shown |= (values[list(signals)] != 0).any(axis=0)
    return rows[shown]


def _united(
    lists: list[list[np.ndarray]], event_time: np.ndarray, ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    of_kind = [np.concatenate([np.zeros(0, np.int64), *kind]) for kind in lists]
    rows = np.unique(np.concatenate(of_kind))
    # Undated rows have the smallest int64, whose complement is the largest.
    rows = rows[np.lexsort((ids[rows], ~event_time[rows]))]
    return rows, np.array([np.isin(rows, kind) for kind in of_kind])
