"""Which rows were said before and after a row, in the same session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.masks import Mask
from cpersona_jit.kernels.row_mask import has_rows

_SESSION = ("session_id", "channel", "project_id", "agent_id")
# Sessions that are put in order one by one; for more, all are.
_FEW_SESSIONS = 32


class Sessions(NamedTuple):
    """Where each row stands in its session: int64, shape (n,) each; -1 without a session.

    A session is a non-empty ``session_id`` within one agent, project and channel; its rows follow
    each other by memory id. What stands here of rows that are gone has no meaning.
    """

    before: np.ndarray  # the row said before it, -1 at the beginning
    after: np.ndarray  # the row said after it, -1 at the end
    key: np.ndarray  # a number that the rows of one session share, and no others


def ordered_sessions(
    codes_by_name: Mapping[str, np.ndarray],
    tables: Mapping[str, Mapping[str, int]],
    ids: np.ndarray,
    alive: Mask,
) -> Sessions:
    """Return the sessions of all rows.

    Parameters
    ----------
    codes_by_name : mapping of str to ndarray of int32, shape (n,)
        Codes of the session and the axes, among others.
    tables : mapping of str to mapping of str to int
        The code of each string.
    ids : ndarray of int64, shape (n,)
        Memory ids.
    alive : Mask
        Rows that are not gone.
    """
    sessions = codes_by_name["session_id"]
    before, after, key = np.full((3, sessions.size), -1, np.int64)
    rows = np.flatnonzero(alive.as_bools(ids.size) & (sessions != tables["session_id"].get("", -1)))
    if rows.size:
        own = _numbered([codes_by_name[name][rows] for name in _SESSION])
        order = np.lexsort((ids[rows], own))
        same = np.diff(own[order]) == 0
        earlier, later = rows[order[:-1][same]], rows[order[1:][same]]
        before[later], after[earlier] = earlier, later
        key[rows] = own
    return Sessions(before, after, key)


def changed_sessions(
    known: Sessions,
    codes_by_name: Mapping[str, np.ndarray],
    tables: Mapping[str, Mapping[str, int]],
    ids: np.ndarray,
    alive: Mask,
    touched: np.ndarray,
) -> tuple[np.ndarray, Sessions] | None:
    """Put those sessions in order whose rows came or went.

    Parameters
    ----------
    known : Sessions
        Of the first rows, before.
    codes_by_name, tables, ids, alive
        As in `ordered_sessions`.
    touched : ndarray of int64
        The rows that are new, and those that are gone since.

    Returns
    -------
    rows : ndarray of int64, shape (m,)
        All rows of those sessions.
    sessions : Sessions
        Where those rows stand now, shape (m,) each. None in place of both when so many sessions
        changed that it is less work to order all.
    """
    touched = touched[codes_by_name["session_id"][touched] != tables["session_id"].get("", -1)]
    places = np.stack([codes_by_name[name][touched] for name in _SESSION], axis=1)
    kinds = np.unique(places, axis=0) if touched.size else places
    if kinds.shape[0] > _FEW_SESSIONS:
        return None
    found: list[np.ndarray] = [np.zeros((4, 0), np.int64)]
    number = known.key.max(initial=-1)
    for codes in kinds:
        # By the rarest name first: most rows are looked at only once.
        rows = np.flatnonzero(codes_by_name["session_id"] == codes[0])
        for name, code in zip(_SESSION[1:], codes[1:], strict=True):
            rows = rows[codes_by_name[name][rows] == code]
        rows = rows[has_rows(alive.words, rows)]
        rows = rows[np.argsort(ids[rows], kind="stable")]
        older = rows[rows < known.key.size]
        number += not older.size
        own = known.key[older[0]] if older.size else number
        before, after = np.full((2, rows.size), -1, np.int64)
        before[1:], after[:-1] = rows[:-1], rows[1:]
        found.append(np.stack((rows, before, after, np.full(rows.size, own))))
    rows, *sessions = np.concatenate(found, axis=1)
    return rows, Sessions(*sessions)


def _numbered(columns: list[np.ndarray]) -> np.ndarray:
    """Number the distinct combinations of codes, int64: equal numbers for equal ones."""
    number = columns[0].astype(np.int64)
    for codes in columns[1:]:
        spread = int(codes.max()) + 1
        if int(number.max()) >= (1 << 62) // spread:  # would not fit: number those that occur
            number = np.unique(number, return_inverse=True)[1].reshape(-1).astype(np.int64)
        number = number * spread + codes
    return number
