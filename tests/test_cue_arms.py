"""Cues that are wrong on purpose are wrong in the way that is said, wherever the right one lies."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.cues.time_cue import US_PER_DAY, TimeCue
from cpersona_jit.recall.envelope import Envelope
from harness.adaptive.cue_arms import PARTLY, SHIFTED, wrong_cues

DAYS = st.lists(st.integers(0, 400), min_size=1, max_size=30)


def made(times: np.ndarray, start: int | None, end: int | None) -> Envelope:
    cue = TimeCue(start, end, None, "likely", "the words", "form", True)
    low = np.iinfo(np.int64).min + 1 if start is None else start
    high = np.iinfo(np.int64).max if end is None else end
    return Envelope(cue, low, high, (times >= low) & (times <= high), 1.0)


@given(DAYS, st.data())
def test_wrong_cues_keep_what_they_promise(days, data):
    times = np.array(days) * US_PER_DAY + 7
    start = data.draw(st.sampled_from(times.tolist()))
    end = data.draw(st.sampled_from([t for t in times.tolist() if t >= start]))
    ends = data.draw(st.sampled_from([(start, end), (None, end), (start, None)]))
    query = data.draw(st.text(max_size=8))
    envelope = made(times, *ends)
    cues = wrong_cues(envelope, times, query)
    assert cues == wrong_cues(envelope, times[::-1], query)
    low = max(envelope.start_us, int(times.min()))
    high = min(envelope.end_us, int(times.max()))
    partly = cues[PARTLY]
    assert partly.start_us <= low and partly.end_us >= high
    assert partly.end_us - partly.start_us == high - low + 2 * max(high - low, US_PER_DAY)
    if SHIFTED in cues:
        moved = cues[SHIFTED]
        assert moved.end_us - moved.start_us == high - low
        assert moved.end_us < low or moved.start_us > high
        assert ((times >= moved.start_us) & (times <= moved.end_us)).any()
    else:
        assert envelope.inside.all(), "rows outside are rows to be wrong about"
    assert all(cue.certainty == "likely" and cue.about_event for cue in cues.values())
