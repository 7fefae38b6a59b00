"""The two windows of a response: how many items (count), and how much quoted text (budget)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from cpersona_jit.exits.reconstruct.settings import ReconstructSettings

Origin = Literal["forced", "requested", "default"]


class Window(NamedTuple):
    """What became of a wish, a number of items or of characters.

    Attributes
    ----------
    requested : int or None
        The wish; None when the call had none.
    effective : int
        The number that holds.
    source : {"forced", "requested", "default"}
        Where it comes from.
    clamped : bool
        Whether a bound changed it.
    reason : str
        ``forced``, the bound that changed it (``max_count``, ``max_budget``, ``one_quote``), or
        empty when the call got what it asked for.
    """

    requested: int | None
    effective: int
    source: Origin
    clamped: bool
    reason: str


def count_window(requested: int | None, policy: ReconstructSettings) -> Window:
    """Return how many items a response may have; those on reserved seats come on top."""
    base, source = _base(policy.forced_count, requested, policy.default_count)
    effective = min(base, policy.max_count)
    clamped = effective != base
    reason = "max_count" if clamped else "forced" if source == "forced" else ""
    return Window(requested, effective, source, clamped, reason)


def budget_window(
    requested: int | None, count: int, reserved: list[int], policy: ReconstructSettings
) -> Window:
    """Return how many characters a response may quote, joiners counted.

    Parameters
    ----------
    requested : int or None
        The call's budget.
    count : int
        Items of the window.
    reserved : list of int
        Positions of the items on reserved seats. Only the default grows with them.
    policy : ReconstructSettings
        The operator's policy.
    """
    base, source = _base(policy.forced_budget, requested, default_budget(count, reserved, policy))
    effective = max(min(base, policy.max_budget), policy.head_chars(0))
    reason = "forced" if source == "forced" else ""
    if effective != base:
        reason = "max_budget" if effective < base else "one_quote"
    return Window(requested, effective, source, effective != base, reason)


def default_budget(count: int, reserved: list[int], policy: ReconstructSettings) -> int:
    """Return the budget of a call without one: no head of its window is cut off by a default."""
    heads = sum(map(policy.head_chars, range(count)))
    return max(policy.default_budget, heads) + sum(map(policy.head_chars, reserved))


def _base(forced: int | None, requested: int | None, default: int) -> tuple[int, Origin]:
    if forced is not None:
        return forced, "forced"
    if requested is not None:
        return requested, "requested"
    return default, "default"
