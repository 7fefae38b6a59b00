"""The command line end to end, on made-up data without an embedding model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app

CONFIG = """
name = "lexical"
[[datasets]]
name = "synthetic"
sample_queries = 24
[model]
provider = "none"
[[arms]]
name = "gram3"
kind = "gram"
[[arms]]
name = "gram4"
kind = "gram"
size = 4
[freeze]
depth = 50
[sweep]
depth = [10, 50]
weights = [{gram3 = 1, gram4 = 1}]
[bootstrap]
resamples = 100
"""


def harness(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "run.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_run_writes_its_record_and_a_second_one_finds_the_pool(tmp_path, monkeypatch):
    config, out = write(tmp_path, CONFIG), tmp_path / "out"
    done = harness("run", config, "--out", out)
    assert done.exit_code == 0, done.output
    assert "proposal:" in done.stdout
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert str(tmp_path) not in json.dumps(summary)
    assert summary["command"] == "python -m harness run configs/run.toml"
    assert set(summary["hashes"]) == {"config", "code", "data", "pool"}
    assert summary["roles"]["synthetic"]["best single arm"] in ("arm:gram3", "arm:gram4")
    assert (out / "report.md").is_file()
    pools = list((out / "pools").iterdir())

    again = harness("run", config, "--out", out)
    assert again.exit_code == 0
    assert list((out / "pools").iterdir()) == pools
    second = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert second["records"] == summary["records"]

    shown = harness("report", out)
    assert shown.exit_code == 0
    assert "report.md" in shown.stdout


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("depth = 50", "dept = 50", 2, ["freeze.dept", "did you mean 'depth'?"]),
        ('name = "synthetic"', 'name = "synthetik"', 1, ["synthetik"]),
        ('provider = "none"', 'provider = "nothing"', 2, ["nothing"]),
        ('kind = "gram"\nsize', 'kind = "dense"\n#', 2, ["'gram4' is dense", "makes no vectors"]),
    ],
)
def test_a_users_mistake_is_a_message_not_a_traceback(tmp_path, old, new, code, words):
    assert old in CONFIG
    text = CONFIG.replace(old, new, 1)
    done = harness("run", write(tmp_path, text), "--data", tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == code, done.output
    assert isinstance(done.exception, SystemExit)
    assert "error: " in done.stderr
    assert "Traceback" not in done.output
    for word in words:
        assert word in done.stderr


def test_wrong_folders_are_usage_errors(tmp_path):
    config = write(tmp_path, CONFIG)
    missing = harness("run", config, "--data", tmp_path / "absent")
    assert missing.exit_code == 2
    assert "does not exist" in missing.stderr
    assert harness("run", tmp_path / "absent.toml").exit_code == 2
    assert harness("report", tmp_path / "absent").exit_code == 2
    assert harness("report", tmp_path).exit_code == 2
    (tmp_path / "summary.json").write_text('{"config": {')
    damaged = harness("report", tmp_path)
    assert damaged.exit_code == 1
    assert "truncated" in damaged.stderr


def test_an_unwritable_out_folder_is_a_failure_without_traceback(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = harness("run", write(tmp_path, CONFIG), "--out", tmp_path / "file" / "out")
    assert done.exit_code == 1
    assert "error: " in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["report", "--help"]])
def test_help_reads_on_a_narrow_terminal(arguments):
    done = harness(*arguments)
    assert done.exit_code == 0
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_every_shipped_config_loads():
    from harness.adaptive.config import AdaptiveConfig
    from harness.adaptive.grid import build_adaptive_settings
    from harness.adaptive.splits import committed_split
    from harness.config import load_config
    from harness.exit.config import ExitConfig
    from harness.grid import build_settings
    from harness.scale.config import ScaleConfig

    configs = sorted((Path(__file__).parent.parent / "configs").glob("*.toml"))
    assert {path.stem for path in configs} >= {"quick", "locomo", "realtalk", "defaults"}
    for path in configs:
        config = load_config(path)
        assert config.name == path.stem
        if isinstance(config, AdaptiveConfig):
            settings = build_adaptive_settings(config)
            assert any(setting.eligible and not setting.single_arm for setting in settings)
            assert all(committed_split(dataset.name) for dataset in config.datasets)
        elif isinstance(config, ExitConfig):
            assert all(config.policy(variant) for variant in config.variants)
            assert all(committed_split(dataset.name) for dataset in config.datasets)
        elif not isinstance(config, ScaleConfig):
            assert len(build_settings(config)) >= 100
