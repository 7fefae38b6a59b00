"""No stage of an adaptive recall feels a neighbour: rows, blocks, sessions, names or dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from adaptive_cases import LONG, NOW, QUESTIONS, adaptive, complete, filled, talk, untimed
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from memory_cases import plain

from cpersona_jit import Memory, Record, Source
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings, CueWeights
from cpersona_jit.recall.row_prior import RowPrior

CUES = [
    None,
    {"sessions_ago": 1},
    {"sessions_ago": 2, "certainty": "vague"},
    {"after": "2024-05-01", "before": "2024-05-02"},
]
PRIOR = RowPrior(window=3, reach=7, far_count=3, far_weight=0.5, half_life_days=1.0)
WORDS = ["green tea", "tea tea tea", "京都で抹茶", "茶道茶道", "the knee?", "Mia 自転車", LONG[0]]

records = st.builds(
    Record,
    content=st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join),
    agent_id=st.sampled_from(["a", "b"]),
    project_id=st.sampled_from(["", "p", "q"]),
    channel=st.sampled_from(["", "x"]),
    source=st.sampled_from([None, Source(name="Mia"), Source(name="ユキ")]),
    session_id=st.sampled_from(["", "s1", "s2", "s3"]),
    timestamp=st.sampled_from(["", "2024-05-01", "2024-05-02", "2024-05-03"]),
)


def sees(record: Record, project_id: str | None) -> bool:
    """Whether agent a with a project admits the record; written apart from the code under test."""
    return record.agent_id == "a" and (project_id is None or record.project_id in ("", project_id))


def account(
    memory: Memory, query: str, project_id: str | None, chosen: AdaptiveSettings, cue: dict | None
) -> object:
    """Rows, notes, period and trace of a recall; ids become places among the caller's rows."""
    result = memory.recall(
        query,
        agent_id="a",
        project_id=project_id,
        settings=chosen,
        limit=3,
        time_cue=cue,
        now=NOW,
        trace=True,
    )
    trace = untimed(result.trace)
    columns = memory.columns()
    names = columns.tables["agent_id"]
    projects = {code: name for name, code in columns.tables["project_id"].items()}
    mine = [
        int(columns.ids[row])
        for row in range(columns.n)
        if columns.codes_by_name["agent_id"][row] == names.get("a", -1)
        and (
            project_id is None
            or projects[columns.codes_by_name["project_id"][row]] in ("", project_id)
        )
    ]

    def places(ids: np.ndarray) -> list[int]:
        return [mine.index(i) for i in ids.tolist()]

    anonymous = replace(trace, generation=0, pool_ids=0, ranking=0, reserved=0, cued=0)
    lists = [trace.pool_ids, trace.ranking, trace.reserved, trace.cued]
    rows = [replace(row, ref="", created_at="") for row in result.rows]
    return plain((rows, result.degraded, result.period, anonymous)), [places(x) for x in lists]


def assert_alone(
    rows: Sequence[Record], project_id: str | None, chosen: AdaptiveSettings, cues: Sequence = CUES
) -> None:
    with TemporaryDirectory() as folder:
        crowded = filled(folder, "crowded.db", rows)
        alone = filled(folder, "alone.db", [row for row in rows if sees(row, project_id)])
        with crowded, alone:
            if not alone.status().models:
                return  # a store without rows has not met its model, and says so
            for query in QUESTIONS:
                for cue in cues:
                    assert account(crowded, query, project_id, chosen, cue) == account(
                        alone, query, project_id, chosen, cue
                    ), (query, cue)


@given(
    st.lists(records, max_size=14),
    st.sampled_from([None, "", "p"]),
    st.sampled_from([1, 4, 50]),
    st.sampled_from(CUES),
    st.sampled_from([None, PRIOR]),
)
@examples(max_examples=25, deadline=None)
def test_rows_outside_the_axes_change_nothing(
    rows: list[Record],
    project_id: str | None,
    depth: int,
    cue: dict | None,
    prior: RowPrior | None,
) -> None:
    assert_alone(rows, project_id, complete(depth=depth, prior=prior), [cue])


def test_a_crowd_of_better_rows_is_not_felt() -> None:
    """Enough rows for bitmaps; the neighbour has the caller's sessions, names and long rows."""
    theirs = talk("b", times=6)
    theirs += [Record(question, "b", session_id="s1") for question in QUESTIONS] * 8
    mine = talk(times=3)
    rows = [row for pair in zip(theirs, mine, strict=False) for row in pair]
    rows += [*theirs[len(mine) :], *mine[len(theirs) :]]
    assert_alone(rows, None, complete())
    assert_alone(rows, None, adaptive(depth=5))
    assert_alone(rows, None, complete(depth=5, prior=PRIOR))


@pytest.mark.parametrize("first", ["s1", "s2"])
def test_sessions_of_one_moment_are_counted_by_the_callers_rows(first: str) -> None:
    """The number that a neighbour's use gives to a session's name decides nothing."""
    mine = [
        Record("one tea", "a", session_id="s1", timestamp="2024-05-01"),
        Record("two tea", "a", session_id="s2", timestamp="2024-05-01"),
    ]
    chosen = adaptive(cues=CueWeights(said=32.0))
    with TemporaryDirectory() as folder:
        rows = [Record("x", "b", session_id=first), *mine]
        with filled(folder, "m.db", rows) as memory:
            result = memory.recall(
                "tea", agent_id="a", settings=chosen, time_cue={"sessions_ago": 1}, now=NOW
            )
    assert [row.content for row in result.rows] == ["two tea", "one tea"]


def test_a_session_of_one_name_is_one_per_agent_project_and_channel() -> None:
    rows = [
        Record("old tea", "a", session_id="s", timestamp="2024-05-01"),
        Record("new tea", "a", "p", session_id="s", timestamp="2024-05-02"),
        Record("tea elsewhere", "b", session_id="s", timestamp="2024-05-03"),
        Record("last tea elsewhere", "b", session_id="t", timestamp="2024-05-04"),
    ]
    chosen = adaptive(cues=CueWeights(said=32.0))
    with TemporaryDirectory() as folder, filled(folder, "m.db", rows) as memory:
        for n, first in ((1, "new tea"), (2, "old tea")):
            result = memory.recall(
                "tea", agent_id="a", settings=chosen, time_cue={"sessions_ago": n}, now=NOW
            )
            assert result.rows[0].content == first
            assert result.period["rows"] == 1
        result = memory.recall(
            "tea", agent_id="a", settings=chosen, time_cue={"sessions_ago": 3}, now=NOW
        )
        assert result.period is None  # the neighbour's sessions are not counted
        everyone = memory.recall(
            "tea", across_agents=True, settings=chosen, time_cue={"sessions_ago": 1}, now=NOW
        )
        assert everyone.rows[0].content == "last tea elsewhere"


def test_a_neighbour_cannot_open_a_period_or_name_a_speaker() -> None:
    rows = [
        Record("tea at noon", "a", source=Source(name="Mia"), timestamp="2024-05-01"),
        Record("tea at night", "a", source=Source(name="Ken"), timestamp="2024-05-02"),
        Record("tea with Zoe", "b", source=Source(name="tea"), timestamp="2024-03-01"),
    ]
    assert_alone(rows, None, complete(), [{"after": "2024-03-01", "before": "2024-03-02"}])
