"""What is found of the relevant rows, and how far it agrees with the exact scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cpersona_jit import Memory
from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings, Scan
from harness.scale.latency import COMPLETE, LIMIT
from harness.speed.talk import AGENT

_BEST = 10
EXACT_ROWS = 1 << 31  # no scope has more


class Answer(NamedTuple):
    """Ids of the ten best rows, best first, and of the dense list."""

    best: list[int]
    dense: set[int]


def scanning(scan: Scan) -> AdaptiveSettings:
    """Return the default with another scan. Its questions name no time, so there are no cues: a
    chance word such as "yesterday" would be taken for one.
    """
    return replace(COMPLETE, cues=None, scan=scan)


def exact_scan() -> Scan:
    """Return the scan that reads every code."""
    return replace(DEFAULT_SETTINGS.scan, exact_rows=EXACT_ROWS)


def two_phase_scan(shortlist: int | None = None, sample: int | None = None) -> Scan:
    """Return the scan in two phases however few rows there are; by default the shipped one."""
    shipped = DEFAULT_SETTINGS.scan
    return Scan(0, shortlist or shipped.shortlist, sample or shipped.sample)


def answers(memory: Memory, questions: Sequence[str], settings: AdaptiveSettings) -> list[Answer]:
    """Ask every question once."""
    found = []
    for question in questions:
        state = memory.explore(question, agent_id=AGENT, settings=settings, limit=LIMIT)
        ids = state.columns.ids[state.rows]
        found.append(Answer(ids[state.order[:_BEST]].tolist(), set(ids[state.reached[0]].tolist())))
    return found


def found_quality(found: Sequence[Answer], gold: Sequence[set[int]]) -> dict[str, float]:
    """Return the means of NDCG@10 and recall@10 over the questions that have a relevant row."""
    pairs = [(one.best, rows) for one, rows in zip(found, gold, strict=True) if rows]
    return {
        "ndcg": _mean([ndcg(best, rows) for best, rows in pairs]),
        "recall": _mean([len(rows.intersection(best)) / len(rows) for best, rows in pairs]),
    }


def agreement(found: Sequence[Answer], exact: Sequence[Answer]) -> dict[str, float]:
    """Compare answers with those of the exact scan.

    Returns
    -------
    dict of str to float
        ``same_rows``: share of its ten best rows; ``same_list``: share of questions with the same
        ten in the same order; ``dense_list``: share of the rows of its dense list.
    """
    pairs = list(zip(found, exact, strict=True))
    return {
        "same_rows": _mean([_share(set(b.best), set(a.best)) for a, b in pairs]),
        "same_list": _mean([float(a.best == b.best) for a, b in pairs]),
        "dense_list": _mean([_share(b.dense, a.dense) for a, b in pairs]),
    }


def compared(
    memory: Memory, questions: Sequence[str], gold: Sequence[set[int]]
) -> dict[str, dict[str, Any]]:
    """Return the quality of the exact scan, of two phases, and of the shipped default."""
    exact = answers(memory, questions, scanning(exact_scan()))
    found = {"exact": found_quality(exact, gold)}
    scans = {"two phases": two_phase_scan(), "shipped": DEFAULT_SETTINGS.scan}
    for name, scan in scans.items():
        own = answers(memory, questions, scanning(scan))
        found[name] = {**found_quality(own, gold), **agreement(own, exact)}
    return found


def ndcg(best: Sequence[int], gold: set[int]) -> float:
    """Return NDCG@10 of a list where rows are relevant or not."""
    gains = [1.0 / np.log2(place + 2.0) for place in range(_BEST)]
    got = sum(gain for gain, row in zip(gains, best, strict=False) if row in gold)
    return got / sum(gains[: len(gold)])


def _share(of: set[int], found: set[int]) -> float:
    return len(of & found) / len(of) if of else 1.0


def _mean(values: list[float]) -> float:
    return round(float(np.mean(values)), 4) if values else 0.0
