"""The record of import and export speed, over a few rows."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from harness.cli import app


def test_a_record_is_written(tmp_path):
    out = tmp_path / "record"
    result = CliRunner().invoke(app, ["bulk-speed", "--rows", "300", "--out", str(out)])
    assert result.exit_code == 0, result.output
    record = json.loads((out / "summary.json").read_text("utf-8"))
    names = [run["what"] for run in record["runs"]]
    assert names == ["import parquet", "export parquet", "import jsonl", "export jsonl"]
    for run in record["runs"]:
        assert run["seconds"] > 0 < run["cpu_seconds"]
        assert 10 < run["peak_megabytes"] < 2000
        assert run["bytes"] / 300 > 2048
    report = (out / "report.md").read_text("utf-8")
    assert "| 300 | import parquet |" in report
    assert record["command"].startswith("python -m harness bulk-speed --rows 300")


@pytest.mark.parametrize("rows", ["0", "many", "10,,20"])
def test_mistakes_are_told(tmp_path, rows):
    result = CliRunner().invoke(app, ["bulk-speed", "--rows", rows, "--out", str(tmp_path / "o")])
    assert result.exit_code == 2
    assert "allowed: whole numbers" in result.output
