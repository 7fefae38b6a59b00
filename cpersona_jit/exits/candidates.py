"""What a recall hands to the exits that make more of its rows than a list."""

from __future__ import annotations

from typing import NamedTuple

from cpersona_jit.exits.quoter import Quoter
from cpersona_jit.recall.process import Process
from cpersona_jit.records import Row


class Candidate(NamedTuple):
    """A recalled row."""

    row: Row
    rank: int  # from 0; rows on seats come after those of the window
    score: float
    admission: str  # empty in the window, else the kind of seat


class Candidates(NamedTuple):
    """The rows of a recall, best first, and what became of the others.

    Attributes
    ----------
    rows : tuple of Candidate
        At most as many as were asked for, then those on seats.
    gone : int
        Rows that were ranked, but could not be read any more.
    gated, priced_out : int
        Rows of the pool that the gate removed, and those that a prior of 0 did.
    quoter : Quoter
        Quotes the rows where they match the query.
    degraded : tuple of str
        What the recall had to do without.
    period : dict or None
        The period that a time cue aimed it at.
    state : Process
        What the stages did.
    """

    rows: tuple[Candidate, ...]
    gone: int
    gated: int
    priced_out: int
    quoter: Quoter
    degraded: tuple[str, ...]
    period: dict | None
    state: Process
