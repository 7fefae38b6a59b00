"""Vectors on disk, so that a run embeds each text once and an interrupted run resumes."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.provider import ModelInfo, Provider, TextKind
from cpersona_jit.errors import EmbeddingError
from cpersona_jit.store.validate import MAX_CONTENT

_READ_BATCH = 8192  # keys per IN list; SQLite allows 32,766 variables
_COMMIT_BATCH = 256  # texts embedded per transaction: what an interruption can lose
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors(key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"


class CachedProvider:
    """A provider that remembers the vectors of another one.

    Vectors equal those of ``guarded_embed(provider, ...)`` bit for bit. The file belongs to one
    model: its name is made from the model's fingerprint. Two processes may share it.

    Parameters
    ----------
    provider : Provider
        The model, asked for missing vectors only.
    folder : str or Path
        Folder of the cache files, created when missing.
    progress : callable or None
        Called as ``progress(done, missing)`` after each commit of new vectors, both in texts.
    centred : bool or None
        What ``info`` says of centring; None for what the wrapped model says. No vector depends
        on it.

    Raises
    ------
    EmbeddingError
        If the folder or file cannot be used, or the provider makes no vectors.
    """

    def __init__(
        self,
        provider: Provider,
        folder: str | Path,
        progress: Callable[[int, int], None] | None = None,
        *,
        centred: bool | None = None,
    ) -> None:
        self._provider = provider
        self._progress = progress
        # No measured number depends on the vectors of overflow nodes: none are asked for.
        self._info = replace(provider.info, max_chars=MAX_CONTENT)
        if centred is not None:
            self._info = replace(self._info, centred=centred)
        if self._info.dim is None:
            raise EmbeddingError(f"embedder {self._info.label!r} makes no vectors to cache")
        self.path = cache_path(folder, self._info)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=30, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise EmbeddingError(f"embedding cache {self.path} cannot be used: {error}") from error

    @property
    def info(self) -> ModelInfo:
        """The identity of the wrapped model."""
        return self._info

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return float32 unit rows of shape (len(texts), dim), embedding only what is missing."""
        keys = [cache_key(kind, text) for text in texts]
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            first.setdefault(key, i)
        out = np.empty((len(texts), self._info.dim), np.float32)
        found = self._read(first, out)
        missing = [i for key, i in first.items() if key not in found]
        for start in range(0, len(missing), _COMMIT_BATCH):
            part = missing[start : start + _COMMIT_BATCH]
            out[part] = guarded_embed(self._provider, [texts[i] for i in part], kind)
            self._write([(keys[i], out[i].astype("<f4").tobytes()) for i in part])
            if self._progress is not None:
                self._progress(start + len(part), len(missing))
        for i, key in enumerate(keys):
            if first[key] != i:
                out[i] = out[first[key]]
        return out

    def close(self) -> None:
        """Close the file and the wrapped provider."""
        self._db.close()
        self._provider.close()

    def _read(self, first: dict[bytes, int], out: np.ndarray) -> set[bytes]:
        """Fill the rows of `out` whose keys are in the file; return those keys."""
        found: set[bytes] = set()
        wanted = sorted(first)  # in key order the table is walked once, page by page
        for start in range(0, len(wanted), _READ_BATCH):
            part = wanted[start : start + _READ_BATCH]
            marks = ",".join("?" * len(part))
            sql = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
            try:
                for key, blob in self._db.execute(sql, part):
                    out[first[key]] = np.frombuffer(blob, "<f4").reshape(self._info.dim)
                    found.add(key)
            except (sqlite3.Error, ValueError, TypeError) as error:
                raise EmbeddingError(
                    f"embedding cache {self.path} is damaged ({error}); delete it"
                ) from error
        return found

    def _write(self, rows: list[tuple[bytes, bytes]]) -> None:
        try:
            with self._db:
                self._db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise EmbeddingError(
                f"embedding cache {self.path} cannot be written: {error}"
            ) from error


def cache_path(folder: str | Path, info: ModelInfo) -> Path:
    """Return the file inside `folder` that holds the vectors of the model `info`."""
    return Path(folder) / f"{info.fingerprint[:16]}.sqlite"


def cache_key(kind: TextKind, text: str) -> bytes:
    """Return the 16-byte key of a text: the start of the sha256 over kind, NUL and text."""
    data = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).digest()[:16]
