"""Rows on their way from the store into a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from cpersona_jit.columns.event_times import UNDATED
from cpersona_jit.columns.postings import GramKernels
from cpersona_jit.columns.texts import TextReader, Texts
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.records import format_ref
from cpersona_jit.store.stored_values import stored_keywords
from cpersona_jit.text.questions import is_question

STRING_COLUMNS = (
    "agent_id",
    "project_id",
    "channel",
    "session_id",
    "source_type",
    "source_id",
    "source_name",
)


class StoredRow(NamedTuple):
    """What a snapshot needs of a stored row, in the order that the store reads it."""

    id: int
    agent_id: str
    project_id: str
    channel: str
    session_id: str
    source_type: str
    source_id: str
    source_name: str
    event_time: int | None
    created_at: int
    content: str
    keywords: str  # JSON, of an episode
    embedding: bytes | None
    model_id: int | None


class StoredBlock(NamedTuple):
    """What it needs of a block."""

    memory_id: int
    start_char: int
    end_char: int
    embedding: bytes | None
    model_id: int | None


class Model(NamedTuple):
    """The embedding model whose vectors a snapshot may hold."""

    model_id: int  # the store's number of the model; -1 without one
    fingerprint: str
    dim: int
    centred: bool = False  # whether codes are made of centred vectors


NO_MODEL = Model(-1, "", 0)


class Blocks(NamedTuple):
    """Blocks of some rows; row r owns ``row_ptr[r]:row_ptr[r + 1]``."""

    row_ptr: np.ndarray  # int64 (n + 1,)
    start: np.ndarray  # int32
    end: np.ndarray  # int32
    texts: Texts


class Rows(NamedTuple):
    """Some rows in the order of a snapshot, before names are coded and grams are inverted."""

    ids: np.ndarray
    event_time: np.ndarray
    created_at: np.ndarray
    text_length: np.ndarray
    is_question: np.ndarray
    strings: dict[str, list[str]]
    texts: Texts
    blocks: Blocks


RowWithBlocks = tuple[StoredRow, list[StoredBlock]]


def read_rows(stored: Iterable[RowWithBlocks], model: Model, kernels: GramKernels) -> Rows:
    """Read stored rows and their blocks.

    Parameters
    ----------
    stored : iterable of (StoredRow, list of StoredBlock)
        From `with_blocks`.
    model : Model
        Vectors of any other model are left out.
    kernels : GramKernels
        The kernel set in use.
    """
    ids, event_time, created_at, text_length, asks = [], [], [], [], []
    strings: dict[str, list[str]] = {name: [] for name in STRING_COLUMNS}
    texts, block_texts = TextReader(model.dim), TextReader(model.dim)
    starts, ends, row_ptr = [], [], [0]
    for row, own_blocks in stored:
        ids.append(row.id)
        event_time.append(UNDATED if row.event_time is None else row.event_time)
        created_at.append(row.created_at)
        text_length.append(len(row.content))
        asks.append(is_question(row.content))
        for name in STRING_COLUMNS:
            strings[name].append(getattr(row, name))
        keywords = stored_keywords(row.id, row.keywords)
        texts.add(indexed_text(row.source_name, row.content, keywords), _vector(row, model))
        for block in own_blocks:
            if not 0 <= block.start_char < block.end_char <= len(row.content):
                raise CorruptStoreError(f"{format_ref(row.id)}: a block of it lies outside of it")
            part = row.content[block.start_char : block.end_char]
            block_texts.add(indexed_text(row.source_name, part), _vector(block, model))
            starts.append(block.start_char)
            ends.append(block.end_char)
        row_ptr.append(len(starts))
    return Rows(
        np.array(ids, np.int64),
        np.array(event_time, np.int64),
        np.array(created_at, np.int64),
        np.array(text_length, np.int32),
        np.array(asks, bool),
        strings,
        texts.finish(kernels),
        Blocks(
            np.array(row_ptr, np.int64),
            np.array(starts, np.int32),
            np.array(ends, np.int32),
            block_texts.finish(kernels),
        ),
    )


def with_blocks(stored: Iterable[tuple], blocks: Iterable[tuple]) -> Iterator[RowWithBlocks]:
    """Yield each stored row with its blocks.

    Parameters
    ----------
    stored, blocks : iterable of tuple
        Fields of a :class:`StoredRow` and of a :class:`StoredBlock` each, the rows in one order.
    """
    groups = groupby(blocks, itemgetter(0))
    owner, group = next(groups, (None, ()))
    for values in stored:
        row = StoredRow._make(values)
        own: list[StoredBlock] = []
        if owner == row.id:
            own = list(map(StoredBlock._make, group))
            owner, group = next(groups, (None, ()))
        yield row, own


def _vector(item: StoredRow | StoredBlock, model: Model) -> np.ndarray | None:
    return vector_of(item[0], item.embedding, item.model_id, model)


def vector_of(
    memory_id: int, embedding: bytes | None, model_id: int | None, model: Model
) -> np.ndarray | None:
    """Return a stored vector as float32, shape (dim,); None when it is none of the model's."""
    if embedding is None or model_id != model.model_id:
        return None
    # The product with itself is not finite when any number is not.
    if len(embedding) == 4 * model.dim:
        vector = np.frombuffer(embedding, "<f4")
        if np.isfinite(vector.dot(vector)):
            return vector
    raise CorruptStoreError(
        f"{format_ref(memory_id)}: its vector is not {model.dim} finite numbers; "
        "the store is damaged"
    )
