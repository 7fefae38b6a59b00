"""Rows of a period, and rows apart: the ordered forms say what looking at every row says."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.columns.event_times import UNDATED, EventTimes
from cpersona_jit.columns.parted import parted_rows
from cpersona_jit.kernels.row_mask import admitted_rows

TIMES = st.sampled_from([UNDATED, UNDATED + 1, -5, 0, 1, 2, 3, 2**62, 2**63 - 1])


@given(times=st.lists(TIMES, max_size=20), start=TIMES, end=TIMES)
def test_rows_within_a_period(times, start, end):
    found = EventTimes(np.array(times, np.int64))
    start = max(start, UNDATED + 1)
    assert found.within(start, end).tolist() == [start <= time <= end for time in times]
    assert found.dated.tolist() == [time != UNDATED for time in times]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=30))
def test_rows_apart_keep_their_blocks(rows):
    blocks = np.array([count for count, _ in rows], np.int64)
    row_ptr = np.concatenate(([0], np.cumsum(blocks)))
    chosen = np.array([more for _, more in rows], bool) | (blocks > 0)
    found = parted_rows(chosen, row_ptr)
    assert found.rows.tolist() == admitted_rows(found.words).tolist()
    for row in range(len(rows)):
        at = int(found.place[row])
        assert (at >= 0) == chosen[row]
        if at >= 0:
            assert found.rows[at] == row
            assert found.block_ptr[at : at + 2].tolist() == row_ptr[row : row + 2].tolist()
