"""Which peers are installed, and why one is not compared."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable

PEERS = {  # package: module
    "faiss-cpu": "faiss",
    "bm25s": "bm25s",
    "sqlite-vec": "sqlite_vec",
    "apsw": "apsw",
    "usearch": "usearch.index",
}
HINT = "pip install 'cpersona-jit[peers]'"

Skip = Callable[[str, str], None]
"""Called as ``skip(peer, reason)``."""


def installed(package: str) -> bool:
    """Return whether a peer can be imported."""
    try:
        importlib.import_module(PEERS[package])
    except ImportError:
        return False
    return True


def versions() -> dict[str, str]:
    """Return the version of every peer that is installed."""
    return {package: importlib.metadata.version(package) for package in PEERS if installed(package)}


def available(package: str, skip: Skip) -> bool:
    """Return whether a peer can be compared; tell ``skip`` when it cannot."""
    if installed(package):
        return True
    skip(package, f"not installed: {HINT}")
    return False
