"""Reconstruct from one end to the other, in English and Japanese."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from memory_cases import BagOfWords, settings
from reconstruct_cases import filled, row
from reconstruct_invariants import pieces

import cpersona_jit
from cpersona_jit import Memory, Record, RowPrior, Source
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.errors import UsageError
from cpersona_jit.exits.candidates import Candidates
from cpersona_jit.exits.reconstruct.bundle import bundle
from cpersona_jit.exits.reconstruct.reconstruct import reconstruct, select
from cpersona_jit.exits.reconstruct.request import read_request
from cpersona_jit.exits.reconstruct.settings import DEFAULT_POLICY, ReconstructSettings
from cpersona_jit.exits.reconstruct.shortfall import shortfall_reason
from cpersona_jit.isolation import Axes
from cpersona_jit.recalling import candidates_of
from cpersona_jit.server.contents import contents_response, parse_wanted


@pytest.fixture
def memory() -> Iterator[Memory]:
    with filled([]) as memory:
        yield memory


def stored(memory: Memory, *contents: str, **fields) -> list[str]:
    outcomes = memory.store_many([Record(text, "a", **fields) for text in contents], dedup=False)
    return [outcome.ref for outcome in outcomes]


def ask(memory: Memory, query: str, **given):
    response = memory.reconstruct(query, agent_id="a", **given)
    assert json.loads(json.dumps(response, ensure_ascii=False)) == response
    return response


# -- what an agent reads ---------------------------------------------------------------------------


def test_versions_of_a_message_are_one_item_as_the_readme_says(memory: Memory) -> None:
    times = {"timestamp": "2025-11-20", "channel": "x"}, {"timestamp": "2026-03-02", "channel": "y"}
    (old,) = stored(memory, "リスボンに住んでいます。 Where Mia lives.", msg_id="m", **times[0])
    (new,) = stored(memory, "I live in Porto now.", msg_id="m", **times[1])
    response = ask(memory, "Where does Mia live? リスボン", count=3)
    assert response == {
        "items": [
            {
                "content": "I live in Porto now.",
                "head_ref": new,
                "ranges": [[0, 20]],
                "claims": [
                    {
                        "ref": new,
                        "as_of": "2026-03-02",
                        "why": "cluster:msg_id",
                        "roles": [{"ref": old, "role": "supersedes"}],
                    },
                    {"ref": old, "as_of": "2025-11-20"},
                ],
                "excerpts": [{"ref": old, "content": "リスボンに住んでいます。 Where Mia lives."}],
                "independence_reason": "cluster:msg_id",
            }
        ],
        "effective_count": 3,
        "returned_count": 1,
        "shortfall_reason": "no_evidence",
    }


def test_a_call_that_asks_for_nothing_gets_one_item_and_no_explanations(memory: Memory) -> None:
    stored(memory, "Mia moved to Lisbon.", "京都で抹茶を買った。", "ramen")
    response = ask(memory, "京都の抹茶")
    assert response == {
        "items": [
            {
                "content": "京都で抹茶を買った。",
                "head_ref": "mem:2",
                "ranges": [[0, 10]],
                "claims": [{"ref": "mem:2"}],
            }
        ],
        "effective_count": 1,
        "returned_count": 1,
    }


def test_an_update_is_reachable_as_a_superseded_version(memory: Memory) -> None:
    (ref,) = stored(memory, "The code is K-4471.", timestamp="2026-01-01")
    memory.update(ref, "The code is K-9000.", agent_id="a")
    memory.update(ref, "暗証番号の code は K-1。", agent_id="a")
    (item,) = ask(memory, "What is the code?")["items"]
    assert item["content"] == "暗証番号の code は K-1。"
    assert [e["content"] for e in item["excerpts"]] == [
        "The code is K-9000.",
        "The code is K-4471.",
    ]
    now, before, first = item["claims"]
    assert now["roles"] == [{"ref": before["ref"], "role": "supersedes"}]
    assert before["roles"] == [{"ref": first["ref"], "role": "supersedes"}]
    assert (before["why"], before["as_of"]) == ("version", "2026-01-01")
    assert before["superseded_at"] < now.get("superseded_at", "9")
    old = memory.get_contents([first["ref"]], agent_id="a").rows[0]
    assert old.content == "The code is K-4471."


def test_an_episode_and_what_was_said_in_it_are_one_item(memory: Memory) -> None:
    memory.archive_episode(
        "京都への旅行", agent_id="a", start="2024-05-01", end="2024-05-03", keywords=["茶道"]
    )
    stored(memory, "Tea in Kyoto 京都 was great.", timestamp="2024-05-02T09:00:00Z")
    response = ask(memory, "京都 旅行 tea", count=5)
    (item,) = response["items"]
    assert {claim["ref"] for claim in item["claims"]} == {"ep:1", "mem:2"}
    assert item["independence_reason"] == "cluster:episode"
    by_ref = {claim["ref"]: claim for claim in item["claims"]}
    assert by_ref["mem:2"]["roles"] == [{"ref": "ep:1", "role": "supports"}]


def test_an_episode_that_was_not_found_comes_with_its_memory(memory: Memory) -> None:
    memory.archive_episode("完全に別の要約", agent_id="a", start="2024-05-01", end="2024-05-03")
    stored(memory, "Tea in Kyoto was great.", timestamp="2024-05-02T09:00:00Z")
    found = ask(memory, "tea", top_k=1, settings=replace(DEFAULT_SETTINGS, seats=0))
    (item,) = found["items"]
    assert [(c["ref"], c.get("why")) for c in item["claims"]] == [
        ("mem:2", None),
        ("ep:1", "relation:episode"),
    ]
    assert "independence_reason" not in item  # one row was found


LONG = "The harbour at dawn is quiet. Nobody counts the boats. " * 40
NEEDLE = "The spare key hangs behind the blue door. However, the lock was changed in May. "
JAPANESE = "港の朝は静かだ。だれも船を数えない。" * 60
JAPANESE_NEEDLE = "合鍵は青い扉の裏にある。ただし、錠は五月に替えた。"


@pytest.mark.parametrize(
    ("text", "query", "needle"),
    [
        (LONG + NEEDLE + LONG, "Where is the spare key?", NEEDLE.strip()),
        (JAPANESE + JAPANESE_NEEDLE + JAPANESE, "合鍵はどこにある", JAPANESE_NEEDLE),
    ],
    ids=["english", "japanese"],
)
def test_a_long_head_is_quoted_where_it_matches_and_says_where_to_read_on(
    memory: Memory, text: str, query: str, needle: str
) -> None:
    (ref,) = stored(memory, text)
    (item,) = ask(memory, query, trace=True)["items"]
    assert needle in item["content"]
    assert len(item["content"]) <= 800
    assert item["content_len"] == len(text)
    assert item["quote_basis"] == "blocks"
    node = item["node"]
    start, end = node["range"]
    assert start <= text.index(needle) < end
    assert node["index"] == item["node_order"][0] < node["count"]
    # The argument works as it stands.
    assert item["expand"] == [{"ref": ref, "node": node["index"]}]
    found = memory.get_contents([ref], agent_id="a", nodes=True)
    response = contents_response(parse_wanted(item["expand"]), found)
    assert response["rows"][0]["content"] == text[start:end]
    assert "node_unavailable" not in item


def test_a_cut_head_without_nodes_says_so(memory: Memory) -> None:
    (ref,) = stored(memory, LONG[:1_500])
    (item,) = ask(memory, "boats")["items"]
    assert (item["node_unavailable"], item["expand"]) == ("no_nodes", [ref])
    assert "node" not in item


def test_nodes_of_another_model_are_not_current(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with cpersona_jit.open(path, BagOfWords("one"), wait_for_kernels=False) as memory:
        stored(memory, LONG * 2)
    with cpersona_jit.open(path, BagOfWords("two"), wait_for_kernels=False) as memory:
        (item,) = ask(memory, "boats")["items"]
        assert item["node_unavailable"] == "not_current"
        memory.reembed()
        (item,) = ask(memory, "boats")["items"]
        assert "node" in item


def test_relations_lead_to_what_recall_did_not_find(memory: Memory) -> None:
    (plan,) = stored(memory, "出発は九時。")
    stored(memory, f"Mia's plan is in {plan}.")
    alone = replace(DEFAULT_SETTINGS, seats=0)
    (item,) = ask(memory, "Mia's plan", top_k=1, settings=alone)["items"]
    assert item["claims"] == [{"ref": "mem:2"}, {"ref": plan, "why": "relation:quoted_id"}]
    assert item["excerpts"] == [{"ref": plan, "content": "出発は九時。"}]
    response = ask(memory, "Mia's plan", top_k=1, max_hops=0, settings=alone)
    assert response["items"][0]["claims"] == [{"ref": "mem:2"}]
    assert response["bounds"] == {
        "top_k": 1,
        "max_hops": 0,
        "max_evidence": 40,
        "omitted": ["max_hops"],
        "reached": ["top_k"],
    }


def test_declared_contradictions_stay_in_one_item(memory: Memory) -> None:
    (old,) = stored(memory, "Mia eats meat.")
    stored(memory, "ミア Mia はもう肉を食べない。", metadata={"contradicts": old})
    response = ask(memory, "What does Mia eat?", count=5)
    (item,) = response["items"]
    roles = [role for claim in item["claims"] for role in claim.get("roles", ())]
    assert roles == [{"ref": old, "role": "contradicts"}]


def test_one_message_told_in_two_ways_at_one_time_is_marked(memory: Memory) -> None:
    for channel, text in (("x", "We meet on Friday."), ("y", "会うのは Friday ではない。")):
        stored(memory, text, msg_id="m", channel=channel, timestamp="2024-05-01T10:00:00Z")
    (item,) = ask(memory, "Friday", count=5)["items"]
    assert [sorted(group) for group in item["conflicts"]] == [["mem:1", "mem:2"]]


# -- isolation -------------------------------------------------------------------------------------


def test_nothing_of_another_agent_or_project_is_reached(memory: Memory) -> None:
    memory.store("Bob's secret", agent_id="b", msg_id="m", timestamp="2024-05-02T10:00:00Z")
    memory.archive_episode("Bob の旅", agent_id="b", start="2024-05-01", end="2024-05-03")
    memory.store("another project", agent_id="a", project_id="q")
    memory.store(
        "tea mem:1 ep:2 mem:3 茶",
        agent_id="a",
        project_id="p",
        msg_id="m",
        timestamp="2024-05-02T10:00:00Z",
        metadata={"supersedes": ["mem:1", "ep:2", "mem:3"]},
    )
    narrow = ask(memory, "tea 茶", count=5, project_id="p", trace=True)
    assert [claim["ref"] for item in narrow["items"] for claim in item["claims"]] == ["mem:4"]
    assert "omitted" not in narrow["bounds"]
    assert "Bob" not in json.dumps(narrow)
    wide = ask(memory, "tea 茶", top_k=1)
    assert {claim["ref"] for claim in wide["items"][0]["claims"]} <= {"mem:3", "mem:4"}


# -- count, budget and what is said about them -----------------------------------------------------


@pytest.fixture
def town(memory: Memory) -> Memory:
    stored(memory, *(f"Cousin {n} of Mia lives in town {n}. いとこ" for n in range(30)))
    return memory


def test_a_clamped_count_is_said(town: Memory) -> None:
    response = ask(town, "Mia's cousin", count=11)
    assert (response["effective_count"], response["requested_count"]) == (10, 11)
    assert response["count_policy"] == {
        "source": "requested",
        "clamped": True,
        "reason": "max_count",
    }
    assert "shortfall_reason" not in response
    assert "count_policy" not in ask(town, "Mia's cousin", count=10)


def test_a_forced_count_is_said_and_is_no_target(town: Memory) -> None:
    policy = ReconstructSettings(forced_count=3)
    response = ask(town, "いとこ", count=5, policy=policy)
    assert (response["returned_count"], response["requested_count"]) == (3, 5)
    assert response["count_policy"]["source"] == "forced"
    assert "requested_count" not in ask(town, "いとこ", policy=policy)


def test_no_items_are_asked_for(town: Memory) -> None:
    response = ask(town, "Mia", count=0)
    assert response == {
        "items": [],
        "effective_count": 0,
        "returned_count": 0,
        "shortfall_reason": "count_zero",
        "bounds": {"top_k": 20, "max_hops": 2, "max_evidence": 40, "reached": ["top_k"]},
    }


def test_rows_on_seats_follow_the_window(town: Memory) -> None:
    # Lists of three rows: some rows are in that of one kind of evidence only.
    given = {
        "count": 1,
        "top_k": 1,
        "trace": True,
        "settings": replace(DEFAULT_SETTINGS, depth=3),
        "policy": replace(DEFAULT_POLICY, seats=2),
    }
    response = ask(town, "Mia's cousin in town 7 いとこ", **given)
    assert 0 < response["reserved_count"] == response["returned_count"] - 1
    assert [item.get("admission") for item in response["items"]] == [
        None,
        *["reservation"] * response["reserved_count"],
    ]
    # The default budget grows by a head quote for each; a caller's does not.
    assert response["effective_budget"] == 4_000 + 800 * response["reserved_count"]
    long = [f"{LONG[:900]} cousin {n} of Mia" for n in range(4)]
    stored(town, *long)
    tight = ask(town, "cousin of Mia harbour dawn", budget=800, **given)
    assert tight["effective_budget"] == 800
    assert tight["reserved_omitted"] > 0
    assert "shortfall_reason" not in tight  # the window is full


def test_a_budget_cuts_depth_before_breadth_and_says_which(memory: Memory) -> None:
    for n in range(3):
        (ref,) = stored(memory, f"Mia's house {n} 家 " + LONG[:700])
        memory.update(ref, f"Mia's new house {n} 家 " + LONG[:700], agent_id="a")
    whole = ask(memory, "Mia's house", count=3)
    assert [len(item["excerpts"]) for item in whole["items"]] == [1, 1, 1]
    assert not {"used_budget", "effective_budget"} & whole.keys()
    heads = sum(len(item["content"]) for item in whole["items"])
    some = ask(memory, "Mia's house", count=3, budget=heads)
    assert [item["excerpts_omitted"] for item in some["items"]] == [1, 1, 1]
    assert [len(item["claims"]) for item in some["items"]] == [2, 2, 2]
    assert (some["used_budget"], some["effective_budget"]) == (heads, heads)
    assert "shortfall_reason" not in some
    few = ask(memory, "Mia's house", count=3, budget=heads - 1)
    assert (few["returned_count"], few["shortfall_reason"]) == (2, "budget_exhausted")
    assert pieces(few) == pieces(whole)[:2]


def test_a_raised_and_a_lowered_budget_are_said(town: Memory) -> None:
    low = ask(town, "Mia", budget=10)
    assert low["requested_budget"] == 10
    assert low["budget_policy"] == {"source": "requested", "clamped": True, "reason": "one_quote"}
    high = ask(town, "Mia", budget=10**9)
    assert high["budget_policy"]["reason"] == "max_budget"
    assert "budget_policy" not in ask(town, "Mia", budget=900)


def test_candidates_that_the_search_cannot_hand_over_are_said(town: Memory) -> None:
    for query in ("Mia", "zzz"):
        response = ask(town, query, top_k=50_000)
        assert response["bounds"]["effective_top_k"] == 1_000
    with filled([]) as empty:
        assert ask(empty, "Mia", top_k=50_000)["bounds"]["effective_top_k"] == 1_000


def test_claims_beyond_the_bound_are_counted(memory: Memory) -> None:
    (ref,) = stored(memory, "tea 0")
    for n in range(1, 5):
        memory.update(ref, f"お茶 tea {n}", agent_id="a")
    response = ask(memory, "tea", max_evidence=3)
    (item,) = response["items"]
    assert (len(item["claims"]), item["claims_omitted"]) == (3, 2)
    assert response["bounds"]["omitted"] == ["max_evidence"]
    refs = {claim["ref"] for claim in item["claims"]}
    assert {role["ref"] for c in item["claims"] for role in c.get("roles", ())} <= refs


# -- why there are fewer ---------------------------------------------------------------------------


def test_without_an_embedding_the_answer_is_degraded_and_says_so(tmp_path: Path) -> None:
    with cpersona_jit.open(tmp_path / "m.db", "none", wait_for_kernels=False) as memory:
        assert ask(memory, "tea")["shortfall_reason"] == "degraded"
        stored(memory, LONG + NEEDLE + LONG)
        response = ask(memory, "spare key 合鍵", count=2)
        assert response["shortfall_reason"] == "degraded"
        assert response["degraded"] == ["no_embedder: recall is lexical only"]
        assert response["quote_selection"] == "lexical_only"
        assert NEEDLE.strip() in response["items"][0]["content"]
        assert response["items"][0]["node_unavailable"] == "no_nodes"


def test_an_old_text_is_no_degraded_selection(memory: Memory) -> None:
    (ref,) = stored(memory, LONG)
    memory.update(ref, "港 boats", agent_id="a")
    response = ask(memory, "boats")
    assert response["items"][0]["excerpts"]
    assert "quote_selection" not in response


def test_rows_that_a_prior_removed_are_a_policy(town: Memory) -> None:
    prior = RowPrior(window=1, reach=100, far_count=1)
    response = ask(town, "Mia", count=3, settings=replace(DEFAULT_SETTINGS, prior=prior, seats=0))
    assert (response["returned_count"], response["shortfall_reason"]) == (2, "policy_filter")


def test_rows_that_the_gate_removed_are_below_quality(town: Memory) -> None:
    gated = replace(DEFAULT_SETTINGS, gate=2.0, seats=0)
    response = ask(town, "Mia's cousin 7", count=10, settings=gated)
    assert response["shortfall_reason"] == "below_quality"


def test_a_row_that_is_gone_before_it_is_read_has_no_provenance(memory: Memory) -> None:
    refs = stored(memory, "tea one", "お茶 tea two")

    def fetch(axes: Axes, ids: list[int]):
        memory.delete(refs[:1], agent_id="a")
        return memory._fetch(axes, ids)

    axes = Axes.agent("a")
    sources = memory._sources()._replace(fetch=fetch)
    found = candidates_of(sources, "tea", axes, DEFAULT_SETTINGS, None, None, 20)
    request = read_request(
        DEFAULT_POLICY, 1_000, count=2, budget=None, top_k=None, max_hops=None, max_evidence=None
    )
    related = memory._related(axes, found.state.columns.fingerprint)
    response = reconstruct(found, related, request, DEFAULT_POLICY, trace=False)
    assert [item["head_ref"] for item in response["items"]] == refs[1:]
    assert response["shortfall_reason"] == "no_provenance"
    assert response["reconstruction"] == {"excluded_without_provenance": 1}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"effective": 0}, "count_zero"),
        ({"short": 0}, ""),
        ({"short": -1, "gone": 3}, ""),
        ({"cut_off": 1, "gone": 1}, "budget_exhausted"),
        ({"gone": 1, "degraded": ("no_embedder: x",)}, "no_provenance"),
        ({"degraded": ("embedder_failed: x",), "gated": 1}, "degraded"),
        ({"degraded": ("rows_without_vector: 1 of 2",)}, "no_evidence"),
        ({"gated": 1, "priced_out": 1}, "below_quality"),
        ({"priced_out": 1}, "policy_filter"),
        ({}, "no_evidence"),
    ],
)
def test_the_first_reason_that_holds_is_given(given: dict, reason: str) -> None:
    facts = {"gone": 0, "gated": 0, "priced_out": 0, "degraded": ()}
    facts |= {name: given[name] for name in facts if name in given}
    found = Candidates((), quoter=None, period=None, state=None, **facts)
    effective, short = given.get("effective", 3), given.get("short", 1)
    assert shortfall_reason(effective, short, given.get("cut_off", 0), found) == reason


# -- selection -------------------------------------------------------------------------------------


def test_clusters_of_nothing_but_seats_take_no_place_in_the_window() -> None:
    rows = [row(1), row(2, msg_id="m"), row(3), row(4, msg_id="m", channel="x"), row(5)]
    clusters = bundle(rows, 60, declared=True)
    seats = ["", "", "", "reservation", "time_cue"]
    one = select(clusters, seats, 1)
    assert [c.members for c in one.clusters] == [(0,), (1, 3), (4,)]
    assert (one.window, one.admissions) == (1, ["", "reservation", "time_cue"])
    two = select(clusters, seats, 2)
    assert [c.members for c in two.clusters] == [(0,), (1, 3), (4,)]
    assert (two.window, two.admissions) == (2, ["", "", "time_cue"])
    four = select(clusters, seats, 9)
    assert (four.window, four.admissions) == (3, ["", "", "", "time_cue"])
    assert select(clusters, seats, 0).clusters == []
    assert select([], [], 3).clusters == []


# -- the call --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query": " "}, "query is empty"),
        ({"count": -1}, "count is -1"),
        ({"agent_id": None}, "agent_id is required"),
        ({"settings": settings()}, "settings is .*; allowed: AdaptiveSettings"),
        ({"time_cue": {"ago": 3}}, "ago"),
        ({"now": "yesterday"}, "now"),
    ],
)
def test_a_mistaken_call_is_refused(memory: Memory, given: dict, message: str) -> None:
    arguments = {"query": "tea", "agent_id": "a"} | given
    with pytest.raises(UsageError, match=message):
        memory.reconstruct(**arguments)


def test_a_time_cue_aims_it_and_is_told(memory: Memory) -> None:
    stored(memory, "tea in May", timestamp="2024-05-01T10:00:00Z")
    stored(memory, "tea in June 六月のお茶", timestamp="2024-06-01T10:00:00Z")
    cue = {"after": "2024-06-01", "before": "2024-06-30"}
    response = ask(memory, "tea", time_cue=cue, now="2024-07-01")
    assert response["items"][0]["head_ref"] == "mem:2"
    assert response["period"]["from"] == "2024-06-01T00:00:00Z"


def test_turns_said_in_one_breath_are_one_item(memory: Memory) -> None:
    for second, text in (
        ("00", "お茶を買った。"),
        ("25", "Green tea from Uji."),
        ("59", "高かった tea"),
    ):
        stored(
            memory,
            text,
            source=Source("user", "u1", "Mika"),
            session_id="s1",
            timestamp=f"2024-05-01T10:00:{second}Z",
        )
    (item,) = ask(memory, "tea お茶", count=5)["items"]
    assert item["independence_reason"] == "cluster:adjacent"
    assert [claim["ref"] for claim in item["claims"]] == ["mem:3", "mem:2", "mem:1"]
    assert "roles" not in item["claims"][0]
