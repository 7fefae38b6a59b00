"""Relations and the structure of an item: what joins it, its head, order, roles and conflicts."""

from __future__ import annotations

from collections.abc import Sequence

from reconstruct_cases import SECOND, row

from cpersona_jit.exits.quote import Quote
from cpersona_jit.exits.reconstruct.claims import head_of, structure
from cpersona_jit.exits.reconstruct.parts import node_view
from cpersona_jit.exits.reconstruct.relations import Member, Walked, walk
from cpersona_jit.exits.reconstruct.sources import Related
from cpersona_jit.records import Node, Row, Version, parse_ref


def related(rows: Sequence[Row], versions: Sequence[Version] = ()) -> Related:
    """Return readers over rows in hand, which may all be seen."""

    def episodes(points, limit):
        found = {
            one.id: one
            for *home, time in points
            for one in rows
            if one.kind == "episode"
            and [one.agent_id, one.project_id, one.channel] == home
            and one.event_time <= time <= one.end_time
        }
        return list(found.values())[:limit]

    def versions_of(ids):
        found = {}
        for version in sorted(versions, key=lambda v: -v.superseded_at):
            if parse_ref(version.memory_ref) in ids:
                found.setdefault(parse_ref(version.memory_ref), []).append(version)
        return found

    by_id = {one.id: one for one in rows}
    return Related(
        lambda ids: {i: by_id[i] for i in ids if i in by_id},
        episodes,
        versions_of,
        lambda ids: {version.id: version for version in versions if version.id in ids},
        lambda ids: {},
        lambda: None,
    )


def old(version_id: int, memory_id: int, content: str, until: int) -> Version:
    return Version(
        f"mem:{version_id}", version_id, f"mem:{memory_id}", content, until - 5, until * SECOND
    )


def seed(one: Row, rank: int = 0) -> Member:
    return Member(one, None, "seed", rank, 0)


def walked(items: Sequence[Sequence[Row]], source: Related, **bounds) -> list[Walked]:
    members = [[seed(one, rank) for rank, one in enumerate(rows)] for rows in items]
    candidates = bounds.pop("candidates", [one.ref for rows in items for one in rows])
    bounds = {"max_hops": 2, "max_evidence": 40} | bounds
    return walk(members, candidates, source, **bounds)


def told(found: Walked) -> list[tuple[str, str, int]]:
    return [(member.ref, member.why, member.hops) for member in found.found]


# -- relations -------------------------------------------------------------------------------------

CHAIN = [
    row(1, "Lisbon, see mem:2"),
    row(2, "リスボン", metadata={"supports": "mem:3"}),
    row(3, "mem:4を参照"),
    row(4, "the end"),
]


def test_relations_are_followed_as_far_as_the_hops_go() -> None:
    (found,) = walked([CHAIN[:1]], related(CHAIN))
    assert told(found) == [("mem:2", "relation:quoted_id", 1), ("mem:3", "relation:metadata", 2)]
    assert (found.too_far, found.full) == (True, False)
    (found,) = walked([CHAIN[:1]], related(CHAIN), max_hops=3)
    assert [ref for ref, _, _ in told(found)] == ["mem:2", "mem:3", "mem:4"]
    assert not found.too_far
    (found,) = walked([CHAIN[:1]], related(CHAIN), max_hops=0)
    assert (told(found), found.too_far) == ([], True)


def test_without_relations_nothing_happens() -> None:
    rows = [row(1, "tea"), row(2, "抹茶 mem:99", timestamp="2024-05-01")]
    assert walked([rows], related(rows)) == [Walked([], False, False)]


def test_an_id_alone_is_no_reference() -> None:
    rows = [row(1, "ep:2 and mem:3"), row(2), row(3, timestamp="2024-05-01", end="2024-05-02")]
    assert told(*walked([rows[:1]], related(rows))) == []


def test_candidates_stay_where_the_keys_put_them() -> None:
    rows = CHAIN[:2]
    first, second = walked([rows[:1], rows[1:]], related(CHAIN))
    assert (told(first), told(second)) == (
        [],
        [("mem:3", "relation:metadata", 1), ("mem:4", "relation:quoted_id", 2)],
    )
    # Nor does a candidate without an item move into one, whose content would change with count.
    (only,) = walked([rows[:1]], related(CHAIN), candidates=["mem:1", "mem:2"])
    assert (told(only), only.too_far) == ([], False)


def test_a_row_goes_to_the_first_item_that_reaches_it() -> None:
    shared = row(9, "the plan")
    rows = [row(1, "see mem:5"), row(2, "see mem:9"), row(5, "mem:9を見よ"), shared]
    first, second = walked([[rows[0]], [rows[1]]], related(rows))
    assert [ref for ref, _, _ in told(first)] == ["mem:5", "mem:9"]
    assert told(second) == []
    assert told(*walked([[rows[0]]], related(rows))) == told(first)  # whatever comes after it


def test_episodes_that_contain_a_memory_support_it() -> None:
    memory = row(1, timestamp="2024-05-02T10:00:00Z")
    trip = row(2, "京都旅行", timestamp="2024-05-01", end="2024-05-03T00:00:00Z")
    elsewhere = row(3, timestamp="2024-05-01", end="2024-05-03T00:00:00Z", channel="x")
    (found,) = walked([[memory]], related([memory, trip, elsewhere]))
    assert told(found) == [("ep:2", "relation:episode", 1)]
    item = structure([seed(memory), *found.found], 40)
    assert item.roles == {"mem:1": [("ep:2", "supports")]}


def test_old_texts_come_newest_first_and_are_superseded_in_turn() -> None:
    current = row(1, "I live in Porto.", updated_at=9, timestamp="2024-05-01")
    texts = [old(7, 1, "リスボンに住む。", 2), old(8, 1, "I live in Lisbon, mem:2.", 3)]
    source = related([current, row(2)], texts)
    (found,) = walked([[current]], source)
    # What an old text referred to is over.
    assert told(found) == [("mem:8", "version", 1), ("mem:7", "version", 1)]
    item = structure([seed(current), *found.found], 40)
    assert [member.ref for member in item.newest_first] == ["mem:1", "mem:8", "mem:7"]
    assert item.roles == {
        "mem:1": [("mem:8", "supersedes")],
        "mem:8": [("mem:7", "supersedes")],
    }
    assert item.retained[0].text == "I live in Porto."


def test_a_reference_to_an_old_text_leads_to_what_holds_now() -> None:
    current = row(1, "I live in Porto.", updated_at=9)
    rows = [current, row(2, "cites", metadata={"contradicts": "mem:7"}), row(3, "ep:7を参照")]
    source = related(rows, [old(7, 1, "リスボンに住む。", 2)])
    (found,) = walked([[rows[1]]], source, max_hops=1)
    assert told(found) == [("mem:1", "relation:metadata", 1), ("mem:7", "relation:metadata", 1)]
    item = structure([seed(rows[1]), *found.found], 40)
    assert item.roles == {
        "mem:1": [("mem:7", "supersedes")],
        "mem:2": [("mem:7", "contradicts")],
    }
    assert told(*walked([[rows[2]]], source)) == []


def test_references_are_looked_up_up_to_the_bound_of_evidence() -> None:
    rows = [row(1, "mem:2 mem:3 mem:4"), row(2), row(3), row(4)]
    (found,) = walked([rows[:1]], related(rows), max_evidence=2)
    assert ([ref for ref, _, _ in told(found)], found.full) == (["mem:2", "mem:3"], True)
    (found,) = walked([rows[:1]], related(rows), max_evidence=3)
    assert (len(found.found), found.full) == (3, False)


# -- structure -------------------------------------------------------------------------------------


def versions(*stamps: str, **fields) -> list[Member]:
    """Rows of one message, the best first."""
    return [
        seed(row(i, f"text {i}", msg_id="m", timestamp=stamp, channel=str(i), **fields), i)
        for i, stamp in enumerate(stamps, 1)
    ]


def test_the_head_is_the_newest_version_of_the_best_row() -> None:
    members = versions("2024-05-01", "2024-05-03", "2024-05-02")
    assert head_of(members).ref == "mem:2"
    item = structure(members, 40)
    assert [member.ref for member in item.retained] == ["mem:2", "mem:1", "mem:3"]
    assert [member.ref for member in item.newest_first] == ["mem:2", "mem:3", "mem:1"]
    assert item.roles == {
        "mem:2": [("mem:3", "supersedes")],
        "mem:3": [("mem:1", "supersedes")],
    }
    assert item.conflicts == []


def test_a_later_row_of_another_message_is_no_version() -> None:
    later = seed(row(9, timestamp="2024-06-01"), 3)
    assert head_of([*versions("2024-05-01"), later]).ref == "mem:1"
    assert head_of([seed(row(1)), later]).ref == "mem:1"


def test_an_undated_version_is_neither_newer_nor_older() -> None:
    members = versions("", "2024-05-03")
    assert head_of(members).ref == "mem:1"
    assert structure(members, 40).roles == {}
    assert head_of(versions("2024-05-03", "")).ref == "mem:1"


def test_versions_of_another_project_are_others() -> None:
    members = [*versions("2024-05-01"), seed(row(9, msg_id="m", project_id="p", timestamp="2025"))]
    assert head_of(members).ref == "mem:1"
    assert structure(members, 40).roles == {}


def test_what_differs_at_one_time_is_a_conflict() -> None:
    members = versions("2024-05-01", "2024-05-01T00:00:00Z")
    item = structure(members, 40)
    assert (item.conflicts, item.roles) == ([["mem:1", "mem:2"]], {})
    assert head_of(members).ref == "mem:1"
    same = [
        seed(row(i, "同じ文", msg_id="m", timestamp="2024-05-01", channel=str(i))) for i in (1, 2)
    ]
    assert structure(same, 40).conflicts == []


def test_claims_come_newest_first_and_undated_last() -> None:
    members = [
        seed(row(1), 0),
        seed(row(2, timestamp="2024-05-01"), 1),
        seed(row(3, timestamp="2024-05-02"), 2),
        seed(row(4, timestamp="2024-05-02T00:00:00Z", end="2024-05-09"), 3),
        seed(row(5, timestamp="きのう"), 4),
    ]
    ordered = [member.ref for member in structure(members, 40).newest_first]
    assert ordered == ["mem:3", "ep:4", "mem:2", "mem:1", "mem:5"]


def test_the_bound_of_evidence_keeps_the_head_and_the_most_relevant() -> None:
    members = versions("2024-05-01", "2024-05-02", "2024-05-03")
    item = structure(members, 2)
    assert [member.ref for member in item.retained] == ["mem:3", "mem:1"]
    assert item.omitted == 1
    # No role points to a claim that was dropped.
    assert item.roles == {"mem:3": [("mem:1", "supersedes")]}
    assert structure(members, 1).roles == {}


def test_declared_roles_point_to_retained_claims_only() -> None:
    one = seed(row(1, metadata={"corrects": ["mem:2", "mem:9"], "likes": "mem:2"}), 0)
    two = seed(row(2, "訂正前"), 1)
    assert structure([one, two], 40).roles == {"mem:1": [("mem:2", "corrects")]}
    assert structure([one, two], 1).roles == {}


# -- nodes -----------------------------------------------------------------------------------------


def nodes(*ends: int, model: int | None = 5) -> list[Node]:
    starts = (0, *ends)
    return [Node(a, b, model, b"") for a, b in zip(starts, ends, strict=False)]


LONG = seed(row(1, "長い文。" * 25))


def view(ranges: list[tuple[int, int]], parts: list[Node], model: int | None = 5):
    return node_view(LONG, Quote("…", tuple(ranges), "blocks"), parts, model)


def test_a_quote_comes_from_the_node_that_holds_most_of_it() -> None:
    found = view([(30, 45), (50, 90)], nodes(40, 80, 100))
    assert (found.order, found.unavailable) == ([1, 0, 2], "")
    fields = found.fields("mem:1", trace=False)
    assert fields == {
        "node": {"index": 1, "count": 3, "range": [40, 80]},
        "expand": [{"ref": "mem:1", "node": 1}],
    }
    assert found.fields("mem:1", trace=True)["node_order"] == [1, 0, 2]


def test_nodes_that_are_not_current_are_not_used() -> None:
    for parts, model, reason in (
        ([], 5, "no_nodes"),
        (nodes(40, 100, model=4), 5, "not_current"),
        (nodes(40, 100, model=None), 5, "not_current"),
        (nodes(40, 100), None, "not_current"),
        (nodes(40, 90), 5, "not_current"),
        (nodes(40, 100)[1:], 5, "not_current"),
    ):
        found = view([(0, 10)], parts, model)
        assert found.unavailable == reason
        assert found.fields("mem:1", False) == {"node_unavailable": reason, "expand": ["mem:1"]}
