"""Long-term memory for AI agents: recall as a deterministic, bounded, explained process."""

from __future__ import annotations

from cpersona_jit.bulk.importing import ImportOptions
from cpersona_jit.bulk.report import ImportReport
from cpersona_jit.errors import CPersonaError, EmbeddingError, StoreError, UsageError
from cpersona_jit.exits.reconstruct.settings import ReconstructSettings
from cpersona_jit.memory import Memory, open
from cpersona_jit.recall.adaptive_settings import (
    AdaptiveSettings,
    Bounds,
    Calibration,
    CueWeights,
    Structure,
)
from cpersona_jit.recall.row_prior import RowPrior
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings
from cpersona_jit.records import OldText, Record, Row, Source, StoreOutcome, Version
from cpersona_jit.results import RecallResult, RecallRow

__all__ = [
    "AdaptiveSettings",
    "ArmSpec",
    "Bounds",
    "CPersonaError",
    "Calibration",
    "CueWeights",
    "EmbeddingError",
    "FusionSpec",
    "ImportOptions",
    "ImportReport",
    "Memory",
    "OldText",
    "RecallResult",
    "RecallRow",
    "RecallSettings",
    "ReconstructSettings",
    "Record",
    "Row",
    "RowPrior",
    "Source",
    "StoreError",
    "StoreOutcome",
    "Structure",
    "UsageError",
    "Version",
    "open",
]
__version__ = "0.1.0"
