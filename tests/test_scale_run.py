"""A scale config end to end: what it may say, a small run of it, and the part with real vectors."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scale_cases import write_dataset
from typer.testing import CliRunner

from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.embed.registry import load_provider
from harness.adaptive.splits import committed_split
from harness.cli import app
from harness.config import ConfigError, load_config
from harness.datasets.synthetic import make_synthetic
from harness.embedding_cache import CachedProvider
from harness.peers.cpersona_side.text_vectors import text_vector
from harness.scale import real
from harness.scale.config import RealConfig, ScaleConfig, SweepConfig
from harness.splits import DEVELOPMENT, HOLDOUT

CONFIG = """
kind = "scale"
name = "small"
[[stores]]
text = "chat"
rows = [300, 1200]
[[stores]]
text = "long"
rows = [100]
[latency]
rounds = 2
[planted]
questions = 12
[sweep]
shortlist = [100, 800]
sample = [4096]
sizes = 1
rounds = 1
[threshold]
rows = [256]
rounds = 2
[real]
dataset = "locomo"
"""


def test_committed_config_sweeps_around_the_default():
    config = load_config(Path(__file__).parent.parent / "configs" / "scale.toml")
    assert isinstance(config, ScaleConfig)
    shipped = DEFAULT_SETTINGS.scan
    pairs = list(product(config.sweep.shortlist, config.sweep.sample))
    assert (shipped.shortlist, shipped.sample) in pairs and len(pairs) == 12
    assert shipped.exact_rows in config.threshold.rows
    assert {s.text: s.rows[-1] for s in config.stores} == {"chat": 1_000_000, "long": 10_000}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("rows = [300, 1200]", "rows = [1200, 300]", ["stores[1]", "[1200, 300]", "ascending"]),
        ("questions = 12", "questions = 60", ["180", "allowed", "150"]),
        ("sample = [4096]", "samples = [4096]", ["sweep.samples", "unknown key", "'sample'"]),
        ('text = "long"', 'text = "verse"', ["stores[2].text", "'chat'", "'verse'"]),
        ("rounds = 1", "rounds = 0", ["sweep.rounds", "0"]),
    ],
)
def test_mistakes_in_the_config_are_named(tmp_path, old, new, expected):
    path = tmp_path / "scale.toml"
    path.write_text(CONFIG.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert all(part in str(caught.value) for part in expected), str(caught.value)


def test_a_scale_config_has_no_holdout(tmp_path):
    path = tmp_path / "scale.toml"
    path.write_text(CONFIG, encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(path), "--holdout", "why not"])
    assert done.exit_code == 2 and "only a config of kind 'adaptive'" in done.output


def test_a_run_writes_the_record(tmp_path):
    path, out = tmp_path / "scale.toml", tmp_path / "out"
    path.write_text(CONFIG, encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(path), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "note: no real vectors: --data names no folder with locomo" in done.output
    assert {p.name for p in out.iterdir()} == {
        "summary.json",
        "report.md",
        "scale.png",
        "scans.png",
    }
    text = (out / "summary.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert [(s["text"], s["rows"]) for s in record["stores"]] == [
        ("chat", 300),
        ("chat", 1200),
        ("long", 100),
    ]
    small, large, long = record["stores"]
    assert large["latency"]["built"]["recall_ms"] > 0
    assert set(large["latency"]["built"]["stages"]) >= {
        "signals",
        "retrieve",
        "structure",
        "select",
    }
    assert long["blocks_per_row"] > 3 > 1.2 > small["blocks_per_row"] > 1
    # Too few rows for a file of columns; a large store gets one, and it is read the second time.
    assert small["disk"]["columns"] is None and set(small["latency"]) == {"built"}
    assert large["disk"]["columns"] > 0 and set(large["latency"]) == {"built", "opened"}
    if large["memory"]["built"] is not None:  # there is /proc
        held = {name: of["anonymous"] for name, of in large["memory"].items()}
        assert held["built"] > held["opened"] and large["memory"]["opened"]["mapped"] > 1
        assert large["touched"]["file"] == round(large["disk"]["columns"] / 1e6, 1)
        assert 0 < large["touched"]["grew"] < large["touched"]["file"] + 1
        report = (out / "report.md").read_text(encoding="utf-8")
        assert "Control: one byte of each megabyte" in report and "1,200 chat rows: " in report
    assert small["touched"] is None
    assert large["quality"]["shipped"] == {
        **large["quality"]["exact"],
        "same_rows": 1.0,
        "same_list": 1.0,
        "dense_list": 1.0,
    }
    assert "quality" not in long
    (place,) = record["swept"]
    assert [one["scan"] for one in place["scans"]] == [
        "exact",
        "shortlist 100, sample 4096",
        "shortlist 800, sample 4096",
    ]
    assert record["settings"]["shortlist 100, sample 4096"]["scan"]["exact_rows"] == 0
    assert record["settings"]["shipped"]["scan"]["shortlist"] == DEFAULT_SETTINGS.scan.shortlist
    (size,) = record["threshold"]
    assert size["rows"] == 256 and size["ratio"] > 0
    followed = {one["figure"]: one for one in record["slopes"] if one["text"] == "chat"}
    assert 0.8 < followed["SQLite file, bytes"]["overall"] < 1.1
    assert all(one["text"] == "chat" for one in record["slopes"])  # one long size: no slope
    assert record["goals"] == []
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "## Slopes" in report and "300 to 1,200" in report and "### Choice" in report
    assert str(tmp_path) not in text + report


def test_scopes_are_merged_once_and_keep_their_answers():
    dataset = make_synthetic()
    merged = real.merge_scopes(dataset, RealConfig(dataset="synthetic", most_rows=10_000))
    assert len({(row.session_id, row.text) for row in merged.rows}) == len(merged.rows)
    assert len(merged.questions) == len(dataset.queries)
    for query, gold in zip(dataset.queries, merged.gold, strict=True):
        texts = {
            row.text
            for row in dataset.rows
            if row.scope_id == query.scope_id
            and row.doc_id in dataset.qrels.get(query.query_id, {})
        }
        assert {merged.rows[place].text for place in gold} == texts
    few = real.merge_scopes(dataset, RealConfig(dataset="synthetic", most_rows=100))
    assert few.scopes < merged.scopes and few.rows == merged.rows[: len(few.rows)]


def test_real_vectors_are_read_from_the_cache_or_left_out(tmp_path):
    parts = committed_split("locomo").scopes
    seen = next(scope for scope, part in parts.items() if part == DEVELOPMENT)
    held = next(scope for scope, part in parts.items() if part == HOLDOUT)
    said = write_dataset(tmp_path / "locomo", seen, held)
    sweep = SweepConfig(shortlist=[50], sample=[4096], rounds=1)
    arguments = (RealConfig(dataset="locomo"), sweep, 1, tmp_path, tmp_path / "cache")
    with pytest.raises(real.NotThereError, match="not in the cache"):
        real.measure_real(*arguments, lambda *told: None)
    with pytest.raises(real.NotThereError, match="no folder with locomo"):
        real.measure_real(*arguments[:3], None, arguments[4], lambda *told: None)
    provider = CachedProvider(_SeededModel(), tmp_path / "cache")
    provider.embed(said, kind="passage")
    provider.embed([text for text in said if text.endswith("?")], kind="query")
    provider.close()
    found = real.measure_real(*arguments, lambda *told: None)
    assert (found["rows"], found["scopes"], found["questions"]) == (3, 1, 1)  # no holdout
    assert [one["scan"] for one in found["scans"]] == ["exact", "shortlist 50, sample 4096"]
    assert found["scans"][1]["same_list"] == 1.0


class _SeededModel:
    """Says that it is the default model."""

    def __init__(self):
        self.info = load_provider("default").info

    def embed(self, texts, *, kind):
        return np.stack([text_vector(text) for text in texts])

    def close(self):
        pass
