"""The record of a server: what is timed is what it says, on a store that the server can open."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import cpersona_jit
from cpersona_jit.kernels.cache_folder import base_folder
from cpersona_jit.recall.compile_apart import FIRST
from harness.cli import app
from harness.serving import measure
from harness.serving.compiling import measure_compiling
from harness.serving.recalls import AT_ONCE, measure_recalls
from harness.serving.report import report_text, write_serving_record
from harness.serving.server import measure_pings, measure_start
from harness.serving.stores import KnownQuestions, make_served_store
from harness.speed.talk import AGENT, QUESTIONS

ROWS = 300


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("serving") / "memory.db"
    make_served_store(path, ROWS)
    return path


def test_rows_and_blocks_have_vectors_of_the_default_embedding(store):
    with cpersona_jit.open(store, KnownQuestions(QUESTIONS), create=False) as memory:
        columns = memory.columns()
        assert columns.n == ROWS
        assert columns.embedded.count == ROWS
        found = memory.recall(QUESTIONS[0], agent_id=AGENT)
    assert not [note for note in found.degraded if "vector" in note or "block" in note]


def test_recalls_at_once_give_the_same_rows(store):
    rounds = []
    found = measure_recalls(store, 2, rounds.append)  # without a time limit
    assert rounds == [1, 2]
    assert found["same_rows"] is True
    assert found["recalls"] == AT_ONCE
    assert found["one_lock_ms"] > 0 and found["one_lock_ratio"] > 0
    assert found["at_once_ms"] > 0 and found["one_after_another_ms"] > 0
    assert found["throughput_ratio"] > 0 and found["two_clients_ratio"] > 0


def test_a_server_is_started_and_pinged(store):
    start = measure_start(store, base_folder())
    assert start["same_answer"] is not False  # None: the time limit cut one short
    assert 0 < start["initialize_s"] <= start["first_recall_s"] <= start["fast_recall_s"]
    pings = measure_pings(store, base_folder(), 0.5)
    assert pings["recalls"] >= AT_ONCE
    assert pings["pings"] > 0
    assert pings["loop"]["looks"] > 0
    assert pings["loop"]["of_99_in_100_ms"] <= pings["loop"]["longest_ms"]
    assert all(pings["controls"][name]["pings"] > 0 for name in ("idle", "busy"))
    assert pings["median_ms"] <= pings["of_99_in_100_ms"] <= pings["longest_ms"]


def test_compiling_is_taken_apart():
    parts = measure_compiling()
    assert [one["part"] for one in parts] == [*FIRST]
    for one in parts:
        assert one["functions"] >= len(one["longest"]) > 0
        assert 0 < sum(each["own_s"] for each in one["longest"]) <= one["compiling_s"]


def record(**found):
    """A record as `measure_serving` makes it, with figures that nobody measured."""
    start = {"initialize_s": 0.5, "first_recall_s": 0.9, "fast_recall_s": 1.5, "same_answer": True}
    return {
        "command": "python -m harness serving --rows 5000 --out results/serving",
        "rows": 5000,
        "start_rows": 1000,
        "at_once": 8,
        "starts": {"empty": {**start, "starts": 3}, "filled": {**start, "starts": 3}},
        "compiling": [
            {
                "part": "grams",
                "imports_s": 0.3,
                "compiling_s": 6.5,
                "functions": 67,
                "longest": [{"function": "gram_find._find", "own_s": 0.5}],
            }
        ],
        "recalls": {
            "recalls": 8,
            "rounds": 30,
            "one_after_another_ms": 16.0,
            "at_once_ms": 10.0,
            "one_lock_ms": 16.5,
            "one_lock_ratio": 0.97,
            "burst_ratio": 1.6,
            "throughput_ratio": 1.7,
            "two_clients_ratio": 1.8,
            "same_rows": True,
        },
        "pings": {
            "pings": 1234,
            "median_ms": 1.5,
            "of_99_in_100_ms": 9.0,
            "longest_ms": 61.0,
            "recalls_per_second": 99.5,
            "loop": {"looks": 4321, "of_99_in_100_ms": 3.5, "longest_ms": 11.5},
            "controls": {
                name: {"pings": 77, "median_ms": 1.0, "of_99_in_100_ms": 2.0, "longest_ms": longest}
                for name, longest in (("idle", 4.5), ("busy", 33.0))
            },
        },
        "goals": [
            {"goal": goal, "limit": limit, "found": found[goal], "reached": reached}
            for goal, limit in measure.GOALS.items()
            for reached in [measure._reached(goal, found)]
        ],
        "load_average": {"before": [0.1], "after": [2.0]},
        "machine": {"cpu": "a processor", "cores": 2},
    }


def test_the_report_says_which_goals_are_missed(tmp_path):
    found = {
        "initialize_s": 0.5,
        "fast_recall_s": 2.0,
        "first_compile_s": 6.5,
        "throughput_ratio": 1.39,
        "loop_late_ms": 50.0,
    }
    path = write_serving_record(tmp_path, record(**found))
    text = path.read_text()
    assert json.loads((tmp_path / "summary.json").read_text())["rows"] == 5000
    assert text == report_text(record(**found))
    rows = [line for line in text.splitlines() if "reached" in line or "missed" in line]
    assert ["missed" in row for row in rows] == [False, False, True, True, False]
    assert "1,234" in text
    assert "0.3 for imports and 6.5 for 67 functions (by themselves `gram_find._find` 0.5)" in text
    assert "behind one lock 16.5 ms, 0.97 times" in text
    assert "late by 3.5 ms in 99 of 100 looks and by 11.5 ms at most, of 4,321" in text
    assert "nothing else running: " in text and "33 ms at most, of 77" in text


@pytest.mark.parametrize("rows", ["0", "1000001", "many", "10,20"])
def test_a_number_of_rows_that_cannot_be_is_refused(rows, tmp_path):
    result = CliRunner().invoke(app, ["serving", "--rows", rows, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert f"--rows is '{rows}'; allowed: " in result.output
