"""Naive twins: every kernel again, in plain Python, as its docstring says it and no faster.

A kernel and its twin are compared exactly, ties included. Nothing here may call the code under
test, and nothing here is clever.
"""

from __future__ import annotations

# --- dense: top-k, int8 scan, sign scans ---------------------------------------------------------


# --- grams: index, overlap, document frequency ---------------------------------------------------


def gram_lists(rows):
    """{(gram, level): rows with at least `level` occurrences}, from one {gram: count} per row."""
    lists = {}
    for number, row in enumerate(rows):
        for gram, count in row.items():
            for level in range(1, min(count, 3) + 1):
                lists.setdefault((gram, level), []).append(number)
    return lists


def overlap_top_k(members, weights, factor, admitted, k):
    """Best keys (best first), (count, total, total of squares), and every admitted row's score."""
    scores = []
    for row in range(len(admitted)):
        if admitted[row]:
            overlap = 0
            for rows, weight in zip(members, weights, strict=True):
                if row in rows:
                    overlap += int(weight)
            scores.append((overlap * int(factor[row]), row))
    keys = [score * 2**31 + 2**31 - 1 - row for score, row in scores if score > 0]
    steps = [score // 2**11 for score, _ in scores]
    stats = len(scores), sum(steps), sum(step * step for step in steps)
    return sorted(keys, reverse=True)[:k], stats, [score for score, _ in scores]


# --- fusion, priors, replay ----------------------------------------------------------------------
