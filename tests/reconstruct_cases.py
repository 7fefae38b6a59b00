"""What the tests of reconstruct share: rows by hand, generated stores, and its invariants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.records import Row
from cpersona_jit.store.timestamps import parse_timestamp

SECOND = 1_000_000
DAY = 86_400 * SECOND


def row(row_id: int, content: str = "tea", **fields: Any) -> Row:
    """Return a stored row of agent ``a``; an end makes it an episode."""
    timestamp = fields.pop("timestamp", "")
    end = fields.pop("end", "")
    plain: dict[str, Any] = {
        "agent_id": "a",
        "project_id": "",
        "channel": "",
        "msg_id": "",
        "source": Source("user", "u1", "Mika"),
        "session_id": "",
        "created_at": 0,
        "updated_at": None,
        "metadata": {},
        "model_id": None,
        "revision": 1,
    }
    return Row(
        ref=f"ep:{row_id}" if end else f"mem:{row_id}",
        id=row_id,
        content=content,
        timestamp=timestamp,
        event_time=parse_timestamp(timestamp),
        kind="episode" if end else "memory",
        end_time=parse_timestamp(end) if end else None,
        end_timestamp=end,
        **(plain | fields),
    )


# -- generated stores ------------------------------------------------------------------------------

SHORT = [
    "green tea",
    "抹茶を飲んだ。",
    "Mia moved to Porto.",
    "ミアはリスボンに引っ越した。",
    "ramen",
]
SENTENCES = [
    "Mia moved to Lisbon in March.",
    "However, the green tea stayed in Kyoto.",
    "彼女は毎週土曜日に茶道を習っています。",
    "ただし、抹茶は京都でしか買わない。",
    "The train to Osaka was delayed by an hour and nobody knew why.",
]
QUERIES = ["green tea Kyoto", "抹茶はどこで買う", "Where did Mia move?", "リスボン", "zzz"]
TIMES = [
    "",
    "2024-05-01",
    "2024-05-01T10:00:00Z",
    "2024-05-01T10:00:30Z",
    "2024-05-01T10:00:50Z",
    "2024-05-01T10:01:20Z",
    "2024-05-02T09:00:00+09:00",
    "いつか",
]
ROLE_KEYS = ["supersedes", "supports", "contradicts", "related"]


@dataclass(frozen=True)
class Step:
    """One thing done to a store."""

    record: Record
    update: tuple[str, ...] = ()  # what the row says later, one text after the other


def contents() -> st.SearchStrategy[str]:
    """Short and long texts in both languages."""
    long = st.lists(st.sampled_from(SENTENCES), min_size=2, max_size=9)
    times = st.sampled_from([1, 3, 9])
    return st.one_of(
        st.sampled_from(SHORT), st.builds(lambda parts, n: " ".join(parts * n), long, times)
    )


def metadata() -> st.SearchStrategy[dict[str, Any]]:
    """Declared references among the first rows, some of them to nothing."""
    refs = st.sampled_from(["mem:1", "mem:2", "mem:3", "mem:5", "ep:1", "ep:4", "mem:99"])
    return st.one_of(st.just({}), st.dictionaries(st.sampled_from(ROLE_KEYS), refs, max_size=2))


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Return a memory or an episode, and its updates."""
    episode = draw(st.integers(0, 5)) == 0
    start = draw(st.sampled_from(TIMES[1:-1])) if episode else draw(st.sampled_from(TIMES))
    cited = draw(st.sampled_from(["", "", "", " (see mem:2)", "。前回のmem:1を参照"]))
    record = Record(
        draw(contents()) + cited,
        draw(st.sampled_from(["a", "a", "a", "b"])),
        project_id=draw(st.sampled_from(["", "", "p", "q"])),
        channel=draw(st.sampled_from(["", "x", "y"])),
        msg_id=draw(st.sampled_from(["", "", "m1", "m2"])),
        source=Source(
            draw(st.sampled_from(["user", "agent"])), draw(st.sampled_from(["", "u1", "u2"]))
        ),
        session_id=draw(st.sampled_from(["", "s1"])),
        timestamp=start,
        metadata=draw(metadata()),
        kind="episode" if episode else "memory",
        end="2024-05-03T00:00:00Z" if episode else "",
    )
    updates = draw(st.lists(contents(), max_size=2, unique=True)) if draw(st.booleans()) else []
    return Step(record, tuple(updates))


stores = st.lists(steps(), min_size=1, max_size=14)
queries = st.sampled_from(QUERIES)
counts = st.one_of(st.none(), st.integers(0, 12))
budgets = st.one_of(st.none(), st.integers(0, 25_000))
axes = st.builds(
    lambda project, channel: {"agent_id": "a", "project_id": project, "channel": channel},
    st.sampled_from([None, None, "p", ""]),
    st.sampled_from([None, None, "x"]),
)


@contextmanager
def filled(story: Sequence[Step], embedder: object = None) -> Iterator[Memory]:
    """Open a memory in which the steps were done."""
    with (
        TemporaryDirectory() as folder,
        cpersona_jit.open(
            Path(folder) / "m.db", embedder or BagOfWords(), wait_for_kernels=False
        ) as memory,
    ):
        for step, outcome in zip(
            story, memory.store_many([step.record for step in story], dedup=False), strict=True
        ):
            for text in step.update:
                if outcome.status == "stored":
                    memory.update(outcome.ref, text, agent_id=step.record.agent_id)
        yield memory
