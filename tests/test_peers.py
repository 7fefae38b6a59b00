"""Side by side with peers: the record of a run, with peers left out and with those there are."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from harness import replay_speed
from harness.cli import app
from harness.peers import installed, measure, turns
from harness.peers.cpersona_env import PeerError, cpersona_python
from harness.peers.cpersona_process import RUNNER, CpersonaProcess
from harness.peers.cpersona_side.text_vectors import DIM, text_vector
from harness.peers.dense import compare_int8
from harness.peers.figures import ENGINE
from harness.peers.goals import COMPARISONS, CPERSONA, FTS5, GRAMS, RECALL
from harness.peers.grams import compare_grams
from harness.peers.signs import compare_hamming
from harness.peers.vectors import coded_vectors
from harness.peers.whole import compare_whole_recall

ROWS = 300


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """Few rounds, and no place for an environment of cpersona."""
    monkeypatch.setattr(turns, "LEAST_ROUNDS", 2)
    for seconds in ("SCAN_SECONDS", "GRAM_SECONDS", "RECALL_SECONDS"):
        monkeypatch.setattr(measure, seconds, 0.0)
    monkeypatch.setattr(replay_speed, "QUERIES", 12)
    monkeypatch.setattr(replay_speed, "CANDIDATES", 40)
    monkeypatch.setattr(replay_speed, "_ROUNDS", 2)
    (tmp_path / "file").write_text("here already")
    monkeypatch.setattr(measure, "CPERSONA_ENVIRONMENT", str(tmp_path / "file" / "environment"))


@pytest.fixture
def nothing_installed(monkeypatch):
    for module in installed.PEERS.values():
        monkeypatch.setitem(sys.modules, module, None)  # what makes an import fail


@pytest.fixture
def cpersona():
    """The environment that the command made on this machine."""
    import platformdirs

    folder = platformdirs.user_cache_path("cpersona-jit") / "peers" / measure.CPERSONA_ENVIRONMENT
    if not folder.is_dir():
        pytest.skip("no environment of cpersona: run python -m harness peers once")
    return cpersona_python(folder)


def test_command_writes_the_record_and_says_which_peers_are_missing(
    quick, nothing_installed, tmp_path
):
    out = tmp_path / "record"
    result = CliRunner().invoke(app, ["peers", "--rows", f"{ROWS},64", "--out", str(out)])
    assert result.exit_code == 0, result.output
    text = (out / "summary.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert {one["comparison"] for one in record["comparisons"]} == set(COMPARISONS)
    assert {one["rows"] for one in record["comparisons"]} == {ROWS, 64, 12 * 40}
    skipped = {one["peer"]: one["reason"] for one in record["skipped"]}
    assert {"faiss-cpu", "bm25s", "apsw", "usearch"} <= set(skipped)
    assert all(installed.HINT in skipped[name] for name in ("faiss-cpu", "bm25s"))
    assert "no environment for it" in skipped[CPERSONA]
    assert any("--data" in reason for reason in skipped.values())
    assert record["peers"] == {}
    assert record["command"].endswith("--out results/record")
    assert {"machine", "revision", "code", "load_average", "tier"} <= set(record)
    for one in record["comparisons"]:
        assert all(value > 0 for value in one["milliseconds"].values())
    (whole,) = (o for o in record["comparisons"] if (o["comparison"], o["rows"]) == (RECALL, ROWS))
    assert set(whole["milliseconds"]) == {ENGINE} and whole["figures"] == []
    # So few rows have no goal; replay does not depend on them.
    assert {goal["comparison"] for goal in record["goals"]} == {"replay"}
    assert record["reached"] == all(goal["value"] >= 5000 for goal in record["goals"])
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "## Not compared" in report and installed.HINT in report
    assert str(tmp_path) not in text + report
    assert (out / "ratios.png").stat().st_size > 0
    assert "note: faiss-cpu: not installed" in result.output


def test_a_pip_that_finds_nothing_is_a_reason(monkeypatch, tmp_path):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(PeerError, match="pip cannot install cpersona") as caught:
        cpersona_python(tmp_path / "environment")
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("value", ["0", "10,x", "2000000"])
def test_mistakes_in_the_rows_are_named(tmp_path, value):
    result = CliRunner().invoke(app, ["peers", "--rows", value, "--out", str(tmp_path / "o")])
    assert result.exit_code == 2 and "--rows" in result.output and "allowed" in result.output
    assert not (tmp_path / "o").exists()


def test_faiss_finds_what_the_engine_finds(quick):
    pytest.importorskip("faiss")
    skipped: dict[str, str] = {}
    data = coded_vectors(ROWS, 384)
    int8, hamming = (
        compare(data, 0.0, skipped.setdefault) for compare in (compare_int8, compare_hamming)
    )
    assert skipped == {}
    # It scores by a coarser query, so that rows of nearly the same score may differ.
    assert min(int8["rows_in_common"].values()) >= 0.9
    assert hamming["same_distances"] and all(hamming["same_distances"].values())
    assert set(hamming["of_reading"]) == {ENGINE, *hamming["same_distances"]}
    assert min(hamming["of_reading"].values()) > 0
    assert all(figure["value"] > 0 for figure in int8["figures"] + hamming["figures"])


def test_the_slow_dense_peers_find_what_the_engine_finds(quick):
    for module in installed.PEERS.values():
        pytest.importorskip(module)
    found = compare_int8(coded_vectors(ROWS, 512), 0.0, lambda *why: pytest.fail(str(why)))
    assert len(found["rows_in_common"]) == 3
    assert min(found["rows_in_common"].values()) >= 0.9


def test_lexical_peers_are_asked_the_same(quick):
    pytest.importorskip("bm25s")
    for size, found in zip((3, 4), compare_grams(ROWS, 0.0, lambda *why: None), strict=True):
        assert (found["comparison"], found["rows"], found["gram_size"]) == (GRAMS, ROWS, size)
        against = {figure["against"] for figure in found["figures"]}
        assert {"bm25s numpy", "bm25s numba"} <= against
        assert (FTS5 in against) == (size == 3)
        assert found["touched"]["postings"] > 0 and min(found["split_ms"].values()) >= 0


def test_whole_recall_beside_cpersona(cpersona, quick):
    found = compare_whole_recall(ROWS, 0.0, cpersona, lambda *why: pytest.fail(str(why)))
    assert found["cpersona"]["version"].startswith("2.6")
    assert 0.9 * ROWS < found["cpersona"]["stored"] <= ROWS
    assert 0 < found["cpersona"]["divided"] < ROWS and found["cpersona"]["block_index"]
    assert min(found["milliseconds"].values()) > 0
    assert found["figures"][0]["against"] == CPERSONA


def test_a_cpersona_that_cannot_start_is_left_out_with_its_last_words(quick, tmp_path):
    with (
        pytest.raises(PeerError, match="No module named 'cpersona'"),
        CpersonaProcess(Path(sys.executable), tmp_path / "c.db") as peer,
    ):
        peer.ask(do="describe")
    skipped: dict[str, str] = {}
    found = compare_whole_recall(64, 0.0, Path(sys.executable), skipped.setdefault)
    assert "No module named 'cpersona'" in skipped["cpersona, 64 rows"]
    assert set(found["milliseconds"]) == {ENGINE}


def test_the_runner_needs_nothing_of_this_project():
    allowed = {"cpersona", "numpy", "text_vectors", *sys.stdlib_module_names}
    for file in (RUNNER, RUNNER.with_name("text_vectors.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= allowed, file.name


def test_a_text_has_one_vector():
    vector = text_vector("京都で会いましょう")
    assert vector.dtype == np.float32 and vector.shape == (DIM,)
    assert np.array_equal(vector, text_vector("京都で会いましょう"))
    assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-6
    assert abs(float(vector @ text_vector("See you in Kyoto"))) < 0.3
