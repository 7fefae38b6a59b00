"""The pool of a recall: the best rows of each kind of evidence, united, in one call.

A small scope knows the evidence of every row. A large one knows the dense signals of no row until
it is measured: there the dense list is drawn from a shortlist that the sign bits choose.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.evidence import find_best, find_largest, sum_at
from cpersona_jit.kernels.int8_scan import measure_rows, tier_tag
from cpersona_jit.kernels.numpy_path.draw import DrawnRows, Measured, Wanted
from cpersona_jit.kernels.sign_scan import find_largest_scores
from cpersona_jit.kernels.tie_order import sort_ascending, sort_by_tie
from cpersona_jit.kernels.topk_order import ROW_MASK

__all__ = ["draw_near_rows", "draw_rows"]

_DENSE, _GRAM = 0, 1  # kinds of evidence, and of lists
_BLOCK3, _BLOCK4 = 4, 5  # the signals of a parted row's best block by its grams
_ROW3, _ROW4 = 2, 3
_NOBODY = np.int64(1 << 62)  # above every row


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
    """Draw the dense and the gram list of each region, and unite them.

    Parameters
    ----------
    arrays : tuple of ndarray
        The first six parameters of `evidence.evidence_at`.
    forms : float64 (3, 7)
        Weights of the signals in the dense, the gram and the fused evidence.
    bias : float64 (3,)
        What the sums start from.
    regions : uint64 (R, ceil(n / 64))
        Admitted rows of each region.
    embedded : uint64 (ceil(n / 64),)
        Rows that a dense list may hold.
    wanted : Wanted
        How long a list is at most, and which gram sizes count: a row that shares no gram of them
        is in no gram list.
    event_time, ids : int64 (n,)
        What breaks ties: times descending, the smallest int64 for undated rows; then ids ascending.

    Returns
    -------
    DrawnRows
    """
    return DrawnRows(*_draw(*arrays, forms, bias, regions, embedded, *wanted, event_time, ids))


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
    """Draw the lists of a large scope, measuring the dense signals of rows as they are needed.

    Parameters
    ----------
    arrays, forms, bias, regions, embedded, wanted, event_time, ids
        As in `draw_rows`; the dense signals in the arrays are those of `measured`.
    estimates : int32 (64 * ceil(n / 64),)
        Rough score of each row (`vector_score.estimate_rows`).
    shortlist : int
        Rows of a region with the largest of them that are measured for its dense list.
    measured : Measured
        What measures rows (`int8_scan.dense_at`); it keeps what it measured.

    Returns
    -------
    DrawnRows
    """
    return DrawnRows(
        *_draw_near(
            *(*arrays, forms, bias, regions, embedded, *wanted, event_time, ids),
            *(estimates, shortlist, tier_tag(), *measured),
        )
    )


@kernel
def _draw(
    dense,
    gram3,
    gram4,
    parted,
    place,
    values,
    forms,
    bias,
    regions,
    embedded,
    depth,
    use3,
    use4,
    event_time,
    ids,
):
    depth = min(depth, len(dense))
    lists, held = _no_lists(regions, depth)
    for r in range(len(regions)):
        words = _both(regions[r], embedded)
        near, _ = find_best(
            dense, gram3, gram4, parted, values, forms[_DENSE], bias[_DENSE], words, depth
        )
        _keep(near, lists, held, 2 * r + _DENSE)
        alike = _gram_list(
            dense, gram3, gram4, parted, place, values, forms, bias, regions[r], depth, use3, use4
        )
        _keep(alike, lists, held, 2 * r + _GRAM)
    rows, reached = _unite(lists, held, event_time, ids)
    evidence = np.empty((len(bias), len(rows)))
    sum_at(dense, gram3, gram4, place, values, forms, bias, rows, evidence)
    return rows, reached, evidence


@kernel
def _draw_near(
    dense,
    gram3,
    gram4,
    parted,
    place,
    values,
    forms,
    bias,
    regions,
    embedded,
    depth,
    use3,
    use4,
    event_time,
    ids,
    estimates,
    shortlist,
    tier,
    codes,
    block_codes,
    planes,
    mask,
    block_mask,
    block_ptr,
    means,
    known,
    own,
    best,
):
    depth, shortlist = min(depth, len(dense)), min(shortlist, len(dense))
    lists, held = _no_lists(regions, depth)
    where = codes, block_codes, planes, mask, block_mask, place, block_ptr, means
    for r in range(len(regions)):
        words = _both(regions[r], embedded)
        keys = find_largest_scores(estimates, words, shortlist)
        for i in range(len(keys)):
            keys[i] = ROW_MASK - (keys[i] & ROW_MASK)
        near = sort_ascending(keys)
        measure_rows(tier, *where, near, known, dense, own, best)
        scores = np.empty((1, len(near)))
        only = forms[_DENSE : _DENSE + 1], bias[_DENSE : _DENSE + 1]
        sum_at(dense, gram3, gram4, place, values, *only, near, scores)
        places, _ = find_largest(scores[0], depth)
        _keep(near[places], lists, held, 2 * r + _DENSE)
        alike = _gram_list(
            dense, gram3, gram4, parted, place, values, forms, bias, regions[r], depth, use3, use4
        )
        _keep(alike, lists, held, 2 * r + _GRAM)
    rows, reached = _unite(lists, held, event_time, ids)
    measure_rows(tier, *where, rows, known, dense, own, best)
    evidence = np.empty((len(bias), len(rows)))
    sum_at(dense, gram3, gram4, place, values, forms, bias, rows, evidence)
    return rows, reached, evidence


@kernel_part
def _no_lists(regions, depth):
    return np.empty((2 * len(regions), depth), np.int64), np.zeros(2 * len(regions), np.int64)


@kernel_part
def _both(words, others):
    common = np.empty(len(words), np.uint64)
    for i in range(len(words)):
        common[i] = words[i] & others[i]
    return common


@kernel_part
def _keep(rows, lists, held, number):
    held[number] = len(rows)
    for i in range(len(rows)):
        lists[number, i] = rows[i]


@kernel_part
def _gram_list(dense, gram3, gram4, parted, place, values, forms, bias, words, depth, use3, use4):
    """The rows of the most gram evidence that share a gram with the query, of a size that counts.

    Ascending.
    """
    rows, _ = find_best(
        dense, gram3, gram4, parted, values, forms[_GRAM], bias[_GRAM], words, depth
    )
    shown, count = np.empty(len(rows), np.int64), 0
    for row in rows:
        at = np.int64(place[row])
        if at >= 0:
            by3 = values[_ROW3, at] != 0 or values[_BLOCK3, at] != 0
            by4 = values[_ROW4, at] != 0 or values[_BLOCK4, at] != 0
        else:
            by3, by4 = gram3[row] != 0, gram4[row] != 0
        shown[count] = row
        count += (use3 and by3) or (use4 and by4)
    return shown[:count]


@kernel_part
def _unite(lists, held, event_time, ids):
    """Unite ascending lists: each row once, in tie order, and in which kind of list it is."""
    at, most = np.zeros(len(held), np.int64), 0
    for number in range(len(held)):
        most += held[number]
    rows, kinds, count = np.empty(most, np.int64), np.empty(most, np.int64), 0
    while True:
        row, bits = _NOBODY, 0
        for number in range(len(held)):
            if at[number] < held[number]:
                row = min(row, lists[number, at[number]])
        if row == _NOBODY:
            break
        for number in range(len(held)):
            if at[number] < held[number] and lists[number, at[number]] == row:
                at[number] += 1
                bits |= 1 << (number & 1)
        rows[count], kinds[count] = row, bits
        count += 1
    order = sort_by_tie(rows[:count], event_time, ids)
    ordered, reached = np.empty(count, np.int64), np.empty((2, count), np.bool_)
    for p in range(count):
        ordered[p] = rows[order[p]]
        reached[_DENSE, p] = kinds[order[p]] & 1 != 0
        reached[_GRAM, p] = kinds[order[p]] & 2 != 0
    return ordered, reached
