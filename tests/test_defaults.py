"""No default without a measurement: each names a record that chose exactly this setting."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path

import pytest

from cpersona_jit import defaults
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
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


@pytest.mark.parametrize("part", [field.name for field in fields(AdaptiveSettings)])
def test_every_part_of_the_default_names_a_record_that_measured_it(part: str) -> None:
    folder = RESULTS / defaults.RECORDS[part]
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    value = _as_recorded(getattr(defaults.DEFAULT_SETTINGS, part))
    if part in ("gram3", "gram4"):
        assert value in summary["config"]["arms"]
    elif part == "bounds":
        assert summary["settings"]["bounds"] == value
    else:
        measured = [setting.get(part) for setting in summary["settings"].values()]
        assert value in measured, f"no setting of the record has {part} = {value}"


def test_the_default_is_what_its_record_marks_as_chosen() -> None:
    summary, name = chosen(defaults.RECALL_RECORD)
    said = dict(summary["settings"][name])
    # Measured without cues and without the scan of large scopes, which have records of their own,
    # and without the time cap.
    wanted = asdict(replace(defaults.DEFAULT_SETTINGS, cues=None))
    del wanted["scan"]
    said.pop("scan", None)
    wanted["bounds"] |= {"milliseconds": None}
    assert said.pop("kind") == "adaptive"
    assert said.pop("cue") == "none"
    assert said == json.loads(json.dumps(wanted))


def test_the_record_does_not_tell_the_default_from_its_proposal() -> None:
    summary, _ = chosen(defaults.RECALL_RECORD)
    assert summary["proposal"]["not_told_apart"]["shipped"] is True


def test_the_scan_loses_too_little_to_matter_and_is_exact_while_that_is_sooner() -> None:
    text = (RESULTS / defaults.RECORDS["scan"] / "summary.json").read_text(encoding="utf-8")
    record, scan = json.loads(text), defaults.DEFAULT_SETTINGS.scan
    choice = record["choice"]
    assert choice["shipped"] == f"shortlist {scan.shortlist}, sample {scan.sample}"
    assert choice["shipped"] in choice["allowed"]
    larger = [one for one in record["threshold"] if one["rows"] > scan.exact_rows]
    assert larger and all(one["ratio"] < 1.0 for one in larger)
    assert scan.exact_rows in [one["rows"] for one in record["threshold"]]


def _as_recorded(value: object) -> object:
    plain = asdict(value) if is_dataclass(value) else value
    return json.loads(json.dumps(plain))


def chosen(record: str) -> tuple[dict, str]:
    """Return the summary of a record and the one setting that it marks as chosen."""
    summary = json.loads((RESULTS / record / "summary.json").read_text(encoding="utf-8"))
    names = {row["setting"] for row in summary["records"] if row.get("chosen") is True}
    assert len(names) == 1, f"{record} chose {sorted(names)}, not one setting"
    return summary, names.pop()
