"""Which settings a wrong cue ruins: they are measured, and never chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.cue_arms import NO_CUE, PARSED, SHIFTED
from harness.adaptive.grid import AdaptiveSetting, AnySetting
from harness.adaptive.pool import SignalPool
from harness.adaptive.replay import replay_adaptive
from harness.evaluate import Evaluated
from harness.measures import from_gold_ranks
from harness.splits import VALIDATION


def hold_to_wrong_cues(
    evaluated: Sequence[Evaluated], settings: Sequence[AnySetting], config: AdaptiveConfig
) -> list[AnySetting]:
    """Ask each setting that takes parsed cues with wrong ones, and refuse those that lose much.

    A cue weighs as much as it can when only right ones are measured. So each point is asked with
    the wrong period as well, on the validation questions whose cue opens one, and what is left of
    the value without a cue is noted; the worst of the datasets counts.

    Parameters
    ----------
    evaluated : sequence of Evaluated
        One per dataset.
    settings : sequence
        S settings, in the order of the values.
    config : AdaptiveConfig
        ``wrong_cue`` names the datasets and the share.

    Returns
    -------
    list
        The settings in the same order.
    """
    held = list(settings)
    numbers = [
        number
        for number, setting in enumerate(settings)
        if isinstance(setting, AdaptiveSetting) and setting.cue == PARSED
    ]
    judged = [one for one in evaluated if one.dataset.split(" ")[0] in config.wrong_cue.datasets]
    if not numbers or not judged:
        return held
    kept = np.min([_kept(one, [settings[n] for n in numbers], config) for one in judged], axis=0)
    for number, share in zip(numbers, kept.tolist(), strict=True):
        refused = share < config.wrong_cue.keeps
        held[number] = replace(held[number], kept=share, refused=refused)
    return held


def _kept(
    one: Evaluated, settings: Sequence[AdaptiveSetting], config: AdaptiveConfig
) -> np.ndarray:
    """Return the share of the measure that each setting keeps, float64 (S,)."""
    pool: SignalPool = one.pool
    opened = pool.opened[0][pool.has_relevant]
    queries = one.part(VALIDATION)
    queries = queries[opened[queries]]
    plain = [replace(s, cue=NO_CUE, settings=replace(s.settings, cues=None)) for s in settings]
    twins = [*(replace(s, cue=SHIFTED) for s in settings), *plain]
    distinct = list({twin.identity(): twin for twin in twins}.values())
    place = {twin.identity(): n for n, twin in enumerate(distinct)}
    values = from_gold_ranks(pool, replay_adaptive(pool, distinct), config.select.measure)
    means = values[:, queries].mean(axis=1) if queries.size else np.ones(len(distinct))
    wrong, without = (
        means[[place[twin.identity()] for twin in some]] for some in (twins[: len(settings)], plain)
    )
    return np.divide(wrong, without, out=np.ones(len(settings)), where=without > 0.0)
