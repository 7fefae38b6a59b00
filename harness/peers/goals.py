"""What the engine is to reach beside each peer, and whether a figure does."""

from __future__ import annotations

from dataclasses import dataclass

AT_LEAST, AT_MOST = ">=", "<="

# Names of comparisons and of what the engine is compared with, as they stand in the record.
INT8, HAMMING, TWO_PHASE, TOP_K = "int8 scan", "Hamming scan", "two-phase search", "top-k"
GRAMS, REPLAY, RECALL = "gram overlap", "replay", "whole recall"
COMPARISONS = (INT8, HAMMING, TWO_PHASE, TOP_K, GRAMS, REPLAY, RECALL)
READ, FAISS_INT8, FAISS_BINARY = "reading", "faiss QT_8bit_direct_signed", "faiss IndexBinaryFlat"
USEARCH, SQLITE_VEC = "usearch exact int8", "sqlite-vec int8"
FULL_SCAN, LOSS = "full int8 scan", "recall@10 lost against the full int8 scan"
BM25_NUMPY, BM25_NUMBA, FTS5 = "bm25s numpy", "bm25s numba", "SQLite FTS5 trigram"
NO_TOP_K, WORST_ORDER = "no top-k", "worst order"
SETTINGS = "settings/s"
CPERSONA = "cpersona"


@dataclass(frozen=True)
class Goal:
    """A bound of one figure, at some numbers of rows."""

    comparison: str
    against: str
    sense: str  # AT_LEAST or AT_MOST
    wanted: float
    least_rows: int = 0
    below_rows: int | None = None

    def holds_at(self, rows: int) -> bool:
        """Return whether the goal says something of that many rows."""
        return self.least_rows <= rows and (self.below_rows is None or rows < self.below_rows)

    def reached(self, value: float) -> bool:
        """Return whether a figure is on the right side of the bound."""
        return value >= self.wanted if self.sense == AT_LEAST else value <= self.wanted


TEN, HUNDRED = 10_000, 100_000

GOALS = (
    Goal(INT8, READ, AT_LEAST, 0.85, TEN),
    Goal(INT8, FAISS_INT8, AT_LEAST, 1.3, TEN, HUNDRED),
    Goal(INT8, FAISS_INT8, AT_LEAST, 1.5, HUNDRED),
    Goal(HAMMING, FAISS_BINARY, AT_LEAST, 3.0, TEN, HUNDRED),
    Goal(HAMMING, FAISS_BINARY, AT_LEAST, 1.8, HUNDRED),
    Goal(HAMMING, READ, AT_LEAST, 0.8, HUNDRED),
    Goal(TWO_PHASE, FULL_SCAN, AT_LEAST, 5.0, HUNDRED),
    Goal(TWO_PHASE, LOSS, AT_MOST, 0.005, HUNDRED),
    Goal(GRAMS, BM25_NUMPY, AT_LEAST, 10.0, HUNDRED),
    Goal(GRAMS, BM25_NUMBA, AT_LEAST, 10.0, HUNDRED),
    Goal(GRAMS, FTS5, AT_LEAST, 500.0, HUNDRED),
    # Of what the scan takes without any top-k: 5 % for up to 100 rows, and in the order of rows
    # that is worst a bounded time for each row.
    Goal(TOP_K, NO_TOP_K, AT_MOST, 1.05, TEN),
    Goal(TOP_K, WORST_ORDER, AT_MOST, 6.0, TEN),
    Goal(REPLAY, SETTINGS, AT_LEAST, 5000.0),
    Goal(RECALL, CPERSONA, AT_LEAST, 30.0, TEN, HUNDRED),
    Goal(RECALL, CPERSONA, AT_LEAST, 100.0, HUNDRED),
)


def goal_for(comparison: str, against: str, rows: int) -> Goal | None:
    """Return the goal of a figure, None where there is none."""
    for goal in GOALS:
        if (goal.comparison, goal.against) == (comparison, against) and goal.holds_at(rows):
            return goal
    return None
