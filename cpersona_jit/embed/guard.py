"""The embedding contract, checked in one place for every provider."""

from __future__ import annotations

import math
import re
import threading
import weakref
from collections.abc import Sequence
from typing import get_args

import numpy as np

from cpersona_jit.embed.provider import ModelInfo, Provider, TextKind
from cpersona_jit.errors import CPersonaError, EmbeddingError, shown

_SURROGATE = re.compile("[\ud800-\udfff]")
# A float32 row that was normalised in float64 is within half an ulp of 1, so rows inside one
# ulp are left alone: normalising twice (a cache around a model) changes no bit.
_UNIT_TOLERANCE = 2.0**-23
# How long a call waits for another one to the same provider. A recall has its words to go by
# without the model; a passage without its vector has to be embedded again.
PATIENCE_SECONDS: dict[TextKind, float] = {"query": 5.0, "passage": 300.0}
_KINDS: tuple[TextKind, ...] = get_args(TextKind)
_BLOCK = 4096  # rows per float64 copy, so that a large corpus does not triple in memory

_locks: weakref.WeakKeyDictionary[Provider, threading.Lock] = weakref.WeakKeyDictionary()
_locks_lock = threading.Lock()


def guarded_embed(provider: Provider, texts: Sequence[str], kind: TextKind) -> np.ndarray:
    """Embed texts and return unit rows, or raise.

    NUL characters are dropped and lone surrogates become U+FFFD before the model sees the
    text. Calls to one provider never overlap; one that has to wait for longer than
    `PATIENCE_SECONDS` fails.

    Parameters
    ----------
    provider : Provider
        Any object with the provider interface.
    texts : sequence of str
        Texts with at least one character that is neither white space nor NUL.
    kind : {"query", "passage"}
        Which side of a retrieval the texts are on.

    Returns
    -------
    numpy.ndarray
        float32, shape (len(texts), provider.info.dim), Euclidean norm 1 to within 2**-23.

    Raises
    ------
    ValueError
        If a text is empty or `kind` is unknown: both are the caller's mistakes.
    EmbeddingError
        If the provider is busy, fails, or answers with anything but that many finite, non-zero
        rows of its declared dimension.
    """
    if kind not in _KINDS:
        raise ValueError(f"kind is {kind!r}; allowed: {', '.join(_KINDS)}")
    cleaned = [clean_text(text) for text in texts]
    for i, text in enumerate(cleaned):
        if not text.strip():
            raise ValueError(f"texts[{i}] is empty; skip texts without visible characters")
    lock = _lock_of(provider)
    if not lock.acquire(timeout=PATIENCE_SECONDS[kind]):
        raise EmbeddingError(
            "the embedding model is busy: another call to it took longer than "
            f"{PATIENCE_SECONDS[kind]:g} s"
        )
    try:
        info = model_info(provider)
        try:
            answer = provider.embed(cleaned, kind=kind)
        except CPersonaError:
            raise
        except Exception as error:
            raise EmbeddingError(
                f"embedding model {info.label!r} failed: {shown(error)}"
            ) from error
    finally:
        lock.release()
    return unit_rows(_checked(answer, len(cleaned), info.dim, info.label), info.label)


def model_info(provider: Provider) -> ModelInfo:
    """Ask a provider which model it is.

    Raises
    ------
    EmbeddingError
        It cannot say, or what it says does not identify a model.
    """
    try:
        info = provider.info
        label, dim, fingerprint = info.label, info.dim, info.fingerprint
    except CPersonaError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise EmbeddingError(f"the embedding model cannot say what it is ({cause})") from error
    whole = isinstance(dim, int) and not isinstance(dim, bool) and 0 < dim < 2**16
    named = isinstance(label, str) and isinstance(fingerprint, str) and bool(fingerprint)
    if not named or not (dim is None or whole):
        raise EmbeddingError(
            f"embedding model {label!r} has dimension {dim!r} and fingerprint {fingerprint!r}; "
            "allowed: a whole number from 1 to 65,535 (or None) and a text"
        )
    return info


def clean_text(text: str) -> str:
    """Return `text` without NULs and with U+FFFD for each lone surrogate."""
    text = text.replace("\0", "")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def unit_rows(vectors: np.ndarray, label: str = "") -> np.ndarray:
    """Scale rows to norm 1 in float64; a second pass changes no bit.

    Parameters
    ----------
    vectors : numpy.ndarray
        float32, shape (n, dim).
    label : str
        Name of the model, for the error.

    Returns
    -------
    numpy.ndarray
        New float32 array, shape (n, dim). Each row depends on its own input row only.

    Raises
    ------
    EmbeddingError
        If a row is zero or has a non-finite value.
    """
    if len(vectors) == 1 and _is_unit(vectors[0]):  # as most queries are
        return vectors.copy()
    out = np.empty(vectors.shape, np.float32)
    for start in range(0, len(vectors), _BLOCK):
        rows = vectors[start : start + _BLOCK].astype(np.float64)
        # add.reduce sums in the same order on every CPU and for every number of rows.
        norms = np.sqrt(np.add.reduce(rows * rows, axis=1))
        bad = np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))
        if bad.size:
            what = "zero" if norms[bad[0]] == 0 else "not finite"
            raise EmbeddingError(f"embedding model {label!r}: vector {start + bad[0]} is {what}")
        norms[np.abs(norms - 1.0) <= _UNIT_TOLERANCE] = 1.0
        out[start : start + _BLOCK] = rows / norms[:, None]
    return out


def _is_unit(vector: np.ndarray) -> bool:
    """Whether `unit_rows` leaves a float32 vector as it is: the same sum, without its arrays."""
    squared = float(np.add.reduce(np.square(vector, dtype=np.float64)))
    return abs(math.sqrt(squared) - 1.0) <= _UNIT_TOLERANCE


def _checked(answer: object, count: int, dim: int | None, label: str) -> np.ndarray:
    """Return the provider's answer as a C-contiguous float32 array of the promised shape."""
    try:
        array = np.asarray(answer)
    except (ValueError, TypeError) as error:
        raise EmbeddingError(f"embedding model {label!r} answered with ragged rows") from error
    if array.dtype.kind not in "fiu":
        raise EmbeddingError(f"embedding model {label!r} answered with {array.dtype}, not numbers")
    if array.ndim != 2 or array.shape != (count, dim):
        raise EmbeddingError(
            f"embedding model {label!r} answered with shape {array.shape}; "
            f"expected {count} rows of {dim} numbers"
        )
    if array.dtype == np.float32 and array.flags.c_contiguous:
        return array
    with np.errstate(over="ignore"):  # too large for float32 becomes inf, refused as not finite
        return np.ascontiguousarray(array, dtype=np.float32)


def _lock_of(provider: Provider) -> threading.Lock:
    with _locks_lock:
        lock = _locks.get(provider)
        if lock is None:
            lock = _locks[provider] = threading.Lock()
        return lock
