"""Export of the memories: what is written is imported again as it was."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from bulk_cases import DIM, ME, bag, opened, rows, told

from cpersona_jit import ImportOptions, Record, Source
from cpersona_jit.bulk import exporting
from cpersona_jit.errors import CorruptStoreError, UsageError

WHOLE = (
    "content, agent_id, project_id, channel, msg_id, session_id, timestamp, event_time,"
    " source_type, source_id, source_name, metadata, embedding"
)
FORMATS = ["jsonl", "parquet"]


@pytest.fixture
def memory(tmp_path: Path):
    model = bag()
    with opened(tmp_path / "m.db", model) as memory:
        memory.store_many(
            [
                Record("  tea\r\n\u2028 ", "a", "p", "c", "m1", Source("user", "u", "愛子"), "s"),
                Record(
                    "京都で抹茶🍵", "愛", timestamp="そのうち", metadata={"語": ["値", None, 1.5]}
                ),
                Record("tea", "b", timestamp="2024-05-01T09:30:00+09:00"),
            ]
        )
        model.fails_after = 0
        memory.store("without a vector", agent_id="a")
        memory.store_many([Record("はい", "a")] * 3, dedup=False)
        model.fails_after = None
        yield memory


@pytest.mark.parametrize("page", [1, 2, 2048])
@pytest.mark.parametrize("file_format", FORMATS)
def test_what_is_written_is_imported_as_it_was(memory, tmp_path, file_format, page, monkeypatch):
    monkeypatch.setattr(exporting, "ROWS_AT_ONCE", page)
    out = tmp_path / "out"
    assert memory.export_memories(out, file_format) == 7
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    model = bag()
    with opened(tmp_path / "copy.db", model) as copy:
        report = copy.import_file(out, replace(ME, dedup=False))
        assert told(report) == {"stored": 7, "timestamp_unparsable": 1}
        assert len(model.embedded) == 4  # those without a vector
        with_vector = [
            row for row in rows(copy, WHOLE) if row[0] not in ("without a vector", "はい")
        ]
        assert with_vector == [row for row in rows(memory, WHOLE) if row[-1] is not None]
        names = WHOLE.removesuffix(", embedding")
        assert rows(copy, names) == rows(memory, names)
        copy.export_memories(tmp_path / "again", file_format, vectors=False)
    memory.export_memories(out, file_format, vectors=False)
    assert (tmp_path / "again").read_bytes() == out.read_bytes()


@pytest.mark.parametrize("file_format", FORMATS)
def test_of_another_model_they_are_refused_or_ignored(memory, tmp_path, file_format):
    memory.export_memories(tmp_path / "out", file_format)
    other = type(memory._provider)("other", DIM)
    with opened(tmp_path / "copy.db", other) as copy:
        report = copy.import_file(tmp_path / "out", replace(ME, dedup=False))
        assert told(report) == {"stored": 4, "embedding_model": 3}
        options = ImportOptions(ignored=("embedding", "embedding_model"))
        report = copy.import_file(tmp_path / "out", options)
        assert report.of("stored") == 3
        assert copy.status().rows_without_vector == 0


@pytest.mark.parametrize("file_format", FORMATS)
def test_vectors_of_several_models_and_none(tmp_path, file_format):
    out = tmp_path / "out"
    with opened(tmp_path / "m.db") as memory:
        assert memory.export_memories(out, file_format) == 0
        assert memory.import_file(out, ME).records == 0
        memory.store("no vector", agent_id="me")
        assert memory.export_memories(out, file_format) == 1
    with opened(tmp_path / "m.db", bag()) as memory:
        memory.store("eight", agent_id="me")
    wide = type(bag())("wide", 2 * DIM)
    with opened(tmp_path / "m.db", wide) as memory:
        memory.store("十六", agent_id="me")
        memory.export_memories(out, file_format)
    with opened(tmp_path / "copy.db", wide) as copy:
        assert told(copy.import_file(out, ME)) == {"stored": 2, "embedding_model": 1}


def test_a_parquet_file_is_plain_columns(memory, tmp_path):
    memory.export_memories(tmp_path / "out.parquet", "parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("content").to_pylist() == rows(memory)
    stored = [row and np.frombuffer(row, "<f4").tolist() for row in rows(memory, "embedding")]
    assert table.column("embedding").to_pylist() == stored
    fingerprint = memory._provider.info.fingerprint
    assert table.column("embedding_model").to_pylist() == [fingerprint] * 3 + [None] * 4


def test_mistakes_are_told(memory, tmp_path):
    with pytest.raises(UsageError, match="format is 'arrow'; allowed: jsonl, parquet"):
        memory.export_memories(tmp_path / "out", "arrow")
    before = (tmp_path / "m.db").read_bytes()
    with pytest.raises(UsageError, match="store itself"):
        memory.export_memories(tmp_path / "m.db")
    assert (tmp_path / "m.db").read_bytes() == before
    (tmp_path / "old").write_text("old")
    memory._conn.execute("UPDATE memories SET metadata = x'00' WHERE id = 7")
    with pytest.raises(CorruptStoreError, match="mem:7"):
        memory.export_memories(tmp_path / "old")
    assert (tmp_path / "old").read_text() == "old"
    assert not list(tmp_path.glob(".export*"))


@pytest.mark.parametrize("file_format", FORMATS)
def test_from_the_command_line_and_back(memory, tmp_path, file_format):
    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "cpersona_jit.cli.app", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout

    out, copy = str(tmp_path / "out"), str(tmp_path / "copy.db")
    arguments = ("export", out, "--memories", "--format", file_format, "--no-vectors")
    assert f"7 memories written to {out}" in run(*arguments, "--db", str(tmp_path / "m.db"))
    told = run("import", out, "--db", copy, "--embedder", "none")
    assert "7 records: 5 stored, 2 skipped, 0 rejected" in told
    assert "skipped, duplicate_content: 2" in told
    if file_format == "jsonl":
        first = json.loads(Path(out).read_text("utf-8").split("\n")[0])
        assert first["source_name"] == "愛子"
        assert "embedding" not in first
