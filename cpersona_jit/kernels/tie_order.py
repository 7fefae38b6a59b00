"""Sorting a few hundred rows inside a kernel: ascending, and in the order that breaks ties.

Merge sort, from runs of one row up: stable, and n log n steps in the worst order. `np.sort` in a
kernel would take seconds to compile.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel_part


@kernel_part
def sort_ascending(values):
    """Return int64 values in ascending order."""
    source, target = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    for i in range(len(values)):
        source[i] = values[i]
    width = 1
    while width < len(source):
        for first in range(0, len(source), 2 * width):
            middle, end = min(first + width, len(source)), min(first + 2 * width, len(source))
            left, right = first, middle
            for place in range(first, end):
                if left < middle and (right == end or source[left] <= source[right]):
                    target[place] = source[left]
                    left += 1
                else:
                    target[place] = source[right]
                    right += 1
        source, target = target, source
        width *= 2
    return source


@kernel_part
def sort_by_tie(rows, event_time, ids):
    """Return the order, places in `rows`, that breaks ties of a score.

    Event time descending, so that undated rows, the smallest int64, are last; memory id ascending.
    """
    count = len(rows)
    times, own_ids = np.empty(count, np.int64), np.empty(count, np.int64)
    source, target = np.empty(count, np.int64), np.empty(count, np.int64)
    for p in range(len(rows)):
        times[p], own_ids[p], source[p] = event_time[rows[p]], ids[rows[p]], p
    width = 1
    while width < len(source):
        for first in range(0, len(source), 2 * width):
            middle, end = min(first + width, len(source)), min(first + 2 * width, len(source))
            left, right = first, middle
            for place in range(first, end):
                if left < middle and (
                    right == end or not _goes_first(times, own_ids, source[right], source[left])
                ):
                    target[place] = source[left]
                    left += 1
                else:
                    target[place] = source[right]
                    right += 1
        source, target = target, source
        width *= 2
    return source


@kernel_part
def _goes_first(times, ids, one, other):
    """Whether the row at one place precedes that at another."""
    return times[one] > times[other] or (times[one] == times[other] and ids[one] < ids[other])
