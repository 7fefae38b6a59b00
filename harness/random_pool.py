"""Random candidate pools and settings, for measuring how fast fusion and replay are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MIXES = ("rrf", "score", "sparse weights", "depths", "all")
GOLDS = 2  # relevant rows per query
_SEED = 20261130


class FrozenPool(NamedTuple):
    """The pool's arrays in the order in which both implementations take them."""

    offsets: np.ndarray  # int64 (Q + 1,)
    scores: np.ndarray  # float64 (A, rows)
    ranks: np.ndarray  # int32 (A, rows)
    gold_ptr: np.ndarray  # int64 (Q + 1,)
    gold: np.ndarray  # int64 (2 Q,)


class SettingArrays(NamedTuple):
    """Settings as both implementations take them."""

    kind: np.ndarray  # uint8 (S,), 0 reciprocal rank fusion, 1 score fusion
    weights: np.ndarray  # float64 (S, A)
    rrf_k: np.ndarray  # float64 (S,)
    depth: np.ndarray  # int32 (S,)


def frozen_pool(queries: int, candidates: int, arms: int) -> FrozenPool:
    """Make a pool of random z-scores; each arm ranks the better half of every query's rows."""
    rng = np.random.default_rng(_SEED)
    shape = (arms, queries, candidates)
    scores = rng.standard_normal(shape)
    places = np.argsort(np.argsort(-scores, axis=2), axis=2) + 1
    ranks = np.where(places <= candidates // 2, places, 0).astype(np.int32)
    gold = np.argsort(rng.random((queries, candidates)), axis=1)[:, :GOLDS]
    return FrozenPool(
        np.arange(queries + 1) * candidates,
        scores.reshape(arms, -1),
        ranks.reshape(arms, -1),
        np.arange(queries + 1) * GOLDS,
        gold.reshape(-1),
    )


def settings_mix(mix: str, count: int, arms: int, deepest: int) -> SettingArrays:
    """Make `count` settings of one of the `MIXES`; what a mix does not vary is at its fullest."""
    rng = np.random.default_rng(_SEED)
    alternating = np.arange(count) % 2
    kind = {"rrf": np.zeros(count), "score": np.ones(count)}.get(mix, alternating)
    weights = rng.choice([0.25, 0.5, 1.0, 2.0], (count, arms))
    if mix in ("sparse weights", "all"):
        weights[:, 2:] = 0.0  # two of the arms vote, which ones differs
        weights = rng.permuted(weights, axis=1)
    depths = (
        [deepest // 20, deepest // 5, deepest // 2, deepest]
        if mix in ("depths", "all")
        else [deepest]
    )
    return SettingArrays(
        kind.astype(np.uint8),
        weights,
        rng.choice([10.0, 60.0], count),
        rng.choice(depths, count).astype(np.int32),
    )
