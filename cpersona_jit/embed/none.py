"""No embedding model: recall by words only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.errors import EmbeddingError


class NoneProvider:
    """Makes no vectors: ``info.dim`` is None and ``embed`` raises EmbeddingError."""

    info = ModelInfo("none", None, model_fingerprint(provider="none"), None)

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Raise EmbeddingError."""
        raise EmbeddingError("embedder 'none' makes no vectors; recall is lexical only")

    def close(self) -> None:
        """Do nothing."""
