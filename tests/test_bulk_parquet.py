"""Import of Parquet: columns of many types, refused as a whole or read row by row."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from bulk_cases import DIM, ME, bag, examples, opened, rows, stored_vectors, texts, told, vectors

from cpersona_jit import ImportOptions
from cpersona_jit.bulk import importing, parquet
from cpersona_jit.embed.guard import unit_rows
from cpersona_jit.errors import ImportFileError, UsageError


@pytest.fixture
def memory(tmp_path: Path):
    with opened(tmp_path / "m.db", bag()) as memory:
        yield memory


@pytest.fixture
def load(memory, tmp_path):
    """Write a table and import it."""

    def load(columns, options=ME, metadata=None, **writing):
        table = pa.table(columns, metadata=metadata)
        pq.write_table(table, tmp_path / "in.parquet", **writing)
        return memory.import_file(tmp_path / "in.parquet", options)

    return load


def as_dictionary(values):
    return pa.array(values).dictionary_encode()


TEXTS = {
    "string": pa.array,
    "large_string": lambda values: pa.array(values, pa.large_string()),
    "dictionary": as_dictionary,
    "large dictionary": lambda values: pa.array(values, pa.large_string()).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_of_every_type(load, memory, kind):
    make = TEXTS[kind]
    columns = {
        "content": make(["green tea", "抹茶🍵", None, "抹茶🍵"]),
        "agent_id": make(["a", "愛", "a", None]),
        "source_name": make([None, "健", None, "健"]),
        "timestamp": make(["2024-05-01", None, None, "そのうち"]),
        "channel": pa.nulls(4),
    }
    report = load(columns)
    assert told(report) == {"stored": 3, "empty_content": 1, "timestamp_unparsable": 1}
    assert report.unit == "row"
    assert examples(report, "empty_content")[0][0] == 3
    assert rows(memory, "content, agent_id, source_name, timestamp") == [
        ("green tea", "a", "", "2024-05-01"),
        ("抹茶🍵", "愛", "健", ""),
        ("抹茶🍵", "me", "健", "そのうち"),
    ]


def test_structs_maps_and_json(load, memory):
    sources = [{"type": "user", "id": "u", "name": "健"}, None, {"name": "Mika"}]
    load({"content": list("abc"), "source": sources, "metadata": [{"k": 1}, None, {"語": "値"}]})
    maps = pa.array([[("k", "v")], None], pa.map_(pa.string(), pa.string()))
    load({"content": list("de"), "metadata": maps})
    report = load({"content": list("fgh"), "metadata": ['{"n": [1, null]}', "{", ""]})
    assert told(report) == {"stored": 2, "metadata_invalid": 1}
    names = rows(memory, "source_type, source_id, source_name")[:3]
    assert names == [("user", "u", "健"), ("", "", ""), ("", "", "Mika")]
    assert rows(memory, "metadata") == [
        '{"k": 1}', "{}", '{"語": "値"}', '{"k": "v"}', "{}", '{"n": [1, null]}', "{}",
    ]  # fmt: skip


def test_times_of_every_type(load, memory):
    moment = datetime.datetime(2024, 5, 1, 9, 30, 0, 250_000)
    stamps = {
        pa.timestamp("us"): "2024-05-01T09:30:00.250000",
        pa.timestamp("ms", "UTC"): "2024-05-01T09:30:00.250000Z",
        pa.timestamp("ns", "Asia/Tokyo"): "2024-05-01T09:30:00.250000Z",
        pa.date32(): "2024-05-01",
    }
    for kind, expected in stamps.items():
        value = moment.date() if pa.types.is_date(kind) else moment
        times = pa.array([None, value], kind)
        assert told(load({"content": [f"none {kind}", f"{kind}"], "timestamp": times})) == {
            "stored": 2
        }
        assert rows(memory, "timestamp")[-2:] == ["", expected]
    whole = pa.array([datetime.datetime(1969, 12, 31, 23, 59, 59)], pa.timestamp("s", "UTC"))
    load({"content": ["old"], "timestamp": whole})
    assert rows(memory, "timestamp, event_time")[-1] == ("1969-12-31T23:59:59Z", -1_000_000)


def vector_column(kind: str, given: np.ndarray) -> pa.Array:
    values = [None, *given.astype(float).tolist(), None]
    if kind == "sliced":
        return pa.array([[9.0] * DIM, *values], pa.list_(pa.float32(), DIM))[1:]
    types = {
        "fixed": pa.list_(pa.float32(), DIM),
        "list": pa.list_(pa.float32()),
        "large": pa.large_list(pa.float64()),
    }
    return pa.array(values, types[kind])


@pytest.mark.parametrize("kind", ["fixed", "list", "large", "sliced"])
def test_vectors_of_every_type_and_rows_without(load, memory, kind):
    given = vectors(5)
    columns = {"content": list(texts(7)), "embedding": vector_column(kind, given)}
    fingerprint = memory._provider.info.fingerprint
    report = load(columns, metadata={"embedding_fingerprint": fingerprint}, row_group_size=3)
    assert told(report) == {"stored": 7}
    assert np.array_equal(stored_vectors(memory)[1:6], unit_rows(given))
    assert len(memory._provider.embedded) == 2


def test_whole_numbers_and_bad_vectors(load, memory):
    whole = {
        "content": ["a"],
        "embedding": pa.array([[1, -2, 3, 0, 0, 0, 0, 0]], pa.list_(pa.int8())),
    }
    options = ImportOptions("me", embedding_model="bag")
    assert told(load(whole, options)) == {"stored": 1}
    good, bad = [1.0] * DIM, [1.0] * (DIM - 1)
    values = [good, bad, [*bad, None], [*bad, float("nan")], [0.0] * DIM, None, [*bad, 1e200]]
    columns = {"content": list(texts(7)), "embedding": pa.array(values, pa.list_(pa.float64()))}
    report = load(columns, options)
    assert told(report) == {"stored": 2, "embedding_dimension": 1, "embedding_invalid": 4}
    assert [n for n, _ in examples(report, "embedding_invalid")] == [3, 4, 5]
    assert told(load({**columns, "content": list(texts(7, 10))})) == {
        "stored": 1,
        "embedding_model": 6,
    }


WRONG = [
    ({"text": ["a"]}, "no column content"),
    ({"content": ["a"], "mood": ["b"]}, "'mood' is no field"),
    ({"content": [1]}, "content is of type int64; allowed: string"),
    ({"content": [b"a"]}, "content is of type binary"),
    ({"content": ["a"], "agent_id": [7]}, "agent_id is of type int64"),
    ({"content": ["a"], "timestamp": [7]}, "allowed: string, timestamp or date"),
    ({"content": ["a"], "embedding": ["x"]}, "embedding is of type string"),
    ({"content": ["a"], "embedding": [["x"]]}, "allowed: a list of numbers"),
    ({"content": ["a"], "source": ["x"]}, "a struct of type, id and name"),
    ({"content": ["a"], "metadata": [[1]]}, "a string of JSON, a struct or a map"),
]


@pytest.mark.parametrize(("columns", "said"), WRONG)
def test_a_column_that_cannot_be_read_is_refused_before_anything(load, memory, columns, said):
    with pytest.raises(UsageError) as caught:
        load(columns)
    assert said in str(caught.value)
    assert rows(memory) == []
    if "mood" in columns:
        assert told(load(columns, ImportOptions("me", ignored=("mood",)))) == {"stored": 1}


def test_a_column_that_is_there_twice(memory, tmp_path):
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["content", "content"])
    pq.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(UsageError, match="'content' twice"):
        memory.import_file(tmp_path / "twice.parquet", ME)


def test_text_that_is_not_utf8(memory, tmp_path):
    broken = pa.Array.from_buffers(
        pa.string(),
        3,
        [
            None,
            pa.py_buffer(np.array([0, 1, 3, 6], "<i4")),
            pa.py_buffer("a\xff\xfeあ".encode("latin-1", "ignore") + "あ".encode()),
        ],
    )
    pq.write_table(pa.table({"content": broken}), tmp_path / "broken.parquet")
    report = memory.import_file(tmp_path / "broken.parquet", ME)
    assert told(report) == {"stored": 2, "not_utf8": 1}
    assert examples(report, "not_utf8")[0][0] == 2
    assert rows(memory) == ["a", "あ"]


@pytest.mark.parametrize("damage", ["cut", "garbage"])
def test_a_damaged_file_is_an_error_and_keeps_what_was_stored(
    memory, tmp_path, damage, monkeypatch
):
    path = tmp_path / "in.parquet"
    columns = {"content": list(texts(9000)), "metadata": [f'{{"x": "{n}"}}' for n in range(9000)]}
    pq.write_table(pa.table(columns), path, row_group_size=4500, compression="snappy")
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        middle = len(data) * 3 // 4
        data[middle : middle + 4000] = b"\xa5" * 4000
        path.write_bytes(data)
    with pytest.raises(ImportFileError, match="cannot be read"):
        memory.import_file(path, ME)
    found = rows(memory)
    assert found == list(texts(len(found)))


def test_large_row_groups_are_read_in_parts(memory, tmp_path, monkeypatch):
    """A row group is a million rows by default: only some of it may be in memory."""
    count, width = 40_000, 256
    model = type(memory._provider)(dim=width)
    given = np.random.default_rng(0).standard_normal((count, width)).astype(np.float32)
    column = pa.FixedSizeListArray.from_arrays(pa.array(given.reshape(-1)), width)
    table = pa.table({"content": list(texts(count)), "embedding": column})
    pq.write_table(table, tmp_path / "in.parquet", use_dictionary=False)
    assert pq.ParquetFile(tmp_path / "in.parquet").num_row_groups == 1
    del table, column
    with opened(tmp_path / "wide.db", model) as wide:
        before = pa.total_allocated_bytes()
        peak = 0

        def watch(*_):
            nonlocal peak
            peak = max(peak, pa.total_allocated_bytes() - before)

        options = ImportOptions("me", embedding_model="bag")
        report = wide.import_file(tmp_path / "in.parquet", options, progress=watch)
        assert told(report) == {"stored": count}
    # A batch that is being stored, and the rows that are read for it.
    assert peak < (importing.MOST_ROWS + 4 * parquet._ROWS) * 4 * width < given.nbytes / 2


def test_a_columns_export_says_that_it_holds_no_texts(memory, tmp_path):
    from cpersona_jit.columns.export import export_columns

    memory.store("tea", agent_id="me")
    out = tmp_path / "columns.parquet"
    export_columns(memory.columns(), out, "parquet", store=tmp_path / "m.db")
    with pytest.raises(UsageError, match="no texts"):
        memory.import_file(out, ME)
    feather.write_feather(pa.table({"content": ["a"]}), out)
    with pytest.raises(UsageError, match="Arrow"):
        memory.import_file(out, ME)


def test_without_pyarrow_the_error_says_what_to_install(tmp_path):
    pq.write_table(pa.table({"content": ["a"]}), tmp_path / "in.parquet")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from cpersona_jit.cli.app import main\n"
        f"sys.argv = ['x', 'import', {str(tmp_path / 'in.parquet')!r}, '--db', "
        f"{str(tmp_path / 'x.db')!r}, '--embedder', 'none']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install pyarrow" in done.stderr
    assert "Traceback" not in done.stderr


def test_batches_of_one_row_change_nothing(load, memory, monkeypatch):
    monkeypatch.setattr(parquet, "_ROWS", 1)
    given = vectors(4)
    columns = {"content": list(texts(6)), "embedding": vector_column("list", given)}
    assert told(load(columns, ImportOptions("me", embedding_model="bag"))) == {"stored": 6}
    assert np.array_equal(stored_vectors(memory)[1:5], unit_rows(given))
