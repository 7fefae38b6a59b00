"""LMEB folders: shared corpora, candidates, several tasks."""

from __future__ import annotations

import json

import pytest

from harness.datasets.base import DatasetError
from harness.datasets.lmeb import load_lmeb
from harness.datasets.registry import load_dataset


def lines(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def qrels(path, *judgements):
    path.write_text("".join("\t".join(found) + "\n" for found in judgements), encoding="utf-8")


@pytest.fixture
def talk(tmp_path):
    """One corpus and candidates for two tasks, as in LMEB's dialogues."""
    root = tmp_path / "LoCoTiny"
    lines(
        root / "corpus.jsonl",
        {"id": "conv_1_t0", "title": "[1 May] Ada:", "text": "I grow chilli."},
        {"id": "conv_1_t1", "title": "", "text": "猫を飼いはじめた。"},
        {"id": "conv_2_t0", "title": None, "text": "Chess on Sunday."},
    )
    lines(
        root / "candidates.jsonl",
        {"scene_id": "conv_1", "candidate_doc_ids": ["conv_1_t0", "conv_1_t1", "stale"]},
        {"scene_id": "conv_2", "candidate_doc_ids": ["conv_2_t0"]},
    )
    lines(
        root / "single_hop/queries.jsonl",
        {"id": "conv_1_q0", "text": "What does Ada grow?"},
        {"id": "conv_2_q0", "text": "When is chess?"},
    )
    qrels(
        root / "single_hop/qrels.tsv",
        ("conv_1_q0", "conv_1_t0", "1"),
        ("conv_2_q0", "conv_2_t0", "1"),
    )
    lines(root / "multi_hop/queries.jsonl", {"id": "conv_1_q0", "text": "何を飼っている?"})
    qrels(root / "multi_hop/qrels.tsv", ("conv_1_q0", "conv_1_t1", "1"))
    return root


def test_tasks_share_the_corpus_and_candidates_make_scopes(talk):
    dataset = load_lmeb(talk)
    assert {row.scope_id: row.doc_id for row in dataset.rows} == {
        "LoCoTiny/conv_1": "conv_1_t1",
        "LoCoTiny/conv_2": "conv_2_t0",
    }
    assert len(dataset.rows) == 3
    assert dataset.rows[0].text == "[1 May] Ada: I grow chilli."
    assert dataset.tasks == ["multi_hop", "single_hop"]
    assert dataset.qrels["single_hop/conv_1_q0"] == {"conv_1_t0": 1}
    assert dataset.qrels["multi_hop/conv_1_q0"] == {"conv_1_t1": 1}
    assert any("stale" in note for note in dataset.notes)


def test_a_dataset_with_one_task_lies_flat_and_beir_names_are_read(tmp_path):
    root = tmp_path / "SciTiny"
    lines(root / "corpus.jsonl", {"_id": 7, "text": "Water boils."})
    lines(root / "queries.jsonl", {"_id": "q", "text": "Boiling?"})
    qrels(root / "qrels.tsv", ("query-id", "corpus-id", "score"), ("q", "7", "2"))
    dataset = load_dataset("SciTiny", tmp_path)
    assert dataset.rows == [("7", "Water boils.", None, None, None, "SciTiny", 0)]
    assert dataset.tasks == ["SciTiny"]
    assert dataset.qrels == {"q": {"7": 2}}


def test_a_corpus_per_narrative_is_the_closest_one_above(tmp_path):
    root = tmp_path / "KnowTiny"
    for story in ("one", "two"):
        lines(root / story / "corpus.jsonl", {"id": "1", "text": f"Story {story}."})
        lines(root / story / "facts/queries.jsonl", {"id": "q", "text": "Which?"})
        qrels(root / story / "facts/qrels.tsv", ("q", "1", "1"))
    dataset = load_lmeb(root)
    assert [(row.scope_id, row.text) for row in dataset.rows] == [
        ("one", "Story one."),
        ("two", "Story two."),
    ]
    assert dataset.tasks == ["one/facts", "two/facts"]


def test_scenes_with_the_same_candidates_are_one_scope(tmp_path):
    root = tmp_path / "Paper"
    lines(root / "corpus.jsonl", *({"id": f"p{i}", "text": "Text."} for i in range(4)))
    lines(root / "queries.jsonl", *({"id": f"q{i}", "text": "Why?"} for i in range(3)))
    sets = (["p0", "p1"], ["p1", "p0"], ["p1", "p2"])
    lines(
        root / "candidates.jsonl",
        *({"scene_id": f"q{i}", "candidate_doc_ids": ids} for i, ids in enumerate(sets)),
    )
    qrels(root / "qrels.tsv", *((f"q{i}", "p1", "1") for i in range(3)))
    dataset = load_lmeb(root)
    assert [query.scope_id for query in dataset.queries] == ["Paper/q0", "Paper/q0", "Paper/q2"]
    assert [row.doc_id for row in dataset.rows] == ["p0", "p1", "p1", "p2"]


def test_judgements_outside_the_candidates_are_dropped_and_noted(talk):
    with open(talk / "single_hop/qrels.tsv", "a", encoding="utf-8") as handle:
        handle.write("conv_1_q0\tconv_2_t0\t1\n")
    dataset = load_lmeb(talk)
    assert dataset.qrels["single_hop/conv_1_q0"] == {"conv_1_t0": 1}
    assert any("outside" in note and "line 3" in note for note in dataset.notes)


def append(path, text):
    with open(path, "a", encoding="utf-8") as handle:
        handle.write(text)


@pytest.mark.parametrize(
    ("file", "text", "parts"),
    [
        ("single_hop/qrels.tsv", "conv_1_q0\tnope\t1\n", ["qrels.tsv, line 3", "'nope'"]),
        ("single_hop/qrels.tsv", "nobody\tconv_1_t0\t1\n", ["qrels.tsv, line 3", "nobody"]),
        ("single_hop/qrels.tsv", "conv_1_q0 conv_1_t0 1\n", ["line 3", "1 field"]),
        ("single_hop/qrels.tsv", "conv_1_q0\tconv_1_t0\tyes\n", ["line 3", "'yes'"]),
        ("single_hop/qrels.tsv", "conv_1_q0\tconv_1_t0\t+-5\n", ["qrels.tsv, line 3", "'+-5'"]),
        ("single_hop/qrels.tsv", f"conv_1_q0\tconv_1_t0\t{'9' * 5000}\n", ["line 3", "9..."]),
        (
            "single_hop/qrels.tsv",
            "conv_1_q0\tconv_1_t0\t1099511627776\n",
            ["qrels.tsv, line 3", "1099511627776", "0 to 1,000,000"],
        ),
        ("single_hop/qrels.tsv", "conv_1_q0\tconv_1_t0\t-1\n", ["line 3", "0 to 1,000,000"]),
        (
            "single_hop/qrels.tsv",
            "conv_1_q0\tconv_1_t0\t2\n",
            ["qrels.tsv, line 3", "contradicts score 1", "qrels.tsv, line 1"],
        ),
        ("corpus.jsonl", "{not json\n", ["corpus.jsonl, line 4", "not JSON"]),
        ("corpus.jsonl", "[1]\n", ["corpus.jsonl, line 4", "an object"]),
        ("corpus.jsonl", '{"text": "x"}\n', ["corpus.jsonl, line 4", "id or _id is missing"]),
        ("corpus.jsonl", '{"id": "conv_2_t0", "text": "x"}\n', ["line 4", "twice", "line 3"]),
        ("corpus.jsonl", '{"id": "n", "text": 3}\n', ["corpus.jsonl, line 4", "must be text"]),
        ("candidates.jsonl", '{"scene_id": "x"}\n', ["candidates.jsonl, line 3"]),
        ("multi_hop/queries.jsonl", '{"id": "q"}\n', ["queries.jsonl, line 2", "text is missing"]),
        ("multi_hop/queries.jsonl", '{"id": "conv_1_q0", "text": "x"}\n', ["line 2", "twice"]),
    ],
)
def test_damage_names_file_and_line(talk, file, text, parts):
    append(talk / file, text)
    with pytest.raises(DatasetError) as caught:
        load_lmeb(talk)
    for part in parts:
        assert part in str(caught.value)


def test_a_first_line_with_a_wrong_score_is_no_header(talk):
    qrels(talk / "multi_hop/qrels.tsv", ("conv_1_q0", "conv_1_t1", "+-5"))
    with pytest.raises(DatasetError, match=r"qrels\.tsv, line 1: score '\+-5'"):
        load_lmeb(talk)


def test_the_same_judgement_twice_is_one_judgement(talk):
    append(talk / "multi_hop/qrels.tsv", "conv_1_q0\tconv_1_t1\t1\n")
    assert load_lmeb(talk).qrels["multi_hop/conv_1_q0"] == {"conv_1_t1": 1}


@pytest.mark.parametrize("file", ["corpus.jsonl", "single_hop/qrels.tsv"])
def test_a_missing_file_is_named(talk, file):
    (talk / file).unlink()
    with pytest.raises(DatasetError, match=file.rsplit("/", 1)[-1]):
        load_lmeb(talk)


def test_text_with_unicode_line_separators_stays_one_line(tmp_path):
    root = tmp_path / "Odd"
    root.mkdir()
    text = "before\u2028after\x85end"
    (root / "corpus.jsonl").write_text(
        json.dumps({"id": "a", "text": text}, ensure_ascii=False) + "\r\n\r\n", encoding="utf-8"
    )
    lines(root / "queries.jsonl", {"id": "q", "text": "?!"})
    qrels(root / "qrels.tsv", ("q", "a", "1"))
    assert load_lmeb(root).rows[0].text == text
