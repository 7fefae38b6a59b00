"""Replay of a signal pool ranks as a live adaptive recall does, in English and Japanese."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pytest
from embedding_server import EmbeddingServer, vector
from freeze_cases import as_record, conversations

import cpersona_jit
from cpersona_jit.cues.parse import parse_time_cue
from cpersona_jit.embed.http import HttpProvider
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.kernels.numpy_path.calibration import DENSE_ROW, GRAM3_ROW
from cpersona_jit.recall.kernel_set import warm_kernels
from cpersona_jit.recall.row_prior import RowPrior
from cpersona_jit.records import parse_ref
from cpersona_jit.store.timestamps import parse_timestamp
from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.cue_arms import CUE_ARMS
from harness.adaptive.grid import AdaptiveSetting, Baseline, build_adaptive_settings
from harness.adaptive.pool import load_signal_pool
from harness.adaptive.ranking import QueryRanker
from harness.adaptive.replay import ranked_adaptive, replay_adaptive
from harness.datasets.base import Dataset
from harness.embedding_cache import CachedProvider
from harness.freeze import freeze
from harness.measures import from_gold_ranks, from_ranked_lists

LIMIT = 3
EVERYTHING = 1000
QUESTIONS = (
    ("What did they say in March 2024?", "2024-06-01T10:00:00"),
    ("前回の会話で何を話した?", "2024-06-01T10:00:00"),
    ("What was planned last week?", None),
)
SWEEP = [
    {"structure": {"on": [False, True]}, "cues": {"arm": ["none", "parsed", "shifted", "partly"]}},
    {"depth": [1, 7], "structure": {"on": [True]}, "cues": {"arm": ["none", "parsed"]}},
    {"calibration": {"block_penalty": [0.0, 1.5], "conditional": [False, True]}},
    {"calibration": {"gram_weight": [0.0]}},
    {"calibration": {"dense_weight": [0.0], "gram4_share": [0.0], "gram_row_share": [0.0]}},
    {"depth": [EVERYTHING], "calibration": {"gram3_share": [0.0, 1.0]}},
    {"gate": [0.0, 1.0], "seats": [2], "cues": {"arm": ["parsed"], "seats": [2]}},
    {"structure": {"on": [True], "time": [0.3], "source": [0.2], "session": [0.0, 0.3]}},
    {"seats": [1, 2], "depth": [EVERYTHING, 9], "gate": [0.5]},
    {"candidates": [3], "seats": [2]},
    {"candidates": [9], "cues": {"arm": ["parsed"]}, "structure": {"on": [True]}},
    {"cues": {"arm": ["parsed"], "said": [0.5], "event": [0.25], "outside": [0.1]}},
    {
        "prior": {"window": [20], "reach": [40], "far_weight": [0.0, 0.5, 1.0], "weight": [3.0]},
        "cues": {"arm": ["none", "parsed"]},
    },
    {"prior": {"window": [15], "reach": [EVERYTHING], "far_count": [0, 3]}, "seats": [2]},
    {"prior": {"half_life_days": [3.0], "floor": [0.0, 0.5]}, "structure": {"on": [True]}},
    {
        "prior": {"window": [9], "reach": [30], "far_count": [5], "half_life_days": [0.5]},
        "candidates": [EVERYTHING, 8],
        "gate": [0.5],
    },
]


def dataset() -> Dataset:
    """The conversations, with a long row in each scope, and questions that name a time."""
    made = conversations(rows=60, queries=5)
    long = "First the lantern.\nThen the harbour at night. " * 30 + "港の灯りが見える。" * 40
    rows = [row._replace(text=long) if n % 29 == 7 else row for n, row in enumerate(made.rows)]
    asked, qrels = [], {}
    for number, query in enumerate(made.queries):
        first = next(row.doc_id for row in rows if row.scope_id == query.scope_id)
        variants = QUESTIONS if number % 5 == 0 else ()
        for n, (text, when) in enumerate([(query.text, query.timestamp), *variants]):
            asked.append(query._replace(query_id=f"{number}.{n}", text=text, timestamp=when))
            qrels[f"{number}.{n}"] = made.qrels.get(query.query_id, {first: 1})
    return replace(made, rows=rows, queries=asked, qrels=qrels)


def config(url: str, depth: int, **sections: object) -> AdaptiveConfig:
    document = {"kind": "adaptive", "name": "talk", "datasets": [{"name": "talk"}]}
    document |= {"models": [{"provider": url}], "freeze": {"depth": depth}, **sections}
    return AdaptiveConfig.model_validate(document)


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    """The data, a config whose pool is as deep as the store, the pool, and a live memory."""
    server = EmbeddingServer()
    folder = tmp_path_factory.mktemp("adaptive")
    folders = {"cache_dir": folder / "cache", "pools_dir": folder / "pools"}
    deep = config(server.url, EVERYTHING, base={"depth": 20}, sweep=SWEEP)
    data = dataset()
    pool = load_signal_pool(freeze(deep, data, jobs=1, **folders))
    turns = zip_longest(*data.rows_by_scope().values())
    records = [
        as_record(row._replace(scope_id=scope))
        for turn in turns
        for row in turn
        if row is not None
        for scope in (row.scope_id, "stranger")
    ]
    provider = CachedProvider(HttpProvider(server.url), folders["cache_dir"])
    with cpersona_jit.open(folder / "live.db", embedder=provider) as memory:
        outcomes = memory.store_many(records, dedup=False)
        stored = {
            parse_ref(outcome.ref): record.msg_id.rpartition("#")[0]
            for outcome, record in zip(outcomes, records, strict=True)
        }
        yield data, deep, pool, (memory, stored), folders
    server.close()


def live(memory, query, setting: AdaptiveSetting, pool, number: int):
    """The state of a live recall with the cue that the setting asks with."""
    cue = None
    if setting.cue in CUE_ARMS:
        cue = parse_time_cue(query.text, parse_timestamp(query.timestamp or ""))
    if cue is not None and setting.cue != "parsed":
        arm = CUE_ARMS.index(setting.cue)
        start, end = pool.period[arm, number].tolist()
        cue = replace(cue, start_us=start, end_us=end, session=None, readings=(), earlier=())
        cue = cue if pool.opened[arm, number] else None
    return memory.explore(
        query.text,
        agent_id=query.scope_id,
        settings=setting.settings,
        cue=cue,
        now_us=parse_timestamp(query.timestamp or ""),
        limit=LIMIT,
    )


def documents(stored, state, numbers) -> list[str]:
    return [stored[i] for i in state.columns.ids[state.rows[numbers]].tolist()]


def test_every_setting_ranks_as_a_live_recall(frozen):
    data, deep, pool, (memory, stored), _ = frozen
    settings = build_adaptive_settings(deep)
    ranks = replay_adaptive(pool, settings, jobs=1)
    opened = Counter()
    for s, setting in enumerate(settings):
        if isinstance(setting, Baseline):
            continue
        lists = ranked_adaptive(pool, setting, top=EVERYTHING)
        for q, query in enumerate(data.queries):
            state = live(memory, query, setting, pool, q)
            expected = documents(stored, state, state.order)
            start = pool.offsets[q]
            replayed = [pool.doc_ids[int(c)].as_py() for c in pool.doc_codes[start + lists[q]]]
            assert replayed == expected, (setting.name, query.text)
            judged = slice(pool.judged_ptr[q], pool.judged_ptr[q + 1])
            wanted = [
                expected.index(doc) + 1 if doc in expected else 0 for doc in pool.judged_ids[judged]
            ]
            assert ranks[s, judged].tolist() == wanted, (setting.name, query.text)
            ranker = QueryRanker(pool, q, warm_kernels())
            scored = ranker.scored(setting)
            assert scored.score[scored.order()].tolist() == state.score[state.order].tolist()
            seats = [*state.order[:LIMIT], *state.reserved, *state.cued]
            returned = documents(stored, state, seats)
            places = start + ranker.returned(setting, LIMIT)
            assert [pool.doc_ids[int(c)].as_py() for c in pool.doc_codes[places]] == returned
            opened[setting.cue] += state.envelope is not None
            opened["seats"] += len(returned) > LIMIT
            opened["priced"] += bool((state.prior < 1.0).any())
            opened["undated question"] += setting.settings.prior is not None and (
                not query.timestamp
            )
            opened["gated"] += bool(state.gated.any())
            opened["capped"] += bool(state.caps)
    seen = (*CUE_ARMS, "seats", "gated", "capped", "priced", "undated question")
    assert min(opened[what] for what in seen) > 3, opened
    assert (np.diff(pool.judged_ptr) > 0).all() and (ranks > 0).mean() > 0.3


def test_a_pool_as_deep_as_its_lists_is_deep_enough(frozen):
    data, deep, pool, _, folders = frozen
    shallow = config(deep.models[0].provider, 8, base={"depth": 8}, sweep=SWEEP[:1])
    small = load_signal_pool(freeze(shallow, data, jobs=1, **folders))
    assert small.row.size < 0.9 * pool.row.size
    assert not small.listed.all()
    settings = build_adaptive_settings(shallow)
    same = replay_adaptive(pool, settings, jobs=1) == replay_adaptive(small, settings, jobs=1)
    assert same.all()


def test_baselines_rank_by_whole_rows(frozen):
    _, deep, pool, _, _ = frozen
    settings = {setting.name: setting for setting in build_adaptive_settings(deep)}
    raw = ranked_adaptive(pool, settings["arm:dense_row"], top=EVERYTHING)
    gram = ranked_adaptive(pool, settings["arm:gram3_row"], top=EVERYTHING)
    fused = ranked_adaptive(pool, settings["rrf"], top=EVERYTHING)
    for q, (start, stop) in enumerate(zip(pool.offsets[:-1], pool.offsets[1:], strict=True)):
        dense = pool.signals[DENSE_ROW, start:stop]
        assert raw[q].tolist() == np.argsort(-dense, kind="stable").tolist()
        grams = pool.signals[GRAM3_ROW, start:stop]
        matching = np.flatnonzero(grams > 0)
        assert gram[q].tolist() == matching[np.argsort(-grams[matching], kind="stable")].tolist()
        by_row = pool.row[start:stop]
        votes = np.zeros(stop - start)
        for values, listed in ((dense, raw[q]), (grams, gram[q])):
            order = sorted(listed.tolist(), key=lambda p, v=values: (-v[p], by_row[p]))
            for rank, place in enumerate(order, 1):
                votes[place] += 1 / (60 + rank)
        assert fused[q].tolist() == np.argsort(-votes, kind="stable").tolist()


def test_the_dense_signals_of_rows_are_cosines(frozen):
    data, _, pool, _, _ = frozen
    of_document = {row.doc_id: unit(indexed_text(row.speaker or "", row.text)) for row in data.rows}
    for q, query in enumerate(data.queries):
        part = slice(pool.offsets[q], pool.offsets[q + 1])
        documents = [pool.doc_ids[int(code)].as_py() for code in pool.doc_codes[part]]
        exact = np.array([of_document[doc] for doc in documents]) @ unit(query.text)
        told = pool.signals[DENSE_ROW, part] * pool.cosine_unit[q]
        np.testing.assert_allclose(told, exact, atol=0.01)


def unit(text: str) -> np.ndarray:
    """The server's vector of a text, of length 1."""
    made = np.array(vector(text))
    return made / np.linalg.norm(made)


def test_gold_ranks_measure_as_ranked_lists_do(frozen):
    _, deep, pool, _, _ = frozen
    settings = build_adaptive_settings(deep)[::4]
    ranks = replay_adaptive(pool, settings, jobs=2)
    for measure in ("nDCG@10", "R@10", "RR@10"):
        fast = from_gold_ranks(pool, ranks, measure)
        for number, setting in enumerate(settings):
            lists = ranked_adaptive(pool, setting, top=100)
            slow = from_ranked_lists(pool, lists, [measure])[0]
            np.testing.assert_allclose(fast[number], slow, atol=1e-12)


def test_priors_have_their_identities(frozen):
    _, deep, pool, _, _ = frozen
    base = build_adaptive_settings(deep)[6]

    def lists(**prior: float) -> list[list[int]]:
        chosen = replace(base.settings, prior=RowPrior(**prior))
        setting = replace(base, settings=chosen)
        return [found.tolist() for found in ranked_adaptive(pool, setting, top=EVERYTHING)]

    everything = lists()
    assert lists(window=EVERYTHING) == everything
    assert lists(half_life_days=30.0, floor=1.0) == everything
    assert lists(half_life_days=30.0, weight=0.0) == everything
    near = lists(window=25)
    assert lists(window=25, reach=50, far_weight=0.0) == near
    assert lists(window=25, reach=25) == near
    for q, found in enumerate(near):
        position = pool.admitted[q] - 1 - pool.row[pool.offsets[q] + np.array(found)]
        assert position.max() < 25
    reached = lists(window=25, reach=50)
    priced = lists(window=25, reach=50, far_weight=0.5, weight=4.0)
    assert [sorted(a) for a in reached] == [sorted(b) for b in priced]
    assert reached != priced and reached != near
    recent = lists(half_life_days=2.0, weight=8.0)
    assert [sorted(a) for a in recent] == [sorted(b) for b in everything]
    assert recent != everything
