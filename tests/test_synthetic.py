"""The synthetic benchmark: repeatable, lawful, and neither trivial nor hopeless."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.text.grams import code_points, gram_keys, normalise
from harness.datasets.checks import validate
from harness.datasets.registry import load_dataset
from harness.datasets.synthetic import make_synthetic
from harness.datasets.synthetic.english import ENGLISH
from harness.datasets.synthetic.japanese import JAPANESE
from harness.hashes import dataset_hash

# Records in results/ name this hash: change it only together with a new record.
DEFAULT_HASH = "a1faffc06fb97e8e9319c0cfb459d1c7cd40ef014afe5e44e8a35aaf7fe1baff"


@pytest.fixture(scope="module")
def dataset():
    return make_synthetic()


def test_the_default_is_the_same_bytes_everywhere(dataset):
    assert dataset_hash(dataset) == DEFAULT_HASH
    assert dataset_hash(load_dataset("synthetic")) == DEFAULT_HASH


def test_the_hash_does_not_depend_on_the_process():
    code = (
        "from harness.datasets.synthetic import make_synthetic\n"
        "from harness.hashes import dataset_hash\n"
        "print(dataset_hash(make_synthetic(5)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONHASHSEED": "123", "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert done.stdout.strip() == dataset_hash(make_synthetic(5))


def test_another_seed_is_another_benchmark_of_the_same_shape(dataset):
    other = make_synthetic(1)
    validate(other)
    assert dataset_hash(other) != dataset_hash(dataset)
    assert Counter(query.task for query in other.queries) == Counter(
        query.task for query in dataset.queries
    )


def test_the_shape_is_what_the_docstring_promises(dataset):
    validate(dataset)
    assert dataset.notes == []
    groups = dataset.rows_by_scope()
    assert len(groups) == 8
    assert all(len(rows) >= 120 for rows in groups.values())
    assert len(dataset.queries) >= 160
    tasks = {"single_hop", "paraphrase", "knowledge_update", "temporal", "multi_hop"}
    assert set(dataset.tasks) == tasks | {"ja_" + task for task in tasks}
    for query in dataset.queries:
        assert len(dataset.qrels[query.query_id]) == (2 if "multi_hop" in query.task else 1)


@pytest.mark.parametrize("seed", [20261130, 2, 3, 4])
def test_turns_follow_time_and_a_month_names_one_session(seed):
    for rows in make_synthetic(seed).rows_by_scope().values():
        stamps = [datetime.fromisoformat(row.timestamp) for row in rows]
        assert stamps == sorted(stamps)
        assert len({row.speaker for row in rows}) == 2
        months = {(row.session_id, row.timestamp[:7]) for row in rows}
        sessions = {session for session, _ in months}
        assert len(months) == len(sessions) == len({month for _, month in months}) == 12


@pytest.mark.parametrize("seed", [20261130, 2, 3, 4])
def test_the_newest_telling_answers_an_update_and_older_ones_come_before(seed):
    dataset = make_synthetic(seed)
    rows = {row.doc_id: row for row in dataset.rows}
    updates = [query for query in dataset.queries if query.task.endswith("knowledge_update")]
    for query in updates:
        (doc_id,) = dataset.qrels[query.query_id]
        newest = rows[doc_id]
        assert query.answer in newest.text
        language = ENGLISH if query.scope_id.startswith("en") else JAPANESE
        topic = next(
            topic
            for topic in language.changing
            for question in topic.questions
            if question.format(who=newest.speaker) == query.text
        )
        forms = [
            (row, text.format(v=value))
            for row in rows.values()
            if row.scope_id == query.scope_id
            for text in (*topic.tellings, *topic.updates)
            for value in topic.values
        ]
        told = [row for row, text in forms if row.text == text]
        assert len(told) >= 2
        assert max(told, key=lambda row: row.timestamp) == newest
        assert newest.timestamp < query.timestamp


def test_no_pattern_is_left_unfilled_and_languages_do_not_mix(dataset):
    for record in (*dataset.rows, *dataset.queries):
        assert not re.search(r"[{}]", record.text)
        japanese = bool(re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", record.text))
        assert japanese == record.scope_id.startswith("ja"), record.text


@pytest.mark.parametrize("language", [ENGLISH, JAPANESE])
def test_every_topic_is_varied(language):
    for topic in language.topics:
        assert len(topic.values) == len(set(topic.values)) >= 4
        texts = [telling.text for telling in topic.tellings] + list(topic.paraphrases)
        assert len(set(texts)) == len(topic.tellings) + len(topic.paraphrases) >= 4
        assert all("{v}" in telling.text for telling in topic.tellings)
        assert all("{who}" in question for question in topic.paraphrases)
    for topic in language.changing:
        assert len(topic.values) >= 3
        assert len(topic.updates) >= 2
    texts = [telling.text for topic in language.topics for telling in topic.tellings]
    assert len(set(texts)) == len(texts)


def ndcg_at_10(scores, doc_ids, relevant):
    order = np.argsort(-scores, kind="stable")[:10]
    gains = sum(1 / np.log2(place + 2) for place, i in enumerate(order) if doc_ids[i] in relevant)
    return gains / sum(1 / np.log2(place + 2) for place in range(min(10, len(relevant))))


def macro(dataset, score):
    """Mean over tasks of NDCG@10 for a function of (query index, row indices) to scores."""
    by_task = {}
    scopes = {}
    for index, row in enumerate(dataset.rows):
        scopes.setdefault(row.scope_id, []).append(index)
    for index, query in enumerate(dataset.queries):
        rows = scopes[query.scope_id]
        doc_ids = [dataset.rows[i].doc_id for i in rows]
        value = ndcg_at_10(score(index, rows), doc_ids, dataset.qrels[query.query_id])
        by_task.setdefault(query.task, []).append(value)
    return {task: float(np.mean(values)) for task, values in by_task.items()}


def scopes_of(dataset, *scope_ids):
    return replace(
        dataset,
        rows=[row for row in dataset.rows if row.scope_id in scope_ids],
        queries=[query for query in dataset.queries if query.scope_id in scope_ids],
    )


def test_neither_arm_alone_solves_it_and_both_beat_chance(dataset):
    dataset = scopes_of(dataset, "en-2", "ja-3")
    texts = [indexed_text(row.speaker, row.text) for row in dataset.rows]
    questions = [query.text for query in dataset.queries]
    grams = [set(gram_keys(code_points(normalise(text)), 3)[0].tolist()) for text in texts]
    asked = [set(gram_keys(code_points(normalise(text)), 3)[0].tolist()) for text in questions]
    frequency = Counter(gram for found in grams for gram in found)
    provider = load_provider("default")
    vectors = provider.embed(texts, kind="passage")
    queries = provider.embed(questions, kind="query")

    def lexical(query, rows):
        return np.array(
            [sum(1 / np.sqrt(frequency[g]) for g in asked[query] & grams[i]) for i in rows]
        )

    rng = np.random.default_rng(0)
    dense = macro(dataset, lambda query, rows: vectors[rows] @ queries[query])
    gram = macro(dataset, lexical)
    chance = macro(dataset, lambda query, rows: rng.random(len(rows)))
    for arm in (dense, gram):
        mean = np.mean(list(arm.values()))
        assert np.mean(list(chance.values())) + 0.1 < mean < 0.7, arm
    assert max(dense.values()) < 1.0
    hard = [task for task in dense if max(dense[task], gram[task]) < 0.7]
    assert len(hard) >= 6, "most tasks must leave room above the better arm"
