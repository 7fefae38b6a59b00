"""LongMemEval's own JSON."""

from __future__ import annotations

import copy
import json

import pytest

from harness.datasets.base import DatasetError
from harness.datasets.longmemeval import load_longmemeval
from harness.datasets.registry import load_dataset

QUESTION = {
    "question_id": "ab12",
    "question_type": "single-session-user",
    "question": "Which kettle did I buy?",
    "answer": 42,
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["s_b", "answer_s_a"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 14:05"],
    "haystack_sessions": [
        [
            {"role": "user", "content": "Hello there."},
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": "Bye."},
        ],
        [
            {"role": "user", "content": "I bought the copper kettle.", "has_answer": True},
            {"role": "assistant", "content": "Good choice.", "has_answer": False},
        ],
    ],
    "answer_session_ids": ["answer_s_a"],
}


def save(tmp_path, records):
    path = tmp_path / "longmemeval_tiny.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_turns_carry_dates_sessions_roles_and_numbered_ids(tmp_path):
    dataset = load_longmemeval(save(tmp_path, [QUESTION]))
    assert dataset.name == "longmemeval_tiny"
    assert [row.doc_id for row in dataset.rows] == [
        "ab12/000/000", "ab12/000/001", "ab12/000/002", "ab12/001/000", "ab12/001/001",
    ]  # fmt: skip
    assert dataset.rows[3] == (
        "ab12/001/000", "I bought the copper kettle.", "2023-05-21T14:05:00", "answer_s_a",
        "user", "ab12", 0,
    )  # fmt: skip
    assert dataset.queries == [
        (
            "ab12", "Which kettle did I buy?", "2023-05-30T23:40:00", "ab12",
            "single_session_user", "42",
        )
    ]  # fmt: skip
    assert dataset.qrels == {"ab12": {"ab12/001/000": 1}}


def test_sessions_join_the_users_turns(tmp_path):
    dataset = load_longmemeval(save(tmp_path, [QUESTION]), by_session=True)
    assert [(row.doc_id, row.text) for row in dataset.rows] == [
        ("ab12/000", "Hello there. Bye."),
        ("ab12/001", "I bought the copper kettle."),
    ]
    assert dataset.qrels == {"ab12": {"ab12/001": 1}}


def test_two_questions_are_two_scopes(tmp_path):
    other = QUESTION | {"question_id": "cd34_abs"}
    dataset = load_longmemeval(save(tmp_path, [QUESTION, other]))
    assert dataset.scope_ids == ["ab12", "cd34_abs"]


def test_the_registry_finds_the_json_in_a_folder(tmp_path):
    folder = tmp_path / "longmemeval_s"
    folder.mkdir()
    save(folder, [QUESTION])
    assert len(load_dataset("longmemeval_s", tmp_path).rows) == 5
    assert len(load_dataset("longmemeval_s_session", tmp_path).rows) == 2
    (folder / "longmemeval_other.json").write_text("[]")
    with pytest.raises(DatasetError, match="one LongMemEval file is wanted"):
        load_dataset("longmemeval_s", tmp_path)


def changed(**fields):
    return [copy.deepcopy(QUESTION) | fields]


@pytest.mark.parametrize(
    ("records", "parts"),
    [
        ({"a": 1}, ["a list of questions"]),
        (["x"], ["question 0", "an object"]),
        (changed(question=None), ["question 0", "question must be text"]),
        (changed(haystack_dates="x"), ["(ab12)", "haystack_dates must be a list"]),
        (changed(haystack_dates=["2023/05/20 (Sat) 02:21"]), ["differ in length", "has 1"]),
        (changed(question_date="soon"), ["question 0", "'soon'"]),
        (
            changed(haystack_dates=["2023/13/20 (Sat) 02:21", "2023/05/20 (Sat) 02:21"]),
            ["session 0", "2023/13/20"],
        ),
        (changed(haystack_sessions=[[{"role": "user"}], []]), ["session 0, turn 0", "content"]),
        ([QUESTION, QUESTION], ["'ab12'"]),
        ([], ["no rows"]),
    ],
)
def test_damage_is_explained(tmp_path, records, parts):
    path = save(tmp_path, records)
    with pytest.raises(DatasetError) as caught:
        load_longmemeval(path)
    for part in (str(path), *parts):
        assert part in str(caught.value)


@pytest.mark.parametrize("content", [b"", b'[{"question_id": "a"', b"\xff\xfe[]", b"[" * 100_000])
def test_what_is_not_json_is_explained(tmp_path, content):
    path = tmp_path / "longmemeval_tiny.json"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="cannot be read as JSON"):
        load_longmemeval(path)


def test_evidence_that_is_not_in_the_haystack_is_noted(tmp_path):
    path = save(tmp_path, changed(answer_session_ids=["answer_s_a", "gone"]))
    dataset = load_longmemeval(path, by_session=True)
    assert any("'gone'" in note for note in dataset.notes)
