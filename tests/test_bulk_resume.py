"""An import that was interrupted goes on exactly where it was; one that was finished is over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_cases import DIM, ME, bag, lines, opened, rows, texts, told, vectors, written
from store_cases import is_sound

from cpersona_jit import ImportOptions
from cpersona_jit.bulk import importing
from cpersona_jit.errors import StoreBusyError

TWICE = ImportOptions("me", dedup=False, embedding_model="bag")  # dedup cannot help to resume


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(importing, "MOST_ROWS", 7)
    monkeypatch.setattr(importing, "MOST_EMBEDDED", 5)


@pytest.fixture
def memory(tmp_path: Path):
    with opened(tmp_path / "m.db", bag()) as memory:
        yield memory


class Interrupt:
    """Progress that raises after some batches."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, stage: str, *_: object) -> None:
        if stage == "storing":
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt


def mixed(tmp_path: Path, kind: str) -> Path:
    """A file of 60 records: equal contents, bad ones, and some with a vector."""
    records = []
    for number, (text, vector) in enumerate(zip(texts(60), vectors(60), strict=True)):
        record = {"content": "はい" if number % 9 == 0 else text}
        record["embedding"] = vector.tolist() if number % 3 else None
        if number % 10 == 7:
            record["content"] = " "
        records.append(record)
    if kind == "parquet":
        table = pa.Table.from_pylist(records)
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=11)
        return tmp_path / "in.parquet"
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\n" + lines(*records).replace(b"\n", b"\r\n\n"))
    return path


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_whatever_batch_it_was_interrupted_in(tmp_path, kind):
    path = mixed(tmp_path, kind)
    batches = []
    with opened(tmp_path / "whole.db", bag()) as whole:
        rejects, tell = tmp_path / "whole.rejects", lambda *told: batches.append(told[0])
        expected = whole.import_file(path, TWICE, rejects=rejects, progress=tell)
        everything = rows(whole, "id, content, embedding")
    assert len(whole._provider.embedded) == 18  # of the 20 without a vector two are empty
    assert batches.count("storing") > 6
    for after in range(batches.count("storing")):
        rejects = tmp_path / f"{after}.rejects"
        with opened(tmp_path / f"{after}.db", bag()) as memory:
            with pytest.raises(KeyboardInterrupt):
                memory.import_file(path, TWICE, rejects=rejects, progress=Interrupt(after))
            with rejects.open("ab") as file:
                file.write(b"of a batch that was never stored")
        with opened(tmp_path / f"{after}.db", bag()) as memory:
            report = memory.import_file(path, TWICE, rejects=rejects)
            assert told(report) == told(expected)
            assert (report.blank, report.records) == (expected.blank, 60)
            assert report.resumed > 0
            assert rows(memory, "id, content, embedding") == everything
            assert rejects.read_bytes() == (tmp_path / "whole.rejects").read_bytes()
            again = memory.import_file(path, TWICE)
            assert (again.already, told(again)) == (True, told(expected))
            assert len(rows(memory)) == len(everything)


def test_the_file_is_known_by_its_bytes_and_the_options(memory, tmp_path):
    path = written(tmp_path / "a.jsonl", *[{"content": text} for text in texts(20)])
    memory.import_file(path, ME)
    moved = path.rename(tmp_path / "b.jsonl")
    assert memory.import_file(moved, ME).already
    assert not memory.import_file(moved, replace(ME, agent_id="you")).already
    with moved.open("ab") as file:
        file.write(lines({"content": "新しい行"}))
    longer = memory.import_file(moved, ME)
    assert told(longer) == {"stored": 1, "duplicate_content": 20}


def test_rows_deleted_meanwhile_do_not_come_back(memory, tmp_path):
    path = written(tmp_path / "a.jsonl", *[{"content": text} for text in texts(20)])
    with pytest.raises(KeyboardInterrupt):
        memory.import_file(path, ME, progress=Interrupt(1))
    memory.delete(["mem:2"], agent_id="me")
    memory.import_file(path, ME)
    assert rows(memory) == [text for text in texts(20) if text != "row 1 記憶1番"]
    report = memory.import_file(path, ME, again=True)
    assert told(report) == {"stored": 1, "duplicate_content": 19}
    assert not report.already


def test_two_imports_of_one_file_at_once_never_store_it_twice(memory, tmp_path):
    path = written(tmp_path / "a.jsonl", *[{"content": text} for text in texts(60)])
    started = []

    def other(stage: str, *_: object) -> None:
        if stage == "storing" and not started:
            started.append(True)
            with opened(tmp_path / "m.db", bag()) as second:
                second.import_file(path, TWICE)

    with pytest.raises(StoreBusyError, match="another process imports the same file"):
        memory.import_file(path, TWICE, progress=other)
    assert rows(memory) == list(texts(60))


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from bulk_cases import bag, opened
from cpersona_jit import ImportOptions
from cpersona_jit.bulk import importing
importing.MOST_ROWS = 50
with opened(sys.argv[2], bag()) as memory:
    def tell(stage, done, total, records):
        if stage == "storing":
            print(records, flush=True)
    options = ImportOptions("me", dedup=False, embedding_model="bag")
    memory.import_file(sys.argv[3], options, progress=tell)
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
@pytest.mark.parametrize("acknowledged", [1, 3, 20])
def test_kill_9_at_any_time(tmp_path, acknowledged):
    count = 20_000
    records = zip(texts(count), vectors(count).tolist(), strict=True)
    path = written(tmp_path / "in.jsonl", *[{"content": t, "embedding": v} for t, v in records])
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", PROGRAM, here, str(tmp_path / "m.db"), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(acknowledged):
            last = int(process.stdout.readline())
        time.sleep(0.003 * acknowledged)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with opened(tmp_path / "m.db", bag()) as memory:
        assert last <= len(rows(memory)) < count
        report = memory.import_file(path, TWICE)
        assert told(report) == {"stored": count}
        assert rows(memory) == list(texts(count))
        assert is_sound(memory._conn)


def test_ctrl_c_on_the_command_line(tmp_path):
    records = [{"content": text} for text in texts(60_000)]
    path = written(tmp_path / "in.jsonl", *records)
    command = [sys.executable, "-m", "cpersona_jit.cli.app", "import", str(path)]
    command += ["--db", str(tmp_path / "m.db"), "--embedder", "none", "--no-dedup"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        stored = 0
        while not stored:
            time.sleep(0.02)
            if (tmp_path / "m.db").exists() and (tmp_path / "m.db").stat().st_size:
                with opened(tmp_path / "m.db") as memory:
                    stored = memory.status().rows
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    if process.returncode == 0:
        pytest.skip("it was faster than the signal")
    assert process.returncode == 130
    assert "interrupted after" in errors
    assert "Traceback" not in errors
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "went on behind line" in done.stdout
    assert "60,000 records: 60,000 stored, 0 skipped, 0 rejected" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""
    with opened(tmp_path / "m.db") as memory:
        assert memory.status().rows == 60_000


def test_the_connection_is_left_as_it_was(memory, tmp_path):
    def pragmas():
        names = ("cache_size", "wal_autocheckpoint", "synchronous", "journal_mode")
        return [memory._conn.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    before, during = pragmas(), []
    path = written(tmp_path / "a.jsonl", *[{"content": text} for text in texts(20)])
    memory.import_file(path, ME, progress=lambda *_: during.append(pragmas()))
    assert pragmas() == before
    assert during[-1][:2] != before[:2]
    assert during[-1][2:] == before[2:]  # what safety rests on
    with pytest.raises(KeyboardInterrupt):
        memory.import_file(path, ME, again=True, progress=Interrupt(0))
    assert pragmas() == before


def test_the_state_of_an_import_quotes_nothing(memory, tmp_path):
    path = written(tmp_path / "a.jsonl", {"content": 12345}, {"content": "秘密"})
    memory.import_file(path, ME)
    ((key, state),) = memory._conn.execute("SELECT key, state FROM imports").fetchall()
    assert len(key) == 64
    assert "12345" not in state
    assert json.loads(state)["finished"] is True
    assert np.dtype("f4").itemsize * DIM == 32
