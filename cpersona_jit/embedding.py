"""Embedding rows, their blocks and their overflow nodes, as they are stored."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np

from cpersona_jit.embed.guard import guarded_embed, model_info, unit_rows
from cpersona_jit.embed.provider import ModelInfo, Provider, window_chars
from cpersona_jit.errors import EmbeddingError, UsageError
from cpersona_jit.passages import block_ranges, passages
from cpersona_jit.store.blocks import NewBlock
from cpersona_jit.store.models import find_model, register_model
from cpersona_jit.store.validate import CleanRecord
from cpersona_jit.text.nodes import node_ranges


class Embedded(NamedTuple):
    """Vectors of some contents, of their blocks and of their overflow nodes, as they are stored;
    None where there is none.

    `model_id` is the store's number of the model that made them.
    """

    vectors: list[bytes | None]
    blocks: list[list[NewBlock]]
    nodes: list[list[NewBlock]]
    model_id: int | None


class Embedding:
    """The embedding of rows and their parts for one store, for the length of one call.

    Once the model fails, everything goes without vectors and it is not asked again: a dead endpoint
    would cost its time limit per batch.

    Parameters
    ----------
    conn : sqlite3.Connection
        The store, which gives models their numbers.
    lock : context manager
        Held around every use of `conn`, never while embedding.
    provider : Provider
        The active model.

    Attributes
    ----------
    failed : bool
        Whether the model failed.
    """

    def __init__(
        self, conn: sqlite3.Connection, lock: AbstractContextManager, provider: Provider
    ) -> None:
        self._conn, self._lock, self._provider = conn, lock, provider
        self.failed = False

    def of_records(
        self, records: Sequence[CleanRecord], vectors: Sequence[np.ndarray | None]
    ) -> Embedded:
        """Embed records, except the rows of which a vector is given: their parts wait for theirs.

        Parameters
        ----------
        records : sequence of CleanRecord, length n
            Of any length.
        vectors : sequence of (ndarray of float32, shape (dim,), or None), length n
            By the active model, of whole rows.
        """
        missing = [at for at, vector in enumerate(vectors) if vector is None]
        made = self.embed([_indexed(records[at]) for at in missing])
        if len(missing) == len(records):
            return made
        rows = unit_rows(np.asarray([vector for vector in vectors if vector is not None]))
        model_id = self.model_id(rows.shape[1])
        stored = iter(_stored(rows))
        of_rows = [None if vector is None else next(stored) for vector in vectors]
        blocks = [[NewBlock(*at) for at in block_ranges(record.content)] for record in records]
        window = self._window()
        nodes = [_chain(part, window) for part in blocks]
        for at, *parts in zip(missing, made.vectors, made.blocks, made.nodes, strict=True):
            of_rows[at], blocks[at], nodes[at] = parts
        return Embedded(of_rows, blocks, nodes, model_id)

    def embed(self, contents: Sequence[tuple[str, str, Sequence[str]]]) -> Embedded:
        """Split contents into blocks, and long ones into nodes, and embed all of it.

        Each comes as the name of who said it, the content, and the keywords of an episode. All
        go to the model in one call. When it fails, all go without vectors.
        """
        window = self._window()
        parted = [passages(*content, window) for content in contents]
        vectors, model_id = self._passages([text for part in parted for text in part.texts])
        remaining = iter(vectors)
        of_rows: list[bytes | None] = []
        of_blocks: list[list[NewBlock]] = []
        of_nodes: list[list[NewBlock]] = []
        for part in parted:
            of_rows.append(next(remaining))
            of_blocks.append([NewBlock(*at, next(remaining)) for at in part.ranges])
            of_nodes.append([NewBlock(*at, next(remaining)) for at in part.nodes])
        return Embedded(of_rows, of_blocks, of_nodes, model_id)

    def _window(self) -> int | None:
        """Characters of a node; None without a model, or while it cannot be asked."""
        try:
            return None if self.failed else window_chars(model_info(self._provider))
        except EmbeddingError:
            self.failed = True
            return None

    def _passages(self, texts: list[str]) -> tuple[Sequence[bytes | None], int | None]:
        none = [None] * len(texts)
        if self.failed or not texts:
            return none, None
        try:
            if model_info(self._provider).dim is None:
                return none, None
            rows = guarded_embed(self._provider, texts, "passage")
            model_id = self._registered(model_info(self._provider), rows.shape[1])
        except EmbeddingError:
            self.failed = True
            return none, None
        return _stored(rows), model_id

    def model_id(self, dim: int) -> int:
        """Return the store's number of the active model, entering it on first use."""
        info = model_info(self._provider)
        if info.dim is None:
            raise UsageError(f"vectors were given, but embedder {info.label!r} makes none")
        if dim != info.dim:
            raise UsageError(
                f"vectors have {dim} dimensions; embedder {info.label!r} has {info.dim}"
            )
        return self._registered(info, dim)

    def _registered(self, info: ModelInfo, dim: int) -> int:
        """As `model_id`; a model that changed its dimension has failed."""
        with self._lock:
            known = find_model(self._conn, info.fingerprint)
            if dim != info.dim or (known is not None and known.dim != dim):
                had = info.dim if known is None else known.dim
                raise EmbeddingError(
                    f"embedding model {info.label!r} answered with {dim} dimensions after {had}"
                )
            return register_model(self._conn, info.label, info.fingerprint, dim)


def _chain(blocks: Sequence[NewBlock], window: int | None) -> list[NewBlock]:
    """Return the nodes that some blocks are packed into, without vectors."""
    if window is None:
        return []
    return [NewBlock(*at) for at in node_ranges([block[:2] for block in blocks], window)]


def _indexed(record: CleanRecord) -> tuple[str, str, Sequence[str]]:
    """Return what `Embedding.embed` takes of a record."""
    keywords = () if record.episode is None else json.loads(record.episode.keywords)
    return record.source_name, record.content, keywords


def _stored(vectors: np.ndarray) -> list[bytes]:
    return [vector.tobytes() for vector in vectors.astype("<f4", copy=False)]
