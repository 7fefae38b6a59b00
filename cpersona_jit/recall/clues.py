"""Clues that a strong candidate hands over: its session, its day, its speaker, its project.

A key is a number that the rows of one group share. Which number it is decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpersona_jit.columns.snapshot import UNDATED, Columns

CLUES = ("session", "time", "source", "project")
_DAY_US = 86_400_000_000
_COLUMNS = {"source": "source_name", "project": "project_id"}


def clue_keys(columns: Columns, rows: np.ndarray, clues: Sequence[str]) -> np.ndarray:
    """Return the group of each row under each clue, int64, shape (clues, rows); -1 without one.

    Speakers and projects of one name under two agents are two, as sessions are.

    Parameters
    ----------
    columns : Columns
        The snapshot.
    rows : ndarray of int64
        Some of its rows.
    clues : sequence of str
        Some of ``CLUES``.
    """
    keys = np.empty((len(clues), rows.size), np.int64)
    for number, clue in enumerate(clues):
        if clue == "session":
            keys[number] = columns.session_key[rows]
        elif clue == "time":
            keys[number] = day_keys(columns.event_time[rows])
        else:
            keys[number] = _name_keys(columns, rows, _COLUMNS[clue])
    return keys


def day_keys(event_time: np.ndarray) -> np.ndarray:
    """Return the UTC day of each time in microseconds, counted from the first; undated: -1."""
    return np.where(event_time == UNDATED, -1, event_time // _DAY_US - UNDATED // _DAY_US)


def _name_keys(columns: Columns, rows: np.ndarray, name: str) -> np.ndarray:
    codes, table = columns.codes_by_name[name][rows], columns.tables[name]
    agents = columns.codes_by_name["agent_id"][rows].astype(np.int64)
    return np.where(codes == table.get("", -1), -1, agents * len(table) + codes)
