"""No default without a measurement: each names a record that chose exactly this setting."""

from __future__ import annotations

import json
from pathlib import Path

from cpersona_jit import defaults
from cpersona_jit.recall.settings import ArmSpec, FusionSpec
from harness.grid import Setting, row_fusion_setting

RESULTS = Path(__file__).parent.parent / "results"


def test_the_fused_arms_all_take_part() -> None:
    names = {arm.name for arm in defaults.ROW_ARMS}
    assert set(defaults.ROW_FUSION.weights) == names
    assert {arm.name for arm in defaults.ROW_FUSION_SETTINGS.active_arms} == names
    assert set(defaults.BASELINE_FUSION.weights) <= names


def test_the_baseline_is_the_frozen_one() -> None:
    baseline = defaults.BASELINE_FUSION
    assert (baseline.kind, baseline.rrf_k) == ("rrf", 60.0)
    assert dict(baseline.weights) == {"dense": 1.0, "gram3": 1.0}


def test_the_row_fusion_is_what_its_record_chose() -> None:
    summary, name = chosen(defaults.ROW_FUSION_RECORD)
    arms = tuple(ArmSpec(**arm) for arm in summary["config"]["arms"])
    wanted = row_fusion_setting(arms, defaults.ROW_FUSION_SETTINGS)
    assert wanted is not None, "the record measured other arms than the row fusion has"
    said = summary["settings"][name]
    fusion = FusionSpec(said["fusion"], said["weights"], said["rrf_k"] or 60.0)
    assert Setting(name, fusion, said["depth"]).identity() == wanted.identity()


def chosen(record: str) -> tuple[dict, str]:
    """Return the summary of a record and the one setting that it marks as chosen."""
    summary = json.loads((RESULTS / record / "summary.json").read_text(encoding="utf-8"))
    names = {row["setting"] for row in summary["records"] if row.get("chosen") is True}
    assert len(names) == 1, f"{record} chose {sorted(names)}, not one setting"
    return summary, names.pop()
