"""Import of JSON Lines: every line is stored as it says, or told why not."""

from __future__ import annotations

import base64
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from bulk_cases import (
    DIM,
    ME,
    bag,
    examples,
    lines,
    opened,
    rows,
    stored_vectors,
    told,
    vectors,
    written,
)
from store_cases import is_sound

from cpersona_jit import ImportOptions
from cpersona_jit.bulk import jsonl
from cpersona_jit.bulk.fields import FIELDS, READ_REASONS
from cpersona_jit.embed.guard import unit_rows
from cpersona_jit.errors import UsageError
from cpersona_jit.store.reasons import REASONS


@pytest.fixture
def memory(tmp_path: Path):
    with opened(tmp_path / "m.db", bag()) as memory:
        yield memory


def run(memory, tmp_path: Path, *records, options: ImportOptions = ME, **more):
    path = written(tmp_path / "in.jsonl", *records)
    return memory.import_file(path, options, **more)


def test_every_field_arrives(memory, tmp_path):
    full = {
        "content": "  京都で抹茶を飲んだ🍵 \t",
        "agent_id": "you",
        "project_id": "p",
        "channel": "c",
        "msg_id": "m1",
        "session_id": "s",
        "timestamp": "2024-05-01T09:30:00+09:00",
        "metadata": {"mood": "良い", "n": [1, None]},
        "source": {"type": "user", "id": "u1", "name": "愛子"},
    }
    flat = {"content": "tea", "source_name": "Mika", "source_id": None, "channel": ""}
    options = ImportOptions("me", "home", "chat")
    report = run(memory, tmp_path, full, flat, options=options)
    assert told(report) == {"stored": 2}
    assert report.finished
    assert not report.already
    (row, other) = (
        memory.get_contents([f"mem:{n}"], agent_id=a).rows[0] for n, a in ((1, "you"), (2, "me"))
    )
    for name in ("content", "project_id", "channel", "msg_id", "session_id", "timestamp"):
        assert getattr(row, name) == full[name]
    assert row.metadata == full["metadata"]
    assert (row.source.type, row.source.id, row.source.name) == ("user", "u1", "愛子")
    assert (other.project_id, other.channel, other.source.name) == ("home", "chat", "Mika")
    # Embedded with the speaker's name, as `store` does it.
    assert memory._provider.embedded == ["愛子: " + full["content"], "Mika: tea"]


def test_a_mark_crlf_and_blank_lines_are_no_mistakes(memory, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf"
        + '{"content": "お茶"}\r\n\r\n  \n{"content": "two"}\r\n\n'.encode()
        + b'{"content": "no line end\\u2028here"}'
    )
    report = memory.import_file(path, ME)
    assert (told(report), report.blank) == ({"stored": 3}, 3)
    assert rows(memory) == ["お茶", "two", "no line end\u2028here"]


BAD = [
    (b"nonsense", "invalid_json", "nonsense"),
    (b'{"content": "cut', "invalid_json", "JSON"),
    (b'{"content": "a"} {"content": "b"}', "invalid_json", "Extra data"),
    (b"[" * 100_000, "invalid_json", "nested"),
    (b'{"content": ' + b"9" * 5000 + b"}", "invalid_json", "digits"),
    (b"[1]", "not_an_object", "[1]"),
    (b'"text"', "not_an_object", "allowed: a JSON object"),
    (b"null", "not_an_object", "null"),
    (b'{"content": "\xff"}', "not_utf8", "0xff"),
    (b'{"content": "\xed\xa0\x80"}', "not_utf8", "0xed"),
    (b'{"content": "a", "content": "b"}', "duplicate_key", "'content'"),
    (b'{"content": "a", "metadata": {"k": 1, "k": 2}}', "duplicate_key", "'k'"),
    ({"content": "a", "source": {"name": "x"}, "source_name": "y"}, "duplicate_key", "one of both"),
    ({"content": "a", "timestmp": "2024-01-01"}, "unknown_field", "'timestmp'"),
    ({"content": "a", "内容": 1}, "unknown_field", "内容"),
    ({"content": 12}, "wrong_type", "content is 12 (int); allowed: text"),
    ({"content": False}, "wrong_type", "content is False (bool)"),
    ({"content": "a", "agent_id": 0}, "wrong_type", "agent_id is 0"),
    ({"content": "a", "timestamp": 1714521600}, "wrong_type", "timestamp is 1714521600"),
    ({"content": "a", "session_id": ["x" * 999]}, "wrong_type", "…"),
    ({"content": "a", "source": "Mika"}, "wrong_type", "source must be a mapping"),
    ({"content": "a", "source_name": 1}, "wrong_type", "source.name"),
    ({"content": "a", "source": {"nick": "M"}}, "source_unknown_key", "nick"),
    ({"content": ""}, "empty_content", "empty"),
    ({"agent_id": "me"}, "empty_content", "empty"),
    ({"content": None}, "empty_content", "empty"),
    ({"content": " \u3000\n"}, "empty_content", "white space"),
    ({"content": "長" * 16_001}, "content_too_long", "16,001"),
    (b'{"content": "\\ud800"}', "lone_surrogate", "U+D800"),
    ({"content": "a\0"}, "nul_character", "U+0000"),
    ({"content": "a", "msg_id": "x" * 257}, "msg_id_too_long", "257"),
    ({"content": "a", "metadata": "x"}, "metadata_invalid", "str"),
    (b'{"content": "a", "metadata": {"x": NaN}}', "metadata_invalid", "JSON"),
    ({"content": "a", "timestamp": "2999-01-01"}, "timestamp_in_future", "2999"),
    ({"content": "a", "embedding": [1] * DIM}, "embedding_model", "does not say"),
    (
        {"content": "a", "embedding": [1] * DIM, "embedding_model": "e5"},
        "embedding_model",
        "'e5' (str); allowed: embedding_model 'bag'",
    ),
]
BAD_VECTORS = [
    ([1] * (DIM - 1), "embedding_dimension", f"{DIM - 1} numbers; allowed: {DIM}"),
    ([], "embedding_dimension", "0 numbers"),
    ([0] * DIM, "embedding_invalid", "all zero"),
    ([1] * (DIM - 1) + [float("nan")], "embedding_invalid", f"embedding[{DIM - 1}] is nan"),
    ([float("inf")] * DIM, "embedding_invalid", "embedding[0] is inf"),
    ([1e300] * DIM, "embedding_invalid", "embedding[0] is inf"),
    ([10**400] * DIM, "embedding_invalid", "embedding"),
    ([1] * (DIM - 1) + ["2"], "embedding_invalid", f"embedding[{DIM - 1}] is '2' (str)"),
    ([1] * (DIM - 1) + [None], "embedding_invalid", "None"),
    ([[1]] * DIM, "embedding_invalid", "embedding[0] is [1]"),
    ({"a": 1}, "embedding_invalid", "dict"),
    ("not base64!", "embedding_invalid", "not base64"),
    (base64.b64encode(b"12345").decode(), "embedding_invalid", "5 bytes"),
]


@pytest.mark.parametrize(("line", "reason", "said"), BAD)
def test_a_bad_line_is_told_and_the_others_are_stored(memory, tmp_path, line, reason, said):
    report = run(memory, tmp_path, {"content": "before"}, line, {"content": "後"})
    assert told(report) == {"stored": 2, reason: 1}
    ((number, detail),) = examples(report, reason)
    assert number == 2
    assert said in detail
    assert len(detail) < 400
    assert detail.isprintable()
    assert rows(memory) == ["before", "後"]


@pytest.mark.parametrize(("value", "reason", "said"), BAD_VECTORS)
def test_a_bad_vector_is_told(memory, tmp_path, value, reason, said):
    record = {"content": "a", "embedding": value, "embedding_model": "bag"}
    good = {"content": "b", "embedding": [2] * DIM, "embedding_model": "bag"}
    report = run(memory, tmp_path, record, good)
    assert told(report) == {"stored": 1, reason: 1}
    ((number, detail),) = examples(report, reason)
    assert (number, said in detail) == (1, True), detail
    assert rows(memory) == ["b"]


def test_a_line_that_is_too_long_costs_no_memory(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_LINE", 100)
    long = [{"content": "x" * size} for size in (85, 86, 1000)]  # 100, 101 bytes with the break
    report = run(memory, tmp_path, *long, {"content": "last"}, b"y" * 500)
    assert told(report) == {"stored": 2, "line_too_long": 3}
    assert [number for number, _ in examples(report, "line_too_long")] == [2, 3, 5]
    assert "1,016 bytes" in examples(report, "line_too_long")[1][1]
    assert rows(memory)[-1] == "last"


def test_every_reason_has_its_meaning_in_one_table():
    assert not READ_REASONS.keys() & REASONS.keys()
    tested = {reason for _, reason, _ in BAD + BAD_VECTORS} | {"line_too_long"}
    assert tested >= READ_REASONS.keys()


def test_duplicates_of_the_store_and_of_the_file_are_skipped(memory, tmp_path):
    memory.store("tea", agent_id="me")
    report = run(
        memory,
        tmp_path,
        {"content": "tea"},
        {"content": "お茶", "msg_id": "m"},
        {"content": "お茶"},
        {"content": "other", "msg_id": "m"},
        {"content": "tea", "agent_id": "you"},
        {"content": "tea", "timestamp": "2024-01-01"},
    )
    assert told(report) == {"stored": 3, "duplicate_content": 2, "duplicate_msg_id": 1}
    assert "mem:1" in examples(report, "duplicate_content")[0][1]
    assert "mem:2" in examples(report, "duplicate_content")[1][1]
    assert memory._provider.embedded.count("tea") == 3  # not that of the duplicate


def test_without_dedup_equal_contents_are_stored(memory, tmp_path):
    options = ImportOptions("me", dedup=False)
    report = run(memory, tmp_path, *[{"content": "はい"}] * 3, options=options)
    assert told(report) == {"stored": 3}


@pytest.mark.parametrize("form", ["list", "base64"])
@pytest.mark.parametrize("declared", ["label", "fingerprint", "option"])
def test_given_vectors_are_stored_normalised_and_the_rest_is_embedded(
    memory, tmp_path, form, declared
):
    given = vectors(3)
    model = {"label": "bag", "fingerprint": memory._provider.info.fingerprint, "option": None}
    records = [{"content": text, "source_name": "健"} for text in ("one", "二", "three", "四")]
    for record, vector in zip(records[:3], given, strict=False):
        as_text = base64.b64encode(vector.tobytes()).decode()
        record["embedding"] = as_text if form == "base64" else vector.astype(float).tolist()
        record["embedding_model"] = model[declared]
    options = ImportOptions("me", embedding_model="bag" if declared == "option" else "")
    assert told(run(memory, tmp_path, *records, options=options)) == {"stored": 4}
    assert np.array_equal(stored_vectors(memory)[:3], unit_rows(given))
    assert memory._provider.embedded == ["健: 四"]
    assert memory.status().rows_without_vector == 0


def test_ignoring_the_field_embeds_anew(memory, tmp_path):
    record = {"content": "a", "embedding": [1], "embedding_model": "e5", "mood": 1}
    options = ImportOptions("me", ignored=("embedding", "embedding_model", "mood"))
    assert told(run(memory, tmp_path, record, options=options)) == {"stored": 1}
    assert memory._provider.embedded == ["a"]
    with pytest.raises(UsageError, match="content"):
        run(memory, tmp_path, record, options=ImportOptions("me", ignored=("content",)))


def test_a_long_row_with_a_vector_says_that_its_blocks_wait(memory, tmp_path):
    long = {"content": "今日は雨です。" * 100, "embedding": [1] * DIM, "embedding_model": "bag"}
    report = run(memory, tmp_path, long)
    assert told(report) == {"stored": 1, "blocks_not_embedded": 1}
    assert report.records == report.of("stored") == 1
    memory.reembed()
    assert memory.status().blocks_without_vector == 0


def test_an_embedder_without_vectors_takes_none(tmp_path):
    with opened(tmp_path / "none.db") as memory:
        record = {"content": "a", "embedding": [1] * DIM, "embedding_model": "bag"}
        report = run(memory, tmp_path, record, {"content": "b"})
        assert told(report) == {"stored": 1, "embedding_model": 1}
        assert "makes no vectors" in examples(report, "embedding_model")[0][1]


def test_a_dead_embedder_leaves_rows_that_reembed_mends(tmp_path):
    model = bag()
    model.fails_after = 1
    with opened(tmp_path / "dead.db", model) as memory:
        records = [{"content": f"row {n} 行"} for n in range(600)]
        report = run(memory, tmp_path, *records)
        assert told(report) == {"stored": 600, "not_embedded": 344}
        model.fails_after = None
        assert memory.reembed().done == 344


def test_an_empty_file_is_imported(memory, tmp_path):
    report = run(memory, tmp_path)
    assert (report.records, report.finished) == (0, True)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.jsonl.gz", b"\x1f\x8b\x08rest", "gzip"),
        ("a.db", b"SQLite format 3\0rest", "SQLite"),
        ("a.parquet", b'{"content": "a"}', "no Parquet"),
        ("a.jsonl", '{"content": "a"}'.encode("utf-16"), "UTF-16"),
        ("a.arrow", b"ARROW1\0\0", "Arrow"),
    ],
)
def test_other_files_are_refused_whole(memory, tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=said):
        memory.import_file(tmp_path / name, ME)
    assert rows(memory) == []


@pytest.mark.parametrize("name", ["missing.jsonl", "", "a\0b", "m.db/x"])
def test_a_file_that_is_not_there(memory, tmp_path, name):
    with pytest.raises(UsageError, match="cannot be imported"):
        memory.import_file(f"{tmp_path}/{name}", ME)


def test_stdin_has_no_record_and_skips_what_is_there(memory, tmp_path, monkeypatch):
    data = lines({"content": "a"}, {"content": "二"})
    for expected in ({"stored": 2}, {"duplicate_content": 2}):
        path = tmp_path / "pipe"
        path.write_bytes(data)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(path.open("rb")))
        if expected == {"stored": 2}:
            assert told(memory.import_file("-", ME)) == expected
        else:
            again = memory.import_file("-", ME, again=True)
            assert told(again) == expected


def test_every_rejected_record_is_listed(memory, tmp_path):
    bad = [{"content": n} for n in range(5)]
    rejects = tmp_path / "rejects.jsonl"
    report = run(memory, tmp_path, *bad, {"content": "茶"}, b"\xff", rejects=rejects)
    assert len(report.examples["wrong_type"]) == 3
    listed = [json.loads(line) for line in rejects.read_text("utf-8").splitlines()]
    assert [entry["number"] for entry in listed] == [1, 2, 3, 4, 5, 7]
    assert listed[4] == {
        "number": 5,
        "reason": "wrong_type",
        "detail": "content is 4 (int); allowed: text",
    }
    for own in (tmp_path / "m.db", tmp_path / "in.jsonl"):
        before = own.read_bytes()
        with pytest.raises(UsageError, match="itself"):
            memory.import_file(tmp_path / "in.jsonl", ME, rejects=own)
        assert own.read_bytes() == before
    assert is_sound(memory._conn)


def test_the_fields_are_those_of_a_record():
    from cpersona_jit import Record

    assert set(Record.__dataclass_fields__) <= set(FIELDS)
