"""What the benchmarks over stored rows share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .stores import SIZES, make_stores


class OverRows:
    """A benchmark per store size. All subclasses share one making of the stores.

    Peak memory is the whole process's: the compiler's libraries are in it (about the figure of
    1,000 rows), and so is the input.
    """

    params: tuple = (SIZES,)
    param_names: tuple[str, ...] = ("rows",)
    timeout = 600

    def setup_cache(self) -> dict[int, Path]:
        """Make the stores in the folder that asv keeps for a run."""
        return make_stores(Path.cwd(), SIZES)

    setup_cache.timeout = 1800  # for a busy machine; about a minute on a quiet one


def all_rows(count: int) -> np.ndarray:
    """Return a mask that admits every row."""
    words = np.full((count + 63) // 64, ~np.uint64(0))
    if count % 64:
        words[-1] >>= np.uint64(64 - count % 64)
    return words
