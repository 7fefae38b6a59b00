"""A question's candidates, made once, and the responses of reconstruct over them."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from cpersona_jit.exits.candidates import Candidates
from cpersona_jit.exits.reconstruct.reconstruct import reconstruct
from cpersona_jit.exits.reconstruct.request import read_request
from cpersona_jit.exits.reconstruct.settings import ReconstructSettings
from cpersona_jit.exits.reconstruct.sources import Related
from cpersona_jit.isolation import Axes
from cpersona_jit.memory import Memory
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recalling import candidates_of
from harness.datasets.base import DatasetQuery


class Asked(NamedTuple):
    """The candidates of a question."""

    limit: int
    related: Related
    found: Candidates
    milliseconds: float


def candidates(
    memory: Memory, query: DatasetQuery, limit: int, now: str | None, settings: AdaptiveSettings
) -> Asked:
    """Recall the rows that the exits make something of."""
    start = time.perf_counter()
    axes = Axes.agent(query.scope_id)
    found = candidates_of(memory._sources(), query.text, axes, settings, None, now, limit)
    related = memory._related(axes, found.state.columns.fingerprint)
    return Asked(limit, related, found, (time.perf_counter() - start) * 1e3)


def reconstructed(
    asked: Asked, count: int, budget: int, policy: ReconstructSettings
) -> dict[str, Any]:
    """Return the response of reconstruct to one count and budget."""
    request = read_request(
        policy,
        asked.limit,
        count=count,
        budget=budget,
        top_k=asked.limit,
        max_hops=None,
        max_evidence=None,
    )
    return reconstruct(asked.found, asked.related, request, policy, False)
