"""A frozen pool of arms as arrays: every candidate's rank and score under each arm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from harness.judged import (
    CANDIDATE_COLUMNS,
    QUERY_COLUMNS,
    Judged,
    PoolError,
    read_judged,
    read_meta,
    read_table,
    stack,
)


@dataclass(frozen=True)
class Pool(Judged):
    """A pool of A arms; a document is one candidate of a query at most.

    Parameters
    ----------
    arms : tuple of str
        Names of the arms.
    z_scores : float64 (A, N)
        ``(score - mean) / std`` over the admitted rows of the query's scope; 0 where std is 0.
    ranks : int32 (A, N)
        1-based rank in the arm's list, 0 when the arm did not list the row.
    """

    arms: tuple[str, ...]
    z_scores: np.ndarray
    ranks: np.ndarray


def load_pool(pool_dir: Path) -> Pool:
    """Read a frozen pool.

    Parameters
    ----------
    pool_dir : Path
        Folder that freezing wrote.

    Returns
    -------
    Pool

    Raises
    ------
    PoolError
        A file is missing, damaged, incomplete, or the files contradict each other.
    """
    pool_dir = Path(pool_dir)
    meta = read_meta(pool_dir, "arms")
    arms = _arm_names(pool_dir, meta["arms"])
    queries = read_table(
        pool_dir / "queries.parquet",
        [*QUERY_COLUMNS, *(f"{arm}_{part}" for arm in arms for part in ("mean", "std"))],
    )
    candidates = read_table(
        pool_dir / "candidates.parquet",
        [*CANDIDATE_COLUMNS, *(f"{arm}_{part}" for arm in arms for part in ("rank", "score"))],
        dictionary=["doc_id"],
    )
    common = read_judged(pool_dir, queries, candidates, meta)
    if np.unique(common["gold_judged"]).size != common["gold_judged"].size:
        raise PoolError(f"{pool_dir}: a relevant document is a candidate of its query twice")
    return Pool(
        **common,
        arms=arms,
        z_scores=_z_scores(candidates, queries, arms, np.diff(common["offsets"])),
        ranks=stack(candidates, [f"{arm}_rank" for arm in arms], np.int32),
    )


def _arm_names(pool_dir: Path, arms: object) -> tuple[str, ...]:
    names = [arm.get("name") for arm in arms if isinstance(arm, dict)] if arms else []
    sound = all(isinstance(name, str) and name for name in names)
    if not names or not sound or not len(set(names)) == len(names) == len(arms):
        raise PoolError(
            f"{pool_dir / 'meta.json'}: arms is {str(arms)[:60]!r}; allowed: a list of objects, "
            f"each with a name of its own; delete the folder {pool_dir.name} and run again"
        )
    return tuple(names)


def _z_scores(
    candidates: pa.Table, queries: pa.Table, arms: tuple[str, ...], sizes: np.ndarray
) -> np.ndarray:
    """Standardise as score fusion does: subtract, then divide; a flat arm says nothing."""
    z = stack(candidates, [f"{arm}_score" for arm in arms], np.float64)
    for row, arm in enumerate(arms):
        mean = np.repeat(queries[f"{arm}_mean"].to_numpy(), sizes)
        std = np.repeat(queries[f"{arm}_std"].to_numpy(), sizes)
        z[row] -= mean
        z[row] = np.divide(z[row], std, out=np.zeros_like(std), where=std > 0)
    return z
