"""Which rows were said before and after a row, in the same session."""

from __future__ import annotations

import numpy as np

_SESSION = ("session_id", "channel", "project_id", "agent_id")


def session_neighbours(
    codes_by_name: dict[str, np.ndarray], tables: dict[str, dict[str, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's neighbours in its session.

    A session is a non-empty ``session_id`` within one agent, project and channel; its rows follow
    each other by memory id.

    Parameters
    ----------
    codes_by_name : dict of str to ndarray of int32, shape (n,)
        Codes of the session and the axes, among others.
    tables : dict of str to dict of str to int
        The code of each string.

    Returns
    -------
    before, after : ndarray of int64, shape (n,)
        Rows; -1 at either end of a session, and for rows without one.
    """
    sessions = codes_by_name["session_id"]
    before, after = np.full((2, sessions.size), -1, np.int64)
    rows = np.flatnonzero(sessions != tables["session_id"].get("", -1))
    keys = [codes_by_name[name][rows] for name in _SESSION]
    order = np.lexsort(keys)  # stable: rows of one session stay ascending
    same = np.ones(max(order.size - 1, 0), bool)
    for key in keys:
        same &= np.diff(key[order]) == 0
    earlier, later = rows[order[:-1][same]], rows[order[1:][same]]
    before[later], after[earlier] = earlier, later
    return before, after


def session_keys(
    codes_by_name: dict[str, np.ndarray], tables: dict[str, dict[str, int]]
) -> np.ndarray:
    """Number the sessions: int64, shape (n,), equal for the rows of one session, -1 without one.

    Parameters are those of :func:`session_neighbours`.
    """
    sessions = codes_by_name["session_id"]
    keys = np.full(sessions.size, -1, np.int64)
    rows = np.flatnonzero(sessions != tables["session_id"].get("", -1))
    columns = np.stack([codes_by_name[name][rows] for name in _SESSION], axis=1)
    if rows.size:
        keys[rows] = np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)
    return keys
