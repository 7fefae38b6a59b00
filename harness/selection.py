"""The choice of a setting: made on the validation part, judged on the unseen one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.grid import LEXICAL, RAW, SHIPPED, AdaptiveSetting, AnySetting
from harness.config import RunConfig
from harness.evaluate import Evaluated, evaluate, macro_values, part_means
from harness.grid import ROW_FUSION, RRF_BASELINE, Setting, arm_baseline
from harness.splits import VALIDATION

RAW_EMBEDDING = "raw embedding"
BEST_ARM = "best single arm"
RRF = "RRF"
BEST_FUSED = "best fused"
PROPOSAL = "proposal"
ROW_FUSION_ROLE = ROW_FUSION
SHIPPED_ROLE = SHIPPED
BASELINE_ROLES = (RAW_EMBEDDING, BEST_ARM, RRF)
CONTENDER_ROLES = (BEST_FUSED, PROPOSAL, ROW_FUSION_ROLE, SHIPPED_ROLE)


@dataclass(frozen=True)
class Choice:
    """What won; indices are positions in the run's settings.

    Parameters
    ----------
    proposal : int
        Best objective on the validation part.
    plateau : list of int
        Settings whose paired difference to the proposal, on the validation part, has an interval
        that reaches 0: the data does not tell them apart. The proposal comes first.
    roles : list of {role: index}
        For each dataset. ``best single arm`` is the best on the unseen part, in hindsight, which
        favours the baseline; ``best fused`` is the dataset's own choice on its validation part.
    """

    proposal: int
    plateau: list[int]
    roles: list[dict[str, int]]


def choose(
    evaluated: Sequence[Evaluated],
    settings: Sequence[Setting],
    config: RunConfig,
    named: Mapping[str, int],
) -> Choice:
    """Choose the proposal and the settings it is compared with.

    Parameters
    ----------
    evaluated : sequence of Evaluated
        One per dataset, all over the same settings.
    settings : sequence of Setting
        Baselines and sweep.
    config : RunConfig
        The run's config.
    named : mapping of str to int
        Roles that are given and not chosen: the fusion of whole rows, and the shipped default.

    Returns
    -------
    Choice
    """
    objective = _objective(evaluated, settings, config)
    proposal = _first_of_the_best(evaluated, settings, objective, config)
    roles = [_roles(one, settings, _raw(config), proposal, named) for one in evaluated]
    return Choice(proposal, _plateau(evaluated, settings, proposal, objective, config), roles)


def choose_adaptive(
    evaluated: Sequence[Evaluated],
    settings: Sequence[AnySetting],
    choice: Choice,
    config: AdaptiveConfig,
    *,
    cue: str | None = None,
) -> AdaptiveSetting | None:
    """Return the adaptive setting to study: the proposal if it is one, else the best there is.

    Parameters
    ----------
    evaluated, settings, choice, config
        As for :func:`choose`, and what it returned.
    cue : str, optional
        Only settings that are asked with this cue.
    """
    among = [
        number
        for number, setting in enumerate(settings)
        if isinstance(setting, AdaptiveSetting) and setting.eligible and cue in (None, setting.cue)
    ]
    if not among:
        return None
    if choice.proposal in among:
        return settings[choice.proposal]
    return settings[_best(_objective(evaluated, settings, config), among)]


def _objective(
    evaluated: Sequence[Evaluated], settings: Sequence[Setting], config: RunConfig
) -> np.ndarray:
    """Return what the choice maximises, one value per setting, from the validation part alone."""
    values = np.array([macro_values(one, VALIDATION) for one in evaluated])
    if config.select.objective == "mean":
        return values.mean(axis=0)
    single = [number for number, setting in enumerate(settings) if setting.single_arm]
    return (values - values[:, single].max(axis=1, keepdims=True)).min(axis=0)


def _first_of_the_best(
    evaluated: Sequence[Evaluated],
    settings: Sequence[Setting],
    objective: np.ndarray,
    config: RunConfig,
) -> int:
    """Return the best setting; among equals the second measure decides, then the depth."""
    eligible = [number for number, setting in enumerate(settings) if setting.eligible]
    best = _best(objective, eligible)
    floor = objective[best] - config.select.tolerance
    near = np.array([number for number in eligible if objective[number] >= floor])
    if config.select.tolerance == 0.0 or near.size == 1:
        return best
    measure = {"select": config.select.model_copy(update={"measure": config.select.tie_measure})}
    second = config.model_copy(update=measure)
    among = [settings[number] for number in near]
    again = [evaluate(one.pool, among, second) for one in evaluated]
    value = np.mean([macro_values(one, VALIDATION) for one in again], axis=0)
    depth = [setting.depth for setting in among]
    order = np.lexsort((near, depth, -np.round(value, 3)))
    return int(near[order[0]])


def role_columns(
    evaluated: Sequence[Evaluated], choice: Choice, role: str
) -> list[np.ndarray] | None:
    """Return a role's values per dataset, each (1, Qr); None when some dataset lacks the role."""
    if any(role not in roles for roles in choice.roles):
        return None
    pairs = zip(evaluated, choice.roles, strict=True)
    return [one.values[roles[role]][None, :] for one, roles in pairs]


def _roles(
    one: Evaluated,
    settings: Sequence[Setting],
    raw: str | None,
    proposal: int,
    named: Mapping[str, int],
) -> dict[str, int]:
    place = {setting.name: number for number, setting in enumerate(settings)}
    validation, unseen = macro_values(one, VALIDATION), macro_values(one, one.rest)
    if np.isnan(unseen).any():
        unseen = validation
    single = [n for n, setting in enumerate(settings) if _is_baseline_arm(setting.name)]
    fused = [n for n, setting in enumerate(settings) if setting.eligible and not setting.single_arm]
    roles: dict[str, int] = {}
    if raw is not None:
        roles[RAW_EMBEDDING] = place[raw]
    roles[BEST_ARM] = _best(unseen, single)
    if RRF_BASELINE in place:
        roles[RRF] = place[RRF_BASELINE]
    if fused:
        roles[BEST_FUSED] = _best(validation, fused)
    roles[PROPOSAL] = proposal
    return roles | dict(named)


def _raw(config: RunConfig | AdaptiveConfig) -> str | None:
    """Return the name of the setting that ranks by the embedding alone, if there is one."""
    if isinstance(config, AdaptiveConfig):
        return RAW
    return next((arm_baseline(arm.name) for arm in config.arms if arm.kind == "dense"), None)


def _is_baseline_arm(name: str) -> bool:
    return name == LEXICAL or name.startswith(arm_baseline(""))


def _plateau(
    evaluated: Sequence[Evaluated],
    settings: Sequence[Setting],
    proposal: int,
    objective: np.ndarray,
    config: RunConfig,
) -> list[int]:
    behind = [one.values[proposal] - one.values for one in evaluated]
    means = part_means(evaluated, behind, VALIDATION, config)
    # The last mean is the dataset's macro mean, or the mean of datasets.
    tied = np.flatnonzero(means.intervals.low[-1] <= 0.0)
    rest = [int(n) for n in tied if n != proposal and settings[n].eligible]
    return [proposal, *sorted(rest, key=lambda number: -objective[number])]


def _best(values: np.ndarray, among: Sequence[int]) -> int:
    """Return the first of the highest: among equals the earlier setting, baselines before all."""
    among = list(among)
    return among[int(np.argmax(values[among]))]
