"""What resolvers share: the time of the question, and the table of their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from cpersona_jit.cues.periods import Cycle, Period, changed, latest
from cpersona_jit.cues.time_cue import SessionReference

Value = Period | Cycle | SessionReference
Captures = dict[str, Any]


class NoReferenceError(Exception):
    """A relative time was met, and nobody said when the question was asked."""


@dataclass(frozen=True, slots=True)
class Context:
    """When the question was asked; None is unknown."""

    asked: datetime | None

    @property
    def now(self) -> datetime:
        """Time of the question."""
        if self.asked is None:
            raise NoReferenceError
        return self.asked

    @property
    def today(self) -> date:
        """Day of the question."""
        return self.now.date()


Resolver = Callable[..., Value | None]
RESOLVERS: dict[str, Resolver] = {}


def resolver(function: Resolver) -> Resolver:
    """Enter a function under its name; forms name it as text."""
    RESOLVERS[function.__name__] = function
    return function


def period_of(context: Context, value: Value) -> Period | None:
    """Period that a value means when nothing more is said."""
    return latest(value, context.today) if isinstance(value, Cycle) else value


def change_each(value: Value, change: Callable[[Period], Period | None]) -> Value | None:
    """Change a period, or each occurrence of a cycle."""
    return changed(value, change) if isinstance(value, Cycle) else change(value)
