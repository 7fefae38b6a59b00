"""The file of columns: the same answers with it and without it, whatever happened to it."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import struct
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from columns_file_cases import LONG, fill, is_mapped, keep, opened, rebuilt
from memory_cases import BagOfWords, plain_columns

from cpersona_jit import Memory, Record
from cpersona_jit.columns.claim import PATIENCE, claimed
from cpersona_jit.columns.sections import (
    LAYOUT,
    MAGIC,
    UnusableFileError,
    read_sections,
    write_sections,
)

PREFIX = struct.Struct("=IIII")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def file(path: Path) -> Path:
    """Return the file of a store that is closed."""
    fill(path)
    return keep(path)


def check_unusable(path: Path, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    """The file is of no use: said in the status and in the log, and no answer comes from it."""
    with opened(path) as memory:
        assert "made again" in memory.status().columns
        assert reason in memory.status().columns
        with caplog.at_level(logging.WARNING, "cpersona_jit.columns"):
            columns = memory.columns()
        assert [r.name for r in caplog.records] == ["cpersona_jit.columns"]
        assert reason in caplog.text
        assert not is_mapped(columns)
        assert plain_columns(columns) == rebuilt(path)
    with opened(path) as memory:  # and there is a new one
        assert is_mapped(memory.columns())
        assert "in order, 0 writes behind" in memory.status().columns
        assert plain_columns(memory.columns()) == rebuilt(path)


# -- a file in order ------------------------------------------------------------------------------


@pytest.mark.parametrize("centred", [False, True])
def test_a_file_holds_the_snapshot(path: Path, centred: bool) -> None:
    fill(path, centred=centred)
    file = keep(path, centred=centred)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [name.name for name in path.parent.iterdir() if name.suffix == ".tmp"] == []
    with opened(path, centred=centred) as memory:
        columns = memory.columns()
        assert is_mapped(columns)
        assert plain_columns(columns) == rebuilt(path, centred=centred)
        found = memory.recall("green tea 抹茶", agent_id="a", trace=True)
    file.unlink()  # it may be deleted at any time
    with opened(path, centred=centred) as memory:
        again = memory.recall("green tea 抹茶", agent_id="a", trace=True)
    assert [(row.ref, row.score) for row in found.rows] == [
        (row.ref, row.score) for row in again.rows
    ]


@pytest.mark.parametrize("centred", [False, True])
def test_what_came_after_the_file_is_added(path: Path, centred: bool) -> None:
    fill(path, centred=centred)
    before = keep(path, centred=centred).read_bytes()
    with opened(path, "none") as memory:
        memory.delete(["mem:3", "mem:40"], agent_id="a")
        memory.update("mem:5", "京都 " + LONG, agent_id="a")
    with opened(path, centred=centred) as memory:
        memory.store("one more", agent_id="a", session_id="s1")
        columns = memory.columns()
        assert plain_columns(columns) == rebuilt(path, centred=centred)
        assert "in order, 3 writes behind" in memory.status().columns
        memory.store("and another", agent_id="b", session_id="new")
        assert plain_columns(memory.columns()) == rebuilt(path, centred=centred)
    assert Path(f"{path}-columns").read_bytes() == before  # mapped, never written to


def test_a_snapshot_lives_on_without_its_file(path: Path, file: Path) -> None:
    with opened(path) as memory:
        columns = memory.columns()
        file.write_bytes(b"") if os.name != "posix" else file.unlink()
        assert is_mapped(columns)
        assert plain_columns(columns) == rebuilt(path)
        memory.store("green tea", agent_id="a")
        assert plain_columns(memory.columns()) == rebuilt(path)


def test_a_small_store_has_no_file(path: Path) -> None:
    with opened(path, file_rows=1024) as memory:
        memory.store("tea", agent_id="a")
        memory.recall("tea", agent_id="a")
        assert "no file yet" in memory.status().columns
    assert not Path(f"{path}-columns").exists()


def test_a_folder_that_takes_no_file_is_said(path: Path) -> None:
    fill(path)
    Path(f"{path}-columns.tmp").mkdir()  # as good as no permission: root is refused nothing
    with opened(path) as memory:
        columns = memory.columns()
        memory._keeper.close()
        assert "no file could be written (Is a directory)" in memory.status().columns
        assert plain_columns(columns) == rebuilt(path)


def test_a_model_that_is_down_keeps_the_vectors_of_the_file(path: Path, file: Path) -> None:
    class Unreachable(BagOfWords):
        @property
        def info(self) -> object:
            raise OSError("no route")

        @info.setter
        def info(self, value: object) -> None:
            pass

    with opened(path, Unreachable.__new__(Unreachable)) as memory:
        assert is_mapped(memory.columns())
        assert plain_columns(memory.columns()) == rebuilt(path)


def test_columns_without_vectors_do_not_replace_those_with(path: Path, file: Path) -> None:
    before = file.read_bytes()
    with opened(path, "none") as memory:
        assert memory.columns().dim == 0
    assert file.read_bytes() == before
    with opened(path) as memory:
        assert is_mapped(memory.columns())


# -- damage ---------------------------------------------------------------------------------------


def boundaries(file: Path) -> list[tuple[str, int, int]]:
    """Name, begin and end of each part of a file that means something."""
    length = PREFIX.unpack_from(file.read_bytes(), len(MAGIC))[2]
    at = len(MAGIC) + PREFIX.size
    header = json.loads(file.read_bytes()[at : at + length])
    start = -(-(at + length) // 4096) * 4096
    parts = [("magic", 0, len(MAGIC)), ("prefix", len(MAGIC), at), ("header", at, at + length)]
    for name, kind, shape, _, offset, _ in header["arrays"]:
        size = np.dtype(kind).itemsize * int(np.prod(shape))
        parts.append((name, start + offset, start + offset + size))
    return parts


def parts_of(tmp_path: Path) -> list[tuple[str, int, int]]:
    return [part for part in boundaries(tmp_path / "m.db-columns") if part[2] > part[1]]


def test_a_truncated_file_is_noticed_at_every_boundary(path: Path, file: Path, caplog) -> None:
    whole, parts = file.read_bytes(), boundaries(file)
    ends = {0, 1, len(whole) - 1, *(at for part in parts for at in (part[1], part[2] - 1))}
    for end in sorted(ends - {len(whole)}):
        file.write_bytes(whole[:end])
        with pytest.raises(UnusableFileError):
            read_sections(file)
    file.write_bytes(whole[: parts[len(parts) // 2][1]])
    check_unusable(path, "bytes of", caplog)


def test_a_flipped_bit_is_noticed_in_every_part(path: Path, file: Path, caplog) -> None:
    whole, rng = file.read_bytes(), np.random.default_rng(4)
    for name, begin, end in parts_of(path.parent):
        for at in {begin, end - 1, int(rng.integers(begin, end))}:
            damaged = bytearray(whole)
            damaged[at] ^= 1 << int(rng.integers(8))
            file.write_bytes(damaged)
            with pytest.raises(UnusableFileError) as raised:
                read_sections(file)
            if name not in ("magic", "prefix"):
                assert name in str(raised.value)
    check_unusable(path, "checksum", caplog)


@pytest.mark.parametrize("name", ["ids", "codes", "gram3 rows", "blocks signs", "mask alive"])
def test_no_answer_comes_from_damaged_bytes(path: Path, file: Path, name: str, caplog) -> None:
    begin, end = next((b, e) for part, b, e in boundaries(file) if part == name)
    damaged = bytearray(file.read_bytes())
    damaged[(begin + end) // 2] ^= 16
    file.write_bytes(damaged)
    check_unusable(path, f"the checksum of its part '{name}' is wrong", caplog)


def other_magic(file: Path) -> None:
    file.write_bytes(b"PAR1" + file.read_bytes()[4:])


def other_byte_order(file: Path) -> None:
    data = bytearray(file.read_bytes())
    fields = PREFIX.unpack_from(data, len(MAGIC))
    struct.pack_into(
        {"<": ">", ">": "<"}["<" if os.sys.byteorder == "little" else ">"] + "IIII",
        data,
        len(MAGIC),
        *fields,
    )
    file.write_bytes(data)


def other_layout(file: Path) -> None:
    data = bytearray(file.read_bytes())
    struct.pack_into("=I", data, len(MAGIC) + 4, LAYOUT + 1)
    file.write_bytes(data)


def told_otherwise(**about: object) -> Callable[[Path], None]:
    """Write a file in perfect order that says something else about itself."""

    def change(file: Path) -> None:
        sections = read_sections(file)
        with open(f"{file}.new", "wb", buffering=0) as new:
            room = {name: array.shape[0] for name, array in sections.room.items()}
            write_sections(new, {**sections.about, **about}, sections.arrays, room)
        os.replace(f"{file}.new", file)

    return change


def another_stores(file: Path) -> None:
    other = file.parent / "other.db"
    fill(other, seed=1)
    shutil.copy(keep(other), file)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (other_magic, "it does not begin like a file of columns"),
        (other_byte_order, "another byte order"),
        (other_layout, f"it has layout {LAYOUT + 1}"),
        (told_otherwise(format=0), "its format is 0"),
        (told_otherwise(version="0.0.1"), "its version is '0.0.1'"),
        (told_otherwise(unicode="3.2.0"), "its unicode is '3.2.0'"),
        (told_otherwise(generation=10**6), "generation 1000000 of a store"),
        (told_otherwise(fingerprint="f" * 64), "another model"),
        (told_otherwise(centred=True), "another model"),
        (told_otherwise(token="0" * 32), "does not belong to this store"),
        (another_stores, "does not belong to this store"),
    ],
)
def test_a_foreign_file_is_not_used(
    path: Path, file: Path, change: Callable[[Path], None], reason: str, caplog
) -> None:
    change(file)
    check_unusable(path, reason, caplog)


def test_the_mark_is_that_of_the_machine(file: Path) -> None:
    mark, layout, length, crc = PREFIX.unpack_from(file.read_bytes(), len(MAGIC))
    at = len(MAGIC) + PREFIX.size
    assert (mark, layout) == (0x01020304, LAYOUT)
    assert zlib.crc32(file.read_bytes()[at : at + length]) == crc


# -- the store changed behind the file's back -----------------------------------------------------


def backed_up(path: Path) -> Path:
    copy = path.with_suffix(".backup")
    conn, target = sqlite3.connect(path), sqlite3.connect(copy)
    conn.backup(target)
    conn.close()
    target.close()
    return copy


def put_back(path: Path, copy: Path) -> None:
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    shutil.copy(copy, path)


@pytest.mark.parametrize("writes_after", [0, 40])
def test_a_store_put_back_from_a_backup_gets_a_new_file(
    path: Path, writes_after: int, caplog
) -> None:
    fill(path)
    copy = backed_up(path)
    with opened(path) as memory:
        memory.store_many([Record(f"lost {i} 茶", "a") for i in range(20)], batch_size=1)
    keep(path)
    put_back(path, copy)
    with opened(path, "none") as memory:  # past the generation of the file, by other rows
        rows = [Record(f"other {i}", "a") for i in range(writes_after)]
        memory.store_many(rows, batch_size=1)
    check_unusable(path, "does not belong to this store, or to its present state", caplog)


def test_a_backup_with_its_file_may_be_used(path: Path, file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(backed_up(path), copy)
    shutil.copy(file, f"{copy}-columns")
    with opened(copy) as memory:
        assert is_mapped(memory.columns())
        assert plain_columns(memory.columns()) == rebuilt(path)


def test_a_store_that_goes_back_while_it_is_open_is_read_again(path: Path, caplog) -> None:
    fill(path)
    copy = backed_up(path)
    with opened(path) as memory:
        memory.store("green tea, lost", agent_id="a")
        memory.columns()
        source, conn = sqlite3.connect(copy), sqlite3.connect(path)
        source.backup(conn)
        source.close()
        conn.close()
        with caplog.at_level(logging.WARNING, "cpersona_jit.columns"):
            assert plain_columns(memory.columns()) == rebuilt(path)
        assert "went back to generation" in caplog.text


def test_two_handles_with_one_file(path: Path, file: Path) -> None:
    with opened(path) as one, opened(path) as other:
        handles: list[Memory] = [one, other]
        for step in range(6):
            handles[step % 2].store(f"step {step} 抹茶", agent_id="a", session_id="s1")
            for memory in handles:
                columns = memory.columns()
                assert is_mapped(columns)
                assert plain_columns(columns) == rebuilt(path)


def test_who_only_removes_a_leftover_keeps_nobody_from_writing(tmp_path: Path) -> None:
    path = str(tmp_path / "unfinished")
    held, done = threading.Event(), threading.Event()

    def remove() -> None:
        with claimed(path) as file:
            assert file is not None
            held.set()
            time.sleep(0.03)
        done.set()

    remover = threading.Thread(target=remove)
    remover.start()
    held.wait()
    with claimed(path) as file:
        assert file is None  # without patience
    with claimed(path, PATIENCE) as file:
        assert file is not None and done.is_set()
    remover.join()
    assert not Path(path).exists()
