"""What a recall did, in enough detail to replay its fusion without an index or a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.isolation import Axes
from cpersona_jit.recall.arms import ArmResult
from cpersona_jit.recall.explain import pool_contributions
from cpersona_jit.recall.pipeline import Ranking
from cpersona_jit.recall.settings import RecallSettings, settings_as_dict
from cpersona_jit.text.grams import normalise


@dataclass(frozen=True)
class ArmTrace:
    """One arm of one recall.

    Attributes
    ----------
    name : str
        Name of the arm.
    count : int
        Rows the arm scored.
    mean, std : float
        Of its integer scores over those rows.
    unit : float
        Integer score times unit is a cosine (dense) or a length-weighted sum of idf (gram).
    ids, scores : ndarray of int64
        The arm's own list, best first.
    note : str
        A bound that acted on the arm; empty otherwise.
    """

    name: str
    count: int
    mean: float
    std: float
    unit: float
    ids: np.ndarray
    scores: np.ndarray
    note: str


@dataclass(frozen=True)
class RecallTrace:
    """One recall.

    Attributes
    ----------
    query : str
        The query in the form that its grams are cut from.
    axes : dict
        The isolation axes of the call.
    settings : dict
        Arms, fusion and depth.
    limit : int
        Rows asked for. It has no part in what was retrieved.
    generation : int
        Write generation of the snapshot that answered.
    admitted : int
        Rows that the axes admit.
    embedder, fingerprint : str
        The active model.
    kernels : str
        ``numba``, or ``numpy`` while those compile.
    arms : tuple of ArmTrace
        The arms that ran.
    pool_ids : ndarray of int64, shape (P,)
        Memory ids of the candidates that fusion considered, in tie order.
    pool_ranks, pool_scores, pool_z : ndarray, shape (A, P)
        Rank (0: not in the arm's list), integer score and z-score of each candidate in each arm.
    pool_prior, pool_fused : ndarray of float64, shape (P,)
        The row weight and the fused score.
    contributions : dict of str to ndarray of float64, shape (P,)
        What each arm adds to the fused score; they add up to it within rounding.
    ranking : ndarray of int64
        Memory ids, best first, before the limit cut them.
    milliseconds : dict of str to float
        Wall time of each stage. The only part of a trace that may differ between equal calls.
    """

    query: str
    axes: dict
    settings: dict
    limit: int
    generation: int
    admitted: int
    embedder: str
    fingerprint: str
    kernels: str
    arms: tuple[ArmTrace, ...]
    pool_ids: np.ndarray
    pool_ranks: np.ndarray
    pool_scores: np.ndarray
    pool_z: np.ndarray
    pool_prior: np.ndarray
    pool_fused: np.ndarray
    contributions: dict[str, np.ndarray]
    ranking: np.ndarray
    milliseconds: dict[str, float]


def trace_recall(
    query: str,
    axes: Axes,
    settings: RecallSettings,
    limit: int,
    columns: Columns,
    ranking: Ranking,
    embedder: str,
    kernels: str,
) -> RecallTrace:
    """Put a trace together from what the stages left."""
    pool = ranking.pool
    return RecallTrace(
        query=normalise(query),
        axes={
            "agent_id": axes.agent_id,
            "project_id": axes.project_id,
            "channel": axes.channel,
        },
        settings=settings_as_dict(settings),
        limit=limit,
        generation=columns.generation,
        admitted=ranking.mask.count,
        embedder=embedder,
        fingerprint=columns.fingerprint,
        kernels=kernels,
        arms=tuple(_trace_arm(arm, columns) for arm in pool.arms),
        pool_ids=columns.ids[pool.rows],
        pool_ranks=pool.ranks,
        pool_scores=pool.scores,
        pool_z=pool.z,
        pool_prior=ranking.prior,
        pool_fused=ranking.fused,
        contributions=pool_contributions(pool, settings.fusion),
        ranking=columns.ids[pool.rows[ranking.order]],
        milliseconds=dict(ranking.milliseconds),
    )


def _trace_arm(arm: ArmResult, columns: Columns) -> ArmTrace:
    return ArmTrace(
        arm.spec.name,
        arm.count,
        arm.mean,
        arm.std,
        arm.unit,
        columns.ids[arm.rows],
        arm.scores,
        arm.note,
    )
