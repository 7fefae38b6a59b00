"""Long-term memory for AI agents: recall as a deterministic, bounded, explained process."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Where each name is made. It is imported when it is asked for: a server answers its handshake
# before it needs numpy, and so does a command that only prints its help.
_HOMES = {
    "AdaptiveSettings": "recall.adaptive_settings",
    "ArmSpec": "recall.settings",
    "Bounds": "recall.adaptive_settings",
    "CPersonaError": "errors",
    "Calibration": "recall.adaptive_settings",
    "CueWeights": "recall.adaptive_settings",
    "EmbeddingError": "errors",
    "FusionSpec": "recall.settings",
    "ImportOptions": "bulk.importing",
    "ImportReport": "bulk.report",
    "Memory": "memory",
    "OldText": "records",
    "RecallResult": "results",
    "RecallRow": "results",
    "RecallSettings": "recall.settings",
    "ReconstructSettings": "exits.reconstruct.settings",
    "Record": "records",
    "Row": "records",
    "RowPrior": "recall.row_prior",
    "Source": "records",
    "StoreError": "errors",
    "StoreOutcome": "records",
    "Structure": "recall.adaptive_settings",
    "UsageError": "errors",
    "Version": "records",
    "open": "memory",
}


def __getattr__(name: str) -> Any:
    """Import what was asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return found


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
