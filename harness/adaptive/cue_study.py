"""Whether a time cue helps for what it says: five arms, judged over all returned rows.

The arms are no cue; the cue parsed from the question and its date; no cue with as many rows as the
parsed one returned; a wrong period; a period that is right in one third. The rule was written
before the measurement: the right cue beats both arms without one, the half right one gains less,
the wrong one loses little, and no two arms are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.cue_arms import CUE_ARMS, NO_CUE, PARSED, PARTLY, SHIFTED
from harness.adaptive.grid import AdaptiveSetting
from harness.adaptive.pool import SignalPool
from harness.adaptive.replay import replay_adaptive
from harness.adaptive.returned import EVIDENCE, ROWS, returned_values
from harness.adaptive.study_rows import macro_rows
from harness.evaluate import Evaluated
from harness.measures import TaskStrata, from_gold_ranks

MORE_ROWS = "none, as many rows"
ARMS = (NO_CUE, MORE_ROWS, PARSED, PARTLY, SHIFTED)
PAIRS = (
    (PARSED, NO_CUE),
    (PARSED, MORE_ROWS),
    (PARTLY, NO_CUE),
    (SHIFTED, NO_CUE),
    (PARSED, PARTLY),
)
EVERY_QUERY, CUED = "all", "cued"


def cue_study(
    evaluated: Sequence[Evaluated], setting: AdaptiveSetting, config: AdaptiveConfig
) -> dict:
    """Measure the five arms of one setting.

    Parameters
    ----------
    evaluated : sequence of Evaluated
        One per dataset.
    setting : AdaptiveSetting
        One that is asked with the parsed cue.
    config : AdaptiveConfig
        Gives the window and the bootstrap's numbers.

    Returns
    -------
    dict
        ``firing`` of the parser, ``values`` of each arm and ``differences`` between arms, by
        dataset, part and queries (all judged ones, or those whose cue opened a period), and
        ``identical`` pairs of arms. JSON-ready.
    """
    measures = [config.select.measure, EVIDENCE, ROWS]
    values = [_arm_values(one.pool, setting, config) for one in evaluated]
    cued = [one.pool.opened[0][one.pool.has_relevant] for one in evaluated]
    groups = {EVERY_QUERY: [np.ones(c.size, bool) for c in cued], CUED: cued}
    study: dict = {
        "setting": setting.name,
        "limit": config.limit,
        "firing": [row for one in evaluated for row in _firing(one)],
        "values": [],
        "differences": [],
    }
    labels = _labels(measures)
    for group, masks in groups.items():
        kept = [n for n, mask in enumerate(masks) if mask.any()]
        some = [_only(evaluated[n], masks[n]) for n in kept]
        columns = [_columns(values[n][:, :, masks[n]]) for n in kept]
        for row in macro_rows(some, columns, labels, config):
            kind = "differences" if "against" in row else "values"
            study[kind].append({"queries": group, **row})
    study["identical"] = _identical(evaluated, values, cued)
    return study


def _arm_values(pool: SignalPool, setting: AdaptiveSetting, config: AdaptiveConfig) -> np.ndarray:
    """Measure every arm, float64 (arms, measures, Qr)."""
    asked = {arm: replace(setting, name=arm, cue=arm) for arm in CUE_ARMS}
    plain = replace(setting.settings, cues=None)
    asked[NO_CUE] = replace(setting, name=NO_CUE, cue=NO_CUE, settings=plain)
    names = (NO_CUE, PARSED, PARTLY, SHIFTED)
    settings = [asked[arm] for arm in names]
    ranks = replay_adaptive(pool, settings)
    ranked = from_gold_ranks(pool, ranks, config.select.measure)
    evidence, rows = returned_values(pool, settings, config.limit)
    more = returned_values(pool, settings[:1], config.limit, rows[names.index(PARSED)][None, :])
    of_arm = {arm: (ranked[n], evidence[n], rows[n]) for n, arm in enumerate(names)}
    of_arm[MORE_ROWS] = (ranked[0], more.evidence[0], more.rows[0])
    return np.array([of_arm[arm] for arm in ARMS])


def _firing(one: Evaluated) -> list[dict]:
    """Say how often the parser found a cue, and where the relevant rows lie when it did."""
    pool = one.pool
    judged = np.flatnonzero(pool.has_relevant)
    inside = np.array([_share_inside(pool, query) for query in judged.tolist()])
    found = []
    for part in one.parts:
        queries = one.part(part)
        opened = pool.opened[0][judged[queries]]
        shares = inside[queries][opened]
        found.append(
            {
                "dataset": one.dataset,
                "part": part,
                "queries": int(queries.size),
                "fired": int(pool.fired[judged[queries]].sum()),
                "opened": int(opened.sum()),
                "relevant_inside": float(shares.mean()) if shares.size else None,
                "none_inside": int((shares == 0.0).sum()),
            }
        )
    return found


def _share_inside(pool: SignalPool, query: int) -> float:
    gold = pool.gold[pool.gold_ptr[query] : pool.gold_ptr[query + 1]]
    wanted = pool.judged_ptr[query + 1] - pool.judged_ptr[query]
    return float(pool.inside[0, pool.offsets[query] + gold].sum() / wanted)


def _only(one: Evaluated, mask: np.ndarray) -> Evaluated:
    """Return one dataset with some of its judged queries."""
    strata = TaskStrata(one.strata.tasks, one.strata.of_query[mask])
    return replace(one, strata=strata, validation=one.validation[mask], values=one.values[:, mask])


def _labels(measures: Sequence[str]) -> list[dict]:
    """Name the columns that :func:`_columns` makes."""
    arms = [{"arm": arm, "measure": measure} for arm in ARMS for measure in measures]
    return arms + [
        {"arm": arm, "against": other, "measure": measure}
        for arm, other in PAIRS
        for measure in measures
    ]


def _columns(values: np.ndarray) -> np.ndarray:
    """Lay arms, and then differences of arms, out as columns: one bootstrap serves them all."""
    first, second = ([ARMS.index(pair[side]) for pair in PAIRS] for side in (0, 1))
    laid = np.concatenate([values, values[first] - values[second]])
    return laid.reshape(-1, values.shape[2])


def _identical(
    evaluated: Sequence[Evaluated], values: Sequence[np.ndarray], cued: Sequence[np.ndarray]
) -> list[dict]:
    """Find arms that are equal on every query with a cue: then the measurement said nothing."""
    return [
        {"dataset": one.dataset, "arms": [ARMS[a], ARMS[b]]}
        for one, value, mask in zip(evaluated, values, cued, strict=True)
        if mask.any()
        for a, b in combinations(range(len(ARMS)), 2)
        if np.array_equal(value[a][:, mask], value[b][:, mask])
    ]
