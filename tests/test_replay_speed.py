"""The replay speed record: what is compared is the same work, and the record says all it must."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from cpersona_jit.kernels.numpy_path.replay import replay_numpy
from cpersona_jit.kernels.replay import replay_gold_ranks
from harness import replay_speed
from harness.cli import app
from harness.random_pool import MIXES, frozen_pool, settings_mix


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(replay_speed, "QUERIES", 12)
    monkeypatch.setattr(replay_speed, "CANDIDATES", 40)


@pytest.mark.parametrize("mix", MIXES)
def test_both_implementations_rank_the_mix_alike(mix):
    pool, settings = frozen_pool(20, 60, 4), settings_mix(mix, 24, 4, 30)
    found = replay_gold_ranks(*pool, *settings)
    assert np.array_equal(found, replay_numpy(*pool, *settings))
    assert len(np.unique(found)) > 10  # ranks worth comparing, not one constant


def test_mixes_vary_what_their_names_say():
    made = {mix: settings_mix(mix, 64, 4, 100) for mix in MIXES}
    assert set(made["rrf"].kind) == {0} and set(made["score"].kind) == {1}
    assert set(made["all"].kind) == {0, 1}
    assert ((made["sparse weights"].weights > 0).sum(axis=1) == 2).all()
    assert (made["score"].weights > 0).all()
    assert set(made["depths"].depth) == {5, 20, 50, 100} and set(made["rrf"].depth) == {100}


def test_command_writes_the_record(small, tmp_path):
    result = CliRunner().invoke(app, ["replay-speed", "--out", str(tmp_path / "record")])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "record" / "summary.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert [mix["mix"] for mix in record["mixes"]] == list(MIXES)
    assert all(mix["ratio"] > 0 for mix in record["mixes"])
    assert record["reached"] == all(mix["ratio"] >= record["goal"] for mix in record["mixes"])
    assert record["command"] == "python -m harness replay-speed --out results/record"
    assert {"machine", "revision", "code", "load_average"} <= set(record)
    assert str(tmp_path) not in text


def test_a_kernel_that_ranks_otherwise_is_no_result(small, tmp_path, monkeypatch):
    def wrong(*arrays):
        return replay_gold_ranks(*arrays) + 1

    monkeypatch.setattr(replay_speed, "compiled_kernel", lambda: wrong)
    result = CliRunner().invoke(app, ["replay-speed", "--out", str(tmp_path)])
    assert result.exit_code == 1 and "different ranks" in result.output
    assert not (tmp_path / "summary.json").exists()


def test_a_folder_that_cannot_be_made_is_said_before_the_work(tmp_path):
    (tmp_path / "file").write_text("here already")
    result = CliRunner().invoke(app, ["replay-speed", "--out", str(tmp_path / "file" / "sub")])
    assert result.exit_code == 1 and "error:" in result.output
