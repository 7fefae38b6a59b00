"""A setting that a wrong cue ruins is measured, told, and never chosen."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from harness.cli import app

CONFIG = """
kind = "adaptive"
name = "wrong"
[[datasets]]
name = "synthetic"
[[models]]
provider = "none"
[freeze]
depth = 60
[base]
depth = 40
[base.cues]
arm = "parsed"
said = 0.0
event = 0.0
bare = 0.0
[[sweep]]
cues.arm = ["none"]
[[sweep]]
cues.arm = ["shifted"]
[[sweep]]
cues.said = [900.0]
cues.event = [900.0]
cues.bare = [900.0]
[wrong_cue]
datasets = ["synthetic"]
keeps = %s
[bootstrap]
resamples = 100
"""
KEPT = "kept_under_a_wrong_cue"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the config with a share that must be kept; return the exit, summary and report."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(keeps: float, change: tuple[str, str] = ("", "")):
        path, out = tmp_path / "wrong.toml", tmp_path / "out"
        path.write_text((CONFIG % keeps).replace(*change), encoding="utf-8")
        done = CliRunner().invoke(app, ["run", str(path), "--out", str(out)])
        if done.exit_code:
            return done, None, None
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        return done, summary, (out / "report.md").read_text(encoding="utf-8")

    return call


def heavy_of(summary: dict) -> str:
    (name,) = (name for name in summary["settings"] if "900" in name)
    return name


def test_a_setting_that_a_wrong_cue_ruins_is_not_chosen(run) -> None:
    done, summary, report = run(0.95)
    assert done.exit_code == 0, done.output
    settings, heavy = summary["settings"], heavy_of(summary)
    assert settings["base"][KEPT] == 1.0, "a cue that weighs nothing costs nothing"
    assert settings[heavy][KEPT] < 0.95
    assert settings[heavy]["refused"] and not settings["base"]["refused"]
    assert summary["proposal"]["setting"] != heavy
    assert summary["cue_study"]["setting"] == "base"
    assert "1 of 2 do, and this one keeps 100.0 %" in report
    unasked = [one for one in settings.values() if one.get("cue") in (None, "none", "shifted")]
    assert unasked and not any(KEPT in one for one in unasked)


def test_where_nothing_must_be_kept_the_best_is_chosen(run) -> None:
    _, summary, _ = run(0.0)
    assert not summary["settings"][heavy_of(summary)]["refused"]
    assert summary["proposal"]["setting"] == heavy_of(summary)


def test_without_the_section_nobody_is_asked(run) -> None:
    _, summary, report = run(0.5, ('datasets = ["synthetic"]\nkeeps', "keeps"))
    assert not any(KEPT in one for one in summary["settings"].values())
    assert "With a wrong cue, a setting must keep" not in report


def test_a_dataset_that_is_not_run_is_named(run) -> None:
    done, _, _ = run(0.9, ('datasets = ["synthetic"]\nkeeps', 'datasets = ["locomo"]\nkeeps'))
    assert done.exit_code == 2
    assert "'locomo'" in done.stderr and "synthetic" in done.stderr
