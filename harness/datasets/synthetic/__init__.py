"""A bilingual dialogue benchmark, made by this project and generated on the fly."""

from __future__ import annotations

from harness.datasets.synthetic.generate import DEFAULT_SEED, make_synthetic

__all__ = ["DEFAULT_SEED", "make_synthetic"]
