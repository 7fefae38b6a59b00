"""Batch replay of fusion settings over frozen candidate pools.

A measure needs only the rank of each relevant row, and a rank is a count: the candidates with a
higher score, plus those with the same score that stand earlier. So nothing is sorted. A query's
slice stays in the first-level cache while all settings run over it, in an order in which
neighbours share their reciprocal ranks and their set of candidates.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.rank_count import rank_by_count

_RRF = 0
_GROUP = 16
_UNRANKED = np.int32(2**31 - 1)


def replay_gold_ranks(
    offsets: np.ndarray,
    scores: np.ndarray,
    ranks: np.ndarray,
    gold_ptr: np.ndarray,
    gold: np.ndarray,
    kind: np.ndarray,
    weights: np.ndarray,
    rrf_k: np.ndarray,
    depth: np.ndarray,
) -> np.ndarray:
    """Rank every relevant row under every setting.

    A row is a candidate of a setting when an arm of positive weight ranks it within the
    setting's depth. Reciprocal rank fusion counts the votes within the depth; score fusion sums
    the z-scores of all arms. Ties go to the row that stands earlier in its query's slice.

    Parameters
    ----------
    offsets : int64 (Q + 1,)
        Query q owns the pool rows ``offsets[q]`` to ``offsets[q + 1]``, stored in tie order.
    scores : float64 (A, rows)
        Finite z-score of every pool row in every arm.
    ranks : int32 (A, rows)
        1-based rank of the row in the arm; 0 where the arm did not return it.
    gold_ptr : int64 (Q + 1,)
        Query q owns the relevant rows ``gold_ptr[q]`` to ``gold_ptr[q + 1]``.
    gold : int64 (golds,)
        Position of each relevant row in its query's slice, -1 when it is not in the pool.
    kind : uint8 (S,)
        0 for reciprocal rank fusion, 1 for score fusion.
    weights : float64 (S, A)
        Weight of each arm, not negative.
    rrf_k : float64 (S,)
        Rank constant (not read for score fusion).
    depth : int32 (S,)
        Ranks that each arm contributes.

    Returns
    -------
    int32 (S, golds)
        1-based rank of each relevant row, 0 where it is no candidate of the setting.
    """
    arms = len(scores)
    by_sharing = np.lexsort((*(weights.T > 0), rrf_k, kind, depth))
    longest = _whole_groups(int(np.diff(offsets).max(initial=0)))
    gold_ranks = np.zeros((len(kind), len(gold)), np.int32)
    _replay(
        offsets,
        scores,
        ranks,
        gold_ptr,
        gold,
        by_sharing,
        kind,
        np.pad(weights, ((0, 0), (0, 1))),  # the spare arm, as in the two tables below
        rrf_k,
        depth,
        np.zeros((arms + 1, longest)),
        np.zeros((arms + 1, longest)),
        np.zeros((arms, longest), np.int32),
        np.zeros(longest, np.int32),
        np.zeros(longest),
        np.zeros(longest),
        np.zeros(longest, np.int64),
        np.zeros(longest, np.int64),
        gold_ranks,
    )
    return gold_ranks


@kernel
def _whole_groups(size):
    """Size rounded up to whole groups of rows, so that the vector loops have no remainder."""
    return (size + _GROUP - 1) // _GROUP * _GROUP


@kernel
def _replay(
    offsets,
    scores,
    ranks,
    gold_ptr,
    gold,
    order,
    kind,
    weights,
    rrf_k,
    depth,
    z_scores,
    votes,
    near_ranks,
    nearest,
    penalty,
    fused,
    kept,
    place,
    gold_ranks,
):
    for query in range(len(offsets) - 1):
        first_gold, end_gold = gold_ptr[query], gold_ptr[query + 1]
        if first_gold == end_gold:
            continue
        first, end = offsets[query], offsets[query + 1]
        _fill_nearest(ranks, first, end, nearest)
        size = 0
        gathered, voted, penalised = -1, -1, -1  # the settings that each table was made for
        for i in range(len(order)):
            s = order[i]
            if gathered < 0 or depth[s] != depth[gathered]:
                size = _keep_near(nearest, first, end, depth[s], kept, place)
                _gather(scores, ranks, kept, size, depth[s], z_scores, near_ranks)
                size = _whole_groups(size)
                gathered, voted, penalised = s, -1, -1
            by_votes = kind[s] == _RRF
            if by_votes and (voted < 0 or rrf_k[s] != rrf_k[voted]):
                _fill_votes(near_ranks, size, rrf_k[s], votes)
                voted = s
            if not by_votes and (penalised < 0 or not _same_arms(weights[s], weights[penalised])):
                _fill_penalty(near_ranks, size, weights[s], penalty)
                penalised = s
            if by_votes:
                _fuse(votes, votes[-1], size, weights[s], fused)
            else:
                _fuse(z_scores, penalty, size, weights[s], fused)
            no_candidate = 0.0 if by_votes else -np.inf
            for g in range(first_gold, end_gold):
                position = place[gold[g]] if gold[g] >= 0 else -1
                if position >= 0 and fused[position] > no_candidate:
                    gold_ranks[s, g] = rank_by_count(fused, size, position)


@kernel_part
def _fill_nearest(ranks, first, end, nearest):
    """Best rank of each row of the query in any arm; the largest int32 where it has none."""
    for p in range(end - first):
        nearest[p] = _UNRANKED
    for arm in range(len(ranks)):
        arm_ranks = ranks[arm, first:end]
        for p in range(len(arm_ranks)):
            rank = arm_ranks[p] if arm_ranks[p] > 0 else _UNRANKED
            nearest[p] = min(nearest[p], rank)


@kernel_part
def _keep_near(nearest, first, end, depth, kept, place):
    """Number the rows that some arm ranks within the depth; return how many there are."""
    size = 0
    for p in range(end - first):
        near = nearest[p] <= depth
        kept[size] = first + p
        place[p] = size if near else -1
        size += near
    return size


@kernel_part
def _gather(scores, ranks, kept, size, depth, z_scores, near_ranks):
    """Pack the kept rows, without their ranks past the depth, and fill the last group with none."""
    for arm in range(len(ranks)):
        for p in range(size):
            rank = ranks[arm, kept[p]]
            near_ranks[arm, p] = rank if rank <= depth else 0
            z_scores[arm, p] = scores[arm, kept[p]]
        for p in range(size, _whole_groups(size)):
            near_ranks[arm, p] = 0
            z_scores[arm, p] = 0.0


@kernel_part
def _fill_votes(near_ranks, size, rrf_k, votes):
    for arm in range(len(near_ranks)):
        arm_ranks, arm_votes = near_ranks[arm, :size], votes[arm, :size]
        for p in range(len(arm_ranks)):
            vote = 1.0 / (rrf_k + arm_ranks[p])
            arm_votes[p] = vote if arm_ranks[p] > 0 else 0.0


@kernel_part
def _same_arms(weights, others):
    """Whether the same arms have a positive weight."""
    same = True
    for arm in range(len(weights)):
        same &= (weights[arm] > 0.0) == (others[arm] > 0.0)
    return same


@kernel_part
def _fill_penalty(near_ranks, size, weights, penalty):
    """0 for the candidates of the weighted arms, -inf for others: a sum that starts there stays."""
    for p in range(size):
        penalty[p] = -np.inf
    for arm in range(len(weights)):
        if weights[arm] > 0.0:
            arm_ranks = near_ranks[arm, :size]
            for p in range(len(arm_ranks)):
                penalty[p] = 0.0 if arm_ranks[p] > 0 else penalty[p]


@kernel_part
def _fuse(table, start, size, weights, fused):
    """Weighted sum over the arms in their order, four to a pass, on top of `start`.

    An arm of weight 0 would add zeros and is skipped. The spare arm behind the last one, a row
    of zeros with weight 0, stands in for arms that a pass lacks.
    """
    spare = len(weights) - 1
    d = np.int64(-1)
    while True:
        first_pass = d < 0
        a = _arm_after(weights, d)
        if a == spare and not first_pass:
            break
        b = _arm_after(weights, a)
        c = _arm_after(weights, b)
        d = _arm_after(weights, c)
        weight_a, weight_b, weight_c, weight_d = weights[a], weights[b], weights[c], weights[d]
        column_a, column_b, column_c, column_d = table[a], table[b], table[c], table[d]
        for p in range(size):
            before = start[p] if first_pass else fused[p]
            fused[p] = (
                before
                + weight_a * column_a[p]
                + weight_b * column_b[p]
                + weight_c * column_c[p]
                + weight_d * column_d[p]
            )


@kernel_part
def _arm_after(weights, arm):
    """Next arm that has a weight; the spare row of zeros when there is none."""
    spare = len(weights) - 1
    arm += 1
    while arm < spare and weights[arm] == 0.0:
        arm += 1
    return min(arm, spare)
