"""Long-term memory for AI agents: recall as a deterministic, bounded, explained process."""

from __future__ import annotations

from cpersona_jit.memory import Memory, open
from cpersona_jit.records import Record, Row, Source, StoreOutcome
from cpersona_jit.results import RecallResult, RecallRow

__all__ = [
    "Memory",
    "RecallResult",
    "RecallRow",
    "Record",
    "Row",
    "Source",
    "StoreOutcome",
    "open",
]
__version__ = "0.1.0"
