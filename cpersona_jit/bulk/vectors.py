"""Vectors that come with the rows: of which model, and in which form.

A vector is taken only when the file, or the caller, says that the active model made it: the number
of dimensions alone tells no two models apart.
"""

from __future__ import annotations

import binascii
from collections.abc import Sequence
from typing import Any

import numpy as np

from cpersona_jit.bulk.fields import Unreadable, brief
from cpersona_jit.embed.provider import ModelInfo


class GivenVectors:
    """Checks the vectors of a file.

    Parameters
    ----------
    info : ModelInfo
        The active model.
    declared : str
        Label or fingerprint of the model that made the vectors of rows which do not say so; ''
        when nobody said.
    """

    def __init__(self, info: ModelInfo, declared: str = "") -> None:
        self._info = info
        self._declared = declared

    def declare(self, model: str) -> None:
        """Take the model that the file itself names; what the caller said goes first."""
        self._declared = self._declared or model

    def refused_model(self, model: Any) -> Unreadable | None:
        """Say what is wrong with the model that made a vector; None when it is the active one."""
        info = self._info
        if info.dim is None:
            return Unreadable(
                "embedding_model",
                f"embedding is given, but embedder {info.label!r} makes no vectors; name the "
                "embedder that made it, or ignore the field embedding",
            )
        model = model or self._declared
        if model in (info.fingerprint, info.label):
            return None
        said = f"is of the model {brief(model)}" if model else "does not say which model made it"
        return Unreadable(
            "embedding_model",
            f"embedding {said}; allowed: embedding_model {info.label!r}, the active embedder "
            "(or ignore the field embedding: it is made anew)",
        )

    def refused_length(self, length: int) -> Unreadable | None:
        """Say that a vector has not the model's number of dimensions."""
        if length == self._info.dim:
            return None
        return Unreadable(
            "embedding_dimension",
            f"embedding has {length:,} numbers; allowed: {self._info.dim:,}, as "
            f"{self._info.label!r} makes them",
        )

    def read(self, value: Any, model: Any) -> np.ndarray | Unreadable:
        """Return a vector given as a list of numbers, or as base64 of little-endian float32."""
        vector = self.refused_model(model) or _numbers(value)
        if isinstance(vector, Unreadable):
            return vector
        return self.refused_length(len(vector)) or vector


def _numbers(value: Any) -> np.ndarray | Unreadable:
    if isinstance(value, str):
        try:
            raw = binascii.a2b_base64(value, strict_mode=True)
        except ValueError as error:
            return Unreadable("embedding_invalid", f"embedding is text, but not base64 ({error})")
        if len(raw) % 4:
            return Unreadable(
                "embedding_invalid",
                f"embedding is base64 of {len(raw):,} bytes; allowed: 4 for each number",
            )
        return np.frombuffer(raw, "<f4")
    if isinstance(value, list):
        try:
            array = np.asarray(value)
        except (ValueError, OverflowError):  # lists in the list
            array = np.empty(0, object)
        if array.ndim == 1 and array.dtype.kind in "fiu":
            with np.errstate(over="ignore"):  # becomes inf, and is refused as not finite
                return array.astype(np.float32)
        for position, number in enumerate(value):
            if isinstance(number, bool) or not isinstance(number, int | float):
                return Unreadable(
                    "embedding_invalid",
                    f"embedding[{position}] is {brief(number)}; allowed: a number",
                )
    return Unreadable(
        "embedding_invalid",
        f"embedding is {brief(value)}; allowed: a list of numbers, or base64 of float32",
    )


def without_direction(vectors: Sequence[np.ndarray]) -> list[Unreadable | None]:
    """Say for each vector whether it cannot be normalised: zero, or not finite.

    Parameters
    ----------
    vectors : sequence of ndarray of float32, shape (dim,)
        All of one length.
    """
    if not len(vectors):
        return []
    rows = np.asarray(vectors)
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    good = np.isfinite(squares) & (squares > 0)
    found: list[Unreadable | None] = [None] * len(rows)
    for at in np.flatnonzero(~good).tolist():
        bad = np.flatnonzero(~np.isfinite(rows[at]))
        what = f"embedding[{bad[0]}] is {rows[at, bad[0]]}" if bad.size else "embedding is all zero"
        found[at] = Unreadable("embedding_invalid", f"{what}; allowed: finite numbers, not all 0")
    return found
