"""Parquet folders: read whole, and every kind of damage is a message instead of a traceback."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.datasets.base import DatasetError
from harness.datasets.columnar import load_columnar
from harness.datasets.registry import load_dataset

CORPUS = {
    "doc_id": ["c1/1", "c1/2", "c2/1"],
    "text": ["I grow chilli.", "唐辛子を育てている。", "Chess on Sunday."],
    "timestamp": ["2024-05-01T10:00:00", None, "2024-06-01"],
    "session_id": ["s1", "s1", None],
    "speaker": ["Ada", "唯", None],
    "scope_id": ["c1", "c1", "c2"],
    "image_caption": [None, "a pot", None],
}
QUERIES = {
    "query_id": ["q1", "q2"],
    "text": ["What does Ada grow?", "何曜日?"],
    "timestamp": pa.array([None, None], pa.string()),
    "scope_id": ["c1", "c2"],
    "task": ["single_hop", "ja"],
    "answer": ["chilli", None],
}
QRELS = {
    "query_id": ["q1", "q1", "q2"],
    "doc_id": ["c1/1", "c1/2", "c2/1"],
    "score": pa.array([1, 1, 1], pa.int32()),
}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    for name, columns in (("corpus", CORPUS), ("queries", QUERIES), ("qrels", QRELS)):
        write(folder, name, columns)
    return folder


def write(folder, name, columns):
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def test_everything_is_read(folder):
    dataset = load_columnar(folder)
    assert dataset.name == "tiny"
    assert dataset.rows[1] == (
        "c1/2", "唐辛子を育てている。", None, "s1", "唯", "c1", 0,
    )  # fmt: skip
    assert dataset.queries[0] == ("q1", "What does Ada grow?", None, "c1", "single_hop", "chilli")
    assert dataset.qrels == {"q1": {"c1/1": 1, "c1/2": 1}, "q2": {"c2/1": 1}}
    assert dataset.notes == []


def test_dictionary_and_all_null_columns_are_read(folder):
    encoded = CORPUS | {
        "scope_id": pa.array(CORPUS["scope_id"]).dictionary_encode(),
        "session_id": pa.nulls(3),
    }
    write(folder, "corpus", encoded)
    dataset = load_columnar(folder)
    assert [row.scope_id for row in dataset.rows] == ["c1", "c1", "c2"]
    assert {row.session_id for row in dataset.rows} == {None}


def test_by_session_reads_the_other_pair_of_files(folder, tmp_path):
    sessions = {name: values[:1] for name, values in CORPUS.items()} | {"doc_id": ["c1"]}
    sessions = {name: values + values for name, values in sessions.items()}
    sessions |= {"doc_id": ["c1/s1", "c2/s1"], "scope_id": ["c1", "c2"]}
    write(folder, "corpus_session", sessions)
    write(folder, "qrels_session", {"query_id": ["q1"], "doc_id": ["c1/s1"], "score": [1]})
    for dataset in (
        load_dataset("tiny_session", tmp_path),
        load_dataset("tiny", tmp_path, variant="session"),
    ):
        assert dataset.name == "tiny_session"
        assert dataset.qrels == {"q1": {"c1/s1": 1}}
    assert load_dataset("tiny", tmp_path).name == "tiny"


def without(columns, name):
    return {key: values for key, values in columns.items() if key != name}


@pytest.mark.parametrize(
    ("file", "columns", "message"),
    [
        ("corpus", without(CORPUS, "text"), "corpus.parquet: column 'text' is missing"),
        ("queries", without(QUERIES, "task"), "queries.parquet: column 'task' is missing"),
        ("corpus", CORPUS | {"text": [1, 2, 3]}, "column 'text' holds int64, text expected"),
        ("qrels", QRELS | {"score": ["a", "b", "c"]}, "column 'score' holds string, whole num"),
        ("qrels", QRELS | {"score": [1, -1, 1]}, "qrels.parquet, row 1: score -1 of doc_id"),
        ("qrels", QRELS | {"score": [1, 1, 2**40]}, "allowed: whole numbers from 0 to 1,000,000"),
        ("corpus", CORPUS | {"text": ["a", None, "c"]}, "corpus.parquet, row 1: text is missing"),
        ("corpus", CORPUS | {"doc_id": pa.nulls(3)}, "column 'doc_id' holds null"),
        ("corpus", CORPUS | {"text": [["a"], ["b"], ["c"]]}, "column 'text' holds list"),
        ("qrels", QRELS | {"doc_id": ["c1/1", "c9", "c2/1"]}, "qrels.parquet, row 1: doc_id 'c9'"),
        ("corpus", {name: values[:0] for name, values in CORPUS.items()}, "corpus.parquet"),
    ],
)
def test_damage_to_a_table_is_explained(folder, file, columns, message):
    write(folder, file, columns)
    with pytest.raises(DatasetError) as caught:
        load_columnar(folder)
    assert message in str(caught.value)


@pytest.mark.parametrize("keep", [0, 3, 200, -8])
def test_a_truncated_file_is_explained(folder, keep):
    path = folder / "corpus.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DatasetError, match=r"corpus\.parquet: cannot be read as Parquet"):
        load_columnar(folder)


def test_no_flipped_byte_gets_past_as_anything_but_data_or_a_dataset_error(folder):
    path = folder / "corpus.parquet"
    whole = path.read_bytes()
    for position in range(0, len(whole), 37):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        try:
            load_columnar(folder)
        except DatasetError:
            continue


def test_a_missing_file_is_named(folder):
    (folder / "qrels.parquet").unlink()
    with pytest.raises(DatasetError, match=r"qrels\.parquet: there is no such file"):
        load_columnar(folder)
