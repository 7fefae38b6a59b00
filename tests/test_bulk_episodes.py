"""Bulk files: episodes and earlier texts go out and come back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_cases import ME, bag, examples, opened, rows, told, written

from cpersona_jit import Memory
from cpersona_jit.errors import UsageError

FORMATS = ["jsonl", "parquet"]
SPAN = {"start": "2026-03-01T09:00+09:00", "end": "2026-03-07"}
BESIDE = (
    "content, timestamp, event_time, project_id, end_time, end_timestamp, keywords"
    " FROM memories LEFT JOIN (SELECT memory_id, end_time, end_timestamp, keywords FROM episodes)"
    " ON memory_id = id"
)


@pytest.fixture
def memory(tmp_path: Path):
    with opened(tmp_path / "m.db", bag()) as memory:
        memory.store("Osaka", agent_id="me")
        memory.archive_episode("We moved.", agent_id="me", **SPAN)
        memory.archive_episode(
            "引っ越した。", agent_id="愛", keywords=["船便", 'a "b", c'], project_id="p", **SPAN
        )
        for text in ("Kyoto", "奈良"):
            memory.update("mem:1", text, agent_id="me")
        memory.update("ep:3", "引っ越しをした。", agent_id="愛")
        yield memory


def beside(memory: Memory) -> list[tuple]:
    return memory._conn.execute(f"SELECT {BESIDE} ORDER BY id").fetchall()


def old_texts(memory: Memory) -> list[tuple]:
    """Earlier texts with the present text of their row, without ids."""
    return memory._conn.execute(
        "SELECT memories.content, versions.content, written_at, superseded_at FROM versions"
        " JOIN memories ON memories.id = memory_id ORDER BY memory_id, superseded_at"
    ).fetchall()


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("file_format", FORMATS)
def test_what_is_written_is_imported_as_it_was(memory, tmp_path, file_format, vectors):
    out = tmp_path / "out"
    assert memory.export_memories(out, file_format, vectors=vectors) == 3
    model = bag()
    with opened(tmp_path / "copy.db", model) as copy:
        assert told(copy.import_file(out, ME)) == {"stored": 3}
        assert beside(copy) == beside(memory)
        assert old_texts(copy) == old_texts(memory)
        assert len(old_texts(copy)) == 3
        vector = "SELECT embedding FROM memories ORDER BY id"
        assert copy._conn.execute(vector).fetchall() == memory._conn.execute(vector).fetchall()
        assert len(model.embedded) == (0 if vectors else 3)
        refs = ["mem:1", "ep:2", "ep:3"]
        for who, ref in zip(["me", "me", "愛"], refs, strict=True):
            assert copy.get_contents([ref], agent_id=who).missing == ()
        # And once more, from the copy.
        again = tmp_path / "again"
        copy.export_memories(again, file_format, vectors=vectors)
        assert again.read_bytes() == out.read_bytes()


def test_a_line_says_only_what_there_is_to_say(memory, tmp_path):
    out = tmp_path / "out"
    memory.store("tea", agent_id="me")
    memory.export_memories(out, vectors=False)
    first, episode, _, tea = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert tea == {"content": "tea", "agent_id": "me"}
    assert episode == {
        "content": "We moved.",
        "agent_id": "me",
        "timestamp": SPAN["start"],
        "kind": "episode",
        "end": SPAN["end"],
    }
    assert [old["content"] for old in first["history"]] == ["Osaka", "Kyoto"]
    assert first["history"][0].keys() == {"content", "written_at", "superseded_at"}
    assert first["history"][0]["superseded_at"] == first["history"][1]["written_at"]


def test_lines_by_hand(tmp_path):
    episode = {"content": "旅行", "kind": "episode", "timestamp": "2026-03-01", "end": "2026-03-02"}
    old = {"content": "Osaka", "written_at": "2026-01-01", "superseded_at": "2026-02-01"}
    path = written(
        tmp_path / "in.jsonl",
        episode | {"keywords": ["京都"]},
        episode | {"end": "2026-02-01"},
        episode | {"keywords": "京都"},
        episode | {"keywords": None, "end": "2026-03-03"},
        {"content": "a", "kind": "memory", "end": "", "keywords": [], "history": []},
        {"content": "b", "end": "2026-03-02"},
        {"content": "c", "kind": "story"},
        {"content": "d", "kind": 1},
        {"content": "e", "history": [old]},
        {"content": "f", "history": [old | {"more": 1}]},
        {"content": "g", "history": "Osaka"},
        {"content": "h", "history": [old | {"written_at": "いつか"}]},
        {"content": "i", "history": [old | {"content": " "}]},
    )
    with opened(tmp_path / "m.db") as memory:
        report = memory.import_file(path, ME)
        assert told(report) == {
            "stored": 4,
            "episode_ends_before_start": 1,
            "keywords_invalid": 1,
            "kind_invalid": 2,
            "wrong_type": 1,
            "history_invalid": 3,
            "empty_content": 1,
        }
        assert [number for number, _ in examples(report, "history_invalid")] == [10, 11, 12]
        assert rows(memory) == ["旅行", "旅行", "a", "e"]
        assert [row[1] for row in old_texts(memory)] == ["Osaka"]


def test_a_file_from_before_there_were_episodes(tmp_path):
    """Its columns are fewer; everything is a memory."""
    table = pa.table({"content": ["tea", "お茶"], "agent_id": ["me", "me"], "timestamp": ["", ""]})
    pq.write_table(table, tmp_path / "old.parquet")
    with opened(tmp_path / "m.db") as memory:
        assert told(memory.import_file(tmp_path / "old.parquet", ME)) == {"stored": 2}
        assert memory.get_contents(["mem:1", "mem:2"], agent_id="me").missing == ()


@pytest.mark.parametrize(
    ("name", "values", "allowed"),
    [
        ("keywords", ["a, b"], "a list of strings"),
        ("keywords", [[1]], "a list of strings"),
        ("history", [["a"]], "a list of structs"),
        ("kind", [1], "string"),
        ("end", [1], "string"),
    ],
)
def test_a_column_of_another_type_is_an_error_of_the_file(tmp_path, name, values, allowed):
    pq.write_table(pa.table({"content": ["tea"], name: values}), tmp_path / "in.parquet")
    with opened(tmp_path / "m.db") as memory:
        with pytest.raises(UsageError, match=f"column {name} .* allowed: {allowed}"):
            memory.import_file(tmp_path / "in.parquet", ME)
        assert rows(memory) == []


def test_a_parquet_list_with_a_null_in_it_is_told(tmp_path):
    table = pa.table(
        {
            "content": ["tea"],
            "kind": ["episode"],
            "timestamp": ["2026-03-01"],
            "end": ["2026-03-01"],
            "keywords": pa.array([["a", None]], pa.list_(pa.string())),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    with opened(tmp_path / "m.db") as memory:
        assert told(memory.import_file(tmp_path / "in.parquet", ME)) == {"keywords_invalid": 1}
