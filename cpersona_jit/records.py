"""Plain records that go into a store and come out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple

Kind = Literal["memory", "episode"]

_REF = re.compile(r"(?:mem|ep):([1-9][0-9]{0,18})")
_MAX_ID = 2**63 - 1
_EPOCH = datetime(1970, 1, 1)  # UTC, like all times of the store

# A place in a home and in time: agent_id, project_id, channel, event_time in UTC microseconds.
Point = tuple[str, str, str, "int | None"]


def format_ref(memory_id: int, kind: Kind = "memory") -> str:
    """Public reference of a row: ``mem:<id>``, or ``ep:<id>`` of an episode."""
    return f"ep:{memory_id}" if kind == "episode" else f"mem:{memory_id}"


def parse_ref(ref: object) -> int | None:
    """Id of a reference, or None when it is not one (only the exact form that we write is).

    Memories and episodes share their ids: whoever resolves a reference compares it with that of
    the row that it found.
    """
    match = _REF.fullmatch(ref) if isinstance(ref, str) else None
    memory_id = int(match[1]) if match else 0
    return memory_id if 0 < memory_id <= _MAX_ID else None


@lru_cache(maxsize=1024)  # what is recalled once is often recalled again, or was stored together
def format_utc(microseconds: int) -> str:
    """ISO 8601 text of a UTC time, ``2026-01-02T03:04:05.000006Z`` (fraction only if there is one).

    Raises
    ------
    OverflowError
        The time is outside the years 1 to 9999.
    """
    return f"{(_EPOCH + timedelta(microseconds=microseconds)).isoformat()}Z"


@dataclass(frozen=True, slots=True)
class Source:
    """Who or what said a memory. ``name`` is indexed together with the content."""

    type: str = ""
    id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class OldText:
    """A text that a row had before; times are UTC microseconds, or ISO 8601 in a new record."""

    content: str
    written_at: int | str
    superseded_at: int | str


@dataclass(frozen=True, slots=True)
class Record:
    """A memory to store, as the caller has it; nothing is checked before it is stored.

    Parameters
    ----------
    content : str
        1 to 16,000 characters, stored verbatim.
    agent_id : str
        Owner of the row, required.
    project_id, channel, msg_id, session_id : str
        '' (or None) = not given. At most 256 characters each.
    source : Source, mapping with the keys ``type``, ``id``, ``name``, or None
    timestamp : str
        When it happened, ISO 8601; kept verbatim. '' (or None) = undated.
    metadata : mapping or None
        A JSON object of the caller's own, at most 8,000 characters when serialised.
    kind : {"memory", "episode"}
        An episode sums up a span of time: `content` is its summary, `timestamp` its start.
    end : str
        Of an episode, ISO 8601; a date without a time is the end of that day.
    keywords : sequence of str or None
        Of an episode, indexed together with the summary: at most 50 of at most 100 characters.
    history : sequence of OldText
        What an imported row said before.
    """

    content: str
    agent_id: str
    project_id: str = ""
    channel: str = ""
    msg_id: str = ""
    source: Source | Mapping[str, str] | None = None
    session_id: str = ""
    timestamp: str = ""
    metadata: Mapping[str, Any] | None = None
    kind: Kind = "memory"
    end: str = ""
    keywords: Sequence[str] | None = None
    history: Sequence[OldText] = ()


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """What became of one record.

    Parameters
    ----------
    status : {"stored", "skipped", "rejected"}
    ref : str or None
        The stored row, or the row that a skipped record duplicates.
    reason : str
        '' when stored; else a key of ``cpersona_jit.store.reasons.REASONS``.
    detail : str
        One sentence for a person: field, value and what is allowed.
    warnings : tuple of str
        Keys of the same table: stored, but not quite as meant.
    nodes : int
        Parts that a content longer than the embedder's window was embedded in; 0 = it fits.
    """

    status: Literal["stored", "skipped", "rejected"]
    ref: str | None = None
    reason: str = ""
    detail: str = ""
    warnings: tuple[str, ...] = ()
    nodes: int = 0


class Row(NamedTuple):
    """A stored memory or episode, or an old text of one with the other fields of its row.

    A tuple and not a dataclass: a recall makes several of them, and a frozen dataclass of so many
    fields takes as long to make as its row takes to read.

    Attributes
    ----------
    ref : str
        ``mem:<id>`` of a memory and of an old text, ``ep:<id>`` of an episode.
    id : int
        Primary key; ascending in the order of insertion, never used twice.
    event_time : int or None
        `timestamp` in UTC microseconds since 1970; None = undated or unparsable.
    created_at, updated_at : int
        UTC microseconds; `updated_at` is None until the content is replaced.
    model_id : int or None
        Model of the row's vector; None = it has none.
    revision : int
        Generation of the transaction that wrote the row last.
    kind : {"memory", "episode"}
    end_time : int or None
        End of an episode in UTC microseconds, itself still inside; None for a memory.
    end_timestamp : str
        The same as it was given.
    keywords : tuple of str
        Of an episode.
    """

    ref: str
    id: int
    agent_id: str
    project_id: str
    channel: str
    msg_id: str
    content: str
    source: Source
    session_id: str
    timestamp: str
    event_time: int | None
    created_at: int
    updated_at: int | None
    metadata: dict[str, Any]
    model_id: int | None
    revision: int
    kind: Kind = "memory"
    end_time: int | None = None
    end_timestamp: str = ""
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """A text that a row had before it was updated. Recall never returns it.

    Parameters
    ----------
    ref : str
        ``mem:<id>`` of its own, which no row has or will have.
    id : int
        Above 10**15; ascending in the order in which texts were replaced, never used twice.
    memory_ref : str
        The row that says something else now.
    written_at, superseded_at : int
        When the row got this text and when it lost it, UTC microseconds.
    """

    ref: str
    id: int
    memory_ref: str
    content: str
    written_at: int
    superseded_at: int


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a content that is longer than the embedder's window, in code points.

    Parameters
    ----------
    start, end : int
        ``content[start:end]``; the nodes of a row partition its content.
    model_id : int or None
        Model of `embedding`; None = it waits for one.
    embedding : bytes or None
        Little-endian float32 of a unit vector.
    """

    start: int
    end: int
    model_id: int | None
    embedding: bytes | None
