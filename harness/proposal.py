"""The proposal of a run: the setting, and the evidence a person needs to accept or refuse it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from harness.adaptive.config import AdaptiveConfig
from harness.config import RunConfig
from harness.grid import Setting
from harness.measures import MACRO
from harness.selection import BEST_ARM, PROPOSAL, RRF, SHIPPED_ROLE, Choice
from harness.splits import VALIDATION

PLATEAU_SHOWN = 10


def describe_proposal(
    config: RunConfig,
    settings: Sequence[Setting],
    choice: Choice,
    records: Sequence[dict],
    differences: Sequence[dict],
    judged_on: str,
) -> dict:
    """Describe the chosen setting with its values and paired differences on both parts.

    Parameters
    ----------
    config : RunConfig
        The run's config.
    settings : sequence of Setting
        All settings of the run.
    choice : Choice
        What won.
    records, differences : sequence of dict
        As :mod:`harness.summary` makes them.
    judged_on : str
        The part of the queries that judges the choice.

    Returns
    -------
    dict
        ``not_told_apart`` also says whether the shipped default is among them, None without one.
        ``beats_both`` is true when, on the judging part, the intervals of the differences against
        reciprocal rank fusion and against the best single arm lie above 0.
    """
    setting, parts = settings[choice.proposal], (VALIDATION, judged_on)
    against = [
        _without(record, "role", "measure")
        for record in differences
        if record["role"] == PROPOSAL and record["task"] == MACRO and record["part"] in parts
    ]
    names = [settings[number].name for number in choice.plateau]
    shipped = choice.roles[0].get(SHIPPED_ROLE)
    return {
        "setting": setting.name,
        **setting.as_dict(),
        **_arms(config, setting),
        "measure": config.select.measure,
        "objective": config.select.objective,
        "chosen_on": VALIDATION,
        "among": len(settings),
        "not_told_apart": {
            "count": len(names),
            "first": names[:PLATEAU_SHOWN],
            "shipped": None if shipped is None else shipped in choice.plateau,
        },
        "values": [
            _without(record, "model", "setting", "measure", "chosen")
            for record in records
            if record["setting"] == setting.name
            and record["measure"] == config.select.measure
            and record["task"] == MACRO
            and record["part"] in parts
        ],
        "against": against,
        "beats_both": _beats_both(against, judged_on),
        "regressions_on_unseen": [
            _without(record, "role", "measure", "part")
            for record in differences
            if record["role"] == PROPOSAL and record["part"] == judged_on and record["ci_high"] < 0
        ],
    }


def _arms(config: RunConfig | AdaptiveConfig, setting: Setting) -> dict:
    if isinstance(config, AdaptiveConfig):
        return {}
    return {
        "arms": [asdict(arm) for arm in config.arm_specs() if arm.name in setting.fusion.weights]
    }


def _beats_both(against: Sequence[dict], judged_on: str) -> bool:
    """Look at the last macro mean of each comparison: the mean of datasets when there is one."""
    verdicts = {
        record["against"]: record["ci_low"] > 0 for record in against if record["part"] == judged_on
    }
    wanted = [baseline for baseline in (RRF, BEST_ARM) if baseline in verdicts]
    return bool(wanted) and all(verdicts[baseline] for baseline in wanted)


def _without(record: dict, *keys: str) -> dict:
    return {key: value for key, value in record.items() if key not in keys}
