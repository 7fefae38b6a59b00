"""Export: what Arrow and Parquet read back is the snapshot, and the file is whole or absent."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import Record, Source
from cpersona_jit.columns.export import columns_table, export_columns
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.errors import UsageError
from cpersona_jit.text.blocks import split_blocks
from cpersona_jit.text.grams import code_points, gram_keys, normalise

READERS = {"arrow": feather.read_table, "parquet": pq.read_table}


@pytest.fixture
def columns(tmp_path: Path) -> Columns:
    model = BagOfWords(dim=100)
    with cpersona_jit.open(tmp_path / "m.db", model, wait_for_kernels=False) as memory:
        memory.store_many(
            [
                Record("green tea", "a", "p", "c", timestamp="2024-05-01T09:30:00+09:00"),
                Record(
                    "京都で抹茶を飲んだ", "b", source=Source("user", "u1", "愛子"), session_id="s"
                ),
                Record("🎉", "a", timestamp="some day"),
            ]
        )
        model.fails_after = 0
        memory.store("a row without a vector", agent_id="a")
        return memory.columns()


@pytest.mark.parametrize("file_format", READERS)
def test_a_file_reads_back_as_the_snapshot(
    columns: Columns, file_format: str, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    assert export_columns(columns, target, file_format) == 4
    table = READERS[file_format](target)
    rows = table.to_pylist()
    assert [row["ref"] for row in rows] == ["mem:1", "mem:2", "mem:3", "mem:4"]
    assert [row["agent_id"] for row in rows] == ["a", "b", "a", "a"]
    assert [row["project_id"] for row in rows] == ["p", "", "", ""]
    assert rows[1]["source_name"] == "愛子"
    assert rows[0]["event_time"].isoformat() == "2024-05-01T00:30:00+00:00"
    assert rows[2]["event_time"] is None
    assert table.schema.metadata[b"generation"] == str(columns.generation).encode()
    assert table.schema.metadata[b"embedding_fingerprint"] == columns.fingerprint.encode()
    assert table.schema.metadata[b"embedding_dim"] == b"100"


@pytest.mark.parametrize("file_format", READERS)
def test_codes_signs_and_grams_read_back(
    columns: Columns, file_format: str, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    export_columns(columns, target, file_format)
    rows = READERS[file_format](target).to_pylist()
    assert rows[3]["code"] is None
    assert rows[3]["sign_bits"] is None
    for r in range(3):
        assert rows[r]["code"] == columns.codes[r].tolist()
        bits = np.array(rows[r]["sign_bits"], "<u8").view(np.uint8)
        assert np.unpackbits(bits, bitorder="little").tolist() == (columns.codes[r] > 0).tolist()
    keys, counts = gram_keys(code_points(normalise("愛子: 京都で抹茶を飲んだ")), 3)
    assert rows[1]["gram3_keys"] == keys.tolist()
    assert rows[1]["gram3_counts"] == counts.tolist()
    assert rows[2]["gram4_keys"] == []


@pytest.mark.parametrize("file_format", READERS)
def test_blocks_read_back_as_lists(tmp_path: Path, file_format: str) -> None:
    text = "港は静かな一日だった。" * 60
    with cpersona_jit.open(tmp_path / "m.db", BagOfWords(), wait_for_kernels=False) as memory:
        memory.store_many([Record("short?", "a"), Record(text, "a", source=Source(name="愛子"))])
        columns = memory.columns()
    export_columns(columns, tmp_path / "out", file_format)
    short, long = READERS[file_format](tmp_path / "out").to_pylist()
    assert (short["is_question"], short["text_length"], long["text_length"]) == (True, 6, 660)
    assert short["block_start"] == short["block_code"] == short["block_gram3_keys"] == []
    ranges = list(zip(long["block_start"], long["block_end"], strict=True))
    assert ranges == split_blocks(text)
    assert long["block_code"] == columns.blocks.codes.tolist()
    for (start, end), found in zip(ranges, long["block_gram3_keys"], strict=True):
        keys, _ = gram_keys(code_points(normalise(f"愛子: {text[start:end]}")), 3)
        assert found == keys.tolist()


@pytest.mark.parametrize("file_format", READERS)
def test_an_empty_store_is_an_empty_table(tmp_path: Path, file_format: str) -> None:
    with cpersona_jit.open(tmp_path / "m.db", "none", wait_for_kernels=False) as memory:
        assert export_columns(memory.columns(), tmp_path / "out", file_format) == 0
    table = READERS[file_format](tmp_path / "out")
    assert table.num_rows == 0
    assert {"ref", "agent_id", "code", "gram3_keys"} <= set(table.column_names)


def test_a_store_without_a_model_has_no_codes(tmp_path: Path) -> None:
    with cpersona_jit.open(tmp_path / "m.db", "none", wait_for_kernels=False) as memory:
        memory.store("tea", agent_id="a")
        table = columns_table(memory.columns())
    assert table["code"].to_pylist() == [None]
    assert pa.types.is_list(table.schema.field("code").type)


def test_an_older_file_is_replaced(columns: Columns, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("something older")
    export_columns(columns, target, "parquet")
    assert pq.read_table(target).num_rows == 4
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir() if "m.db" not in file.name) == ["out"]


def test_a_failure_leaves_the_older_file_and_nothing_else(
    columns: Columns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    target.write_text("something older")

    def dies_half_way(table: pa.Table, path: str) -> None:
        Path(path).write_bytes(b"PAR1 and no more")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", dies_half_way)
    with pytest.raises(UsageError, match="No space left"):
        export_columns(columns, target, "parquet")
    assert target.read_text() == "something older"
    assert sorted(file.name for file in tmp_path.iterdir() if "m.db" not in file.name) == ["out"]


@pytest.mark.parametrize(
    "name", ["absent/out", "m.db/out", "folder", "x" * 300, "a\0b", ""], ids=repr
)
def test_a_target_that_cannot_be_written_is_named(
    columns: Columns, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(UsageError) as raised:
        export_columns(columns, name, "arrow")
    assert repr(name) in str(raised.value)
    assert sorted(os.listdir(tmp_path)) == before


def test_an_unknown_format_is_refused(columns: Columns, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="format is 'csv'; allowed: arrow, parquet"):
        export_columns(columns, tmp_path / "out", "csv")
    assert not (tmp_path / "out").exists()
