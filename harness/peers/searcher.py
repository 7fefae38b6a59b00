"""One way to search: what is timed, and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np


class Searcher(NamedTuple):
    """A search, and its answer in the form in which answers are compared.

    Attributes
    ----------
    search : callable
        From the number of a query to an answer of whatever form: what is timed.
    read : callable
        From that answer to rows or distances, int64, the best first.
    """

    search: Callable[[int], object]
    read: Callable[[object], np.ndarray]

    def answer(self, query: int) -> np.ndarray:
        """Search, and read the answer."""
        return self.read(self.search(query))


def all_queries(searchers: Mapping[str, Searcher], count: int) -> dict[str, Callable[[], object]]:
    """Return for each searcher a call that asks all queries."""

    def asking(search: Callable[[int], object]) -> Callable[[], object]:
        return lambda: [search(query) for query in range(count)]

    return {name: asking(one.search) for name, one in searchers.items()}


def share_in_common(engine: Searcher, peer: Searcher, count: int) -> float:
    """Return the share of the engine's best rows that a peer finds too, over all queries."""
    shares = [np.isin(engine.answer(q), peer.answer(q)).mean() for q in range(count)]
    return round(float(np.mean(shares)), 3)
