"""What a call asks for, checked; what it leaves open is the operator's."""

from __future__ import annotations

from typing import NamedTuple

from cpersona_jit.errors import UsageError
from cpersona_jit.exits.reconstruct.settings import (
    MAX_EVIDENCE,
    MAX_HOPS,
    MAX_TOP_K,
    ReconstructSettings,
)
from cpersona_jit.recall.requirements import require_whole


class Request(NamedTuple):
    """A call.

    Attributes
    ----------
    count, budget : int or None
        What the caller wishes; None leaves it to the policy.
    top_k : int
        Candidates asked for.
    effective_top_k : int
        Candidates that the search may hand over.
    max_hops, max_evidence : int
        Bounds of relations and claims.
    """

    count: int | None
    budget: int | None
    top_k: int
    effective_top_k: int
    max_hops: int
    max_evidence: int


def read_request(
    policy: ReconstructSettings,
    most_candidates: int,
    *,
    count: int | None,
    budget: int | None,
    top_k: int | None,
    max_hops: int | None,
    max_evidence: int | None,
) -> Request:
    """Check a call; its parameters are those of :meth:`cpersona_jit.Memory.reconstruct`.

    The search weighs at most `most_candidates` rows, whatever `top_k` is.

    Raises
    ------
    UsageError
        A number is none, or out of range.
    """
    for name, value in (("count", count), ("budget", budget)):
        if value is not None:
            _require_from(name, value, 0)
    top_k = policy.top_k if top_k is None else top_k
    _require_from("top_k", top_k, 1)
    max_hops = policy.max_hops if max_hops is None else max_hops
    max_evidence = policy.max_evidence if max_evidence is None else max_evidence
    require_whole("max_hops", max_hops, 0, MAX_HOPS)
    require_whole("max_evidence", max_evidence, 1, MAX_EVIDENCE)
    effective = min(top_k, MAX_TOP_K, most_candidates)
    return Request(count, budget, top_k, effective, max_hops, max_evidence)


def _require_from(name: str, value: object, low: int) -> None:
    """Raise UsageError unless `value` is a number that only the policy may make smaller."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise UsageError(f"{name} is {value!r}; allowed: a whole number from {low}")
