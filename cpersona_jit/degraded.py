"""What a recall says when the rows it may see are not all they could be."""

from __future__ import annotations

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask


def missing_vectors(columns: Columns, mask: Mask) -> tuple[str, ...]:
    """Name the admitted rows without a vector of the active model, if there are any."""
    missing = mask.count - _both(mask, columns.embedded)
    if not missing:
        return ()
    return (
        f"rows_without_vector: {missing} of {mask.count} rows have no vector of the active "
        "model and are found by their words only; run `cpersona-jit reembed`",
    )


def _both(a: Mask, b: Mask) -> int:
    return int(np.bitwise_count(a.words & b.words).sum())
