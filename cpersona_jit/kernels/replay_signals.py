"""Batch replay of calibrated settings over frozen pools of signals.

A calibrated setting is linear for each query: its evidence lists and its fused score are weighted
sums of the same signals. So a pool keeps the signals, and a setting is three rows of weights.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.rank_count import rank_by_count
from cpersona_jit.kernels.topk import select_largest


def replay_signals(
    offsets: np.ndarray,
    signals: np.ndarray,
    rows: np.ndarray,
    gold_ptr: np.ndarray,
    gold: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    depth: np.ndarray,
) -> np.ndarray:
    """Rank every relevant row under every setting.

    A row is a candidate of a setting when one of the setting's lists ranks it within the depth,
    ties to the lowest row as in `signals.top_rows`; a list of zero weights ranks nothing.
    Candidates are ordered by the fused score, ties to the row that stands earlier in its slice.
    That is what recall does, provided that the pool holds the first ``depth`` rows of each list.

    Parameters
    ----------
    offsets : int64 (Q + 1,)
        Query q owns the pool rows ``offsets[q]`` to ``offsets[q + 1]``, stored in tie order.
    signals : int64 (A, total)
        Signals of every pool row, below 2**53 in size.
    rows : int64 (total,)
        Snapshot position of every pool row, distinct inside a query.
    gold_ptr : int64 (Q + 1,)
        Query q owns the relevant rows ``gold_ptr[q]`` to ``gold_ptr[q + 1]``.
    gold : int64 (golds,)
        Position of each relevant row in its query's slice, -1 when it is not in the pool.
    weights : float64 (S, Q, L + 1, A)
        Weights of the signals, finite: those of the L lists, and last those of the fused score.
    bias : float64 (S, Q, L + 1)
        What each sum starts from; the signals are added in their order (`evidence.linear_scores`).
    depth : int32 or int64 (S,)
        Rows that each list contributes.

    Returns
    -------
    int32 (S, golds)
        1-based rank of each relevant row, 0 where it is no candidate of the setting.

    Notes
    -----
    Neighbouring settings that share their depth and their lists share the work for the lists.
    """
    longest = int(np.diff(offsets).max(initial=0))
    gold_ranks = np.zeros((len(depth), len(gold)), np.int32)
    _replay(
        offsets,
        signals,
        _by_row(offsets, rows),
        gold_ptr,
        gold,
        np.ascontiguousarray(weights),
        np.ascontiguousarray(bias),
        depth,
        np.zeros((len(signals), longest)),
        np.zeros(longest),
        np.zeros(longest),
        np.zeros(longest),
        gold_ranks,
    )
    return gold_ranks


def _by_row(offsets: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Positions inside each query's slice, in the order of their rows."""
    sizes = np.diff(offsets)
    query = np.repeat(np.arange(len(sizes)), sizes)
    return np.lexsort((rows, query)) - np.repeat(offsets[:-1], sizes)


@kernel
def _replay(
    offsets,
    signals,
    by_row,
    gold_ptr,
    gold,
    weights,
    bias,
    depth,
    table,
    penalty,
    fused,
    scratch,
    gold_ranks,
):
    for query in range(len(offsets) - 1):
        first_gold, end_gold = gold_ptr[query], gold_ptr[query + 1]
        if first_gold == end_gold:
            continue
        first, size = offsets[query], offsets[query + 1] - offsets[query]
        order = by_row[first : first + size]
        for arm in range(len(signals)):
            for p in range(size):
                table[arm, p] = signals[arm, first + p]
        for s in range(len(depth)):
            own, own_bias = weights[s, query], bias[s, query]
            if s == 0 or not _same_lists(
                depth, s, own, own_bias, weights[s - 1, query], bias[s - 1, query]
            ):
                _mark_candidates(table, order, own, own_bias, depth[s], penalty, fused, scratch)
            _add_weighted(table, own[-1], own_bias[-1], penalty, size, fused)
            for g in range(first_gold, end_gold):
                if gold[g] >= 0 and penalty[gold[g]] == 0.0:
                    gold_ranks[s, g] = rank_by_count(fused, size, gold[g])


@kernel_part
def _same_lists(depth, s, own, own_bias, others, other_bias):
    """Whether a setting has the depth and the lists of the one before it."""
    same = depth[s] == depth[s - 1]
    for i in range(len(own) - 1):
        same &= own_bias[i] == other_bias[i]
        for arm in range(own.shape[1]):
            same &= own[i, arm] == others[i, arm]
    return same


@kernel_part
def _mark_candidates(table, order, weights, bias, depth, penalty, scores, scratch):
    """0 for the rows that some list ranks within the depth, -inf for the others."""
    size = len(order)
    for p in range(size):
        penalty[p] = -np.inf
    for i in range(len(weights) - 1):
        if depth <= 0 or not _any_weight(weights[i]):
            continue
        if depth >= size:
            for p in range(size):
                penalty[p] = 0.0
            continue
        for p in range(size):
            scratch[p] = 0.0
        _add_weighted(table, weights[i], bias[i], scratch, size, scores)
        for p in range(size):
            scratch[p] = scores[p]
        limit = select_largest(scratch, size, depth)
        ties = np.int64(depth)
        for p in range(size):
            ties -= scores[p] > limit
            penalty[p] = 0.0 if scores[p] > limit else penalty[p]
        for position in order:
            if ties > 0 and scores[position] == limit:
                penalty[position] = 0.0
                ties -= 1


@kernel_part
def _any_weight(weights):
    found = False
    for weight in weights:
        found |= weight != 0.0
    return found


@kernel_part
def _add_weighted(table, weights, bias, penalty, size, fused):
    """Bias plus weighted signals in their order; where the penalty is -inf, so is the sum."""
    for p in range(size):
        fused[p] = bias + penalty[p]
    for arm in range(len(weights)):
        column, weight = table[arm, :size], weights[arm]
        for p in range(len(column)):
            fused[p] += weight * column[p]
