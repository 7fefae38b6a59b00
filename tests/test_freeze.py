"""A frozen pool ranks as recall does, and is found again exactly when nothing changed."""

from __future__ import annotations

import dataclasses
import functools
import json
import shutil
from itertools import pairwise, product, zip_longest
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from embedding_server import EmbeddingServer
from freeze_cases import DEPTH, SCOPES, as_record, conversations, run_config
from hypothesis import given
from hypothesis import strategies as st

import cpersona_jit
from cpersona_jit.embed.http import HttpProvider
from cpersona_jit.recall.settings import FusionSpec, RecallSettings
from harness.adaptive.config import AdaptiveConfig
from harness.datasets.base import Dataset, DatasetQuery, DatasetRow
from harness.embedding_cache import CachedProvider
from harness.freeze import freeze
from harness.freeze_arms import fold_parts
from harness.grid import Setting
from harness.hashes import engine_hash
from harness.pool import Pool, load_pool
from harness.replay import ranked_lists, replay

ROOT = Path(__file__).parent.parent
WEIGHTS = (
    {"dense": 1.0, "gram3": 0.5, "gram4": 0.25},
    {"dense": 1.0, "gram3": 0.0, "gram4": 1.0},
    {"gram3": 1.0, "gram4": 1.0},
    {"dense": 1.0},
    {"gram4": 2.0},
)
SETTINGS = [
    Setting(f"{kind} {depth} {weights}", FusionSpec(kind, weights, 17.0), depth)
    for kind, depth, weights in product(("rrf", "score"), (1, 7, DEPTH), WEIGHTS)
]


@pytest.fixture(scope="module")
def server():
    server = EmbeddingServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("freeze")
    return {"cache_dir": folder / "cache", "pools_dir": folder / "pools"}


@pytest.fixture(scope="module")
def frozen(server, folders) -> tuple[Dataset, Path]:
    dataset = conversations()
    return dataset, freeze(run_config(server.url), dataset, jobs=1, **folders)


@pytest.fixture(scope="module")
def live(server, folders, frozen, tmp_path_factory):
    """All scopes in one store, their rows interleaved, with a stranger's rows between them."""
    rows = frozen[0].rows_by_scope()
    records = [
        record
        for turn in zip_longest(*rows.values())
        for row in turn
        for record in (as_record(row), as_record(row._replace(scope_id="stranger")))
    ]
    provider = CachedProvider(HttpProvider(server.url), folders["cache_dir"])
    path = tmp_path_factory.mktemp("live") / "memory.db"
    with cpersona_jit.open(path, embedder=provider) as memory:
        memory.store_many(records, dedup=False)
        yield memory


def live_rows(memory, query: DatasetQuery, arms, setting: Setting) -> list:
    settings = RecallSettings(arms, setting.fusion, setting.depth)
    result = memory.recall(query.text, agent_id=query.scope_id, limit=10_000, settings=settings)
    assert result.degraded == ()
    return list(result.rows)


def replayed(pool: Pool, setting: Setting) -> list[list[str]]:
    lists = ranked_lists(pool, setting, top=10_000)
    starts = pool.offsets[:-1]
    return [
        [pool.doc_ids[int(code)].as_py() for code in pool.doc_codes[start + found]]
        for start, found in zip(starts, lists, strict=True)
    ]


def test_replay_ranks_as_a_live_recall_with_the_same_settings(server, frozen, live):
    dataset, pool_dir = frozen
    pool = load_pool(pool_dir)
    arms = run_config(server.url).arm_specs()
    assert pool.query_ids == [query.query_id for query in dataset.queries]
    assert set(pool.scope_ids) == set(SCOPES)
    gold_ranks = replay(pool, SETTINGS, jobs=1)
    ties = undated = 0
    for number, setting in enumerate(SETTINGS):
        lists = replayed(pool, setting)
        for q, query in enumerate(dataset.queries):
            rows = live_rows(live, query, arms, setting)
            expected = [row.id.rpartition("#")[0] for row in rows]
            assert lists[q] == expected, (setting.name, query.query_id)
            judged = slice(pool.judged_ptr[q], pool.judged_ptr[q + 1])
            wanted = [
                expected.index(doc) + 1 if doc in expected else 0 for doc in pool.judged_ids[judged]
            ]
            assert gold_ranks[number, judged].tolist() == wanted, (setting.name, query.query_id)
            ties += sum(a.score == b.score for a, b in pairwise(rows))
            undated += sum(row.timestamp == "" for row in rows)
    assert ties > 100 and undated > 100, "the data must hold what the order is about"
    assert (gold_ranks > 0).any(axis=0).mean() > 0.5
    sizes = np.bincount([SCOPES.index(row.scope_id) for row in dataset.rows])
    assert (sizes > 2 * DEPTH).all(), "depth must cut"


def test_parts_of_a_document_are_one_candidate_ranked_by_the_best(folders):
    words = ["harbour", "lantern", "港の", "灯り", "violet", "quarry", "峠道", "meadow"]
    rng = np.random.default_rng(5)
    rows = [
        DatasetRow(
            f"文書{doc}", " ".join(rng.permutation(words)[: rng.integers(1, 8)]), None, None, None,
            "s", part,
        )
        for doc in range(12)
        for part in range(3)
    ]  # fmt: skip
    query = DatasetQuery("q", "lantern of the harbour 港の灯り", None, "s", "t", None)
    dataset = Dataset("parted", rows, [query], {"q": {"文書3": 1}})
    config = run_config("none", depth=1000)
    pool = load_pool(freeze(config, dataset, jobs=1, **folders))
    documents = [pool.doc_ids[int(code)].as_py() for code in pool.doc_codes]
    assert len(set(documents)) == len(documents)
    with cpersona_jit.open(folders["cache_dir"] / "parts.db", embedder="none") as memory:
        memory.store_many([as_record(row) for row in rows], dedup=False)
        for arm in ("gram3", "gram4"):
            setting = Setting(arm, FusionSpec("score", {arm: 1.0}), 1000)
            settings = RecallSettings(config.arm_specs(), setting.fusion, 1000)
            found = memory.recall(query.text, agent_id="s", limit=1000, settings=settings).rows
            best: dict[str, float] = {}
            for row in found:
                best.setdefault(row.id.rpartition("#")[0], row.score)
            (listed,) = replayed(pool, setting)
            assert len(found) > len(best) > 3
            assert set(listed) == set(best)
            assert [best[doc] for doc in listed] == sorted(best.values(), reverse=True)


@given(st.data())
def test_folding_equals_a_plain_twin(data):
    ids = data.draw(st.lists(st.sampled_from(["a", "b", "c", "文書", "e"]), max_size=9))
    arms = data.draw(st.integers(1, 3))
    cells = st.lists(st.integers(0, 4), min_size=len(ids), max_size=len(ids))
    ranks = np.array([data.draw(cells) for _ in range(arms)], np.int32).reshape(arms, len(ids))
    scores = np.array([data.draw(cells) for _ in range(arms)], np.int64) * 2**29 - 2**30
    scores = scores.reshape(arms, len(ids))
    keep, best_ranks, best_scores = fold_parts(ids, ranks, scores)
    order = list(dict.fromkeys(ids))
    assert keep == [ids.index(doc) for doc in order]
    for a in range(arms):
        for column, doc in enumerate(order):
            at = [i for i, other in enumerate(ids) if other == doc]
            listed = [ranks[a, i] for i in at if ranks[a, i] > 0]
            assert best_ranks[a, column] == min(listed, default=0)
            assert best_scores[a, column] == max(scores[a, i] for i in at)


def test_a_pool_is_found_again_when_nothing_that_decides_it_changed(server, folders, frozen):
    _, pool_dir = frozen
    before = {path.name: path.stat().st_mtime_ns for path in pool_dir.iterdir()}
    assert set(before) == {"candidates.parquet", "queries.parquet", "qrels.parquet", "meta.json"}
    server.answered.clear()
    config = run_config(
        server.url,
        name="another",
        description="how it is replayed is not what it is",
        seed=7,
        sweep={"fusion": ["rrf"], "depth": [3, 9], "weights": [{"dense": 1.0, "gram4": 0.5}]},
        bootstrap={"resamples": 300},
    )
    told: list[str] = []
    again = freeze(
        config, conversations(), jobs=1, progress=lambda stage, *_: told.append(stage), **folders
    )
    assert again == pool_dir
    assert {path.name: path.stat().st_mtime_ns for path in pool_dir.iterdir()} == before
    assert told == []
    assert set(server.answered) <= {"dimension"}


def test_a_pool_of_a_time_before_hashes_is_frozen_again(tmp_path):
    folders = {"cache_dir": tmp_path / "cache", "pools_dir": tmp_path / "pools"}
    config, dataset = run_config("none"), conversations(rows=12, queries=2, scopes=("ja-1",))
    pool_dir = freeze(config, dataset, jobs=1, **folders)
    meta = json.loads((pool_dir / "meta.json").read_text(encoding="utf-8"))
    assert set(meta.pop("sha256")) == {"candidates.parquet", "queries.parquet", "qrels.parquet"}
    (pool_dir / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    (pool_dir / "candidates.parquet").write_bytes(b"cut")
    assert freeze(config, dataset, jobs=1, **folders) == pool_dir
    assert load_pool(pool_dir).query_ids == [query.query_id for query in dataset.queries]


def test_a_pool_is_named_anew_when_anything_that_decides_it_changes(server, tmp_path, monkeypatch):
    folders = {"cache_dir": tmp_path / "cache", "pools_dir": tmp_path / "pools"}
    dataset = conversations(rows=12, queries=2, scopes=("ja-1",))
    base = run_config(server.url)
    arms = base.model_dump()["arms"]
    first = dataset.rows[0]
    query_id = dataset.queries[0].query_id
    replace = dataclasses.replace
    variants = [
        (base, dataset),
        (base, replace(dataset, rows=[first._replace(text="別の話"), *dataset.rows[1:]])),
        (base, replace(dataset, rows=[first._replace(timestamp=None), *dataset.rows[1:]])),
        (base, replace(dataset, queries=dataset.queries[:1])),
        (base, replace(dataset, qrels={query_id: {first.doc_id: 2}})),
        (run_config(server.url + "#renamed"), dataset),
        (run_config("none"), dataset),
        (run_config(server.url, depth=DEPTH + 1), dataset),
        (run_config(server.url, arms=[{"name": "dense", "kind": "dense"}, *arms[2:],
                                      arms[1] | {"idf_power": 1.0}]), dataset),
    ]  # fmt: skip
    pools = [freeze(config, data, jobs=1, **folders) for config, data in variants]
    assert len(set(pools)) == len(pools)
    for package in ("cpersona_jit", "harness"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    monkeypatch.setattr("harness.freeze.engine_hash", functools.partial(engine_hash, tmp_path))
    assert freeze(base, dataset, jobs=1, **folders) == pools[0]
    for outside in ("cpersona_jit/cli/app.py", "harness/report.py"):
        (tmp_path / outside).write_text("# changed\n")
    assert freeze(base, dataset, jobs=1, **folders) == pools[0]
    for engine in ("cpersona_jit/kernels/fusion.py", "harness/freeze_unit.py"):
        (tmp_path / engine).write_text("# changed\n")
        pools.append(freeze(base, dataset, jobs=1, **folders))
    assert len(set(pools)) == len(pools)
    for pool_dir in pools:
        assert load_pool(pool_dir).query_ids[0] == query_id


def test_a_model_is_frozen_centred_as_it_says_or_as_the_config_says(server, folders):
    document = {"kind": "adaptive", "name": "c", "datasets": [{"name": "talk"}]}
    models = [{"provider": server.url}]
    models += [{"provider": server.url, "centred": centred} for centred in (True, False)]
    config = AdaptiveConfig.model_validate(document | {"models": models})
    dataset = conversations(scopes=SCOPES[:1])
    pools = [freeze(config, dataset, model=model, jobs=1, **folders) for model in config.models]
    assert pools[0] == pools[2] != pools[1], "a model that says nothing is not centred"
    centred, plain = (
        {(query, doc): values for query, doc, *values in zip(*_columns(pool), strict=True)}
        for pool in pools[1:]
    )
    both = centred.keys() & plain.keys()
    assert len(both) > 100
    assert all(centred[row][1:] == plain[row][1:] for row in both), "grams have no centre"
    assert sum(centred[row][0] != plain[row][0] for row in both) > 0.9 * len(both)


def _columns(pool_dir: Path) -> list[list]:
    table = pq.read_table(pool_dir / "candidates.parquet")
    names = ("query_index", "doc_id", "dense_row", "gram3_row", "gram4_row")
    return [table[name].to_pylist() for name in names]
