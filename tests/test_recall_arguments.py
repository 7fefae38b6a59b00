"""What a recall may be told, and what it says to anything else."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from memory_cases import BagOfWords, settings

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.degraded import CUE_OUT_OF_REACH
from cpersona_jit.errors import UsageError
from cpersona_jit.recall.settings import ArmSpec, FusionSpec


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("arguments") / "m.db"
    with cpersona_jit.open(path, BagOfWords(), wait_for_kernels=False) as memory:
        memory.store_many([Record(f"{i} cups of 抹茶 tea", "a") for i in range(20)])
        yield memory


def test_settings_can_be_copied_and_sent_to_another_process() -> None:
    chosen = settings("rrf")
    assert copy.deepcopy(chosen) == chosen
    assert pickle.loads(pickle.dumps(chosen)) == chosen


def test_the_weights_of_settings_cannot_be_changed() -> None:
    given_weights = {"dense": 1.0}
    chosen = settings(weights=given_weights)
    given_weights["dense"] = 5.0
    assert chosen.fusion.weights["dense"] == 1.0
    with pytest.raises(TypeError):
        chosen.fusion.weights["dense"] = 5.0


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: settings(depth=0), "depth is 0; allowed: a whole number from 1 to"),
        (lambda: settings(depth=10_001), "depth is 10001"),
        (lambda: settings(depth=True), "depth is True"),
        (lambda: settings(depth=2.0), "depth is 2.0"),
        (lambda: settings("max"), "fusion kind is 'max'; allowed: 'rrf' or 'score'"),
        (lambda: settings(weights={}), "fusion weights is {}"),
        (lambda: settings(weights={"dense": 0.0}), "at least one of them above 0"),
        (lambda: settings(weights={"dense": -1.0}), "fusion weights is {'dense': -1.0}"),
        (lambda: settings(weights={"dense": float("nan")}), "nan"),
        (lambda: settings(weights={"dense": float("inf")}), "inf"),
        (lambda: settings(weights={"dense": "1"}), "'1'"),
        (lambda: settings(weights={"bm25": 1.0}), "'bm25'"),
        (lambda: FusionSpec("rrf", [1.0]), "fusion weights is"),
        (lambda: FusionSpec("rrf", {"dense": 1.0}, rrf_k=float("inf")), "rrf_k is inf"),
        (lambda: FusionSpec("rrf", {"dense": 1.0}, rrf_k=-1), "rrf_k is -1"),
        (lambda: ArmSpec("", "dense"), "arm name is ''"),
        (lambda: ArmSpec("x", "sparse"), "arm kind is 'sparse'"),
        (lambda: ArmSpec("x", "gram", size=5), "size of arm 'x' is 5; allowed: 3 or 4"),
        (lambda: ArmSpec("x", "gram", term_frequency="3bit"), "term_frequency of arm 'x'"),
        (lambda: ArmSpec("x", "gram", length_exponent=1.5), "length_exponent of arm 'x' is 1.5"),
        (lambda: ArmSpec("x", "gram", idf_power=float("nan")), "idf_power of arm 'x' is nan"),
        (lambda: ArmSpec("x", "gram", idf_power="2"), "idf_power of arm 'x' is '2'"),
    ],
)
def test_settings_outside_their_limits_are_refused(make: Callable, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        make()
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"limit": -1}, "limit is -1; allowed: a whole number from 0 to 10000"),
        ({"limit": 10_001}, "limit is 10001"),
        ({"limit": True}, "limit is True"),
        ({"limit": "5"}, "limit is '5'"),
        ({"query": ""}, "query is empty"),
        ({"query": " \0\n"}, "query is empty"),
        ({"query": "x" * 16_001}, "query has 16001 characters; allowed: at most 16000"),
        ({"query": b"tea"}, "query must be a string, not bytes"),
        ({"agent_id": None}, "agent_id is required"),
        ({"agent_id": 7}, "agent_id must be a string, not int"),
        ({"across_agents": True}, "agent_id 'a' contradicts across_agents"),
        ({"settings": {"depth": 3}}, "settings is {'depth': 3}"),
    ],
)
def test_arguments_outside_their_limits_are_refused(
    memory: Memory, arguments: dict, told: str
) -> None:
    with pytest.raises(UsageError) as raised:
        memory.recall(**{"query": "tea", "agent_id": "a", **arguments})
    assert told in str(raised.value)


@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=40))
@examples(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_can_be_asked(memory: Memory, query: str) -> None:
    if not query.replace("\0", "").strip():
        return
    first = memory.recall(query, agent_id="a", limit=5)
    assert first.degraded in ((), (CUE_OUT_OF_REACH,))
    assert sum(row.admission == "" for row in first.rows) == 5
    assert len(first.rows) <= 5 + DEFAULT_SETTINGS.seats + DEFAULT_SETTINGS.cues.seats
    assert memory.recall(query, agent_id="a", limit=5) == first


def test_a_query_of_the_largest_size_is_answered_and_says_what_was_capped(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    text = "".join(chr(c) for c in rng.integers(0x4E00, 0x9F00, 16_000))
    with cpersona_jit.open(tmp_path / "m.db", "none", wait_for_kernels=False) as memory:
        memory.store_many([Record(text, "a"), Record(text[:50], "a"), Record("tea", "a")])
        result = memory.recall(text, agent_id="a", settings=settings(), limit=10)
    assert result.rows[0].content == text
    assert "gram3: query_grams_capped: 8192 of" in " ".join(result.degraded)
