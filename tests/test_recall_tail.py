"""Recall over a snapshot that grew step by step: the very answers of one made at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from adaptive_cases import UNTIMED
from columns_file_cases import LONG, WORDS, fill, opened
from memory_cases import plain, settings

from cpersona_jit import Memory, Record
from cpersona_jit.columns.compact import folded, without_gone
from cpersona_jit.columns.postings import NUMPY_GRAMS
from cpersona_jit.defaults import DEFAULT_SETTINGS

QUERIES = ["green tea in Kyoto?", "京都で抹茶を飲んだ", "quiet harbour 海は静かだった", "🎉", "zzz"]
SETTINGS = [
    replace(DEFAULT_SETTINGS, bounds=UNTIMED),
    settings("score"),
    settings("rrf", weights={"gram3": 1.0, "gram4": 1.0}),
]
NOW = "2026-12-01T00:00:00Z"
SCOPES = [
    {"agent_id": "a"},
    {"agent_id": "b", "channel": "c"},
    {"agent_id": "new"},
    {"across_agents": True},
]


def answers(memory: Memory) -> list:
    """Everything that a recall says, for many recalls, but for its wall times."""
    told = []
    for query in QUERIES:
        for chosen in SETTINGS:
            for scope in SCOPES:
                found = memory.recall(
                    query, settings=chosen, trace=True, limit=30, now=NOW, **scope
                )
                told.append((plain(found.rows), found.degraded, timeless(plain(found.trace))))
    return told


def timeless(told: object) -> object:
    """A trace without its wall times."""
    if isinstance(told, dict):
        return {name: timeless(item) for name, item in told.items() if name != "milliseconds"}
    return [timeless(item) for item in told] if isinstance(told, list) else told


def change(memory: Memory, rng: np.random.Generator) -> None:
    """Do one thing to a store."""
    kind, at = rng.integers(4), int(rng.integers(1, 90))
    text = " ".join(rng.choice(WORDS, 4)) + f" {at}" + LONG * int(rng.integers(5) == 0)
    agent = str(rng.choice(["a", "b", "new"]))
    if kind == 0:
        memory.delete([f"mem:{at}"], agent_id=agent)
    elif kind == 1:
        memory.update(f"mem:{at}", text, agent_id=agent)
    else:
        memory.store(text, agent_id=agent, session_id="s1" * int(rng.integers(2)), channel="c")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("start", [0, 60])
def test_answers_are_those_of_a_snapshot_made_at_once(
    tmp_path: Path, seed: int, start: int
) -> None:
    path, rng = tmp_path / "m.db", np.random.default_rng(seed)
    if start:
        fill(path, rows=start, seed=seed)
    with opened(path, file_rows=10**9) as memory:
        memory.columns()
        for step in range(24):
            change(memory, rng)
            if step % 5 == 0:
                memory.columns()
        columns = memory.columns()
        assert columns.gram_index[3].n < columns.n
        assert start == 0 or columns.alive.count < columns.n
        found = answers(memory)
        with opened(path, file_rows=10**9) as fresh:
            assert fresh.columns().gram_index[3].n == fresh.columns().n
            assert found == answers(fresh)
        memory._keeper.columns = folded(columns, NUMPY_GRAMS)
        assert found == answers(memory)
        memory._keeper.columns = without_gone(columns, NUMPY_GRAMS)
        assert found == answers(memory)


def test_what_another_agent_changes_is_not_felt(tmp_path: Path) -> None:
    path, rng = tmp_path / "m.db", np.random.default_rng(7)
    fill(path)
    with opened(path, file_rows=10**9) as memory:
        memory.columns()
        ask = [(query, chosen) for query in QUERIES for chosen in SETTINGS]

        def told() -> list:
            found = [memory.recall(q, agent_id="a", settings=s, limit=30) for q, s in ask]
            return [[(row.ref, row.score) for row in one.rows] for one in found]

        before = told()
        for step in range(20):
            text = " ".join(rng.choice(WORDS, 6)) + LONG * (step % 4 == 0)
            memory.store_many([Record(f"{text} {step}", "b", session_id="s1")])
            memory.update(f"mem:{2 * step + 2}", f"{text} again {step}", agent_id="b")
            memory.delete([f"mem:{2 * step + 12}"], agent_id="b")
            assert told() == before


def test_an_older_snapshot_answers_as_before(tmp_path: Path) -> None:
    path, rng = tmp_path / "m.db", np.random.default_rng(3)
    fill(path)
    with opened(path, file_rows=10**9) as memory, opened(path) as reader:
        reader._keeper.limits = memory._keeper.limits
        reader.columns()
        change(memory, rng)
        old = reader.columns()
        frozen = plain(old.before), plain(old.after), plain(old.ids), plain(old.codes)
        found = answers(reader)
        for _ in range(30):
            change(memory, rng)
            reader.columns()
        latest = reader.columns()
        assert (plain(old.before), plain(old.after), plain(old.ids), plain(old.codes)) == frozen
        # The rows are fetched from the store as it is now: what is compared is what was found.
        reader._keeper.refreshed = lambda *_: old
        again = answers(reader)
        assert [one[2] for one in again] == [one[2] for one in found]
        assert latest.generation > old.generation
