"""Episodes: checked, stored, found beside memories, containing what was said in their time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import BagOfWords
from store_cases import NOW, clean, contents, is_sound, put

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.isolation import Axes
from cpersona_jit.store.database import open_database
from cpersona_jit.store.episodes import episode_ids, episodes_containing
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.reasons import REASONS
from cpersona_jit.store.timestamps import US_PER_DAY, end_of, parse_timestamp
from cpersona_jit.store.validate import Rejection, check_record

SHIPS = "We planned the harbour festival and chose the three ships."
引っ越し = "リスボンへの引っ越しを決め、荷物を半分に減らした。"
SPAN = {"start": "2026-03-01", "end": "2026-03-07"}
ME = Axes.agent("me")


@pytest.fixture
def memory(tmp_path):
    with cpersona_jit.open(tmp_path / "m.db", BagOfWords(), wait_for_kernels=False) as memory:
        yield memory


@pytest.fixture
def conn(tmp_path):
    conn = open_database(tmp_path / "m.db")
    yield conn
    conn.close()


def archived(memory: Memory, summary: str = SHIPS, agent_id: str = "me", **fields) -> str:
    outcome = memory.archive_episode(summary, agent_id=agent_id, **SPAN | fields)
    assert outcome.status == "stored", outcome
    return outcome.ref


# --- what is kept ---------------------------------------------------------------------------------


def test_an_episode_is_a_row_with_an_end_and_keywords(memory):
    ref = archived(memory, 引っ越し, keywords=["船便", "Lisboa"], project_id="p", msg_id="m1")
    assert ref == "ep:1"
    (row,) = memory.get_contents([ref], agent_id="me").rows
    assert (row.ref, row.kind, row.content, row.timestamp) == (
        ref,
        "episode",
        引っ越し,
        "2026-03-01",
    )
    assert row.event_time == parse_timestamp("2026-03-01")
    assert row.end_time == parse_timestamp("2026-03-08") - 1  # the last day is inside
    assert (row.end_timestamp, row.keywords) == ("2026-03-07", ("船便", "Lisboa"))
    assert (row.project_id, row.msg_id) == ("p", "m1")


def test_a_memory_has_nothing_of_an_episode(memory):
    memory.store("tea", agent_id="me")
    (row,) = memory.get_contents(["mem:1"], agent_id="me").rows
    assert (row.kind, row.end_time, row.end_timestamp, row.keywords) == ("memory", None, "", ())


@pytest.mark.parametrize("keyword", ["steamboat", "船便"])
def test_recall_finds_it_by_its_summary_and_by_its_keywords(memory, keyword):
    memory.store("Mia likes tea.", agent_id="me")
    ref = archived(memory, keywords=[keyword])
    memory.store("猫は窓辺で寝ている。", agent_id="me")
    assert memory.recall("harbour festival", agent_id="me").rows[0].ref == ref
    found = memory.recall(keyword, agent_id="me").rows[0]
    assert (found.ref, found.content) == (ref, SHIPS)


def test_its_vector_is_of_the_summary_with_its_keywords(memory):
    archived(memory, keywords=["a", "b"], source={"name": "Mia"})
    assert memory._provider.embedded == [f"Mia: {SHIPS}\na, b"]
    memory.update("ep:1", 引っ越し, agent_id="me")
    assert memory._provider.embedded[-1] == f"Mia: {引っ越し}\na, b"


def test_reembed_gives_the_same_vector_as_storing(tmp_path):
    path = tmp_path / "m.db"
    with cpersona_jit.open(path, "none", wait_for_kernels=False) as memory:
        archived(memory, keywords=["船便"])
    with cpersona_jit.open(path, BagOfWords(), wait_for_kernels=False) as memory:
        assert memory.reembed().done == 1
        again = archived(memory, keywords=["船便"], project_id="other")
        vectors = memory._conn.execute("SELECT embedding FROM memories").fetchall()
    assert again == "ep:2"
    assert vectors[0] == vectors[1]


@pytest.mark.parametrize(
    ("name", "keywords", "text"),
    [
        ("", (), "x"),
        ("Mia", (), "Mia: x"),
        ("Mia", ("a", "船"), "Mia: x\na, 船"),
        ("", ["a"], "x\na"),
    ],
)
def test_the_indexed_text_ends_with_the_keywords(name, keywords, text):
    assert indexed_text(name, "x", keywords) == text


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "reason", "told"),
    [
        ({"start": ""}, "episode_time_invalid", "start"),
        ({"start": None}, "episode_time_invalid", "start"),
        ({"start": "last spring"}, "episode_time_invalid", "start"),
        ({"end": ""}, "episode_time_invalid", "end"),
        ({"end": "来週"}, "episode_time_invalid", "end"),
        ({"end": "2026-02-28"}, "episode_ends_before_start", "2026-02-28"),
        ({"end": "x" * 65}, "timestamp_too_long", "end"),
        ({"end": 7}, "wrong_type", "end"),
        ({"end": "9000-01-01"}, "timestamp_in_future", "end"),
        ({"start": "8999-01-01", "end": "9000-01-01"}, "timestamp_in_future", "timestamp"),
        ({"keywords": "ships"}, "keywords_invalid", "str"),
        ({"keywords": 3}, "keywords_invalid", "int"),
        ({"keywords": ["a", " "]}, "keywords_invalid", "keywords[1]"),
        ({"keywords": ["船" * 101]}, "keywords_invalid", "101"),
        ({"keywords": ["a"] * 51}, "keywords_invalid", "51"),
        ({"keywords": ["a", 1]}, "wrong_type", "keywords[1]"),
        ({"keywords": ["a\0"]}, "nul_character", "keywords[0]"),
        ({"summary": "  "}, "empty_content", "content"),
    ],
)
def test_what_is_no_episode_is_rejected_with_its_reason(memory, fields, reason, told):
    fields = {"summary": SHIPS, **SPAN, **fields}
    outcome = memory.archive_episode(agent_id="me", **fields)
    assert (outcome.status, outcome.reason) == ("rejected", reason)
    assert told in outcome.detail
    assert REASONS[reason].status == "rejected"
    assert contents(memory._conn) == []


@pytest.mark.parametrize(
    "fields", [{"kind": "story"}, {"end": "2026-01-01"}, {"keywords": ["a"]}, {"kind": None}]
)
def test_a_memory_with_what_only_episodes_have_is_rejected(memory, fields):
    (outcome,) = memory.store_many([Record("tea", "me", **fields)])
    assert (outcome.status, outcome.reason) == ("rejected", "kind_invalid")


def test_a_moment_is_an_episode_too(memory):
    at = "2026-03-01T10:00:00Z"
    archived(memory, start=at, end=at)
    (row,) = memory.get_contents(["ep:1"], agent_id="me").rows
    assert row.event_time == row.end_time


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("2026-03-07", "2026-03-07T23:59:59.999999Z"),
        ("20260307", "2026-03-07T23:59:59.999999Z"),
        ("２０２６-０３-０７", "2026-03-07T23:59:59.999999Z"),
        ("2026-03-07T10", "2026-03-07T10:00"),
        ("2026-03-07T00:00", "2026-03-07"),
    ],
)
def test_the_end_of_a_date_is_the_end_of_that_day(text, like):
    assert end_of(text) == parse_timestamp(like)


@given(st.dates(), st.sampled_from(["", "T10:00", "T10:00:00.5Z", "T24:00"]))
def test_an_end_is_never_before_the_same_text_as_a_start(day, clock):
    text = f"{day}{clock}"
    assert 0 <= end_of(text) - parse_timestamp(text) < US_PER_DAY


# --- duplicates -----------------------------------------------------------------------------------


def test_duplicates_are_of_the_same_kind_and_the_same_span(memory):
    def store(**fields):
        return memory.archive_episode(SHIPS, agent_id="me", **SPAN | fields)

    said = memory.store(SHIPS, agent_id="me", timestamp="2026-03-01")
    assert said.ref == "mem:1"
    assert store().ref == "ep:2"
    assert (store().reason, store().ref) == ("duplicate_content", "ep:2")
    assert store(end="2026-03-07T23:59:59.999999Z").reason == "duplicate_content"  # the same span
    assert store(end="2026-03-08").ref == "ep:3"
    again = memory.store(SHIPS, agent_id="me", timestamp="2026-03-01")
    assert (again.reason, again.ref) == ("duplicate_content", "mem:1")


def test_a_msg_id_is_held_by_either_kind(memory):
    memory.archive_episode(SHIPS, agent_id="me", msg_id="m", **SPAN)
    taken = memory.store("tea", agent_id="me", msg_id="m")
    assert (taken.reason, taken.ref) == ("duplicate_msg_id", "ep:1")
    assert "ep:1" in taken.detail


def test_a_batch_tells_its_own_duplicates_by_their_refs(memory):
    episode = Record(SHIPS, "me", timestamp="2026-03-01", kind="episode", end="2026-03-02")
    memory_of_it = Record(SHIPS, "me", timestamp="2026-03-01")
    outcomes = memory.store_many([episode, memory_of_it, episode, memory_of_it])
    assert [(o.status, o.ref) for o in outcomes] == [
        ("stored", "ep:1"),
        ("stored", "mem:2"),
        ("skipped", "ep:1"),
        ("skipped", "mem:2"),
    ]


# --- containment ----------------------------------------------------------------------------------


def put_episodes(conn, *spans: tuple[str, str], **fields) -> None:
    records = [
        check_record(
            Record(
                f"{start} to {end} {fields}",
                **{"agent_id": "me", "timestamp": start, "kind": "episode", "end": end, **fields},
            ),
            NOW,
        )
        for start, end in spans
    ]
    assert not any(isinstance(record, Rejection) for record in records)
    assert {o.status for o in put(conn, *records)} <= {"stored"}


def containing(conn, *moments: str | None, axes: Axes = ME, home=("me", "", ""), limit=10):
    points = [(*home, None if at is None else parse_timestamp(at)) for at in moments]
    return [row.ref for row in episodes_containing(conn, axes, points, limit)]


def test_both_ends_are_inside(conn):
    put_episodes(conn, ("2026-03-01T10:00", "2026-03-01T11:00"), ("2026-03-02", "2026-03-02"))
    assert containing(conn, "2026-03-01T09:59:59.999999") == []
    assert containing(conn, "2026-03-01T10:00") == ["ep:1"]
    assert containing(conn, "2026-03-01T11:00") == ["ep:1"]
    assert containing(conn, "2026-03-01T11:00:00.000001") == []
    assert containing(conn, "2026-03-02T23:59:59") == ["ep:2"]
    assert containing(conn, "2026-03-01T20:00+09:00") == ["ep:1"]
    assert containing(conn, None) == []
    assert containing(conn) == []


def test_the_one_that_began_last_comes_first_and_each_once(conn):
    put_episodes(
        *(conn, ("2026-03-01", "2026-03-31"), ("2026-03-05", "2026-03-06")),
        ("2026-03-05", "2026-03-07"),
    )
    moments = ["2026-03-05", "2026-03-06", "2026-03-05"]
    assert containing(conn, *moments) == ["ep:2", "ep:3", "ep:1"]
    assert containing(conn, *moments, limit=2) == ["ep:2", "ep:3"]
    assert containing(conn, *moments, limit=0) == []


def test_only_in_exactly_the_same_agent_project_and_channel(conn):
    span = ("2026-03-01", "2026-03-02")
    homes = [(a, p, c) for a in ("me", "you") for p in ("", "p") for c in ("", "c")]
    for agent_id, project_id, channel in homes:
        put_episodes(conn, span, agent_id=agent_id, project_id=project_id, channel=channel)
    everyone = Axes.across_agents()
    for number, home in enumerate(homes, 1):
        assert containing(conn, "2026-03-01", axes=everyone, home=home) == [f"ep:{number}"]


def test_a_foreign_episode_is_not_there_for_anyone_who_knows_its_place(conn):
    put_episodes(conn, ("2026-03-01", "2026-03-02"), agent_id="you", project_id="p", channel="c")
    home = ("you", "p", "c")
    assert containing(conn, "2026-03-01", home=home) == []
    assert containing(conn, "2026-03-01", home=home, axes=Axes.agent("you", "q")) == []
    assert containing(conn, "2026-03-01", home=home, axes=Axes.agent("you", "p", "d")) == []
    assert containing(conn, "2026-03-01", home=home, axes=Axes.agent("")) == []
    assert containing(conn, "2026-03-01", home=home, axes=Axes.agent("you", "p", "c")) == ["ep:1"]
    assert fetch_rows(conn, ME, [1]) == {}


DAYS = st.integers(1, 28).map(lambda day: f"2026-02-{day:02d}")


@given(st.lists(st.tuples(DAYS, DAYS).map(sorted), max_size=8), st.lists(DAYS, max_size=3))
def test_containment_is_what_a_loop_over_all_says(tmp_path_factory, spans, moments):
    conn = open_database(tmp_path_factory.mktemp("episodes") / "m.db")
    spans = list(dict.fromkeys(map(tuple, spans)))
    put_episodes(conn, *spans)
    hit = [
        (start, -number)
        for number, (start, end) in enumerate(spans, 1)
        if any(start <= at <= end for at in moments)
    ]
    assert containing(conn, *moments) == [f"ep:{-n}" for _, n in sorted(hit, reverse=True)]
    conn.close()


# --- refs and deletion ----------------------------------------------------------------------------


def test_a_ref_of_the_wrong_kind_is_missing_everywhere(memory):
    memory.store("tea", agent_id="me")
    archived(memory)
    wrong = ["ep:1", "mem:2"]
    assert memory.get_contents(wrong, agent_id="me").missing == tuple(wrong)
    assert memory.delete(wrong, agent_id="me").missing == tuple(wrong)
    assert {memory.update(ref, "x", agent_id="me").reason for ref in wrong} == {"not_found"}
    assert contents(memory._conn) == ["tea", SHIPS]
    found = memory.get_contents(["ep:2", "mem:1", "ep:2"], agent_id="me")
    assert ([row.ref for row in found.rows], found.missing) == (["ep:2", "mem:1"], ())


def test_a_foreign_episode_is_missing(memory):
    ref = archived(memory, agent_id="you", project_id="p")
    for axes in ({"agent_id": "me"}, {"agent_id": "you", "project_id": "q"}):
        assert memory.get_contents([ref], **axes).missing == (ref,)
        assert memory.delete([ref], **axes).missing == (ref,)
        assert memory.update(ref, "x", **axes).reason == "not_found"
        assert memory.recall("harbour festival", **axes).rows == ()


def test_deleting_an_episode_leaves_nothing_of_it(memory):
    ref = archived(memory)
    assert memory.episode_ids() == {1}
    assert memory.delete([ref], agent_id="me").deleted == (ref,)
    assert memory.episode_ids() == frozenset()
    assert memory.recall("harbour", agent_id="me").rows == ()
    assert is_sound(memory._conn)


def test_what_the_columns_export_calls_it(memory):
    from cpersona_jit.columns.export import columns_table

    memory.store("tea", agent_id="me")
    archived(memory)
    table = columns_table(memory.columns(), episodes=memory.episode_ids())
    assert table["ref"].to_pylist() == ["mem:1", "ep:2"]


@pytest.mark.parametrize("keywords", ["not json", '{"a": 1}', "[1]", "[" * 100_000])
def test_keywords_of_a_damaged_file_are_named(conn, keywords):
    put_episodes(conn, ("2026-03-01", "2026-03-02"))
    conn.execute("UPDATE episodes SET keywords = ?", (keywords,))
    with pytest.raises(CorruptStoreError, match="keywords"):
        fetch_rows(conn, ME, [1])


def test_episodes_of_every_agent_are_counted_inside(conn):
    put_episodes(conn, ("2026-03-01", "2026-03-02"), agent_id="you")
    put(conn, clean("tea"))
    assert episode_ids(conn) == {1}
