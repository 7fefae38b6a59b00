"""The nine invariants of reconstruct, each a check of one store and one question.

What the checks compare with is read from the SQLite file itself, or is another call.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import Memory
from cpersona_jit.exits.quote import JOINER
from cpersona_jit.exits.reconstruct.settings import DEFAULT_POLICY, ReconstructSettings
from cpersona_jit.exits.reconstruct.shortfall import REASONS

AMPLE = 20_000
WHY = {
    *("seed", "cluster:msg_id", "cluster:episode", "cluster:adjacent"),
    *("relation:episode", "relation:metadata", "relation:quoted_id", "version"),
}
INDEPENDENCE = {
    *("singleton", "cluster:msg_id", "cluster:episode", "cluster:adjacent"),
    "relation:metadata",
}
SEATS = 4  # two for one kind of evidence, two for a time cue


@dataclass(frozen=True)
class Case:
    """A store and a question."""

    memory: Memory
    query: str
    axes: dict[str, Any]
    count: int | None = None
    budget: int | None = None
    bounds: dict[str, int] | None = None

    def ask(self, **changed: Any) -> dict[str, Any]:
        """Reconstruct, traced unless told otherwise."""
        given = {"count": self.count, "budget": self.budget, "trace": True}
        given |= self.axes | (self.bounds or {}) | changed
        return self.memory.reconstruct(self.query, **given)

    def texts(self) -> dict[str, str]:
        """Every text that the agent has, old ones too, by its ref."""
        conn = sqlite3.connect(self.memory.status().path)
        agent = (self.axes["agent_id"],)
        episodes = {i for (i,) in conn.execute("SELECT memory_id FROM episodes")}
        rows = conn.execute("SELECT id, content FROM memories WHERE agent_id = ?", agent)
        found = {f"{'ep' if i in episodes else 'mem'}:{i}": text for i, text in rows}
        old = conn.execute(
            "SELECT versions.id, versions.content FROM versions"
            " JOIN memories ON memories.id = memory_id WHERE agent_id = ?",
            agent,
        )
        found |= {f"mem:{i}": text for i, text in old}
        conn.close()
        return found

    def old_refs(self) -> set[str]:
        """Refs of texts that were replaced."""
        conn = sqlite3.connect(self.memory.status().path)
        found = {f"mem:{i}" for (i,) in conn.execute("SELECT id FROM versions")}
        conn.close()
        return found

    def dump(self) -> list[str]:
        """Every byte of the store that SQL can say."""
        conn = sqlite3.connect(self.memory.status().path)
        found = list(conn.iterdump())
        conn.close()
        return found


def pieces(response: dict[str, Any]) -> list[tuple[str, str]]:
    """Every quoted text in the order of the one sequence, with the ref it is said to be of."""
    texts = [
        [(item["head_ref"], item["content"])]
        + [(excerpt["ref"], excerpt["content"]) for excerpt in item.get("excerpts", ())]
        for item in response["items"]
    ]
    return [piece for turn in zip_longest(*texts) for piece in turn if piece is not None]


def quoted_chars(response: dict[str, Any]) -> int:
    return sum(len(text) for _, text in pieces(response))


def windowed(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in response["items"] if "admission" not in item]


# -- the checks ------------------------------------------------------------------------------------


def never_mutates(case: Case) -> None:
    """1: a stored memory is never changed."""
    before, generation = case.dump(), case.memory.status().generation
    case.ask()
    assert case.dump() == before
    assert case.memory.status().generation == generation


def quotes_and_asks_no_model(case: Case) -> None:
    """2: the query is embedded once, and every text of the answer stands in the store."""
    provider = case.memory._provider
    before = len(provider.embedded)
    response = case.ask()
    assert provider.embedded[before:] == [case.query]
    texts = case.texts()
    for item in response["items"]:
        whole = texts[item["head_ref"]]
        assert item["content"] == JOINER.join(whole[a:b] for a, b in item["ranges"])
        ends = [end for part in item["ranges"] for end in part]
        assert ends == sorted(ends)
        assert 0 <= ends[0] < ends[-1] <= len(whole) == item["content_len"]
    for ref, text in pieces(response):
        at = 0
        for passage in [text] if text in texts[ref] else text.split(JOINER):
            assert passage in texts[ref][at:], (ref, passage)
            at = texts[ref].index(passage, at) + len(passage)


def deterministic(case: Case) -> None:
    """3: the same store and question give the same bytes, in another process's memory too."""
    first = json.dumps(case.ask())
    assert json.dumps(case.ask()) == first
    with cpersona_jit.open(
        case.memory.status().path, BagOfWords(), wait_for_kernels=False
    ) as other:
        assert json.dumps(replace(case, memory=other).ask()) == first


def bounded(case: Case) -> None:
    """4: nothing beyond a bound, and whatever a bound left out is reported."""
    tight = {"max_evidence": 1, "max_hops": 0, "budget": 0, "count": 10}
    for bounds in (case.bounds or {}, {"max_evidence": 2}, tight):
        response = case.ask(**bounds)
        assert quoted_chars(response) == response["used_budget"] <= response["effective_budget"]
        assert response["effective_budget"] <= DEFAULT_POLICY.max_budget
        limits = response["bounds"]
        omitted = limits.get("omitted", [])
        for position, item in enumerate(response["items"]):
            assert len(item["content"]) <= DEFAULT_POLICY.head_chars(position)
            excerpts = item.get("excerpts", [])
            assert all(len(e["content"]) <= DEFAULT_POLICY.excerpt_chars for e in excerpts)
            assert 1 <= len(item["claims"]) <= limits["max_evidence"]
            told = 1 + len(excerpts) + item.get("excerpts_omitted", 0)
            assert told == len(item["claims"])
        assert ("max_evidence" in omitted) == any(
            "claims_omitted" in item for item in response["items"]
        )
        _shortfall(response)
    wide = case.ask(max_evidence=1_000, max_hops=5)
    narrow = case.ask(max_evidence=1, max_hops=5)
    if "max_evidence" not in narrow["bounds"].get("reached", ()):
        for one, other in zip(wide["items"], narrow["items"], strict=False):
            assert len(one["claims"]) == 1 + other.get("claims_omitted", 0)


def _shortfall(response: dict[str, Any]) -> None:
    returned, reserved = len(response["items"]), response["reserved_count"]
    assert response["returned_count"] == returned
    assert reserved == returned - len(windowed(response)) <= SEATS
    assert 0 <= returned - reserved <= response["effective_count"]
    short = returned - reserved < response["effective_count"]
    assert ("shortfall_reason" in response) == (short or response["effective_count"] == 0)
    assert response.get("shortfall_reason", REASONS[0]) in REASONS


def explained(case: Case) -> None:
    """5: every element says why it is there; absence means the default."""
    response, brief = case.ask(), case.ask(trace=False)
    texts = case.texts()
    candidates = response["candidate_refs"]
    assert len(brief["items"]) == len(response["items"])
    for item, short in zip(response["items"], brief["items"], strict=True):
        refs = [claim["ref"] for claim in item["claims"]]
        assert len(set(refs)) == len(refs)
        assert item["head_ref"] in refs
        assert set(refs) <= set(texts)
        assert {e["ref"] for e in item.get("excerpts", ())} <= {*refs} - {item["head_ref"]}
        assert item["independence_reason"] in INDEPENDENCE
        assert short.get("independence_reason", "singleton") == item["independence_reason"]
        for claim, told in zip(item["claims"], short["claims"], strict=True):
            assert claim["why"] in WHY
            assert told.get("why", "seed") == claim["why"]
            assert ("superseded_at" in claim) == (claim["ref"] in case.old_refs())
            for role in claim.get("roles", ()):
                assert role["ref"] in refs
                assert role["ref"] != claim["ref"]
        seeds = [claim["ref"] for claim in item["claims"] if claim["why"] == "seed"]
        assert len(seeds) <= 1
        assert set(seeds) <= set(candidates)
    for name in ("reconstruction", "candidate_refs", "clusters"):
        assert name not in brief


def recall_untouched(case: Case) -> None:
    """6: the candidates are those of recall, and recall says the same before and after."""
    before = case.memory.recall(case.query, **case.axes, limit=20)
    response = case.ask(top_k=20)
    assert case.memory.recall(case.query, **case.axes, limit=20) == before
    kept = [row.ref for row in before.rows if row.admission != "reservation"]
    assert response["candidate_refs"] == kept
    seated = case.ask(top_k=20, policy=ReconstructSettings(seats=2))
    assert seated["candidate_refs"] == [row.ref for row in before.rows]


def count_is_not_width(case: Case) -> None:
    """7: the count bounds what is returned, and nothing before it."""
    assert case.ask(count=None)["effective_count"] == 1
    most = case.ask(count=10, budget=AMPLE)
    for count in (0, 1, 2, 3, 11):
        response = case.ask(count=count, budget=AMPLE)
        assert response["effective_count"] == min(count, 10)
        for name in ("candidate_refs", "clusters", "bounds"):
            if name == "bounds":
                assert response["bounds"]["top_k"] == most["bounds"]["top_k"]
            else:
                assert response[name] == most[name]
        heads = [item["head_ref"] for item in windowed(response)]
        assert heads == [item["head_ref"] for item in windowed(most)][: min(count, 10)]
        for one, other in zip(windowed(response), windowed(most), strict=False):
            assert one["claims"] == other["claims"]
    forced = case.ask(count=3, policy=ReconstructSettings(forced_count=2))
    assert forced["effective_count"] == 2
    assert forced["requested_count"] == 3
    assert forced["count_policy"]["reason"] == "forced"


def not_padded(case: Case) -> None:
    """8: what a key proves to be one memory is one item, and a short answer stays short."""
    response = case.ask(count=10, budget=AMPLE)
    of_ref: dict[str, int] = {}
    for place, item in enumerate(response["items"]):
        for claim in item["claims"]:
            assert of_ref.setdefault(claim["ref"], place) == place
    facts = _facts(case)
    item_of_message: dict[tuple, int] = {}
    for ref, place in of_ref.items():
        if ref in facts and facts[ref][-1]:
            assert item_of_message.setdefault(facts[ref], place) == place
    _shortfall(response)
    assert len(response["items"]) <= len(response["clusters"])
    assert sorted(ref for c in response["clusters"] for ref in c) == sorted(
        response["candidate_refs"]
    )


def _facts(case: Case) -> dict[str, tuple]:
    """Kind, agent, project and message id of each candidate's row."""
    conn = sqlite3.connect(case.memory.status().path)
    episodes = {i for (i,) in conn.execute("SELECT memory_id FROM episodes")}
    found = {}
    for i, *rest in conn.execute("SELECT id, agent_id, project_id, msg_id FROM memories"):
        kind = "ep" if i in episodes else "mem"
        found[f"{kind}:{i}"] = (kind, *rest)
    conn.close()
    candidates = set(case.ask()["candidate_refs"])
    return {ref: fact for ref, fact in found.items() if ref in candidates}


def breadth_first(case: Case) -> None:
    """9: every budget carries a beginning of the one sequence, and heads come first in it."""
    whole = case.ask(count=10, budget=AMPLE)
    sequence = pieces(whole)
    order = [item["head_ref"] for item in whole["items"]]
    before: list[tuple[str, str]] = []
    for budget in (0, 800, 1_300, 2_000, 3_300, 5_000, 9_000, AMPLE):
        response = case.ask(count=10, budget=budget)
        for name in ("candidate_refs", "clusters"):
            assert response[name] == whole[name]
        carried = pieces(response)
        assert carried == sequence[: len(carried)]
        assert carried[: len(before)] == before
        if len(carried) < len(sequence):
            rest = len(sequence[len(carried)][1])
            assert response["used_budget"] + rest > response["effective_budget"]
        heads = [item["head_ref"] for item in response["items"]]
        assert heads == order[: len(heads)]
        if len(carried) > len(heads):  # an excerpt, so every head is there
            assert heads == order
        if len(heads) < len(order):
            assert (
                response.get("shortfall_reason") == "budget_exhausted"
                or (response["reserved_omitted"])
            )
        before = carried


INVARIANTS = (
    never_mutates,
    quotes_and_asks_no_model,
    deterministic,
    bounded,
    explained,
    recall_untouched,
    count_is_not_width,
    not_padded,
    breadth_first,
)
