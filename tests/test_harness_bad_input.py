"""Bad input to ``python -m harness``, as a user meets it: one line, an exit code, no traceback.

Exit code 2 is a mistake in the call or the config, 1 a failure.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from harness_process import CONFIG, check, harness, run, write_parcels


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Return a data folder with one small sound dataset."""
    return write_parcels(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (CONFIG.replace("depth = 20", "dept = 20", 1), ["freeze.dept", "did you mean 'depth'?"]),
        (CONFIG.replace("= 100", '= "many"'), ["bootstrap.resamples", "integer", "'many'"]),
        (CONFIG.replace('"none"', '"nonne"'), ["'nonne'", "did you mean 'none'?"]),
        (CONFIG + "[[[", ["run.toml", "line 21"]),
        ("deep = " + "[" * 5000 + "]" * 5000, ["run.toml", "nested too deeply"]),
        (CONFIG.encode("utf-8") + "# 荷物".encode("shift_jis"), ["run.toml", "not UTF-8"]),
    ],
)
def test_a_wrong_config_is_a_usage_error(tmp_path, data, config, words):
    check(run(tmp_path, data, config), 2, *words)


def test_a_path_that_cannot_be_meant_is_a_usage_error(tmp_path, data):
    check(run(tmp_path, tmp_path / "nowhere"), 2, "--data", "nowhere", "does not exist")
    check(run(tmp_path, data, out=tmp_path / "run.toml"), 2, "--out", "run.toml", "is a file")
    check(harness(tmp_path, "run", "absent.toml"), 2, "absent.toml", "No such file")
    check(harness(tmp_path, "report", tmp_path), 2, "holds no summary.json", "--out folder")


def damage(data: Path, tmp_path: Path, name: str, change) -> Path:
    """Copy the data and change one file of it."""
    copied = tmp_path / "data"
    shutil.copytree(data, copied)
    change(copied / "parcels" / name)
    return copied


def test_a_dangling_qrel_is_named(tmp_path, data):
    def dangle(path: Path) -> None:
        rows = pq.read_table(path).to_pylist()
        rows[3]["doc_id"] = "s1d99"
        pq.write_table(pa.Table.from_pylist(rows), path)

    done = run(tmp_path, damage(data, tmp_path, "qrels.parquet", dangle))
    check(done, 1, "qrels.parquet, row 3", "'s1d99'", "not in the corpus", "'s1q1'")
    assert not (tmp_path / "out" / "pools").exists()


def test_a_corrupt_parquet_file_is_named(tmp_path, data):
    def truncate(path: Path) -> None:
        path.write_bytes(path.read_bytes()[:-500])

    done = run(tmp_path, damage(data, tmp_path, "corpus.parquet", truncate))
    check(done, 1, "corpus.parquet", "cannot be read as Parquet")


def test_a_dataset_that_is_not_in_the_data_folder_is_named(tmp_path, data):
    done = run(tmp_path, data, CONFIG.replace('"parcels"', '"parcel"'))
    check(done, 1, "'parcel'", "the folder holds parcels")


def test_an_out_folder_that_cannot_be_made_is_a_failure(tmp_path, data):
    (tmp_path / "a file").write_text("in the way")
    check(run(tmp_path, data, out=tmp_path / "a file" / "out"), 1, "Not a directory", "a file")
    assert (tmp_path / "a file").read_text() == "in the way"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_read_only_out_folder_is_a_failure(tmp_path, data):
    (tmp_path / "out").mkdir(mode=0o500)
    check(run(tmp_path, data), 1, "Permission denied", "out")
