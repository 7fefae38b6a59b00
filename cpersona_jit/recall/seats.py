"""Seats beyond the window: for what one kind of evidence found, and for a cue's period."""

from __future__ import annotations

from itertools import chain, zip_longest

import numpy as np


def reserve_seats(
    order: np.ndarray, reached: np.ndarray, leaders: np.ndarray, limit: int, seats: int
) -> np.ndarray:
    """Choose the rows that keep a seat after the window.

    The best row of each kind of evidence comes first: with two seats or more, whatever either kind
    puts on top is returned. Then the kinds take turns with the best rows that they alone reached,
    so that neither takes all. A row that the gate removed gets no seat, and seats that nobody is
    left for stay empty.

    Parameters
    ----------
    order : ndarray of int64
        Candidates, best first; those that the gate removed are left out.
    reached : ndarray of bool, shape (2, P)
        Which kinds of evidence have the candidate in their list.
    leaders : ndarray of int64, shape (2,)
        The candidate with the most evidence of each kind; -1 when its list is empty.
    limit : int
        Length of the window; who asks for no rows gets no seats either.
    seats : int
        Seats to give.

    Returns
    -------
    ndarray of int64
        At most `seats` candidates outside the window, best first.
    """
    outside = order[limit:] if limit > 0 else order[:0]
    first = [leader for leader in leaders.tolist() if (outside == leader).any()]
    by_one = outside[reached[0, outside] != reached[1, outside]]
    by_dense = reached[0, by_one]
    alone = by_one[by_dense][:seats].tolist(), by_one[~by_dense][:seats].tolist()
    turns = chain.from_iterable(zip_longest(*alone))
    wanted = dict.fromkeys([*first, *(row for row in turns if row is not None)])
    seated = np.zeros(reached.shape[1], bool)
    seated[list(wanted)[:seats]] = True
    return outside[seated[outside]]


def cue_seats(
    order: np.ndarray, inside: np.ndarray, reserved: np.ndarray, limit: int, seats: int
) -> np.ndarray:
    """Return the best candidates of a period that neither the window nor a reserved seat holds.

    Parameters
    ----------
    order, limit, seats
        As in :func:`reserve_seats`.
    inside : ndarray of bool, shape (P,)
        Candidates in the period.
    reserved : ndarray of int64
        Candidates that have a seat.
    """
    outside = order[limit:] if limit > 0 else order[:0]
    wanted = inside.copy()
    wanted[reserved] = False
    return outside[wanted[outside]][:seats]


def leading_rows(reached: np.ndarray, evidence: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the candidate that leads the list of each kind of evidence, int64, shape (2,).

    Parameters
    ----------
    reached : ndarray of bool, shape (2, P)
        Which kinds have the candidate in their list.
    evidence : ndarray of float64, shape (2 or more, P)
        Dense and gram evidence of each candidate.
    rows : ndarray of int64, shape (P,)
        The candidates; of equals the lowest row leads, as in the lists.

    Returns
    -------
    ndarray of int64
        Positions among the candidates; -1 for a kind with an empty list.
    """
    leaders = np.full(2, -1, np.int64)
    if not rows.size:
        return leaders
    for kind in (0, 1):
        shown = np.where(reached[kind], evidence[kind], -np.inf)
        first = int(shown.argmax())
        if reached[kind, first]:
            level = np.flatnonzero(shown == shown[first])
            leaders[kind] = first if level.size == 1 else level[rows[level].argmin()]
    return leaders
