"""The small interface that every embedding model is put behind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

TextKind = Literal["query", "passage"]


@dataclass(frozen=True)
class ModelInfo:
    """What a store must know about the model that wrote its vectors.

    Attributes
    ----------
    label : str
        Name for people.
    dim : int or None
        Length of a vector; None when the provider makes none (lexical recall only).
    fingerprint : str
        64 hex digits over everything that can change a vector. Vectors are compared only
        when their fingerprints are equal.
    max_chars : int or None
        Characters that one vector is meant to stand for, None when there are no vectors.
        Longer text is still accepted.
    centred : bool
        Whether texts are compared by centred vectors (see :mod:`cpersona_jit.columns.centre`). It
        changes no vector, so it is no part of the fingerprint.
    """

    label: str
    dim: int | None
    fingerprint: str
    max_chars: int | None
    centred: bool = False


# Of a model that makes vectors and does not say how much text one stands for.
DEFAULT_WINDOW = 2000


def window_chars(info: ModelInfo) -> int | None:
    """Characters that one vector stands for: longer texts are embedded in parts as well."""
    if info.dim is None:
        return None
    return info.max_chars or DEFAULT_WINDOW


class Provider(Protocol):
    """An embedding model. Call it through :func:`cpersona_jit.embed.guard.guarded_embed`.

    The guard calls it from one thread at a time, with cleaned, non-empty texts. Instances
    must be hashable and weakly referable, as those of ordinary classes are.
    """

    @property
    def info(self) -> ModelInfo:
        """The model's identity; may raise EmbeddingError when it has to be asked for."""
        ...

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return float32 rows of shape (len(texts), dim), in input order."""
        ...

    def close(self) -> None:
        """Release the model; a later ``embed`` may load it again."""
        ...


def model_fingerprint(**parts: object) -> str:
    """Return the sha256 (64 hex digits) of the parts as canonical JSON.

    Parameters
    ----------
    **parts : object
        JSON values that identify a model: provider, model, file hashes, dim, pooling, prefixes.
    """
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
