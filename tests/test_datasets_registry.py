"""Finding datasets by name, and what happens when they are nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from harness.datasets.base import DatasetError
from harness.datasets.checks import validate
from harness.datasets.registry import load_dataset
from harness.hashes import dataset_hash


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("CPERSONA_JIT_DATA_CACHE", str(cache))
    return cache


@pytest.fixture
def hub(monkeypatch):
    """Stand in for the hub: a function that fills the folder, or raises as a dead network does."""

    def install(fill):
        def snapshot_download(repo_id, *, repo_type, allow_patterns, local_dir):
            fill(repo_id, allow_patterns, Path(local_dir))

        module = types.SimpleNamespace(snapshot_download=snapshot_download)
        monkeypatch.setitem(sys.modules, "huggingface_hub", module)

    return install


def fill_lmeb(repo_id, patterns, folder):
    assert repo_id == "KaLM-Embedding/LMEB" and patterns == ["Dialogue/LoCoMo/*"]
    task = folder / "Dialogue/LoCoMo/single_hop"
    task.mkdir(parents=True)
    (task.parent / "corpus.jsonl").write_text('{"id": "a", "text": "x"}\n')
    (task / "queries.jsonl").write_text('{"id": "q", "text": "y"}\n')
    (task / "qrels.tsv").write_text("q\ta\t1\n")


def test_an_absent_dataset_is_fetched_once_and_then_read_from_the_cache(hub, empty_cache, tmp_path):
    hub(fill_lmeb)
    (tmp_path / "data").mkdir()
    assert load_dataset("locomo", tmp_path / "data").name == "locomo"
    hub(lambda *_: pytest.fail("fetched twice"))
    assert load_dataset("locomo").qrels == {"single_hop/q": {"a": 1}}
    assert sorted(path.name for path in empty_cache.iterdir()) == ["locomo"]


def test_a_single_file_home_becomes_a_folder(hub, empty_cache):
    def fill(repo_id, patterns, folder):
        assert patterns == ["longmemeval_s_cleaned.json"]
        (folder / patterns[0]).write_text("[]")

    hub(fill)
    with pytest.raises(DatasetError, match="no rows"):
        load_dataset("longmemeval_s")
    assert (empty_cache / "longmemeval_s" / "longmemeval_s_cleaned.json").is_file()


def test_a_download_that_is_cut_off_leaves_no_dataset_behind(hub, empty_cache):
    def die(repo_id, patterns, folder):
        fill_lmeb(repo_id, patterns, folder)
        raise ConnectionError("Name or service not known\nand more")

    hub(die)
    with pytest.raises(DatasetError) as caught:
        load_dataset("locomo")
    message = str(caught.value)
    assert "locomo" in message and "--data" in message and "Name or service" in message
    assert "and more" not in message
    assert not (empty_cache / "locomo").exists()


def test_without_a_network_the_real_client_gives_one_clear_message(empty_cache):
    code = (
        "from harness.datasets.fetch import fetch_dataset\n"
        "from harness.datasets.base import DatasetError\n"
        "try:\n    fetch_dataset('scifact')\n"
        "except DatasetError as error:\n    print(error)"
    )
    # Nothing listens there: refused at once, whether or not this machine has a network.
    environment = os.environ | {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_ETAG_TIMEOUT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "'scifact' is not here and could not be fetched" in done.stdout
    assert not (empty_cache / "scifact").exists()


def test_a_hub_that_lacks_the_folder_is_reported(hub):
    hub(lambda *_: None)
    with pytest.raises(DatasetError, match="has no Dialogue/LoCoMo"):
        load_dataset("locomo")


@pytest.mark.parametrize("name", ["", "lmeb/", "lmeb/../etc", "lmeb/*", "lmeb/a/b", "../x"])
def test_names_without_a_home_never_reach_the_hub(hub, name):
    hub(lambda *_: pytest.fail("asked the hub"))
    with pytest.raises(DatasetError):
        load_dataset(name)


def test_an_unknown_name_lists_what_there_is(tmp_path):
    (tmp_path / "data" / "mine").mkdir(parents=True)
    with pytest.raises(DatasetError) as caught:
        load_dataset("nine", tmp_path / "data")
    for part in ("'nine'", "mine", "synthetic", "locomo"):
        assert part in str(caught.value)


def test_a_folder_with_nothing_readable_says_what_is_wanted(tmp_path):
    (tmp_path / "data" / "mine").mkdir(parents=True)
    with pytest.raises(DatasetError, match=r"corpus\.parquet"):
        load_dataset("mine", tmp_path / "data")


def test_a_wrong_data_folder_is_named(tmp_path):
    with pytest.raises(DatasetError, match="data folder"):
        load_dataset("locomo", tmp_path / "nowhere")


def test_unknown_variants_are_refused():
    with pytest.raises(DatasetError, match="variant is 'turns'"):
        load_dataset("synthetic", variant="turns")
    with pytest.raises(DatasetError, match="no variant by session"):
        load_dataset("synthetic", variant="session")


DATA = Path(
    os.environ.get("CPERSONA_JIT_TEST_DATA")
    or Path(__file__).resolve().parents[2] / "shared" / "data"
)
# Rows, queries and tasks of the development part; the published sets are larger.
REAL = {
    "locomo": (4232, 1385, 5),
    "realtalk": (7593, 466, 3),
    "scifact": (1748, 113, 1),
    "knowmebench": (8423, 600, 5),
    "gorilla": (1724, 1703, 3),
    "proced_mem_bench": (336, 40, 3),
    "longmemeval_s": (162_211, 329, 6),
    "longmemeval_s_session": (15_681, 329, 6),
    "longmemeval_oracle": (7138, 330, 6),
}


@pytest.mark.parametrize("name", REAL)
def test_real_data_loads_and_obeys_the_laws(name):
    if not (DATA / name.removesuffix("_session")).is_dir():
        pytest.skip(f"no {name} in {DATA}; set CPERSONA_JIT_TEST_DATA to a folder that has it")
    dataset = load_dataset(name, DATA)
    validate(dataset)
    rows, queries, tasks = REAL[name]
    assert len(dataset.rows) >= rows and len(dataset.queries) >= queries
    assert len(dataset.tasks) >= tasks


def test_a_sample_of_real_data_hashes_alike_twice():
    if not (DATA / "realtalk").is_dir():
        pytest.skip(f"no realtalk in {DATA}; set CPERSONA_JIT_TEST_DATA to a folder that has it")
    first, second = (load_dataset("realtalk", DATA, sample_queries=50, seed=3) for _ in range(2))
    assert len(first.queries) == 50
    assert dataset_hash(first) == dataset_hash(second)
    assert dataset_hash(first) != dataset_hash(
        load_dataset("realtalk", DATA, sample_queries=50, seed=4)
    )
