"""Every asv benchmark runs once, over 1,000 rows."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import pkgutil
import re
from pathlib import Path

import pytest

from harness import asv_benchmarks
from harness.asv_benchmarks.chat_rows import CHARACTERS, QUERIES, chat_rows
from harness.asv_benchmarks.stores import AGENT, SIZES, make_stores, open_warm

ROWS = SIZES[0]
KINDS = ("time_", "peakmem_", "track_")


def suites():
    for found in pkgutil.iter_modules(asv_benchmarks.__path__):
        module = importlib.import_module(f"{asv_benchmarks.__name__}.{found.name}")
        for _, suite in inspect.getmembers(module, inspect.isclass):
            if suite.__module__ == module.__name__:
                yield suite


def benchmarks(suite):
    return [name for name in dir(suite) if name.startswith(KINDS)]


CASES = [
    pytest.param(suite, name, parameters, id=f"{suite.__name__}.{name}-{parameters}")
    for suite in suites()
    for name in benchmarks(suite)
    for parameters in itertools.product(suite.params[0][:1], *suite.params[1:])
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    return make_stores(tmp_path_factory.mktemp("stores"), [ROWS])


@pytest.mark.parametrize(("suite", "name", "parameters"), CASES)
def test_benchmark_runs(suite, name, parameters, stores):
    assert parameters[0] == ROWS and len(parameters) == len(suite.param_names)
    arguments = (stores, *parameters) if hasattr(suite, "setup_cache") else parameters
    benchmark = suite()
    if hasattr(benchmark, "setup"):
        benchmark.setup(*arguments)
    found = getattr(benchmark, name)(*arguments)
    if hasattr(benchmark, "teardown"):
        benchmark.teardown(*arguments)
    assert found > 0 if name.startswith("track_") else found is None


def test_every_kernel_and_recall_has_time_and_peak_memory_at_every_size():
    measured = {suite.__name__: benchmarks(suite) for suite in suites() if benchmarks(suite)}
    for name in (
        "Int8Scan",
        "HammingScan",
        "TwoPhaseScan",
        "GramOverlap",
        "GramIndexBuild",
        "Fusion",
        "Replay",
        "Recall",
        "RecallParts",
        "FirstRecall",
        "AfterOneWrite",
        "GramExtract",
        "GramMerge",
        "Bulk",
    ):
        assert {found.split("_")[0] for found in measured[name]} >= {"time", "peakmem"}
    assert SIZES == (1_000, 10_000, 100_000)
    assert all(suite.params[0] == SIZES for suite in suites() if benchmarks(suite))


def test_recall_of_the_benchmark_finds_rows_in_both_languages(stores):
    with open_warm(stores[ROWS]) as memory:
        for query in QUERIES.values():
            found = memory.recall(query, agent_id=AGENT)
            assert len(found.rows) >= 10 and found.degraded == ()  # and the reserved seats


def test_rows_are_chat_sized_bilingual_and_the_same_every_time():
    few, more = list(chat_rows(300)), list(chat_rows(5000))
    assert more[:300] == few and len(set(more)) == 5000
    assert {len(text) for text in more} == {CHARACTERS}
    japanese = [bool(re.search("[\u3041-\u30ff]", text)) for text in more]
    assert 0.3 < sum(japanese) / len(more) < 0.4


def test_configuration_points_at_the_benchmarks():
    root = Path(asv_benchmarks.__file__).parents[2]
    lines = (root / "asv.conf.json").read_text(encoding="utf-8").splitlines()
    config = json.loads("\n".join(line for line in lines if not line.strip().startswith("//")))
    assert root / config["benchmark_dir"] == Path(asv_benchmarks.__file__).parent
    assert config["environment_type"] == "existing"
    # What `asv continuous -E virtualenv` installs of each commit: the whole of it, by pip.
    assert config["build_command"] == [] and len(config["install_command"]) == 1
    assert config["install_command"][0].endswith("{build_dir}")
    assert all(config[name].startswith(".asv/") for name in ("env_dir", "results_dir", "html_dir"))
