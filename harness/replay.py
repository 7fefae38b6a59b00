"""Replay: rank the candidates of a frozen pool under any number of settings, with no index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed

from cpersona_jit.kernels.numpy_path.fusion import rrf_scores, score_fusion
from harness.grid import Setting, setting_arrays
from harness.pool import Pool

SETTING_CHUNK = 64
"""Settings of one job. Packing the pool costs a job about as much as ten settings do; more settings
a job would leave cores idle at the end of a sweep, and the progress bar without steps."""

Kernel = Callable[..., np.ndarray]


def replay(
    pool: Pool,
    settings: Sequence[Setting],
    *,
    kernel: Kernel | None = None,
    jobs: int = -1,
    progress: Callable[[int], None] | None = None,
) -> np.ndarray:
    """Rank the relevant documents of every query under every setting.

    Parameters
    ----------
    pool : Pool
        A frozen pool.
    settings : sequence of Setting
        S of them, in any order.
    kernel : callable, optional
        Replay kernel; the compiled one unless given.
    jobs : int
        Threads, as joblib counts them; the kernel releases the interpreter lock.
    progress : callable, optional
        Told how many more settings are done, from this thread.

    Returns
    -------
    int32 (S, J)
        1-based rank of each of the pool's J relevant documents; 0 when the setting does not make
        it a candidate.
    """
    run = kernel or compiled_kernel()
    starts = range(0, len(settings), SETTING_CHUNK)
    jobs_out = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
        delayed(_chunk_ranks)(pool, settings[start : start + SETTING_CHUNK], run)
        for start in starts
    )
    ranks = np.zeros((len(settings), len(pool.judged_ids)), dtype=np.int32)
    for start, part in zip(starts, jobs_out, strict=True):
        ranks[start : start + len(part)] = part
        if progress is not None:
            progress(len(part))
    return ranks


def ranked_lists(pool: Pool, setting: Setting, *, top: int) -> list[np.ndarray]:
    """Rank every query's candidates under one setting with the recall pipeline's own fusion.

    Parameters
    ----------
    pool : Pool
        A frozen pool.
    setting : Setting
        The setting to replay.
    top : int
        Length at which each list is cut.

    Returns
    -------
    list of int64 arrays
        For each query, positions inside its slice of the pool, best first.
    """
    weights = np.array([setting.fusion.weights.get(arm, 0.0) for arm in pool.arms])
    active = np.flatnonzero(weights > 0)
    lists = []
    for start, stop in zip(pool.offsets[:-1], pool.offsets[1:], strict=True):
        ranks = pool.ranks[active, start:stop]
        ranks = np.where(ranks <= setting.depth, ranks, 0)
        neutral = np.ones(stop - start)
        if setting.fusion.kind == "rrf":
            scores = rrf_scores(ranks, weights[active], setting.fusion.rrf_k, neutral)
        else:
            z = pool.z_scores[active, start:stop]
            scores = score_fusion(z, weights[active], neutral, 0.0)
        candidates = np.flatnonzero((ranks > 0).any(axis=0))
        # The pool lies in the written tie order, so a stable sort keeps it.
        order = np.argsort(-scores[candidates], kind="stable")
        lists.append(candidates[order[:top]])
    return lists


def compiled_kernel() -> Kernel:
    """Return the compiled replay kernel; importing it takes seconds, so only when asked for."""
    from cpersona_jit.kernels.replay import replay_gold_ranks

    return replay_gold_ranks


def _chunk_ranks(pool: Pool, settings: Sequence[Setting], kernel: Kernel) -> np.ndarray:
    arrays = setting_arrays(list(settings), pool.arms)
    ranks = np.zeros((len(settings), len(pool.judged_ids)), dtype=np.int32)
    ranks[:, pool.gold_judged] = kernel(
        pool.offsets, pool.z_scores, pool.ranks, pool.gold_ptr, pool.gold, *arrays
    )
    return ranks
