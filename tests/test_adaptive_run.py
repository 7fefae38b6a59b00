"""An adaptive run end to end, on made-up data: parts, cue study, report, and the holdout."""

from __future__ import annotations

import copy
import json

import pytest
from typer.testing import CliRunner

from harness.adaptive.cue_study import ARMS
from harness.adaptive.resort import COSINE, CPERSONA, FUSED
from harness.adaptive.resort_study import FULL, REGIMES
from harness.adaptive.splits import committed_split
from harness.cli import app
from harness.datasets.synthetic import make_synthetic
from harness.measures import MACRO
from harness.summary import find_record
from harness.summary_shape import summary_mistake

CONFIG = """
kind = "adaptive"
name = "talk"
gates = [-50, 0.5, 5, 50]
[[datasets]]
name = "synthetic"
sample_queries = 24
[[models]]
provider = "none"
[freeze]
depth = 60
[base]
depth = 40
[base.structure]
on = true
[[sweep]]
structure.on = [false]
cues.arm = ["none", "parsed"]
cues.seats = [2]
[[sweep]]
structure.near = [1.0]
[[sweep]]
cues.arm = ["shifted"]
[resort]
half_lives_days = [30]
[bootstrap]
resamples = 100
"""


def run(*arguments: object):
    return CliRunner().invoke(app, ["run", *map(str, arguments)])


@pytest.fixture
def paths(tmp_path, monkeypatch):
    """The config, the output folder and a ledger of the test's own."""
    config, ledger = tmp_path / "talk.toml", tmp_path / "ledger.jsonl"
    config.write_text(CONFIG, encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("harness.adaptive.ledger.LEDGER_FILE", ledger)
    return config, tmp_path / "out", ledger


def test_the_holdout_stays_closed_until_it_is_opened_with_a_reason(paths):
    config, out, ledger = paths
    done = run(config, "--out", out)
    assert done.exit_code == 0, done.output
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["judged_on"] == "development" and not ledger.exists()
    assert {record["part"] for record in summary["records"]} == {"all", "validation", "development"}
    roles = summary["roles"]["synthetic"]
    assert roles["raw embedding"] == "arm:dense_row" and roles["RRF"] == "rrf"
    assert summary["settings"][summary["proposal"]["setting"]].get("cue") != "shifted"
    study = summary["cue_study"]
    assert {row["arm"] for row in study["values"]} == set(ARMS)
    gates = {row["gate"]: row for row in summary["gate_study"]["rows"]}
    # Without a model, a question in one language finds nothing in a scope of the other.
    assert gates[-50]["kept"] == 1.0 and gates[-50]["foreign_empty"] < 1.0
    assert gates[5]["kept"] < 1.0 and gates[5]["foreign_empty"] > gates[-50]["foreign_empty"]
    assert gates[-50]["own_left"] > gates[0.5]["own_left"] > gates[5]["own_left"]
    # No row could show that much in scopes of this size, so it does not act.
    assert gates[50]["kept"] == 1.0 and gates[50]["own_left"] == gates[-50]["own_left"]
    _check_resort(summary)
    report = (out / "report.md").read_text(encoding="utf-8")
    assert (
        "## Time cues" in report
        and "## Gate" in report
        and "## The order of the answer" in report
        and "![" in report
        and (out / "sensitivity.png").is_file()
    )
    counts = {row["part"]: row["queries"] for row in study["firing"]}
    assert counts["all"] == counts["validation"] + counts["development"]

    opened = run(config, "--out", out, "--holdout", "to promote it: 採用のため")
    assert opened.exit_code == 0, opened.output
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["judged_on"] == "holdout"
    assert {record["part"] for record in summary["records"]} == {"validation", "holdout"}
    (line,) = [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]
    assert line["reason"] == "to promote it: 採用のため" and line["datasets"] == ["synthetic"]
    assert summary["command"].endswith("--holdout 'to promote it: 採用のため'")


def _check_resort(summary: dict) -> None:
    """No monotone confidence moves a row; a sort by age does; no model, so no cosine does."""
    study = summary["resort_study"]
    assert study["orders"] == [FUSED, COSINE, CPERSONA, "cosine x age, 30 d"]
    assert all(row["changed"] == 0 and row["sorted"] > 0 for row in study["monotone"])
    moved = {(row["regime"], row["order"]): row["share"] for row in study["moved"]}
    for regime in REGIMES:
        assert moved[regime, COSINE] == 0.0 < moved[regime, "cosine x age, 30 d"]
    fused = find_record(study["values"], order=FUSED, part="all", regime=FULL, measure="nDCG@10")
    known = {"setting": "base", "part": "all", "task": MACRO, "measure": "nDCG@10"}
    assert summary["proposal"]["setting"] != "base" or fused["value"] == pytest.approx(
        find_record(summary["records"], **known)["value"]
    )
    damaged = copy.deepcopy(summary)
    damaged["resort_study"]["values"][0]["value"] = "x"
    assert summary_mistake(damaged).startswith("resort_study.values.0.value")


def test_only_adaptive_configs_have_a_holdout(paths):
    config, out, ledger = paths
    plain = 'name = "talk"\n' + CONFIG[CONFIG.index("[[datasets]]") : CONFIG.index("[[models]]")]
    plain += '[model]\nprovider = "none"\n[[arms]]\nname = "gram3"\nkind = "gram"\n'
    config.write_text(plain + "[sweep]\nweights = [{gram3 = 1}]\n", encoding="utf-8")
    done = run(config, "--out", out, "--holdout", "why not")
    assert done.exit_code == 2 and "only a config of kind 'adaptive'" in done.stderr
    config.write_text(CONFIG, encoding="utf-8")
    done = run(config, "--out", out, "--holdout", " ")
    assert done.exit_code == 2 and not ledger.exists()


def test_synthetic_scopes_are_in_every_part():
    split = committed_split("synthetic")
    asked = {query.scope_id for query in make_synthetic().queries}
    assert asked == set(split.scopes) and len(set(split.scopes.values())) == 3
