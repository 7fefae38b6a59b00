"""A store that a server can open: made-up talk with vectors that no model had to make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import cpersona_jit
from cpersona_jit.embed.provider import TextKind
from cpersona_jit.embed.use import UseProvider
from harness.speed.talk import CHAT, records

_SEED = 20261202
_BATCH = 4096


class StandIn:
    """The default embedding by name; its vectors are random, and as long."""

    def __init__(self) -> None:
        self.info = UseProvider().info
        self._rng = np.random.default_rng(_SEED)

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return a unit vector for each text."""
        vectors = self._rng.standard_normal((len(texts), self.info.dim), np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def close(self) -> None:
        """Do nothing."""


class KnownQuestions(StandIn):
    """The same, with one vector for each question, whoever asks and how often."""

    def __init__(self, questions: Sequence[str]) -> None:
        super().__init__()
        self._known = dict(zip(questions, super().embed(questions, kind="query"), strict=True))

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return the vector of each question."""
        return np.stack([self._known[text] for text in texts])


def make_served_store(path: Path, rows: int) -> None:
    """Write a store of chat rows with a vector for every row and block."""
    with cpersona_jit.open(path, StandIn()) as memory:
        memory.store_many(records(rows, CHAT), dedup=False, batch_size=_BATCH)
        memory.columns()  # builds them, and writes the file from which they are opened
