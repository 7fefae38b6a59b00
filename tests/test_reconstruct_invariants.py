"""The nine invariants of reconstruct hold for generated stores, and each of ten mutations is seen.

A mutation changes the source of the package in one place. One that no invariant sees fails.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as examples
from reconstruct_cases import (
    SENTENCES,
    Step,
    axes,
    budgets,
    counts,
    filled,
    queries,
    stores,
)
from reconstruct_invariants import AMPLE, INVARIANTS, Case, pieces

from cpersona_jit import Memory, ReconstructSettings, Record, Source
from cpersona_jit.exits.reconstruct import (
    bundle,
    reconstruct,
    request,
    sequence,
    shape,
    window,
)
from cpersona_jit.exits.reconstruct.settings import DEFAULT_POLICY

OWN = {"agent_id": "a", "project_id": None, "channel": None}


def said(text: str, **fields: Any) -> Step:
    updates = fields.pop("update", ())
    return Step(Record(text, fields.pop("agent_id", "a"), **fields), updates)


# One store with everything in it: versions, updates, an episode, adjacent turns, declared and
# quoted references, long and short texts in both languages, and somebody else's rows.
SHOWCASE = [
    said("Mia moved to Lisbon.", msg_id="m1", channel="x", timestamp="2024-05-01T10:00:00Z"),
    said("Mia moved to Porto.", msg_id="m1", channel="y", timestamp="2024-05-02T10:00:00Z"),
    said(" ".join(SENTENCES * 6), timestamp="2024-05-01T12:00:00Z"),
    said("京都への旅行。茶道を見た。", timestamp="2024-05-01", kind="episode", end="2024-05-03"),
    said("抹茶を買った。", source=Source("user", "u1"), timestamp="2024-05-09T10:00:00Z"),
    said("茶道の道具も。", source=Source("user", "u1"), timestamp="2024-05-09T10:00:20Z"),
    said("Mia drinks green tea.", update=("Mia drinks coffee.", "ミアは紅茶を飲む。")),
    said("Where did Mia move? See mem:9 and mem:3."),
    said("Mia's address is in the safe. " * 30),
    said("ミアはリスボンにいない。", metadata={"contradicts": "mem:1"}),
    said("Mia moved to Rome.", agent_id="b", msg_id="m1"),
    said("Mia moved to Madrid.", msg_id="m1", project_id="p", timestamp="2024-05-03"),
    *(said(f"Mia's cousin number {n} moved to town {n}.") for n in range(12)),
]


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda check: check.__name__)
@example(story=SHOWCASE, query="Where did Mia move?", scope=OWN, count=10, budget=AMPLE)
@example(story=SHOWCASE, query="ミアはどこに引っ越した?", scope=OWN, count=4, budget=2_000)
@given(story=stores, query=queries, scope=axes, count=counts, budget=budgets)
@examples(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_invariant_holds(
    invariant: Callable[[Case], None],
    story: Sequence[Step],
    query: str,
    scope: dict[str, Any],
    count: int | None,
    budget: int | None,
) -> None:
    with filled(story) as memory:
        invariant(Case(memory, query, scope, count, budget))


# BUDGET_CALLS=10000 makes as many random calls in the test below; that takes some minutes.
CALLS = int(os.environ.get("BUDGET_CALLS", "300"))
CALLS_PER_STORE = 100


def random_story(rng: random.Random) -> list[Step]:
    """Return memories of all lengths, some of them versions, adjacent, updated or citing."""
    story = []
    for n in range(rng.randrange(1, 30)):
        text = " ".join(rng.choices(SENTENCES, k=rng.choice([1, 2, 6, 20, 80])))
        cited = rng.choice(
            ["", f" mem:{rng.randrange(1, 30)}", f"。ep:{rng.randrange(1, 30)}を参照"]
        )
        start = f"2024-05-{rng.randrange(1, 9):02d}T10:00:{rng.randrange(60):02d}Z"
        episode = rng.random() < 0.1
        fields = {"kind": "episode", "end": "2024-05-09"} if episode else {}
        story.append(
            said(
                text + cited,
                timestamp=start if episode else rng.choice(["", start]),
                msg_id=rng.choice(["", "m1", "m2"]),
                channel=f"c{n}" if rng.random() < 0.3 else "",
                source=Source("user", rng.choice(["", "u1"])),
                metadata={rng.choice(["supports", "x"]): f"mem:{rng.randrange(1, 30)}"},
                update=tuple(rng.choices(SENTENCES, k=rng.randrange(3))),
                **fields,
            )
        )
    return story


def test_a_response_never_exceeds_its_budget() -> None:
    rng = random.Random(20)
    for story in [SHOWCASE] + [random_story(rng) for _ in range(CALLS // CALLS_PER_STORE - 1)]:
        with filled(story) as memory:
            for _ in range(CALLS_PER_STORE):
                keeps_its_budget(memory, rng)


def keeps_its_budget(memory: Memory, rng: random.Random) -> None:
    """Make one random call."""
    words = rng.choices(["Mia", "moved", "tea", "抹茶", "京都", "safe", "zzz", "町"], k=3)
    wish = rng.choice([None, rng.randrange(30_000), rng.randrange(3_000)])
    given_ = {
        "count": rng.choice([None, *range(13)]),
        "budget": wish,
        "top_k": rng.choice([None, 1, 5, 40]),
        "max_hops": rng.randrange(4),
        "max_evidence": rng.choice([1, 3, 40]),
        "policy": ReconstructSettings(seats=rng.choice([0, 2])),
    }
    response = memory.reconstruct(" ".join(words), **OWN, **given_, trace=True)
    used = sum(len(text) for _, text in pieces(response))
    assert used == response["used_budget"] <= response["effective_budget"], given_
    assert used <= 20_000
    if wish is not None:
        assert used <= max(wish, 800), given_


# -- mutations -------------------------------------------------------------------------------------


class Mutation(NamedTuple):
    """One change of the source, and the invariants that are known to see it."""

    name: str
    module: types.ModuleType | None
    old: str
    new: str
    seen_by: set[str]


_BY_DEPTH = "for depth in range(max(claims, default=0)):"
_BY_ITEM = "for item, count in enumerate(claims):"

MUTATIONS = (
    Mutation("default 1 -> 2", None, "", "", {"count_is_not_width"}),
    Mutation(
        "drop the min with max",
        window,
        "effective = min(base, policy.max_count)",
        "effective = base",
        {"count_is_not_width"},
    ),
    Mutation(
        "swap forced and requested",
        window,
        "_base(policy.forced_count, requested, policy.default_count)",
        "_base(requested, policy.forced_count, policy.default_count)",
        {"count_is_not_width"},
    ),
    Mutation(
        "bind the candidate limit to count",
        request,
        "effective = min(top_k, MAX_TOP_K, most_candidates)",
        "effective = min(top_k, count or 1)",
        {"count_is_not_width", "recall_untouched"},
    ),
    Mutation(
        "disable dedup",
        bundle,
        "_unite(parent, group[0], place)",
        "pass",
        {"not_padded"},
    ),
    Mutation(
        "drop provenance",
        shape,
        '"claims": [_claim(member, item, trace) for member in item.newest_first],',
        '"claims": [],',
        {"explained", "bounded"},
    ),
    Mutation(
        "always report returned = effective",
        reconstruct,
        '"returned_count": len(shown),',
        '"returned_count": window.effective,',
        {"bounded"},
    ),
    Mutation(
        "allocate excerpts before all heads",
        sequence,
        f"{_BY_DEPTH}\n        {_BY_ITEM}",
        f"{_BY_ITEM}\n        {_BY_DEPTH}",
        {"breadth_first"},
    ),
    Mutation(
        "take an excerpt from outside the item",
        reconstruct,
        "member = items[piece.item].retained[piece.claim]",
        "member = items[(piece.item + (piece.claim > 0)) % len(items)].retained[0]",
        {"quotes_and_asks_no_model"},
    ),
    Mutation(
        "reorder the sequence by budget",
        reconstruct,
        "pieces = quote_sequence([len(item.retained) for item in items])",
        "pieces = list(quote_sequence([len(item.retained) for item in items]))"
        "[:: 1 if budget > 4_000 else -1]",
        {"breadth_first"},
    ),
)


@contextmanager
def applied(mutation: Mutation) -> Iterator[None]:
    """Put the code of the changed source into the functions of the module, and back."""
    if mutation.module is None:
        object.__setattr__(DEFAULT_POLICY, "default_count", 2)
        try:
            yield
        finally:
            object.__setattr__(DEFAULT_POLICY, "default_count", 1)
        return
    source = inspect.getsource(mutation.module)
    assert source.count(mutation.old) == 1, f"{mutation.name}: the source has changed"
    changed = types.ModuleType(mutation.module.__name__)
    changed.__dict__["__file__"] = mutation.module.__file__
    exec(
        compile(source.replace(mutation.old, mutation.new), mutation.module.__file__, "exec"),
        changed.__dict__,
    )
    functions = {
        name: value
        for name, value in vars(mutation.module).items()
        if isinstance(value, types.FunctionType) and value.__module__ == mutation.module.__name__
    }
    kept = {name: function.__code__ for name, function in functions.items()}
    for name, function in functions.items():
        function.__code__ = vars(changed)[name].__code__
    try:
        yield
    finally:
        for name, function in functions.items():
            function.__code__ = kept[name]


def red() -> set[str]:
    """Names of the invariants that do not hold for the showcase."""
    failed = set()
    with filled(SHOWCASE) as memory:
        for query, budget in (("Where did Mia move?", AMPLE), ("抹茶 Mia tea", 2_000)):
            case = Case(memory, query, OWN, 10, budget)
            for invariant in INVARIANTS:
                try:
                    invariant(case)
                except AssertionError:
                    failed.add(invariant.__name__)
    return failed


def test_all_ten_mutations_are_there() -> None:
    assert len(MUTATIONS) == len({mutation.name for mutation in MUTATIONS}) == 10


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_is_seen(mutation: Mutation) -> None:
    with applied(mutation):
        failed = red()
    assert failed >= mutation.seen_by, f"{mutation.name} survived: {failed}"


def test_without_a_mutation_nothing_is_red() -> None:
    assert red() == set()
    assert json.dumps(DEFAULT_POLICY.default_count) == "1"
