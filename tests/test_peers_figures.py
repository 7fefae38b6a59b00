"""What the figures of the peers are made of: turns, ratios, goals, and the engine's own side."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from cpersona_jit.kernels.int8_scan import dense_scores
from cpersona_jit.text.grams import code_points, gram_keys
from harness.peers.figures import (
    TIMES_AS_FAST,
    add_figure,
    add_ratio,
    comparison,
    rounded,
)
from harness.peers.goals import (
    BM25_NUMPY,
    CPERSONA,
    FAISS_INT8,
    GOALS,
    GRAMS,
    HAMMING,
    INT8,
    NO_TOP_K,
    READ,
    RECALL,
    TOP_K,
    goal_for,
)
from harness.peers.gram_rows import cut_grams, questions, talk_texts
from harness.peers.gram_touched import as_many_bytes, touched
from harness.peers.grams import overlap_searcher, rarity
from harness.peers.lexical_peers import any_trigram
from harness.peers.read_kernel import read_all
from harness.peers.real_vectors import recall_of
from harness.peers.report import report_text
from harness.peers.signs import SHORTLIST
from harness.peers.top_k import compare_top_k
from harness.peers.turns import ratio, rounds_of, take_turns
from harness.peers.vectors import coded_vectors


def test_the_order_changes_from_round_to_round(monkeypatch):
    monkeypatch.setattr("harness.peers.turns.LEAST_ROUNDS", 4)
    asked = []
    numbers = count(1)

    def sample(name):
        return lambda: asked.append(name) or float(next(numbers))

    seconds = rounds_of({name: sample(name) for name in "abc"}, 0.0)
    assert "".join(asked) == "abcacbcabcba"
    assert seconds["a"].tolist() == [1.0, 4.0, 8.0, 12.0]


def test_short_calls_are_repeated_and_long_ones_are_not():
    work = {"short": 1e-4, "long": 1.0}
    passed = {"now": 0.0}
    called = dict.fromkeys(work, 0)

    def call(name):
        called[name] += 1
        passed["now"] += work[name]

    seconds = take_turns(
        {name: lambda name=name: call(name) for name in work}, 0.0, lambda: passed["now"]
    )
    assert {name: round(float(np.median(spent)), 9) for name, spent in seconds.items()} == work
    rounds = len(seconds["long"])
    assert called["long"] == 2 + rounds and called["short"] > 15 * rounds


def test_a_ratio_is_of_paired_rounds():
    slow = np.array([10.0, 30.0, 50.0])
    assert ratio(slow, np.array([5.0, 10.0, 10.0])) == (3.0, 2.5, 4.0)


@pytest.mark.parametrize(
    ("comparison_name", "against", "rows", "wanted"),
    [
        (INT8, FAISS_INT8, 9_999, None),
        (INT8, FAISS_INT8, 10_000, 1.3),
        (INT8, FAISS_INT8, 99_999, 1.3),
        (INT8, FAISS_INT8, 1_000_000, 1.5),
        (INT8, READ, 1_000_000, 0.85),
        (HAMMING, READ, 10_000, None),
        (HAMMING, READ, 100_000, 0.8),
        (GRAMS, BM25_NUMPY, 10_000, None),
        (GRAMS, BM25_NUMPY, 100_000, 10.0),
        (RECALL, CPERSONA, 10_000, 30.0),
        (RECALL, CPERSONA, 100_000, 100.0),
        (GRAMS, CPERSONA, 100_000, None),
    ],
)
def test_goals_hold_at_their_rows(comparison_name, against, rows, wanted):
    goal = goal_for(comparison_name, against, rows)
    assert (goal and goal.wanted) == wanted


def test_no_two_goals_speak_of_one_figure():
    for rows in (1_000, 10_000, 100_000, 1_000_000):
        named = [(g.comparison, g.against) for g in GOALS if g.holds_at(rows)]
        assert len(named) == len(set(named))


def test_figures_reach_or_miss_their_goals():
    seconds = {"engine": np.array([0.02, 0.02]), FAISS_INT8: np.array([0.03, 0.028])}
    one = comparison(INT8, 100_000, seconds, 4, dim=384)
    assert one["milliseconds"] == {"engine": 5.0, FAISS_INT8: 7.25} and one["rounds"] == 2
    add_ratio(one, seconds, FAISS_INT8)
    add_figure(one, "nobody", 1.0, TIMES_AS_FAST)
    assert one["figures"] == [
        {
            "against": FAISS_INT8,
            "value": 1.45,
            "unit": TIMES_AS_FAST,
            "quartiles": [1.425, 1.475],
            "goal": ">= 1.5",
            "reached": False,
        },
        {"against": "nobody", "value": 1.0, "unit": TIMES_AS_FAST},
    ]
    bounded = comparison(TOP_K, 10_000, seconds)
    add_figure(bounded, NO_TOP_K, 1.05, "")
    add_figure(bounded, NO_TOP_K, 1.0501, "")
    assert [figure["reached"] for figure in bounded["figures"]] == [True, False]


def test_a_report_says_what_is_missed():
    seconds = {"engine": np.array([0.02]), FAISS_INT8: np.array([0.022])}
    one = comparison(INT8, 10_000, seconds, dim=384, k=10)
    add_ratio(one, seconds, FAISS_INT8)
    (figure,) = one["figures"]
    record = {
        "command": "python -m harness peers",
        "measure": "medians",
        "comparisons": [one],
        "goals": [{"comparison": INT8, "rows": 10_000, "dim": 384, **figure}],
        "skipped": [{"peer": "usearch", "reason": "not installed"}],
        "peers": {"faiss-cpu": "1"},
        "tier": "plain",
        "load_average": {"before": None, "after": None},
        "machine": {"cpu": "x", "cores": 2},
    }
    text = report_text(record, drawn=False)
    assert "0 of 1 reached, 1 **missed**." in text
    assert "| 1.1x (1.1-1.1) | >= 1.3 | missed |" in text
    assert "| 20 | 22 | 1.1x (1.1-1.1) | >= 1.3, **missed** |" in text
    assert "- usearch: not installed" in text and ".png" not in text


def test_rounding_keeps_four_digits():
    assert [rounded(v) for v in (0.000123456, 12.34567, 98765.4)] == [0.0001235, 12.35, 98770.0]


@pytest.mark.parametrize("size", [0, 64, 511, 512, 4096, 512 * 9 + 100])
def test_reading_reads_every_word(size):
    data = np.random.default_rng(size).integers(-128, 128, size, np.int8)
    whole = data[: size // 512 * 512].view(np.int64)
    assert read_all(data) == (np.bitwise_xor.reduce(whole) if whole.size else 0)


def test_the_engine_is_asked_for_the_rarest_shared_grams():
    grams = cut_grams(talk_texts(300), 3)
    searcher = overlap_searcher(grams)
    for query, lists in enumerate(grams.asked):
        weights = rarity(grams.index, lists)
        keys, _ = gram_keys(code_points(questions()[query]), 3)
        assert set(grams.index.keys[lists]) == set(keys) & set(grams.index.keys)
        total = np.zeros(300, np.int64)
        for row in range(300):
            own = grams.numbers[grams.row_ptr[row] : grams.row_ptr[row + 1]]
            total[row] = weights[np.isin(lists, own)].astype(np.int64).sum()
        best = np.argsort(-total, kind="stable")[:10]
        assert searcher.answer(query).tolist() == best[total[best] > 0].tolist()
        order = np.argsort(grams.index.df[lists], kind="stable")
        assert (np.diff(weights[order].astype(np.int64)) <= 0).all()


def test_what_a_question_touches_is_counted_list_by_list():
    grams = cut_grams(talk_texts(300), 3)
    index, count = grams.index, len(grams.asked)
    lists = [one for asked in grams.asked for one in asked.tolist()]
    rows = sum(int((grams.numbers == one).sum()) for one in lists)
    bitmaps = sum(int(index.dense_slot[one] >= 0) for one in lists)
    sparse = sum(int((grams.numbers == one).sum()) for one in lists if index.dense_slot[one] < 0)
    found = touched(index, grams.asked)
    assert 0 < bitmaps < len(lists) and 0 < sparse < rows
    assert found["postings"] == round(rows / count, 1)
    assert found["bitmaps"] == round(bitmaps / count, 1)
    assert found["sparse_postings"] == round(sparse / count, 1)
    assert found["list_bytes"] == round((bitmaps * 8 * 5 + sparse * 4) / count, 1)
    assert as_many_bytes(found).size == int(found["list_bytes"] + found["row_bytes"])


def test_a_report_says_what_keeps_the_engine_from_more():
    reads = {"bitmaps": 30.5, "sparse_postings": 1200.0, "list_bytes": 1e6, "row_bytes": 5e5}
    reads |= {"postings": 400_000.0, "bm25s_bytes": 3.2e6}
    grams = comparison(GRAMS, 100_000, {"engine": np.array([2e-4])}, gram_size=3)
    grams |= {"touched": reads, "split_ms": {"sums of all rows": 0.15}}
    bits = comparison(HAMMING, 100_000, {"engine": np.array([3e-4])}, dim=384)
    bits["of_reading"] = {"engine": 0.91, "faiss": 0.55}
    record = {
        "command": "",
        "measure": "medians",
        "comparisons": [grams, bits],
        "goals": [],
        "skipped": [],
        "peers": {},
        "tier": "plain",
        "load_average": {"before": None, "after": None},
        "machine": {"cpu": "x", "cores": 2},
    }
    text = report_text(record, drawn=False)
    assert "engine reaches 0.91 of reading; faiss reaches 0.55 of reading" in text
    assert "30.5 bitmaps and 1,200 sparse postings" in text and "1.50 MB" in text
    assert "400,000 postings, 3.20 MB; sums of all rows 0.15 ms" in text


def test_trigrams_are_quoted_for_fts5():
    assert any_trigram('ab"c') == '"ab""" OR "b""c"'
    assert any_trigram("京都駅前") == '"京都駅" OR "都駅前"'
    assert any_trigram("ab") == ""


def test_the_worst_order_is_ascending_and_costs_are_of_the_same_scan():
    data = coded_vectors(640, 128)
    first, second = compare_top_k(data, 0.0)
    assert (first["k"], second["k"]) == (10, 100)
    assert set(first["milliseconds"]) == {"no top-k", "top 10", "top 10, worst order"}
    assert [figure["against"] for figure in first["figures"]] == ["no top-k", "worst order"]
    assert dense_scores(data.codes, data.planes[0], np.arange(640)).std() > 0


def test_a_shortlist_of_all_rows_loses_nothing():
    rng = np.random.default_rng(4)
    vectors = rng.standard_normal((SHORTLIST + 1500, 70)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    few = recall_of(vectors[:SHORTLIST], vectors[-30:])
    assert few["figures"][0]["value"] == 0.0 and few["recall"]["full int8 scan"] > 0.9
    many = recall_of(vectors[:-30], vectors[-30:])
    assert many["recall"]["two-phase"] < many["recall"]["full int8 scan"]
    assert many["figures"][0]["value"] > 0
