"""Reserved seats: rows outside the window that only one kind of evidence reached."""

from __future__ import annotations

import numpy as np


def reserve_seats(order: np.ndarray, reached: np.ndarray, limit: int, seats: int) -> np.ndarray:
    """Choose the rows that keep a seat after the window.

    Parameters
    ----------
    order : ndarray of int64
        Candidates, best first.
    reached : ndarray of bool, shape (2, P)
        Which kinds of evidence have the candidate in their list.
    limit : int
        Length of the window.
    seats : int
        Seats to give.

    Returns
    -------
    ndarray of int64
        At most `seats` candidates outside the window, best first, that exactly one kind reached;
        the kinds take turns, so that neither takes all.
    """
    outside = order[limit:] if limit > 0 else order[:0]
    alone = [outside[reached[kind, outside] & ~reached[1 - kind, outside]] for kind in (0, 1)]
    turns = [candidate for pair in _in_turn(*alone) for candidate in pair][:seats]
    place = {int(candidate): i for i, candidate in enumerate(order.tolist())}
    return np.array(sorted(turns, key=lambda candidate: place[candidate]), np.int64)


def _in_turn(first: np.ndarray, second: np.ndarray) -> list[tuple[int, ...]]:
    rounds = max(first.size, second.size)
    return [tuple(int(kind[i]) for kind in (first, second) if i < kind.size) for i in range(rounds)]
