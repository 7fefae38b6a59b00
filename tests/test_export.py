"""Export: what Arrow and Parquet read back is the snapshot, and the file is whole or absent."""

from __future__ import annotations

import errno
import os
import socket
import stat
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import Record, Source
from cpersona_jit.columns import export
from cpersona_jit.columns.export import columns_table, export_columns
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.errors import ExportError, UsageError
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
    assert export_columns(columns, target, file_format, store=tmp_path / "m.db") == 4
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
    export_columns(columns, target, file_format, store=tmp_path / "m.db")
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
    export_columns(columns, tmp_path / "out", file_format, store=tmp_path / "m.db")
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
@pytest.mark.parametrize("at_once", [1, 7, 64])
def test_the_file_is_the_same_in_parts(
    tmp_path: Path, file_format: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "港は静かな一日だった。" * 60
    rows = [Record(long if n % 9 == 4 else f"tea {n} お茶 {n % 5}", "a") for n in range(80)]
    with cpersona_jit.open(tmp_path / "m.db", BagOfWords(), wait_for_kernels=False) as memory:
        memory.store_many(rows[:60], dedup=False)
        memory.columns()
        memory.store_many(rows[60:], dedup=False)
        gone = [f"mem:{n}" for n in (1, 5, 33, 60, 61, 80)]
        memory.delete(gone, agent_id="a")
        columns = memory.columns()
    whole = columns_table(columns)
    monkeypatch.setattr(export, "ROWS_AT_ONCE", at_once)
    assert export_columns(columns, tmp_path / "out", file_format, store=tmp_path / "m.db") == 74
    table = READERS[file_format](tmp_path / "out")
    assert table.to_pylist() == whole.to_pylist()
    assert table.column("ref").to_pylist() == [
        f"mem:{n}" for n in range(1, 81) if f"mem:{n}" not in gone
    ]
    for row in table.to_pylist():
        text = rows[row["id"] - 1].content
        assert row["gram3_keys"] == gram_keys(code_points(normalise(text)), 3)[0].tolist()
        assert row["block_end"] == ([e for _, e in split_blocks(text)] if text == long else [])


@pytest.mark.parametrize("file_format", READERS)
def test_an_empty_store_is_an_empty_table(tmp_path: Path, file_format: str) -> None:
    with cpersona_jit.open(tmp_path / "m.db", "none", wait_for_kernels=False) as memory:
        assert (
            export_columns(memory.columns(), tmp_path / "out", file_format, store=tmp_path / "m.db")
            == 0
        )
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
    export_columns(columns, target, "parquet", store=tmp_path / "m.db")
    assert pq.read_table(target).num_rows == 4
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir() if "m.db" not in file.name) == ["out"]


def test_a_failure_leaves_the_older_file_and_nothing_else(
    columns: Columns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    target.write_text("something older")

    def dies_half_way(writer: pq.ParquetWriter, table: pa.Table) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", dies_half_way)
    with pytest.raises(ExportError, match="No space left"):
        export_columns(columns, target, "parquet", store=tmp_path / "m.db")
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
        export_columns(columns, name, "arrow", store=tmp_path / "m.db")
    assert repr(name) in str(raised.value)
    assert sorted(os.listdir(tmp_path)) == before


OWN_FILES = ("m.db", "m.db-wal", "m.db-shm", "m.db-journal")


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.is_file() and not file.name.endswith("-shm")  # locks: they change while open
    }


@pytest.mark.parametrize("name", OWN_FILES)
@pytest.mark.parametrize("way", ["name", "dotted", "relative", "symlink", "hard link"])
def test_no_file_of_the_store_is_ever_replaced(
    tmp_path: Path, name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = tmp_path / "m.db"
    with cpersona_jit.open(store, "none", wait_for_kernels=False) as memory:
        memory.store("green tea", agent_id="a")
        target = tmp_path / "out"
        if way == "hard link" and not (tmp_path / name).exists():
            pytest.skip("there is no such file to link to")
        if way == "symlink":
            target.symlink_to(tmp_path / name)
        elif way == "hard link":
            target.hardlink_to(tmp_path / name)
        elif way == "dotted":
            (tmp_path / "folder").mkdir()
            target = tmp_path / "folder" / ".." / name
        else:
            target = Path(name) if way == "relative" else tmp_path / name
        columns, before = memory.columns(), bytes_of(tmp_path)
        with pytest.raises(UsageError, match="file of the store itself"):
            export_columns(columns, target, "parquet", store=store)
        assert bytes_of(tmp_path) == before
        assert memory.get_contents(["mem:1"], agent_id="a").rows[0].content == "green tea"


def test_a_store_opened_by_a_link_is_not_replaced_by_its_own_name(tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "m.db")
    with cpersona_jit.open(link, "none", wait_for_kernels=False) as memory:
        columns = memory.columns()
        for name in (*OWN_FILES, "link.db"):
            with pytest.raises(UsageError, match="file of the store itself"):
                export_columns(columns, tmp_path / name, "arrow", store=link)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_what_is_no_regular_file_is_not_replaced(
    columns: Columns, tmp_path: Path, kind: str, linked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    if kind == "fifo":
        os.mkfifo("special")
    else:
        with socket.socket(socket.AF_UNIX) as special:
            special.bind("special")
    target = tmp_path / "special"
    before = target.stat()
    if linked:
        target = tmp_path / "link"
        target.symlink_to("special")
    with pytest.raises(UsageError, match="not a regular file"):
        export_columns(columns, target, "arrow", store=tmp_path / "m.db")
    assert target.stat() == before
    assert target.is_symlink() == linked


@pytest.mark.parametrize("cause", [errno.EACCES, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_a_failed_write_is_no_wrong_usage(
    columns: Columns, tmp_path: Path, cause: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: object, **options: object) -> None:
        raise OSError(cause, os.strerror(cause))

    monkeypatch.setattr(tempfile, "mkstemp", fails)
    with pytest.raises(ExportError, match=os.strerror(cause)):
        export_columns(columns, tmp_path / "out", "arrow", store=tmp_path / "m.db")


def test_an_unknown_format_is_refused(columns: Columns, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="format is 'csv'; allowed: arrow, parquet"):
        export_columns(columns, tmp_path / "out", "csv", store=tmp_path / "m.db")
    assert not (tmp_path / "out").exists()
