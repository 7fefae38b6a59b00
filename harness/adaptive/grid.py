"""The settings of an adaptive run: the baselines that are always there, then the sweep's points."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from cpersona_jit.defaults import BASELINE_FUSION
from cpersona_jit.kernels.numpy_path.calibration import DENSE_ROW, GRAM3_ROW, GRAM4_ROW
from cpersona_jit.recall.adaptive_settings import (
    AdaptiveSettings,
    Bounds,
    Calibration,
    CueWeights,
    Structure,
)
from cpersona_jit.recall.row_prior import RowPrior
from cpersona_jit.recall.settings import RecallSettings
from cpersona_jit.recall.signals import SIGNAL_NAMES
from harness.adaptive.config import AdaptiveConfig, PointConfig
from harness.adaptive.cue_arms import NO_CUE, PARSED
from harness.grid import ROW_FUSION, RRF_BASELINE, arm_baseline

LEXICAL = "whole-row lexical"
SHIPPED = "shipped default"
BASE = "base"
RAW = arm_baseline(SIGNAL_NAMES[DENSE_ROW])


@dataclass(frozen=True)
class Baseline:
    """Whole rows ranked by one signal, a weighted sum of z-scores, or rank fusion.

    Without `weights` all are 1.
    """

    name: str
    fusion: Literal["score", "rrf"]
    signals: tuple[int, ...]
    depth: int
    weights: tuple[float, ...] = ()

    def identity(self) -> tuple:
        """Return what decides a ranking."""
        weights = self.weights or (1.0,) * len(self.signals)
        return self.fusion, self.signals, self.depth, weights

    @property
    def single_arm(self) -> bool:
        """Whether dense and lexical evidence are not fused."""
        mixed = DENSE_ROW in self.signals and len(self.signals) > 1
        return self.fusion == "score" and not mixed

    @property
    def eligible(self) -> bool:
        """Whether it may be chosen."""
        return True

    def as_dict(self) -> dict:
        """Return the baseline as JSON-ready values."""
        return {
            "kind": "baseline",
            "fusion": self.fusion,
            "signals": [SIGNAL_NAMES[signal] for signal in self.signals],
            "weights": list(self.weights or [1.0] * len(self.signals)),
            "depth": self.depth,
            "rrf_k": BASELINE_FUSION.rrf_k if self.fusion == "rrf" else None,
        }


@dataclass(frozen=True)
class AdaptiveSetting:
    """One point of a sweep: the settings of a recall, and which cue it is asked with."""

    name: str
    settings: AdaptiveSettings
    cue: str = NO_CUE
    kept: float | None = None  # share of the measure that a wrong cue leaves, when it was measured
    refused: bool = False  # it leaves too little

    def identity(self) -> tuple:
        """Return what decides a ranking."""
        return self.settings, self.cue

    @property
    def single_arm(self) -> bool:
        """Whether only one kind of evidence has a weight, so that nothing is fused."""
        calibration = self.settings.calibration
        return not (calibration.dense_weight and calibration.gram_weight)

    @property
    def eligible(self) -> bool:
        """Whether it may be chosen: not asked with a wrong cue, nor ruined by one."""
        return self.cue in (NO_CUE, PARSED) and not self.refused

    @property
    def depth(self) -> int:
        """Rows that each list hands to the pool."""
        return self.settings.depth

    def as_dict(self) -> dict:
        """Return the setting as JSON-ready values."""
        own = {"kind": "adaptive", "cue": self.cue, **asdict(self.settings)}
        if self.kept is None:
            return own
        return own | {"kept_under_a_wrong_cue": self.kept, "refused": self.refused}


AnySetting = Baseline | AdaptiveSetting


def build_adaptive_settings(config: AdaptiveConfig) -> list[AnySetting]:
    """Return the baselines, the base and then the sweep's points, each different point once."""
    points = [_setting(BASE, config.base, config)]
    for grid in config.sweep:
        axes = grid.axes()
        for values in itertools.product(*axes.values()):
            point = dict(zip(axes, values, strict=True))
            name = " ".join(f"{_short(path)}={_text(value)}" for path, value in point.items())
            points.append(_setting(name, _changed(config.base, point), config))
    return [*_baselines(config.freeze.depth), *_distinct(points)]


def row_fusion_baseline(config: AdaptiveConfig, fusion: RecallSettings) -> Baseline | None:
    """Express a fusion of whole rows with a run's signals.

    Returns
    -------
    Baseline or None
        None when the run froze its grams in another way.
    """
    own = dict(zip((GRAM3_ROW, GRAM4_ROW), config.grams(), strict=True))
    signals = []
    for arm in fusion.active_arms:
        alike = [s for s, spec in own.items() if replace(spec, name=arm.name) == arm]
        signals += [DENSE_ROW] if arm.kind == "dense" else alike
    weights = tuple(fusion.fusion.weights[arm.name] for arm in fusion.active_arms)
    if len(signals) < len(weights) or fusion.fusion.kind != "score":
        return None
    return Baseline(ROW_FUSION, "score", tuple(signals), fusion.depth, weights)


def shipped_setting(config: AdaptiveConfig, shipped: AdaptiveSettings) -> AdaptiveSetting | None:
    """Express the shipped default with a run's signals, without cues and with no time cap.

    Returns
    -------
    AdaptiveSetting or None
        None when the run froze its grams in another way.
    """
    if (shipped.gram3, shipped.gram4) != config.grams():
        return None
    bounds = replace(shipped.bounds, milliseconds=None)
    return AdaptiveSetting(SHIPPED, replace(shipped, cues=None, bounds=bounds))


def _baselines(depth: int) -> list[Baseline]:
    rows = (DENSE_ROW, GRAM3_ROW, GRAM4_ROW)
    single = [Baseline(arm_baseline(SIGNAL_NAMES[row]), "score", (row,), depth) for row in rows]
    return [
        *single,
        Baseline(LEXICAL, "score", (GRAM3_ROW, GRAM4_ROW), depth),
        Baseline(RRF_BASELINE, "rrf", (DENSE_ROW, GRAM3_ROW), depth),
        Baseline(f"{RRF_BASELINE} of three", "rrf", rows, depth),
    ]


def _changed(base: PointConfig, point: dict[str, Any]) -> PointConfig:
    changes: dict[str, Any] = {}
    for path, value in point.items():
        section, _, key = path.rpartition(".")
        (changes.setdefault(section, {}) if section else changes)[key] = value
    sections = {
        key: getattr(base, key).model_copy(update=value) if isinstance(value, dict) else value
        for key, value in changes.items()
    }
    return base.model_copy(update=sections)


def _setting(name: str, point: PointConfig, config: AdaptiveConfig) -> AdaptiveSetting:
    structure = point.structure.model_dump()
    cues = point.cues.model_dump()
    on, arm = structure.pop("on"), cues.pop("arm")
    prior = RowPrior(**point.prior.model_dump())
    settings = AdaptiveSettings(
        *config.grams(),
        depth=point.depth,
        calibration=Calibration(**point.calibration.model_dump()),
        structure=Structure(**structure) if on else None,
        cues=CueWeights(**cues) if arm != NO_CUE else None,
        prior=None if prior == RowPrior() else prior,
        gate=point.gate,
        seats=point.seats,
        bounds=Bounds(candidates=point.candidates, milliseconds=None),
    )
    return AdaptiveSetting(name, settings, arm)


def _distinct(points: list[AdaptiveSetting]) -> Iterator[AdaptiveSetting]:
    """Leave out points that repeat another one; a name that two points share is told apart."""
    seen: set[tuple] = set()
    names: set[str] = set()
    for point in points:
        if point.identity() in seen:
            continue
        seen.add(point.identity())
        name = next(name for name in _names(point.name) if name not in names)
        names.add(name)
        yield replace(point, name=name)


def _names(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({number})" for number in itertools.count(2))


def _short(path: str) -> str:
    section, _, key = path.rpartition(".")
    return key if section in ("", "calibration") else path


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else f"{value:g}"
