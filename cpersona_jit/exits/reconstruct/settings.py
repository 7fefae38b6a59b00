"""What an operator may set of reconstruct."""

from __future__ import annotations

from dataclasses import dataclass

from cpersona_jit.errors import UsageError
from cpersona_jit.recall.requirements import require_whole

MAX_COUNT = 100
MAX_BUDGET = 1_000_000
MAX_TOP_K = 10_000
MAX_HOPS = 5
MAX_EVIDENCE = 1_000
MAX_SEATS = 100
_MAX_QUOTE = 16_000


@dataclass(frozen=True)
class ReconstructSettings:
    """The policy of reconstruct: windows, budgets, quotes and bounds.

    Parameters
    ----------
    default_count : int
        Items of a call that asks for no number.
    max_count : int
        Most items of any call; a call that asks for more is told.
    forced_count : int or None
        Items of every call, whatever it asks for.
    default_budget : int
        Characters of quoted text of a call that gives no budget; it grows with the head quotes of
        the window's items.
    max_budget : int
        Most characters of any call.
    forced_budget : int or None
        Characters of every call.
    quote_chars : int
        Longest head quote of the first `full_quotes` items; 0 makes every head quote a preview.
    full_quotes : int
        Items whose head quote may have that length.
    tail_quote_chars : int
        Longest head quote of the items after them.
    excerpt_chars : int
        One preview: the longest quote of a claim that is not the head.
    adjacency_seconds : int
        Time within which all rows of one adjacent group lie.
    top_k, max_hops, max_evidence : int
        Candidates, relation steps and claims of an item, where a call says nothing.
    seats : int
        Most rows that one kind of evidence alone found, beyond the candidates, that follow the
        window as items of their own; never more than recall keeps.

    Raises
    ------
    UsageError
        A value is out of its range, or a default or forced value contradicts a maximum.
    """

    default_count: int = 1
    max_count: int = 10
    forced_count: int | None = None
    default_budget: int = 4_000
    max_budget: int = 20_000
    forced_budget: int | None = None
    quote_chars: int = 800
    full_quotes: int = 5
    tail_quote_chars: int = 400
    excerpt_chars: int = 500
    adjacency_seconds: int = 60
    top_k: int = 20
    max_hops: int = 2
    max_evidence: int = 40
    # Two seats lost 2 points of evidence at equal payload on two of three sets (results/exit).
    seats: int = 0

    def __post_init__(self) -> None:
        require_whole("max_count", self.max_count, 0, MAX_COUNT)
        require_whole("excerpt_chars", self.excerpt_chars, 1, _MAX_QUOTE)
        require_whole("quote_chars", self.quote_chars, 0, _MAX_QUOTE)
        require_whole("tail_quote_chars", self.tail_quote_chars, 1, _MAX_QUOTE)
        require_whole("full_quotes", self.full_quotes, 0, MAX_COUNT)
        require_whole("max_budget", self.max_budget, 1, MAX_BUDGET)
        require_whole("adjacency_seconds", self.adjacency_seconds, 0, 86_400)
        require_whole("top_k", self.top_k, 1, MAX_TOP_K)
        require_whole("max_hops", self.max_hops, 0, MAX_HOPS)
        require_whole("max_evidence", self.max_evidence, 1, MAX_EVIDENCE)
        require_whole("seats", self.seats, 0, MAX_SEATS)
        for name in ("default_count", "forced_count"):
            _require_within(name, getattr(self, name), 0, "max_count", self.max_count)
        least = self.excerpt_chars
        for name in ("default_budget", "forced_budget"):
            _require_within(name, getattr(self, name), least, "max_budget", self.max_budget)
        if self.max_budget < self.head_chars(0):
            raise UsageError(
                f"max_budget is {self.max_budget}; allowed: at least one head quote "
                f"({self.head_chars(0)} characters)"
            )

    def head_chars(self, position: int) -> int:
        """Return the longest head quote of the item at a position, from 0."""
        if not self.quote_chars:
            return self.excerpt_chars
        return self.quote_chars if position < self.full_quotes else self.tail_quote_chars


def _require_within(name: str, value: object, low: int, bound: str, high: int) -> None:
    if value is None and name.startswith("forced_"):
        return
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        least = f"{low} (one preview)" if low else "0"
        raise UsageError(
            f"{name} is {value!r}; allowed: a whole number from {least} to {bound}, which is {high}"
        )


DEFAULT_POLICY = ReconstructSettings()
