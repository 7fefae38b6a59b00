"""What the structure terms are weighted by, and the context deficit they are scaled with."""

from __future__ import annotations

from typing import NamedTuple


class StructureWeights(NamedTuple):
    """Weights of the structure terms, in units of the fused score.

    Attributes
    ----------
    near, next_near : float
        What a row gets of the strength of a neighbour one and two places away in its session.
    strong : float
        Fused score above which a neighbour has strength to lend.
    question : float
        Added to a row that is a question.
    speaker : float
        Added to a row whose speaker the query names.
    """

    near: float
    next_near: float
    strong: float
    question: float
    speaker: float


def context_deficit(
    alternation: float, median_length: float, least_alternation: float, half_length: float
) -> float:
    """How much rows need their context to be understood, from 0 (not at all) to 1.

    Parameters
    ----------
    alternation : float
        Share of the adjacent rows of a session that differ in their speaker.
    median_length : float
        Median length of the rows, in characters.
    least_alternation : float
        Alternation up to which the rows are taken for no conversation: the deficit is then 0.
    half_length : float
        Length at which half of the deficit is left, in characters.

    Returns
    -------
    float
    """
    if not alternation > least_alternation:
        return 0.0
    return 1.0 / (1.0 + (median_length / half_length) ** 2)
