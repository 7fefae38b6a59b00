"""Seeded choices that stay the same on every Python version.

Only ``Random.random()`` is used: it is the one method whose sequence Python promises to keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def below(rng: Random, stop: int) -> int:
    """A whole number from 0 to ``stop - 1``."""
    return int(rng.random() * stop)


def pick(rng: Random, items: Sequence[T]) -> T:
    """One of the items."""
    return items[below(rng, len(items))]


def some(rng: Random, items: Sequence[T], count: int) -> list[T]:
    """``count`` different items in random order, all of them when there are fewer."""
    keyed = sorted((rng.random(), index) for index in range(len(items)))
    return [items[index] for _, index in keyed[:count]]
