"""Naive twins: every kernel again, in plain Python, as its docstring says it and no faster.

A kernel and its twin are compared exactly, ties included. Nothing here may call the code under
test, and nothing here is clever.
"""

from __future__ import annotations

# --- dense: top-k, int8 scan, sign scans ---------------------------------------------------------


# --- grams: index, overlap, document frequency ---------------------------------------------------


# --- fusion, priors, replay ----------------------------------------------------------------------
