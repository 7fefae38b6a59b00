"""What decides how a large scope is scanned: shortlist, sample, and from how many rows on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from cpersona_jit import Memory
from cpersona_jit.defaults import DEFAULT_SETTINGS
from harness.scale.config import SweepConfig
from harness.scale.latency import fastest, median, process_times
from harness.scale.quality import (
    agreement,
    answers,
    exact_scan,
    found_quality,
    scanning,
    two_phase_scan,
)
from harness.speed.talk import QUESTIONS

EXACT = "exact"


def pair_name(shortlist: int, sample: int) -> str:
    """Return how a pair is called in the record."""
    return f"shortlist {shortlist}, sample {sample}"


def shipped_pair() -> str:
    """Return the pair of the default."""
    scan = DEFAULT_SETTINGS.scan
    return pair_name(scan.shortlist, scan.sample)


def sweep_scan(
    memory: Memory,
    questions: Sequence[str],
    gold: Sequence[set[int]],
    config: SweepConfig,
    told: Callable[[int], None],
) -> list[dict[str, Any]]:
    """Measure every pair of shortlist and sample beside the exact scan.

    Parameters
    ----------
    memory : Memory
        Its snapshot is current.
    questions : sequence of str
        Asked with every pair.
    gold : sequence of set of int
        Ids of the rows that answer them.
    config : SweepConfig
        The pairs.
    told : callable
        Called with the number of each finished round.

    Returns
    -------
    list of dict
        The exact scan, then one entry per pair: quality, agreement and milliseconds.
    """
    scans = {EXACT: exact_scan()} | {
        pair_name(*pair): two_phase_scan(*pair) for pair in product(config.shortlist, config.sample)
    }
    variants = {name: scanning(scan) for name, scan in scans.items()}
    spent = process_times(memory, questions, variants, config.rounds, told)
    exact = answers(memory, questions, variants[EXACT])
    found = []
    for name, settings in variants.items():
        own = answers(memory, questions, settings)
        scan = settings.scan
        found.append(
            {
                "scan": name,
                **({} if name == EXACT else {"shortlist": scan.shortlist, "sample": scan.sample}),
                **found_quality(own, gold),
                **agreement(own, exact),
                "process_ms": median(spent[name]),
                "process_fastest_ms": fastest(spent[name]),
            }
        )
    return found


def compare_scans(memory: Memory, rounds: int) -> dict[str, float]:
    """Time the exact scan and two phases, turn about, over the same rows."""
    variants = {EXACT: scanning(exact_scan()), "two_phase": scanning(two_phase_scan())}
    spent = process_times(memory, QUESTIONS, variants, rounds)
    times = {f"{name}_ms": median(of) for name, of in spent.items()}
    times |= {f"{name}_fastest_ms": fastest(of) for name, of in spent.items()}
    # Of paired rounds: what else the machine does hits both.
    ratio = median(spent["two_phase"].sum(axis=1) / spent[EXACT].sum(axis=1))
    return {**times, "ratio": ratio}


def choice(swept: Sequence[dict[str, Any]], tolerance: float) -> dict[str, Any] | None:
    """Say which pairs lose too little to matter, which of them is soonest, and how the shipped
    pair stands among them.

    Parameters
    ----------
    swept : sequence of dict
        One entry per place where pairs were measured: ``place`` and ``scans``.
    tolerance : float
        Recall@10 that a pair may lose against the exact scan, in every place.

    Returns
    -------
    dict or None
        None when nothing was swept.
    """
    if not swept:
        return None
    loss: dict[str, float] = {}
    spent: dict[str, float] = {}
    for place in swept:
        exact = place["scans"][0]
        for one in place["scans"][1:]:
            name = one["scan"]
            lost = round(exact["recall"] - one["recall"], 4)
            loss[name] = max(loss.get(name, lost), lost)
            spent[name] = round(spent.get(name, 0.0) + one["process_ms"], 3)
    allowed = [name for name, lost in loss.items() if lost <= tolerance]
    shipped = shipped_pair()
    return {
        "places": [place["place"] for place in swept],
        "tolerance": tolerance,
        "allowed": allowed,
        "soonest": min(allowed, key=spent.__getitem__) if allowed else None,
        "shipped": shipped if shipped in loss else None,
        "loss": loss,
        "milliseconds": spent,
    }


def crossing(threshold: Sequence[dict[str, Any]]) -> int | None:
    """Return the fewest rows measured from which on two phases are sooner, at every size above."""
    sooner = None
    for one in sorted(threshold, key=lambda one: -one["rows"]):
        if one["ratio"] >= 1.0:
            break
        sooner = one["rows"]
    return sooner
