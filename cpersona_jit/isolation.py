"""Who may see which row: the isolation predicate, in both of its forms, and nowhere else.

===========  ==========================  ====================  =======================
axis         None                        empty string          X
===========  ==========================  ====================  =======================
agent_id     across_agents() only        matches nothing       exactly X
project_id   no filter                   the global pool only  X and the global pool
channel      no filter                   no filter             X and channel-less rows
===========  ==========================  ====================  =======================

The SQL form guards rows that are fetched by reference; the code form becomes the mask that the
kernels apply before top-k. Names are compared code point by code point, never normalised: two
spellings are two agents, in both forms alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpersona_jit.errors import UsageError


@dataclass(frozen=True, slots=True)
class Axes:
    """The scope of one call. Build it with :meth:`agent` or :meth:`across_agents`.

    Parameters
    ----------
    agent_id : str or None
        None only together with `every_agent`, so that it cannot be left out by accident.
    project_id, channel : str or None
        See the table of the module.
    every_agent : bool
        Declares an administrative call over all agents.

    Raises
    ------
    UsageError
        `agent_id` is missing, or an axis is not a string SQLite can hold.
    """

    agent_id: str | None
    project_id: str | None = None
    channel: str | None = None
    every_agent: bool = False

    def __post_init__(self) -> None:
        """Refuse axes that a predicate could not be built from."""
        for name in ("agent_id", "project_id", "channel"):
            _check_axis(name, getattr(self, name))
        if self.agent_id is None and not self.every_agent:
            raise UsageError(
                "agent_id is required (only Axes.across_agents() looks at every agent)"
            )
        if self.agent_id is not None and self.every_agent:
            raise UsageError(f"agent_id {self.agent_id!r} contradicts a call across all agents")

    @classmethod
    def agent(
        cls, agent_id: str, project_id: str | None = None, channel: str | None = None
    ) -> Axes:
        """Axes of one agent's call."""
        return cls(agent_id, project_id, channel)

    @classmethod
    def across_agents(cls, project_id: str | None = None, channel: str | None = None) -> Axes:
        """Axes of an administrative call over every agent's rows."""
        return cls(None, project_id, channel, every_agent=True)


def _check_axis(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a string, not {type(value).__name__}: {value!r}")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise UsageError(f"{name} {value!a} holds a lone surrogate, which no stored row can")


def sql_predicate(axes: Axes) -> tuple[str, tuple[str, ...]]:
    """SQL form of the predicate over the table ``memories``.

    Returns
    -------
    sql : str
        A parenthesised condition, never empty.
    params : tuple of str
        Its positional parameters.
    """
    terms: list[str] = []
    params: list[str] = []
    if axes.agent_id is not None:
        terms.append("agent_id = ? AND agent_id <> ''")
        params.append(axes.agent_id)
    if axes.project_id is not None:
        terms.append("project_id IN (?, '')")
        params.append(axes.project_id)
    if axes.channel:
        terms.append("channel IN (?, '')")
        params.append(axes.channel)
    return f"({' AND '.join(terms) or '1'})", tuple(params)


def code_predicate(
    axes: Axes,
    agent_codes: NDArray[np.integer],
    project_codes: NDArray[np.integer],
    channel_codes: NDArray[np.integer],
    tables: Mapping[str, Mapping[str, int]],
) -> NDArray[np.bool_]:
    """Array form of the predicate, over dictionary-encoded axes.

    Parameters
    ----------
    axes : Axes
        Scope of the call.
    agent_codes, project_codes, channel_codes : ndarray of int, shape (n,)
        One code per row.
    tables : mapping
        ``{"agent_id": {name: code}, "project_id": {...}, "channel": {...}}``. A name without a code
        occurs in no row.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where the row may be seen.
    """
    admitted = np.ones(len(agent_codes), dtype=np.bool_)
    if axes.agent_id is not None:
        # The empty agent never matches, whatever a table says.
        names = (axes.agent_id,) if axes.agent_id else ()
        admitted &= _holds_any(agent_codes, tables["agent_id"], names)
    if axes.project_id is not None:
        admitted &= _holds_any(project_codes, tables["project_id"], (axes.project_id, ""))
    if axes.channel:
        admitted &= _holds_any(channel_codes, tables["channel"], (axes.channel, ""))
    return admitted


def _holds_any(
    codes: NDArray[np.integer], table: Mapping[str, int], names: tuple[str, ...]
) -> NDArray[np.bool_]:
    found = np.zeros(len(codes), dtype=np.bool_)
    for code in {table[name] for name in names if name in table}:
        found |= codes == code
    return found


def home_predicate(agent_id: str, project_id: str, channel: str) -> tuple[str, tuple[str, ...]]:
    """Exactly the place a row was stored in: what dedup compares, never wider, never narrower.

    Returns
    -------
    sql : str
    params : tuple of str
    """
    return "(agent_id = ? AND project_id = ? AND channel = ?)", (agent_id, project_id, channel)
