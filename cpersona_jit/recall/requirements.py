"""What a setting has to be, checked in one way and said in one sentence."""

from __future__ import annotations

from cpersona_jit.errors import UsageError


def require_number(name: str, value: object, low: float, high: float) -> None:
    """Raise UsageError unless `value` is a number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise UsageError(f"{name} is {value!r}; allowed: a number from {low:g} to {high:g}")


def require_whole(name: str, value: object, low: int, high: int) -> None:
    """Raise UsageError unless `value` is a whole number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UsageError(f"{name} is {value!r}; allowed: a whole number from {low} to {high}")


def require_type(name: str, value: object, *allowed: type) -> None:
    """Raise UsageError unless `value` is of one of the types."""
    if not isinstance(value, allowed):
        names = " or ".join("None" if one is type(None) else one.__name__ for one in allowed)
        raise UsageError(f"{name} is {value!r}; allowed: {names}")
