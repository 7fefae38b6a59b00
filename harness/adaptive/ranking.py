"""One query of a signal pool under many settings: who is a candidate, with which score."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from cpersona_jit.defaults import BASELINE_FUSION
from cpersona_jit.kernels.numpy_path.calibration import DENSE_BLOCK, DENSE_ROW
from cpersona_jit.kernels.numpy_path.fusion import rrf_scores
from cpersona_jit.recall.adaptive_settings import Calibration
from cpersona_jit.recall.evidence import FUSED
from cpersona_jit.recall.gate import gated_rows
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.seats import cue_seats, reserve_seats
from harness.adaptive.grid import AdaptiveSetting, AnySetting, Baseline
from harness.adaptive.pool import SignalPool
from harness.adaptive.stages import (
    candidates_of,
    evidence_of,
    period_of,
    question,
    structure_of,
)

DENSE_SIGNALS = (DENSE_ROW, DENSE_BLOCK)


class Scored(NamedTuple):
    """The candidates of one query under one setting, in tie order; the gated ones left out."""

    place: np.ndarray  # int64 (C,), positions in the query's slice
    score: np.ndarray  # float64 (C,)
    reached: np.ndarray  # bool (2, C), by the list of the dense and of the gram evidence
    leaders: np.ndarray  # int64 (2,), the best of each list; -1 when the gate removed it

    def order(self) -> np.ndarray:
        """Return the candidates, as numbers 0 to C - 1, best first."""
        return np.argsort(-self.score, kind="stable")


class QueryRanker:
    """Ranks one query under any setting; what settings share is computed once.

    Parameters
    ----------
    pool : SignalPool
        The pool.
    query : int
        Number of the query.
    kernels : KernelSet
        The kernels to call.
    """

    def __init__(self, pool: SignalPool, query: int, kernels: KernelSet) -> None:
        self.asked = question(pool, query)
        self._covariance = pool.covariance[query]
        self._kernels = kernels
        self._known: dict[Hashable, Any] = {}

    def scored(self, setting: AnySetting) -> Scored:
        """Score the candidates of a setting."""
        if isinstance(setting, Baseline):
            return self._baseline(setting)
        return self._adaptive(setting)

    def cue_opened(self, setting: AnySetting) -> bool:
        """Whether the setting's cue says something about the store."""
        return isinstance(setting, AdaptiveSetting) and setting.cue in self.asked.envelopes

    def returned(self, setting: AnySetting, limit: int) -> np.ndarray:
        """Return the positions of all rows that a caller gets: the window, then all seats."""
        found = self.scored(setting)
        order = found.order()
        numbers = order[:limit]
        if isinstance(setting, AdaptiveSetting):
            seats = setting.settings.seats
            reserved = reserve_seats(order, found.reached, found.leaders, limit, seats)
            numbers = np.concatenate([numbers, reserved])
            if self.cue_opened(setting):
                inside = self.asked.envelopes[setting.cue].inside[found.place]
                seats = setting.settings.cues.seats
                cued = cue_seats(order, inside, reserved, limit, seats)
                numbers = np.concatenate([numbers, cued])
        return found.place[numbers]

    def _adaptive(self, setting: AdaptiveSetting) -> Scored:
        asked, settings, kernels = self.asked, setting.settings, self._kernels
        envelope = asked.envelopes.get(setting.cue)
        calibration = settings.calibration
        forms = self._once(
            ("forms", calibration),
            lambda: kernels.calibrate(self._covariance, _parameters(calibration)),
        )
        evidence = self._once(("evidence", calibration), lambda: evidence_of(asked, forms, kernels))
        arm = None if envelope is None else setting.cue
        pooled = (calibration, settings.depth, settings.bounds.candidates, settings.prior, arm)
        found = self._once(
            ("candidates", pooled),
            lambda: candidates_of(asked, settings, evidence, envelope, kernels),
        )
        fused = evidence[FUSED, found.place]
        score = fused.copy()
        if settings.structure is not None and settings.bounds.revisions and found.place.size:
            terms = self._once(
                ("structure", pooled, settings.structure),
                lambda: structure_of(
                    asked, evidence[FUSED], found.place, settings.structure, kernels
                ),
            )
            for term in terms:
                score += term
        if settings.prior is not None:
            score += settings.prior.weight * (found.prior - 1.0)
        if envelope is not None:
            score += period_of(asked, envelope, found.place, settings.cues, kernels)
        if settings.gate is None:
            return Scored(found.place, score, found.reached, found.leaders)
        removed = gated_rows(evidence[:, found.place], forms, settings.gate, asked.admitted)
        return _without(Scored(found.place, score, found.reached, found.leaders), removed)

    def _baseline(self, setting: Baseline) -> Scored:
        asked = self.asked
        ranks = np.array([self._ranks(signal, setting.depth) for signal in setting.signals])
        place = np.flatnonzero((ranks > 0).any(axis=0))
        if setting.fusion == "rrf":
            weights, neutral = np.ones(len(ranks)), np.ones(place.size)
            score = rrf_scores(ranks[:, place], weights, BASELINE_FUSION.rrf_k, neutral)
        else:
            score = np.zeros(place.size)
            weights = setting.weights or (1.0,) * len(setting.signals)
            for signal, weight in zip(setting.signals, weights, strict=True):
                deviation = self._covariance[signal, signal] ** 0.5
                if deviation > 0.0:
                    off = asked.signals[signal, place] - asked.mean[signal]
                    score += weight * (off / deviation)
        return Scored(place, score, np.ones((2, place.size), bool), np.full(2, -1))

    def _ranks(self, signal: int, depth: int) -> np.ndarray:
        """1-based ranks of a list of one signal, int32 (P,); a row without a match is in none."""
        return self._once(("ranks", signal, depth), lambda: self._list(signal, depth))

    def _list(self, signal: int, depth: int) -> np.ndarray:
        asked = self.asked
        values = asked.signals[signal, asked.by_row].astype(np.float64)
        if signal not in DENSE_SIGNALS:
            values[values == 0.0] = -np.inf
        best = asked.by_row[self._kernels.top_rows(values, depth)]
        ranks = np.zeros(asked.row.size, np.int32)
        ranks[best] = np.arange(1, best.size + 1)
        return ranks

    def _once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]


def _without(found: Scored, removed: np.ndarray) -> Scored:
    """Leave out candidates; a leader among them leaves no heir."""
    stays = ~removed
    number = np.append(np.where(stays, np.cumsum(stays) - 1, -1), -1)  # -1 leads to the last
    leaders = number[found.leaders]
    return Scored(found.place[stays], found.score[stays], found.reached[:, stays], leaders)


@cache
def _parameters(calibration: Calibration) -> np.ndarray:
    return calibration.parameters()
