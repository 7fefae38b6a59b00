"""Rows as recall hands them out: like any other frozen dataclass, however they are made."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace

import pytest

from cpersona_jit.records import Row, Source, format_utc
from cpersona_jit.results import RecallRow, recall_row

CONTENTS = ["Green tea at nine.", "京都駅で抹茶を飲んだ。🍵"]


def stored(content: str) -> Row:
    return Row(
        ref="ep:7",
        id=7,
        agent_id="me",
        project_id="p",
        channel="c",
        msg_id="m-7",
        content=content,
        source=Source("user", "u", "花子"),
        session_id="s",
        timestamp="2026-01-02",
        event_time=5,
        created_at=1_767_323_045_000_006,
        updated_at=6,
        metadata={"a": 1},
        model_id=2,
        revision=9,
        kind="episode",
    )


def by_its_fields(content: str) -> RecallRow:
    return RecallRow(
        ref="ep:7",
        id="m-7",
        content=content,
        source=Source("user", "u", "花子"),
        timestamp="2026-01-02",
        session_id="s",
        project_id="p",
        channel="c",
        created_at="2026-01-02T03:04:05.000006Z",
        score=0.5,
        admission="time_cue",
        revision=9,
    )


@pytest.mark.parametrize("content", CONTENTS)
def test_a_recalled_row_is_the_one_that_its_fields_make(content):
    made, expected = recall_row(stored(content), 0.5, "time_cue"), by_its_fields(content)
    assert type(made) is RecallRow
    assert made == expected
    assert (hash(made), repr(made), asdict(made)) == (
        hash(expected),
        repr(expected),
        asdict(expected),
    )
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == expected
    assert replace(made, score=1.0) == replace(expected, score=1.0) != made
    assert recall_row(stored(content), 0.5).admission == ""


@pytest.mark.parametrize("name", [field.name for field in fields(RecallRow)])
def test_a_recalled_row_cannot_be_changed(name):
    made = recall_row(stored(CONTENTS[0]), 0.5)
    with pytest.raises(FrozenInstanceError):
        setattr(made, name, "x")
    with pytest.raises(FrozenInstanceError):
        delattr(made, name)
    assert made == replace(by_its_fields(CONTENTS[0]), admission="")


def test_a_time_that_no_calendar_has_is_refused_each_time():
    for _ in range(2):
        with pytest.raises(OverflowError):
            format_utc(2**62)
