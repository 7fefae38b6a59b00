"""Parts of the scale record: slopes, planted rows, quality, and the choice of a scan."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest

from harness.peers.cpersona_side.text_vectors import text_vector
from harness.scale import quality, scan
from harness.scale.config import PlantedConfig
from harness.scale.planted import plant, vector_at
from harness.scale.quality import Answer
from harness.scale.slopes import slope, slopes
from harness.scale.stores import make_store, open_built

PLANTED = PlantedConfig(questions=9, cosines=[0.3, 0.9])


def test_slope_is_the_exponent_of_a_power_law():
    rows = [1000, 10_000, 100_000]
    assert slope(rows, [3.0 * n**0.5 for n in rows]) == pytest.approx(0.5)
    found = slopes(rows[::-1], [10.0, 1.0, 1.0])  # any order: 1, 1, 10 over ascending rows
    assert found["overall"] == pytest.approx(0.5)
    assert [(s["from"], s["to"], s["slope"]) for s in found["between"]] == [
        (1000, 10_000, 0.0),
        (10_000, 100_000, 1.0),
    ]
    assert slopes([1000], [5.0]) is None


def test_slope_is_the_least_squares_one():
    rng = np.random.default_rng(1)
    rows, values = rng.uniform(100, 1e6, 12), rng.uniform(0.1, 50, 12)
    assert slope(rows, values) == pytest.approx(np.polyfit(np.log(rows), np.log(values), 1)[0])


def test_planted_rows_are_where_they_were_planted_at_their_cosine(tmp_path):
    planted = plant(200, PLANTED, seed=5)
    assert planted == plant(200, PLANTED, seed=5)
    assert plant(400, PLANTED, seed=5).questions == planted.questions
    assert any("？" in text for text in planted.questions)
    assert any(" " in text and text.endswith("?") for text in planted.questions)
    store = make_store(tmp_path / "s.db", 200, "chat", planted, lambda done: None)
    with open_built(store) as memory:
        columns = memory.columns()
        assert columns.n == 200
        for number, (text, gold) in enumerate(zip(store.questions, store.gold, strict=True)):
            own = {p.content for p in planted.rows.values() if p.question == number}
            found = memory.get_contents([f"mem:{one}" for one in gold], agent_id="benchmark")
            assert {row.content for row in found.rows} == own and len(gold) == 2
            places = columns.positions(np.array(sorted(gold)))
            codes = columns.codes[places].astype(float)
            codes /= np.linalg.norm(codes, axis=1, keepdims=True)
            assert sorted(codes @ text_vector(text)) == pytest.approx([0.3, 0.9], abs=0.02)


def test_vector_at_has_the_cosine():
    towards, beside = text_vector("a"), text_vector("b")
    vector = vector_at(towards, beside, 0.25)
    assert vector @ towards == pytest.approx(0.25, abs=1e-6)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
    assert (vector @ beside) > 0.9


def test_ndcg_is_that_of_ir_measures():
    rng = np.random.default_rng(3)
    for _ in range(20):
        best = rng.permutation(30)[:10].tolist()
        gold = set(rng.permutation(30)[: rng.integers(1, 14)].tolist())
        qrels = [ir_measures.Qrel("q", str(row), 1) for row in gold]
        run = [ir_measures.ScoredDoc("q", str(row), -place) for place, row in enumerate(best)]
        (wanted,) = ir_measures.calc_aggregate(
            [ir_measures.parse_measure("nDCG@10")], qrels, run
        ).values()
        assert quality.ndcg(best, gold) == pytest.approx(wanted)


def test_agreement_counts_rows_lists_and_dense_lists():
    exact = [Answer([1, 2], {1, 2, 3, 4}), Answer([5, 6], {5})]
    same = quality.agreement(exact, exact)
    assert same == {"same_rows": 1.0, "same_list": 1.0, "dense_list": 1.0}
    other = [Answer([2, 1], {1, 2}), Answer([5, 7], {5, 9})]
    found = quality.agreement(other, exact)
    assert found == {"same_rows": 0.75, "same_list": 0.0, "dense_list": 0.75}
    judged = quality.found_quality(other, [{2, 9}, set()])
    assert judged["recall"] == 0.5  # the question without a relevant row is left out


def test_two_phases_over_every_row_give_the_exact_list(tmp_path):
    """A shortlist and a sample of all rows leave nothing to lose."""
    planted = plant(600, PLANTED, seed=6)
    store = make_store(tmp_path / "s.db", 600, "chat", planted, lambda done: None)
    with open_built(store) as memory:
        asked = memory, store.questions
        exact = quality.answers(*asked, quality.scanning(quality.exact_scan()))
        whole = quality.answers(*asked, quality.scanning(quality.two_phase_scan(600, 600)))
        few = quality.answers(*asked, quality.scanning(quality.two_phase_scan(20, 600)))
    assert whole == exact
    assert quality.agreement(few, exact)["dense_list"] < 0.5
    assert quality.found_quality(exact, store.gold)["recall"] > 0.5  # the near ones at least


def test_choice_takes_the_soonest_pair_that_loses_little_everywhere():
    def place(*scans):
        exact = {"scan": "exact", "recall": 0.9, "process_ms": 9.0}
        return {"place": "a store", "scans": [exact, *scans]}

    def one(name, recall, spent):
        return {"scan": name, "recall": recall, "process_ms": spent}

    swept = [
        place(one("a", 0.9, 3.0), one("b", 0.9, 1.0), one("c", 0.898, 2.0)),
        place(one("a", 0.9, 3.0), one("b", 0.8, 1.0), one("c", 0.896, 2.5)),
    ]
    found = scan.choice(swept, 0.005)
    assert found["allowed"] == ["a", "c"] and found["soonest"] == "c"
    assert found["places"] == ["a store"] * 2
    assert found["loss"]["b"] == pytest.approx(0.1) and found["shipped"] is None
    assert scan.choice([], 0.005) is None
    assert scan.choice(swept[1:], -1.0)["soonest"] is None


def test_crossing_is_where_two_phases_stay_sooner():
    def sizes(*ratios):
        return [{"rows": 1000 * 2**i, "ratio": ratio} for i, ratio in enumerate(ratios)]

    assert scan.crossing(sizes(1.2, 1.0, 0.9, 0.5)) == 4000
    assert scan.crossing(sizes(0.8, 1.1, 0.9)) == 4000
    assert scan.crossing(sizes(1.1, 1.2)) is None
    assert scan.crossing([]) is None
