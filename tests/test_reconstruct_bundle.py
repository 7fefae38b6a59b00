"""Bundling: which candidates are one memory, and which are proven to be nothing of the kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reconstruct_cases import SECOND, row

from cpersona_jit import Source
from cpersona_jit.exits.reconstruct.bundle import bundle
from cpersona_jit.exits.reconstruct.refs import mentions
from cpersona_jit.exits.reconstruct.stamps import is_date_only, lies_in
from cpersona_jit.records import Row, format_utc

MINUTE = 60 * SECOND


def clusters(*rows: Row, declared: bool = True) -> list[tuple[list[str], list[str]]]:
    """Return refs and reasons of each cluster."""
    return [
        ([rows[place].ref for place in c.members], [c.why[place] for place in c.members[1:]])
        for c in bundle(rows, MINUTE, declared=declared)
    ]


def alone(*rows: Row, **options: bool) -> bool:
    return all(len(refs) == 1 for refs, _ in clusters(*rows, **options))


# -- message ids -----------------------------------------------------------------------------------


def test_one_message_id_of_one_project_is_one_memory() -> None:
    one, other = row(7, "東京", msg_id="m1", channel="x"), row(3, msg_id="m1", channel="y")
    assert clusters(one, other) == [(["mem:7", "mem:3"], ["cluster:msg_id"])]


@pytest.mark.parametrize(
    "different",
    [{"project_id": "p"}, {"agent_id": "b"}, {"msg_id": "m2"}, {"end": "2024-05-02"}],
)
def test_a_message_id_proves_nothing_elsewhere(different: dict) -> None:
    fields = {"msg_id": "m1", "timestamp": "2024-05-01", "channel": "x"}
    assert alone(row(1, **fields), row(2, **(fields | {"channel": "y"} | different)))


def test_no_message_id_is_no_identity() -> None:
    assert alone(row(1), row(2))


# -- episodes --------------------------------------------------------------------------------------

TRIP = {"timestamp": "2024-05-01T09:00:00Z", "end": "2024-05-03T18:00:00Z"}


def test_a_memory_belongs_to_the_episode_of_its_time() -> None:
    episode = row(1, "京都への旅行", **TRIP)
    inside = row(2, timestamp="2024-05-02T12:00:00Z")
    before = row(3, timestamp="2024-05-01T08:59:59Z")
    assert clusters(inside, episode, before) == [
        (["mem:2", "ep:1"], ["cluster:episode"]),
        (["mem:3"], []),
    ]


@pytest.mark.parametrize("other", [{"project_id": "p"}, {"channel": "x"}, {"agent_id": "b"}])
def test_time_proves_nothing_across_homes(other: dict) -> None:
    assert alone(row(1, **TRIP), row(2, timestamp="2024-05-02T12:00:00Z", **other))


def test_a_memory_belongs_to_the_shortest_of_its_episodes() -> None:
    journey = row(1, timestamp="2024-05-01", end="2024-05-30T00:00:00Z")
    day = row(2, timestamp="2024-05-02T00:00:00Z", end="2024-05-02T23:00:00Z")
    of_day, of_journey = (
        row(3, timestamp="2024-05-02T12:00:00Z"),
        row(4, timestamp="2024-05-20T12:00:00Z"),
    )
    assert clusters(journey, day, of_day, of_journey) == [
        (["ep:1", "mem:4"], ["cluster:episode"]),
        (["ep:2", "mem:3"], ["cluster:episode"]),
    ]


def test_a_day_lies_in_an_episode_as_a_whole_or_not_at_all() -> None:
    episode = row(1, **TRIP)
    assert lies_in(row(2, timestamp="2024-05-02"), episode)
    assert not lies_in(row(2, timestamp="2024-05-01"), episode)  # begins at nine
    assert not lies_in(row(2, timestamp="2024-05-03"), episode)
    assert lies_in(row(2, timestamp="2024-05-03T18:00:00Z"), episode)
    assert not lies_in(row(2), episode)
    assert not lies_in(row(2, timestamp="いつか"), episode)


# -- adjacent times --------------------------------------------------------------------------------


def said(row_id: int, clock: str, **fields) -> Row:
    return row(row_id, timestamp=f"2024-05-01T{clock}Z", **fields)


def test_the_whole_group_fits_into_the_window_and_not_only_each_step() -> None:
    rows = [said(i, clock) for i, clock in enumerate(("10:00:00", "10:00:40", "10:01:20"), 1)]
    assert clusters(*rows) == [(["mem:1", "mem:2"], ["cluster:adjacent"]), (["mem:3"], [])]
    # Whatever their relevance: the window begins with the first in time.
    assert clusters(*reversed(rows)) == [
        (["mem:3"], []),
        (["mem:2", "mem:1"], ["cluster:adjacent"]),
    ]
    assert not alone(said(1, "10:00:00"), said(2, "10:01:00"))
    assert alone(said(1, "10:00:00"), said(2, "10:01:01"))


@pytest.mark.parametrize(
    "different",
    [
        {"source": Source("agent", "u1")},
        {"source": Source("user", "u2")},
        {"source": Source("user", "")},
        {"session_id": "s2"},
        {"session_id": ""},
        {"project_id": "p"},
        {"channel": "x"},
        {"agent_id": "b"},
    ],
)
def test_another_or_an_unknown_context_is_not_adjacent(different: dict) -> None:
    fields = {"session_id": "s1", "source": Source("user", "u1")}
    assert not alone(said(1, "10:00:00", **fields), said(2, "10:00:10", **fields))
    assert alone(said(1, "10:00:00", **fields), said(2, "10:00:10", **(fields | different)))


def test_two_unknown_sources_are_not_the_same_source() -> None:
    nobody = {"source": Source("user", "")}
    assert alone(said(1, "10:00:00", **nobody), said(2, "10:00:10", **nobody))


def test_dates_and_stamps_of_a_whole_session_are_not_adjacent() -> None:
    assert alone(row(1, timestamp="2024-05-01"), row(2, timestamp="2024-05-01T00:00:10Z"))
    assert alone(said(1, "10:00:00"), said(2, "10:00:00"))
    other = Source("user", "u2")
    rows = [
        said(1, "10:00:00", session_id="s"),
        said(2, "10:00:00", session_id="s", source=other),
        said(3, "10:00:20", session_id="s"),
    ]
    assert alone(*rows)


@pytest.mark.parametrize(
    ("stamp", "date_only"),
    [
        ("2024-05-01", True),
        ("20240501", True),
        (" 2024-05-01 ", True),
        ("２０２４－０５－０１", True),
        ("2024-05-01T00", False),
        ("20240501T00", False),
    ],
)
def test_date_only_stamps(stamp: str, date_only: bool) -> None:
    assert row(1, timestamp=stamp).event_time is not None
    assert is_date_only(stamp) == date_only


def test_times_are_told_in_utc() -> None:
    assert format_utc(row(1, timestamp="2024-05-01T09:00:00+09:00").event_time) == (
        "2024-05-01T00:00:00Z"
    )


# -- declared relations ----------------------------------------------------------------------------


def test_a_declared_role_puts_two_candidates_into_one_item() -> None:
    new = row(9, "We meet on Friday.", metadata={"contradicts": ["mem:4"]})
    old = row(4, "木曜日に会う。")
    assert clusters(old, new) == [(["mem:4", "mem:9"], ["relation:metadata"])]
    assert alone(old, new, declared=False)
    assert alone(old, row(9, metadata={"seen": "mem:4"}))  # a reference without a role
    assert alone(old, row(9, "see mem:4"))
    assert alone(old, row(9, metadata={"contradicts": "ep:4"}))  # no row of that reference


# -- keys together ---------------------------------------------------------------------------------


def test_the_first_key_that_binds_a_row_is_its_reason() -> None:
    one = said(1, "10:00:00", msg_id="m", channel="x")
    two = said(2, "10:00:10", msg_id="m", channel="y")
    three = said(3, "10:00:20", channel="y", metadata={"supports": "mem:2"})
    assert clusters(three, one, two) == [
        (["mem:3", "mem:1", "mem:2"], ["cluster:msg_id", "cluster:msg_id"])
    ]
    assert clusters(one, three, two) == [
        (["mem:1", "mem:3", "mem:2"], ["cluster:adjacent", "cluster:msg_id"])
    ]


@given(st.permutations(range(6)))
def test_clusters_do_not_depend_on_the_order_of_the_candidates(order: list[int]) -> None:
    rows = [
        said(1, "10:00:00"),
        said(2, "10:00:30"),
        said(3, "10:01:10"),
        row(4, msg_id="m", channel="x"),
        row(5, msg_id="m"),
        row(6, timestamp="2024-05-01T10:01:00Z", end="2024-05-01T11:00:00Z"),
    ]
    found = {frozenset(refs) for refs, _ in clusters(*(rows[i] for i in order))}
    assert found == {
        frozenset({"mem:1", "mem:2"}),
        frozenset({"mem:3", "ep:6"}),
        frozenset({"mem:4", "mem:5"}),
    }


# -- references ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("see mem:12, ep:3.", ["mem:12", "ep:3"]),
        ("前回のmem:12を参照（ep:3）。", ["mem:12", "ep:3"]),
        ("mem:12mem:13", []),
        ("xmem:12 mem:12x mem:1_2 mem:012 mem:0", []),
        ("item/mem:5 mem:5/6 mem:5-b mem:5.5 mem:5:6", []),
        ("mem:5. mem:6: mem:7-", ["mem:5", "mem:6", "mem:7"]),
        ("mem:7 and mem:7", ["mem:7"]),
        ("mem:1", []),  # the row itself
        ("mem:9999999999999999999", []),  # no id of SQLite
        ("MEM:5 mem: 5", []),
    ],
)
def test_references_in_a_text(text: str, refs: list[str]) -> None:
    found = mentions(row(1, text))
    assert [mention.ref for mention in found] == refs
    assert {mention.why for mention in found} <= {"relation:quoted_id"}


def test_references_in_metadata() -> None:
    declared = {
        "supersedes": "mem:2",
        "links": [{"supports": {"all": ["mem:3", "ep:4"]}}, "mem:5", "see mem:6", 7, None],
        "note": "mem:3",
        "mem:8": "x",
    }
    found = mentions(row(1, "mem:2 と mem:6", metadata=declared))
    assert [tuple(mention) for mention in found] == [
        ("mem:2", "relation:metadata", "supersedes"),
        ("mem:3", "relation:metadata", "supports"),
        ("ep:4", "relation:metadata", "supports"),
        ("mem:5", "relation:metadata", ""),
        ("mem:6", "relation:quoted_id", ""),
    ]
