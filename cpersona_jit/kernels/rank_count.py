"""The rank of one row among scored candidates, for the batch replays."""

from __future__ import annotations

from cpersona_jit.kernels.compiled import kernel_part


@kernel_part
def rank_by_count(fused, size, position):
    """1-based rank of one row: those above it, and those like it that stand earlier."""
    score = fused[position]
    above, not_below = 0, 0
    for p in range(size):
        above += fused[p] > score
        not_below += fused[p] >= score
    if not_below > above + 1:
        for p in range(position):
            above += fused[p] == score
    return above + 1
