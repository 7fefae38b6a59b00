"""Any embedding server that answers ``POST /embed``, with time and size bounded."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence

import numpy as np

from cpersona_jit.embed.endpoint import parse_endpoint
from cpersona_jit.embed.post import PostError, post_json
from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.errors import EmbeddingError

_TEXTS_PER_CALL = 100
_INFO_PATIENCE = 5.0  # seconds to wait for another thread that asks for the dimension


class HttpProvider:
    """Sends ``{"texts": [...]}`` and expects ``{"embeddings": [[...], ...]}``.

    The server's identity is its URL and the dimension of its vectors. A fragment in the URL
    (``http://localhost:8000/embed#bge-m3``) names the model: it is not sent, but is part of
    the fingerprint, so change it when the server's model changes. `kind` is not sent either:
    the protocol has no place for it. Redirects and proxies are not followed.

    Parameters
    ----------
    url : str
        ``https://...``, or ``http://`` on a loopback address; ``/embed`` is appended to a path
        that does not end with it.
    allow_insecure : bool
        Permit plain http to another machine, which shows every text to the network.
    timeout : float
        Seconds for one call of at most 100 texts, from name look-up to the last byte.
    max_bytes : int
        Largest answer accepted.

    Raises
    ------
    UsageError
        At construction, if the URL is not allowed.
    EmbeddingError
        At the first use of ``info`` or ``embed`` and later, if the server does not answer as
        expected.
    """

    def __init__(
        self,
        url: str,
        *,
        allow_insecure: bool = False,
        timeout: float = 30.0,
        max_bytes: int = 64 * 2**20,
    ) -> None:
        self._endpoint = parse_endpoint(url, allow_insecure=allow_insecure)
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._info: ModelInfo | None = None
        self._info_lock = threading.Lock()

    @property
    def info(self) -> ModelInfo:
        """The server's identity; the first use asks it for one vector."""
        if self._info is None:
            # While one thread waits for a server that hangs, the others do not queue behind it.
            if not self._info_lock.acquire(timeout=_INFO_PATIENCE):
                raise self._error("is busy: it was asked for its dimension and has not answered")
            try:
                self._info = self._info or self._asked_info()
            finally:
                self._info_lock.release()
        return self._info

    def _asked_info(self) -> ModelInfo:
        dim = len(self._call(["dimension"])[0])
        endpoint = self._endpoint
        fingerprint = model_fingerprint(
            provider="http", url=endpoint.url, model=endpoint.model, dim=dim
        )
        return ModelInfo(endpoint.label, dim, fingerprint, max_chars=2000)

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return float32 rows of shape (len(texts), dim), not normalised."""
        dim = self.info.dim
        rows: list[list[float]] = []
        for start in range(0, len(texts), _TEXTS_PER_CALL):
            rows += self._call(list(texts[start : start + _TEXTS_PER_CALL]))
        for row in rows:
            if len(row) != dim:
                raise self._error(f"answered with {len(row)} numbers per vector, before {dim}")
        with np.errstate(over="ignore"):  # too large for float32 becomes inf, refused as such
            return np.array(rows, np.float64).reshape(len(texts), dim).astype(np.float32)

    def close(self) -> None:
        """Do nothing: each call has its own connection."""

    def _call(self, texts: list[str]) -> list[list[float]]:
        body = json.dumps({"texts": texts}).encode("ascii")
        try:
            data = post_json(self._endpoint, body, self._timeout, self._max_bytes)
        except PostError as error:
            raise self._error(str(error)) from error
        return self._parse(data, len(texts))

    def _parse(self, data: bytes, count: int) -> list[list[float]]:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._error("answered with something that is not JSON") from error
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise self._error('answered without "embeddings", a list of lists')
        if len(rows) != count:
            raise self._error(f"answered with {len(rows)} vectors for {count} texts")
        for i, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise self._error(f"answered with ragged vectors: {len(rows[0])} and {len(row)}")
            if not row or not set(map(type, row)) <= {int, float}:
                raise self._error(f"answered with a vector {i} that is not a list of numbers")
            if not _is_finite(row):
                raise self._error(f"answered with a vector {i} that is not finite")
        return rows

    def _error(self, what: str) -> EmbeddingError:
        return EmbeddingError(f"embedding server {self._endpoint.url} {what}")


def _is_finite(row: list[float]) -> bool:
    try:
        return all(map(math.isfinite, row))
    except OverflowError:  # an integer beyond the range of floats
        return False
