"""The recall speed record: what is timed is the recall it names, on talk that is like talk."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from typer.testing import CliRunner

import cpersona_jit
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.degraded import CUE_OUT_OF_REACH
from cpersona_jit.isolation import Axes
from harness.cli import app
from harness.speed import measure
from harness.speed.stores import GivenVectors, make_store, without_blocks
from harness.speed.talk import AGENT, CHAT, LONG, NOW, QUESTIONS, records

ROWS = 600


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("speed") / "memory.db"
    return path, make_store(path, ROWS, CHAT)


def test_rows_are_talk_in_two_languages_the_same_every_time():
    few, again = list(records(200, CHAT)), list(records(200, CHAT))
    assert few == again
    assert [row.content for row in records(300, CHAT)][:200] == [row.content for row in few]
    assert len({row.session_id for row in few}) > 5
    assert len({row.source.name for row in few}) == 4
    assert any("ます" in row.content for row in few) and any(" the " in row.content for row in few)
    assert 0.05 < np.mean([row.content[-1] in "?？" for row in few]) < 0.4
    assert max(row.timestamp for row in few) < NOW


def test_blocks_a_row(store):
    _, columns = store
    assert 1.02 < columns.block_count.mean() < 1.2
    long = [row.content for row in records(50, LONG)]
    assert 900 < np.median([len(text) for text in long]) < 1400


def test_every_question_names_a_time_and_finds_rows_without_a_complaint(store):
    path, columns = store
    with cpersona_jit.open(path, GivenVectors(), create=False) as memory:
        memory._keeper.columns = columns
        for question in QUESTIONS:
            found = memory.recall(question, agent_id=AGENT, settings=DEFAULT_SETTINGS, now=NOW)
            assert len(found.rows) >= 10
            # A small store does not reach back to every period; nothing else may be said.
            assert found.degraded == (() if found.period else (CUE_OUT_OF_REACH,))
            assert memory._keeper.columns is columns  # the snapshot was current, nothing was built
            cue = measure.read_intent(question, None, NOW, parse=True).cue
            assert cue is not None


def test_whole_rows_differ_by_their_blocks_alone(store):
    _, columns = store
    whole = without_blocks(columns)
    assert columns.blocks.n > 0 and whole.blocks.n == 0
    assert whole.codes is columns.codes and (whole.block_count == 1).all()
    assert whole.block_mask(Axes.agent(AGENT)).count == 0


def test_command_writes_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "_ROUNDS", 2)
    out = tmp_path / "speed"
    words = ["recall-speed", "--rows", f"{ROWS},300", "--texts", "chat", "--out", str(out)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    text = (out / "summary.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert [store["rows"] for store in record["stores"]] == [ROWS, 300]
    for one in record["stores"]:
        assert [v["variant"] for v in one["variants"]][-1] == measure.COMPLETE
        assert all(min(v["wall_ms"], v["fastest_ms"], v["cpu_ms"]) > 0 for v in one["variants"])
        assert set(one["stages"]) >= {"signals", "envelope", "retrieve", "structure", "select"}
        assert ["process_ms" in v for v in one["variants"]] == [False, True, True, True, True]
    assert record["settings"] == json.loads(json.dumps(asdict(DEFAULT_SETTINGS)))
    assert record["reached"] is None and record["command"].endswith("--out results/speed")
    assert {"machine", "revision", "code", "load_average"} <= set(record)
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "not measured" in report and "| + time cue |" in report
    assert str(tmp_path) not in text + report


@pytest.mark.parametrize(
    ("option", "value"), [("--rows", "0"), ("--rows", "10,x"), ("--texts", "verse")]
)
def test_mistakes_in_the_options_are_named(tmp_path, option, value):
    result = CliRunner().invoke(app, ["recall-speed", option, value, "--out", str(tmp_path / "o")])
    assert result.exit_code == 2 and option in result.output and "allowed" in result.output
