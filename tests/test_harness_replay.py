"""Replay of a frozen pool ranks as plain sorting does, and measures as ir-measures does."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from harness_pools import ARMS, DEPTH, seal, write_pool

from cpersona_jit.recall.settings import FusionSpec
from harness.grid import Setting
from harness.measures import MEASURES, from_gold_ranks, from_ranked_lists, task_strata
from harness.pool import Pool, PoolError, load_pool
from harness.replay import ranked_lists, replay

SETTINGS = [
    Setting(f"{kind} {depth} {weights}", FusionSpec(kind, weights, rrf_k), depth)
    for kind in ("rrf", "score")
    for depth in (1, 5, DEPTH)
    for rrf_k in (1.0, 60.0)
    for weights in ({"dense": 1.0}, {"gram3": 2.0}, {"dense": 1.0, "gram3": 0.5})
]


@pytest.fixture
def pool(tmp_path) -> Pool:
    return load_pool(write_pool(tmp_path / "pool"))


def naive_ranking(pool_dir, query: int, setting: Setting) -> list[str]:
    """Sort one query's candidates, straight from the files."""
    rows = [
        row
        for row in pq.read_table(pool_dir / "candidates.parquet").to_pylist()
        if row["query_index"] == query
    ]
    statistics = pq.read_table(pool_dir / "queries.parquet").to_pylist()[query]
    scored = []
    for row in rows:
        score, candidate = 0.0, False
        for arm in ARMS:
            weight = setting.fusion.weights.get(arm, 0.0)
            rank = row[f"{arm}_rank"] if row[f"{arm}_rank"] <= setting.depth else 0
            candidate = candidate or (weight > 0 and rank > 0)
            if setting.fusion.kind == "rrf":
                score += weight * (1.0 / (setting.fusion.rrf_k + rank)) if rank else 0.0
            elif statistics[f"{arm}_std"] > 0:
                score += weight * (
                    (row[f"{arm}_score"] - statistics[f"{arm}_mean"]) / statistics[f"{arm}_std"]
                )
        if candidate:
            scored.append((score, row["doc_id"]))
    return [doc for _, doc in sorted(scored, key=lambda pair: -pair[0])]


def test_lists_and_gold_ranks_equal_a_sort_of_the_files(tmp_path):
    pool_dir = write_pool(tmp_path / "pool", seed=1)
    pool = load_pool(pool_dir)
    ranks = replay(pool, SETTINGS)
    names = pool.doc_ids.to_pylist()
    for number, setting in enumerate(SETTINGS):
        lists = ranked_lists(pool, setting, top=10**6)
        for query in range(len(pool.query_ids)):
            wanted = naive_ranking(pool_dir, query, setting)
            codes = pool.doc_codes[pool.offsets[query] + lists[query]]
            assert [names[code] for code in codes] == wanted
            for j in range(pool.judged_ptr[query], pool.judged_ptr[query + 1]):
                doc = pool.judged_ids[j]
                assert ranks[number, j] == (wanted.index(doc) + 1 if doc in wanted else 0)


def test_chunks_and_order_of_settings_do_not_matter(pool):
    both = replay(pool, SETTINGS, jobs=1)
    one_by_one = np.concatenate([replay(pool, [setting], jobs=1) for setting in SETTINGS])
    backwards = replay(pool, SETTINGS[::-1], jobs=2)[::-1]
    assert np.array_equal(both, one_by_one)
    assert np.array_equal(both, backwards)


@pytest.mark.parametrize("seed", range(4))
def test_measures_from_gold_ranks_equal_ir_measures(tmp_path, seed):
    pool = load_pool(write_pool(tmp_path / "pool", seed=seed, candidates=140, queries=16))
    ranks = replay(pool, SETTINGS)
    for number, setting in enumerate(SETTINGS[::5]):
        exact = from_ranked_lists(pool, ranked_lists(pool, setting, top=100))
        for row, measure in enumerate(MEASURES):
            fast = from_gold_ranks(pool, ranks[5 * number][None, :], measure)[0]
            np.testing.assert_allclose(fast, exact[row], rtol=1e-12, atol=1e-15)


def test_queries_without_relevant_documents_are_left_out(tmp_path):
    pool = load_pool(write_pool(tmp_path / "pool", queries=10, without_gold=4))
    assert pool.has_relevant.sum() == 6
    assert len(task_strata(pool).of_query) == 6
    assert from_gold_ranks(pool, replay(pool, SETTINGS[:2]), "nDCG@10").shape == (2, 6)


def test_progress_counts_every_setting(pool):
    told: list[int] = []
    replay(pool, SETTINGS, progress=told.append)
    assert sum(told) == len(SETTINGS)


def test_an_unfinished_pool_is_refused(tmp_path):
    pool_dir = write_pool(tmp_path / "pool")
    meta = json.loads((pool_dir / "meta.json").read_text(encoding="utf-8"))
    (pool_dir / "meta.json").write_text(json.dumps(meta | {"complete": False}), encoding="utf-8")
    with pytest.raises(PoolError, match="not complete"):
        load_pool(pool_dir)


@pytest.mark.parametrize("name", ["candidates.parquet", "queries.parquet", "qrels.parquet"])
def test_a_readable_file_that_is_not_the_frozen_one_is_refused(tmp_path, name):
    pool_dir = write_pool(tmp_path / "pool")
    table = pq.read_table(pool_dir / name)
    pq.write_table(table.slice(0, table.num_rows - 1), pool_dir / name)
    with pytest.raises(PoolError, match=rf"{name}: .*sha256.*delete the folder pool and run again"):
        load_pool(pool_dir)


@pytest.mark.parametrize("hashes", [None, {}, [], {"candidates.parquet": "0"}])
def test_a_finished_pool_without_its_hashes_is_refused(tmp_path, hashes):
    pool_dir = write_pool(tmp_path / "pool")
    meta = json.loads((pool_dir / "meta.json").read_text(encoding="utf-8"))
    (pool_dir / "meta.json").write_text(json.dumps(meta | {"sha256": hashes}), encoding="utf-8")
    with pytest.raises(PoolError, match=r"meta\.json: sha256 must hold"):
        load_pool(pool_dir)


@pytest.mark.parametrize(
    "arms", [[], {}, [{}], ["dense"], [{"name": 3}], [{"name": "a"}, {"name": "a"}], [None]]
)
def test_odd_arms_are_refused(tmp_path, arms):
    pool_dir = write_pool(tmp_path / "pool")
    meta = json.loads((pool_dir / "meta.json").read_text(encoding="utf-8"))
    (pool_dir / "meta.json").write_text(json.dumps(meta | {"arms": arms}), encoding="utf-8")
    with pytest.raises(PoolError, match=r"meta\.json: arms is"):
        load_pool(pool_dir)


@pytest.mark.parametrize("name", ["candidates.parquet", "queries.parquet", "qrels.parquet"])
def test_a_damaged_or_missing_file_is_named(tmp_path, name):
    pool_dir = write_pool(tmp_path / "pool")
    path = pool_dir / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(PoolError, match=name):
        load_pool(pool_dir)
    path.unlink()
    with pytest.raises(PoolError, match=name):
        load_pool(pool_dir)


def test_a_missing_column_and_a_shuffled_index_are_named(tmp_path):
    pool_dir = write_pool(tmp_path / "pool")
    path = pool_dir / "candidates.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["gram3_rank"]), path)
    seal(pool_dir)
    with pytest.raises(PoolError, match="'gram3_rank'"):
        load_pool(pool_dir)
    pq.write_table(table.take(np.arange(table.num_rows)[::-1]), path)
    seal(pool_dir)
    with pytest.raises(PoolError, match="query_index"):
        load_pool(pool_dir)


def test_a_document_twice_in_a_query_is_refused(tmp_path):
    pool_dir = write_pool(tmp_path / "pool")
    path = pool_dir / "candidates.parquet"
    table = pq.read_table(path)
    twice = np.sort(np.concatenate([np.arange(table.num_rows)] * 2))
    pq.write_table(table.take(twice), path)
    seal(pool_dir)
    with pytest.raises(PoolError, match="twice"):
        load_pool(pool_dir)
