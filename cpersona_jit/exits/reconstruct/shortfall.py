"""Why a response has fewer items than its window."""

from __future__ import annotations

from cpersona_jit.exits.candidates import Candidates

REASONS = (
    "count_zero",
    "budget_exhausted",
    "no_provenance",
    "degraded",
    "below_quality",
    "policy_filter",
    "no_evidence",
)
# What a recall says when it had no embedding of the query.
_BLIND = ("no_embedder", "embedder_failed")


def shortfall_reason(effective: int, short: int, cut_off: int, found: Candidates) -> str:
    """Return the first reason that holds, in the order of `REASONS`; empty when nothing is short.

    Parameters
    ----------
    effective : int
        Items that the window has room for.
    short : int
        Items that it lacks, those on reserved seats not counted.
    cut_off : int
        Items of the window whose head the budget did not carry.
    found : Candidates
        What the recall found, and what became of the rest.
    """
    if not effective:
        return "count_zero"
    if short <= 0:
        return ""
    holds = {
        "budget_exhausted": cut_off > 0,
        "no_provenance": found.gone > 0,
        "degraded": any(note.startswith(_BLIND) for note in found.degraded),
        "below_quality": found.gated > 0,
        "policy_filter": found.priced_out > 0,
    }
    return next((reason for reason, does in holds.items() if does), "no_evidence")
