"""Every bad record has one documented outcome, in English and in Japanese."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.records import Record, Source, format_ref, format_utc, parse_ref
from cpersona_jit.store.reasons import REASONS
from cpersona_jit.store.timestamps import US_PER_DAY, parse_timestamp
from cpersona_jit.store.validate import CleanRecord, Rejection, check_content, check_record

NOW = parse_timestamp("2026-05-01T09:00:00+09:00")
TEXT_FIELDS = ["agent_id", "project_id", "channel", "msg_id", "session_id", "timestamp", "content"]
LIMITS = dict.fromkeys(TEXT_FIELDS, 256) | {"timestamp": 64, "content": 16_000}


def check(**fields) -> CleanRecord | Rejection:
    return check_record(Record(**({"content": "hello", "agent_id": "me"} | fields)), NOW)


def rejected(reason: str, **fields) -> str:
    result = check(**fields)
    assert isinstance(result, Rejection), result
    assert result.reason == reason
    assert REASONS[reason].status == "rejected"
    # A rejection goes to a terminal or a JSON answer: it must always be printable.
    result.detail.encode("utf-8")
    assert "\0" not in result.detail
    assert result.outcome.status == "rejected"
    assert (result.outcome.reason, result.outcome.detail) == (reason, result.detail)
    return result.detail


def accepted(**fields) -> CleanRecord:
    result = check(**fields)
    assert isinstance(result, CleanRecord), result
    return result


@pytest.mark.parametrize(
    "content", ["hello", "今日は", " padded \n", "ｆｕｌｌ　ｗｉｄｔｈ", "e\u0301", "😀", "\u200b"]
)
def test_content_is_kept_verbatim(content):
    assert accepted(content=content).content == content


@pytest.mark.parametrize("content", ["", " ", "\n\t ", "\u3000", "\u3000 \u2003\x85", None])
def test_white_space_is_no_content(content):
    assert "content" in rejected("empty_content", content=content)


@pytest.mark.parametrize("field", TEXT_FIELDS)
@pytest.mark.parametrize("char", ["a", "記", "😀"])
def test_limits_count_characters(field, char):
    limit = LIMITS[field]
    result = accepted(**{field: char * limit})
    assert getattr(result, field) == char * limit
    detail = rejected(f"{field}_too_long", **{field: char * (limit + 1)})
    assert field in detail
    assert f"{limit + 1:,}" in detail
    assert f"{limit:,}" in detail


@pytest.mark.parametrize("field", TEXT_FIELDS)
def test_what_sqlite_cannot_hold_is_refused_in_every_text(field):
    assert "U+0000 at character 2" in rejected("nul_character", **{field: "ab\0c"})
    detail = rejected("lone_surrogate", **{field: "a\ud83dc"})
    assert field in detail
    assert "U+D83D at character 1" in detail
    rejected("lone_surrogate", **{field: "日本\udc00"})
    assert field in rejected("wrong_type", **{field: 12})
    rejected("wrong_type", **{field: b"bytes"})


def test_an_agent_is_required():
    rejected("agent_id_required", agent_id="")
    rejected("agent_id_required", agent_id=None)


def test_not_given_is_empty():
    result = accepted(
        project_id=None, channel=None, msg_id=None, session_id=None, timestamp=None, source=None
    )
    assert (result.project_id, result.channel, result.msg_id) == ("", "", "")
    assert (result.session_id, result.timestamp, result.event_time) == ("", "", None)
    assert (result.source_type, result.source_id, result.source_name) == ("", "", "")
    assert result.metadata == "{}"
    assert result.warnings == ()


# --- source ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        Source("User", "u1", "花子"),
        {"type": "User", "id": "u1", "name": "花子"},
        MappingProxyType({"name": "花子", "id": "u1", "type": "User"}),
    ],
)
def test_a_source_is_typed_or_a_mapping(source):
    result = accepted(source=source)
    assert (result.source_type, result.source_id, result.source_name) == ("User", "u1", "花子")


def test_a_partial_source():
    assert accepted(source={"name": "Ann", "id": None}).source_name == "Ann"
    assert accepted(source={}).source_name == ""


def test_bad_sources():
    assert "source.id" in rejected("source_too_long", source=Source(id="あ" * 257))
    accepted(source=Source("あ" * 256, "あ" * 256, "あ" * 256))
    assert "'nmae'" in rejected("source_unknown_key", source={"nmae": "Ann"})
    rejected("source_unknown_key", source={"\ud800": "x"})
    rejected("source_unknown_key", source={3: "x"})
    assert "source" in rejected("wrong_type", source="user")
    assert "source.name" in rejected("wrong_type", source={"name": 3})
    assert "source.name" in rejected("nul_character", source={"name": "\0"})
    assert "source.type" in rejected("lone_surrogate", source=Source(type="\udfff"))


# --- metadata -------------------------------------------------------------------------------------


def test_metadata_is_kept_as_json():
    metadata = {"b": [1, 2.5, None, True], "a": {"キー": "値"}, "escape": "\\u0000 is six chars"}
    text = accepted(metadata=metadata).metadata
    assert json.loads(text) == metadata
    assert "キー" in text


@pytest.mark.parametrize("char", ["x", "値"])
def test_metadata_is_limited_as_characters_of_json(char):
    room = 8_000 - len('{"k": ""}')
    assert len(accepted(metadata={"k": char * room}).metadata) == 8_000
    assert "8,001" in rejected("metadata_too_long", metadata={"k": char * (room + 1)})


def nested(depth: int) -> dict:
    value: dict = {}
    for _ in range(depth - 1):
        value = {"k": value}
    return value


def circular() -> dict:
    value: dict = {}
    value["self"] = value
    return value


@pytest.mark.parametrize(
    "metadata",
    [
        [1],
        "text",
        7,
        {"x": float("nan")},
        {"x": [float("inf")]},
        {"x": {1, 2}},
        {"x": b"bytes"},
        {1: "key"},
        {"x": {None: "key"}},
        {"x": 10**5000},
        nested(65),
        nested(3000),
        circular(),
    ],
)
def test_what_is_no_json_object_is_refused(metadata):
    assert "metadata" in rejected("metadata_invalid", metadata=metadata)


def test_metadata_texts_are_checked_at_every_level():
    accepted(metadata=nested(64))
    for hidden in ({"x": ["\0"]}, {"\0": 1}, {"x": [{"y\0": 1}]}):
        assert "metadata" in rejected("nul_character", metadata=hidden)
    for hidden in ({"x": ["\ud800"]}, {"\udc00": 1}, {"x": ("日本\ud800",)}):
        assert "metadata" in rejected("lone_surrogate", metadata=hidden)


# --- timestamp ------------------------------------------------------------------------------------


def test_a_timestamp_is_kept_verbatim_beside_its_instant():
    result = accepted(timestamp="2026-05-01 08:00:00 +09:00")
    assert result.timestamp == "2026-05-01 08:00:00 +09:00"
    assert format_utc(result.event_time) == "2026-04-30T23:00:00Z"
    assert result.warnings == ()


@pytest.mark.parametrize("text", ["last Tuesday", "先週の火曜日", "2026-02-30", "2026年4月1日"])
def test_an_unreadable_timestamp_is_stored_undated_with_a_warning(text):
    result = accepted(timestamp=text)
    assert (result.timestamp, result.event_time) == (text, None)
    assert result.warnings == ("timestamp_unparsable",)
    assert REASONS["timestamp_unparsable"].status == "stored"


def test_the_future_begins_after_24_hours():
    accepted(timestamp=format_utc(NOW + US_PER_DAY))
    detail = rejected("timestamp_in_future", timestamp=format_utc(NOW + US_PER_DAY + 1))
    assert "2026-05-02T00:00:00.000001Z" in detail
    assert "24 hours" in detail
    rejected("timestamp_in_future", timestamp="９９９９－１２－３１")
    accepted(timestamp="0001-01-01")


# --- laws -----------------------------------------------------------------------------------------

wild_text = st.text(st.characters(exclude_categories=()), max_size=40)
anything = st.none() | st.booleans() | st.integers() | st.floats() | wild_text | st.binary()
wild = anything | st.lists(anything, max_size=3) | st.dictionaries(anything, anything, max_size=3)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(Record.__dataclass_fields__, wild)))
@settings(max_examples=300, deadline=None)
def test_any_record_is_clean_or_rejected_for_a_listed_reason(fields):
    result = check(**fields)
    if isinstance(result, Rejection):
        assert REASONS[result.reason].status == "rejected"
        result.detail.encode("utf-8")
    else:
        for name in CleanRecord.__dataclass_fields__:
            value = getattr(result, name)
            if isinstance(value, str):
                assert "\0" not in value
                value.encode("utf-8")


@given(wild)
def test_a_new_content_has_the_same_rules_as_a_record(content):
    result, whole = check_content(content), check(content=content)
    if isinstance(whole, Rejection):
        assert result == whole
    else:
        assert result == whole.content


@given(st.integers(1, 2**63 - 1), st.sampled_from(["memory", "episode"]))
def test_a_ref_reads_back(memory_id, kind):
    assert parse_ref(format_ref(memory_id, kind)) == memory_id


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "mem:",
        "mem:0",
        "mem:-1",
        "mem:01",
        "mem:1 ",
        "mem:1\n",
        " mem:1",
        "MEM:1",
        "mem:１",
        "mem:١",
        "mem:1.0",
        "mem:1_0",
        "ep:",
        "ep:0",
        "ep:01",
        "EP:1",
        "epi:1",
        "ver:1",
        "1",
        "記:1",
        "mem:9223372036854775808",
        "mem:" + "9" * 5000,
        "mem:1\0",
        "mem:\ud800",
        None,
        1,
        b"mem:1",
        ["mem:1"],
    ],
)
def test_what_is_no_ref(ref):
    assert parse_ref(ref) is None
