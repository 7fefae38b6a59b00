"""The profile of a recall: its parts add up, and every kernel that is called is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.speed import profile
from harness.speed.report import write_speed_record


def test_the_parts_add_up_to_the_recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "_ROUNDS", 3)
    record = profile.measure_profile([300], "the command", lambda *told: None)
    (store,) = record["stores"]
    assert sum(store["parts_ms"].values()) == pytest.approx(store["recall_ms"], abs=0.01)
    kernels = {one["kernel"]: one for one in store["kernels"]}
    assert sum(one["ms"] for one in kernels.values()) == pytest.approx(
        store["parts_ms"]["kernels"], abs=0.05
    )
    assert kernels["score_grams"]["calls"] == 2 and kernels["calibrate"]["calls"] == 1
    assert kernels["score_vectors"]["calls"] == 1 and "rrf_scores" not in kernels
    report = write_speed_record(tmp_path, record, profile.profile_report).read_text("utf-8")
    assert "`the command`" in report and "## Kernels, 300 rows" in report
