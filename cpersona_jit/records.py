"""Plain records that go into a store and come out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

_REF = re.compile(r"mem:([1-9][0-9]{0,18})")
_MAX_ID = 2**63 - 1


def format_ref(memory_id: int) -> str:
    """Public reference of a memory: ``mem:<id>``."""
    return f"mem:{memory_id}"


def parse_ref(ref: object) -> int | None:
    """Id of a reference, or None when it is not one (only the exact form that we write is)."""
    match = _REF.fullmatch(ref) if isinstance(ref, str) else None
    memory_id = int(match[1]) if match else 0
    return memory_id if 0 < memory_id <= _MAX_ID else None


@dataclass(frozen=True, slots=True)
class Source:
    """Who or what said a memory. ``name`` is indexed together with the content."""

    type: str = ""
    id: str = ""
    name: str = ""


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
    """

    status: Literal["stored", "skipped", "rejected"]
    ref: str | None = None
    reason: str = ""
    detail: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A stored memory.

    Parameters
    ----------
    ref : str
        ``mem:<id>``.
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
