"""Damage inside the file: an error that names the place, and never what another agent wrote."""

from __future__ import annotations

import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from adaptive_cases import adaptive
from memory_cases import BagOfWords, settings

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.errors import CorruptStoreError, CPersonaError
from cpersona_jit.opening import open_store

SECRET = "the password is hunter2"
LONG = "a long story. 長い話。" * 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.store_many([Record("green tea", "a"), Record(SECRET, "b"), Record(LONG, "b")])
    return path


def opened(path: Path) -> Memory:
    return cpersona_jit.open(path, BagOfWords(), wait_for_kernels=False)


def damage(path: Path, statement: str) -> None:
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA ignore_check_constraints = ON")
    conn.execute("PRAGMA writable_schema = ON")
    conn.execute(statement)
    conn.commit()
    conn.close()


def everything_said(error: BaseException) -> str:
    """What a log would show of the error."""
    return "".join(traceback.format_exception(error))


DAMAGED_ROWS = {
    "content = CAST(CAST(content AS BLOB) || x'ff' AS TEXT)": "mem:2: its content",
    "content = CAST(content AS BLOB)": "mem:2: its content",
    "source_name = CAST('hunter2' || x'c3' AS TEXT)": "mem:2: its source_name",
    "agent_id = CAST('b' AS BLOB)": "mem:2: its agent_id",
    "event_time = 'hunter2'": "mem:2: its event_time",
    "event_time = 9223372036854775807": "mem:2: its event_time",
    "event_time = -9223372036854775808": "mem:2: its event_time",
    "event_time = 1.5": "mem:2: its event_time",
    "created_at = 9223372036854775807": "mem:2: its created_at",
    "embedding = 'hunter2'": "mem:2: its embedding",
    "embedding = x'00112233'": "mem:2: its vector",
    "embedding = x'001122'": "mem:2: its vector",
    "embedding = zeroblob(252) || x'0000c07f'": "mem:2: its vector",
    "model_id = 'hunter2'": "mem:2: its model_id",
}


@pytest.mark.parametrize("assignment", DAMAGED_ROWS)
def test_a_damaged_row_is_named_and_never_quoted(path: Path, assignment: str) -> None:
    damage(path, f"UPDATE memories SET {assignment} WHERE id = 2")
    with opened(path) as memory:
        calls: list[Callable[[], object]] = [
            lambda: memory.recall("tea", agent_id="a", settings=settings()),
            lambda: memory.recall("tea", agent_id="a", settings=adaptive()),
            memory.columns,
        ]
        for call in calls:
            with pytest.raises(CorruptStoreError, match=DAMAGED_ROWS[assignment]) as caught:
                call()
            assert "hunter2" not in everything_said(caught.value)
        # What is addressed by its ref is there as long as it is sound itself.
        assert memory.get_contents(["mem:1", "mem:2"], agent_id="a").missing == ("mem:2",)


@pytest.mark.parametrize(
    ("assignment", "field"),
    [
        ("content = CAST(content AS BLOB)", "content"),
        ("content = CAST(CAST(content AS BLOB) || x'ff' AS TEXT)", "content"),
        ("metadata = CAST('{}' AS BLOB)", "metadata"),
        ("metadata = replace(hex(zeroblob(50000)), '00', '[')", "metadata"),
        ("metadata = '{\"a\":' || replace(hex(zeroblob(5000)), '00', '9') || '}'", "metadata"),
        ("timestamp = x'ff'", "timestamp"),
        ("created_at = 'hunter2'", "created_at"),
        ("updated_at = 9223372036854775807", "updated_at"),
        ("revision = 'hunter2'", "revision"),
    ],
)
def test_reading_a_damaged_row_by_its_ref_names_the_field(
    path: Path, assignment: str, field: str
) -> None:
    damage(path, f"UPDATE memories SET {assignment} WHERE id = 2")
    with opened(path) as memory:
        with pytest.raises(CorruptStoreError, match=f"mem:2: its {field}") as caught:
            memory.get_contents(["mem:2"], agent_id="b")
        assert "hunter2" not in everything_said(caught.value)


@pytest.mark.parametrize(
    "assignment",
    ["start_char = 'x'", "end_char = 99999999999", "start_char = -5", "embedding = x'00'"],
)
def test_a_damaged_block_is_named_by_its_row(path: Path, assignment: str) -> None:
    damage(path, f"UPDATE blocks SET {assignment} WHERE block_index = 1")
    with opened(path) as memory, pytest.raises(CorruptStoreError, match="mem:3"):
        memory.columns()


def test_upkeep_meets_a_damaged_row_by_name(path: Path) -> None:
    damage(path, "UPDATE memories SET content = CAST(content AS BLOB) WHERE id = 2")
    with cpersona_jit.open(path, BagOfWords("other"), wait_for_kernels=False) as memory:
        for call in (memory.reembed, memory.reblock):
            with pytest.raises(CorruptStoreError, match="mem:2: its content"):
                call()


@pytest.mark.parametrize("column", ["generation", "blocks_version"])
@pytest.mark.parametrize("value", ["'hunter2'", "x'00'", "1.5", "-1", "9223372036854775807"])
def test_a_number_of_the_store_that_is_none(path: Path, column: str, value: str) -> None:
    damage(path, f"UPDATE meta SET {column} = {value}")
    with pytest.raises(CorruptStoreError, match=rf"m\.db: {column}"):
        opened(path)


def test_a_model_without_a_dimension(path: Path) -> None:
    damage(path, "UPDATE models SET dim = 'many'")
    with opened(path) as memory, pytest.raises(CorruptStoreError, match="model 1"):
        memory.columns()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sqlite_master SET sql = replace(sql, 'agent_id TEXT', 'agent TEXT')",
        "UPDATE sqlite_master SET sql = 'CREATE\nnonsense' WHERE name = 'memories'",
        "UPDATE sqlite_master SET sql = CAST('CREATE TABLE memories (' || x'ff' AS TEXT)"
        " WHERE name = 'memories'",
        "UPDATE sqlite_master SET rootpage = 99999 WHERE name = 'memories'",
        "ALTER TABLE meta DROP COLUMN blocks_version",
        "DROP TRIGGER memories_gone",
        "DROP INDEX memories_msg",
        "PRAGMA user_version = -1",
    ],
)
def test_a_damaged_schema_is_one_line_at_open(path: Path, statement: str) -> None:
    damage(path, statement)
    with pytest.raises(CPersonaError) as caught:
        open_store(path)
    assert isinstance(caught.value, CorruptStoreError)
    assert "\n" not in str(caught.value)


def test_a_byte_of_the_schema_that_is_not_text(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[data.find(b"CREATE TABLE memories") + 8] = 0xFF
    path.write_bytes(data)
    with pytest.raises(CorruptStoreError, match=r"m\.db"):
        open_store(path)
