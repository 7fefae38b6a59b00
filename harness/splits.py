"""Which queries may choose a setting, and which only judge the choice."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from sklearn.model_selection import GroupShuffleSplit

MIN_SCOPES = 6
"""With fewer scopes than this a split by scope would hang on one or two of them."""

ALL, VALIDATION, UNSEEN = "all", "validation", "unseen"
DEVELOPMENT, HOLDOUT = "development", "holdout"
PARTS = (ALL, VALIDATION, UNSEEN)


def validation_mask(
    query_ids: Sequence[str], scope_ids: Sequence[str], *, share: float, seed: int
) -> np.ndarray:
    """Choose the validation queries; the rest is unseen.

    Whole scopes go to one part, so that nothing learnt on a conversation is judged on it. Data of
    fewer than six scopes is split by a hash of the query id.

    Parameters
    ----------
    query_ids, scope_ids : sequence of str
        One entry per query.
    share : float
        Share of the scopes (or of the queries) that goes to validation.
    seed : int
        Decides the split together with the ids.

    Returns
    -------
    bool (Q,)
        Both parts have at least one query when there are two or more.
    """
    if len(set(scope_ids)) < MIN_SCOPES:
        return _by_query_hash(query_ids, share, seed)
    # Sorted first: the split must not depend on the order in which the file lists its scopes.
    names, groups = np.unique(np.asarray(scope_ids, dtype=str), return_inverse=True)
    taken = _taken(len(names), share)
    splitter = GroupShuffleSplit(n_splits=1, train_size=taken, random_state=seed)
    chosen, _ = next(splitter.split(np.zeros(len(names)), groups=np.arange(len(names))))
    return np.isin(groups, chosen)


def _by_query_hash(query_ids: Sequence[str], share: float, seed: int) -> np.ndarray:
    draws = [hashlib.sha256(f"{seed}\n{query}".encode()).digest() for query in query_ids]
    order = sorted(range(len(draws)), key=draws.__getitem__)
    mask = np.zeros(len(draws), dtype=bool)
    mask[order[: _taken(len(draws), share)]] = True
    return mask


def _taken(things: int, share: float) -> int:
    """Return the share rounded down, leaving one on each side where possible."""
    return min(max(math.floor(share * things), 1), max(things - 1, 1))
