"""The settings of a run: the baselines that are always there, then every point of the sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import ParameterGrid

from cpersona_jit.defaults import BASELINE_FUSION
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings
from harness.config import RunConfig

RRF_BASELINE = "rrf"
ROW_FUSION = "row fusion"


@dataclass(frozen=True)
class Setting:
    """One point of a sweep: a fusion and the depth that each arm hands to it."""

    name: str
    fusion: FusionSpec
    depth: int

    @property
    def single_arm(self) -> bool:
        """Whether only one arm has a weight, so that nothing is fused."""
        return sum(weight > 0 for weight in self.fusion.weights.values()) == 1

    @property
    def eligible(self) -> bool:
        """Whether it may be chosen."""
        return True

    def as_dict(self) -> dict:
        """Return the setting as JSON-ready values."""
        return {
            "fusion": self.fusion.kind,
            "depth": self.depth,
            "rrf_k": self.fusion.rrf_k if self.fusion.kind == "rrf" else None,
            "weights": dict(self.fusion.weights),
        }

    def identity(self) -> tuple:
        """Return what decides a ranking: weights count only up to a common factor."""
        weights = self.fusion.weights
        top = max(weights.values())
        shares = {arm: round(weight / top, 9) for arm, weight in weights.items() if weight > 0}
        constant = self.fusion.rrf_k if self.fusion.kind == "rrf" else None
        return self.fusion.kind, constant, self.depth, tuple(sorted(shares.items()))


class SettingArrays(NamedTuple):
    """Settings as the replay kernel takes them; S settings, A arms in pool order."""

    kind: np.ndarray  # uint8 (S,): 0 rrf, 1 score
    weights: np.ndarray  # float64 (S, A)
    rrf_k: np.ndarray  # float64 (S,)
    depth: np.ndarray  # int32 (S,)


def arm_baseline(arm: str) -> str:
    """Return the name of the setting that ranks by one arm alone."""
    return f"arm:{arm}"


def build_settings(config: RunConfig) -> list[Setting]:
    """Return the baselines and then the sweep's points, each different point once.

    The baselines are every arm alone and the frozen one: reciprocal rank fusion, with equal
    weights, of the first dense and the first gram arm (of all arms when one kind is missing).
    """
    settings: list[Setting] = []
    seen: set[tuple] = set()
    for setting in (*_baselines(config), *_sweep(config)):
        if setting.identity() not in seen:
            seen.add(setting.identity())
            settings.append(setting)
    return settings


def row_fusion_setting(arms: tuple[ArmSpec, ...], fusion: RecallSettings) -> Setting | None:
    """Express a fusion of whole rows with a run's arms.

    Returns
    -------
    Setting or None
        None when the run has no arm with the same parameters as one that is fused, so that its
        pool cannot say how the fusion ranks. The depth is the fusion's own.
    """
    weights: dict[str, float] = {}
    for wanted in fusion.active_arms:
        same = [arm for arm in arms if _arm_identity(arm) == _arm_identity(wanted)]
        if not same:
            return None
        weights[same[0].name] = fusion.fusion.weights[wanted.name]
    spec = FusionSpec(fusion.fusion.kind, weights, fusion.fusion.rrf_k)
    return Setting(ROW_FUSION, spec, fusion.depth)


def setting_arrays(settings: list[Setting], arms: tuple[str, ...]) -> SettingArrays:
    """Lay the settings out as arrays over the pool's arms."""
    weights = [[setting.fusion.weights.get(arm, 0.0) for arm in arms] for setting in settings]
    return SettingArrays(
        kind=np.array([setting.fusion.kind == "score" for setting in settings], dtype=np.uint8),
        weights=np.array(weights, dtype=np.float64).reshape(len(settings), len(arms)),
        rrf_k=np.array([setting.fusion.rrf_k for setting in settings], dtype=np.float64),
        depth=np.array([setting.depth for setting in settings], dtype=np.int32),
    )


def _baselines(config: RunConfig) -> Iterator[Setting]:
    depth = config.freeze.depth
    for arm in config.arms:
        yield Setting(arm_baseline(arm.name), FusionSpec("score", {arm.name: 1.0}), depth)
    first = {arm.kind: arm.name for arm in reversed(config.arms)}
    joined = list(first.values()) if len(first) == 2 else [arm.name for arm in config.arms]
    if len(joined) > 1:
        fusion = FusionSpec("rrf", dict.fromkeys(joined, 1.0), BASELINE_FUSION.rrf_k)
        yield Setting(RRF_BASELINE, fusion, depth)


def _sweep(config: RunConfig) -> Iterator[Setting]:
    sweep = config.sweep
    shared = {"weights": _weight_points(config), "depth": sweep.depth}
    grids = []
    for kind in dict.fromkeys(sweep.fusion):
        constants = sweep.rrf_k if kind == "rrf" else [60.0]
        grids.append({"fusion": [kind], "rrf_k": constants, **shared})
    for point in ParameterGrid(grids):
        fusion = FusionSpec(point["fusion"], point["weights"], point["rrf_k"])
        yield Setting(_point_name(fusion, point["depth"]), fusion, point["depth"])


def _weight_points(config: RunConfig) -> list[dict[str, float]]:
    points = [dict(weights) for weights in config.sweep.weights]
    if config.sweep.weight_grid:
        points.extend(ParameterGrid(config.sweep.weight_grid))
    order = [arm.name for arm in config.arms]
    return [_in_order(point, order) for point in points if any(point.values())]


def _in_order(point: Mapping[str, float], order: list[str]) -> dict[str, float]:
    return {arm: float(point[arm]) for arm in order if point.get(arm, 0.0) > 0}


def _point_name(fusion: FusionSpec, depth: int) -> str:
    kind = "score" if fusion.kind == "score" else f"rrf{fusion.rrf_k:g}"
    weights = " ".join(f"{arm}={weight:g}" for arm, weight in fusion.weights.items())
    return f"{kind} depth={depth} {weights}"


def _arm_identity(arm: ArmSpec) -> tuple:
    if arm.kind == "dense":
        return ("dense",)
    return arm.kind, arm.size, arm.term_frequency, arm.length_exponent, arm.idf_power
