"""What a record must be before it may be stored. Nothing here touches SQLite.

A record of a user is never an exception: it is clean, or it is a rejection that names the field,
the value and what is allowed. The reasons are those of ``reasons.REASONS``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from cpersona_jit.records import Record, Source, StoreOutcome
from cpersona_jit.store.timestamps import US_PER_DAY, format_utc, parse_timestamp

MAX_CONTENT = 16_000
MAX_NAME = 256
MAX_TIMESTAMP = 64
MAX_METADATA = 8_000
MAX_METADATA_DEPTH = 64
MAX_AHEAD_US = US_PER_DAY

_NAMES = ("agent_id", "project_id", "channel", "msg_id", "session_id")
_SOURCE_KEYS = ("type", "id", "name")
_NO_SOURCE = Source()


@dataclass(frozen=True, slots=True)
class CleanRecord:
    """A record that can be stored as it is: the columns of its row.

    Parameters
    ----------
    event_time : int or None
        UTC microseconds; None = undated.
    metadata : str
        JSON text of an object.
    content_hash : bytes
        16 bytes of BLAKE2b over the UTF-8 content: a probe for duplicates, always followed by a
        comparison of the texts.
    warnings : tuple of str
        Go into the outcome.
    """

    agent_id: str
    project_id: str
    channel: str
    msg_id: str
    session_id: str
    source_type: str
    source_id: str
    source_name: str
    timestamp: str
    event_time: int | None
    metadata: str
    content: str
    content_hash: bytes
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a record cannot be stored: a key of ``REASONS`` and a sentence for a person."""

    reason: str
    detail: str

    @property
    def outcome(self) -> StoreOutcome:
        """The outcome of storing the record."""
        return StoreOutcome("rejected", None, self.reason, self.detail)


class _Refused(Exception):
    """Carries a rejection out of the nested checks; never leaves this file."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.rejection = Rejection(reason, detail)


def check_record(record: Record, now_us: int) -> CleanRecord | Rejection:
    """Check a record against every limit.

    Parameters
    ----------
    record : Record
        Of any content and any types.
    now_us : int
        The present in UTC microseconds, against which a timestamp is in the future.

    Returns
    -------
    CleanRecord or Rejection
        A rejection is returned, not raised.
    """
    try:
        names = {name: _checked_text(name, getattr(record, name), MAX_NAME) for name in _NAMES}
        if not names["agent_id"]:
            raise _Refused("agent_id_required", "agent_id is empty; every memory has an owner")
        content = _checked_content(record.content)
        source = _checked_source(record.source)
        metadata = _checked_metadata(record.metadata)
        timestamp, event_time = _checked_timestamp(record.timestamp, now_us)
    except _Refused as refused:
        return refused.rejection
    undated = timestamp and event_time is None
    return CleanRecord(
        **names,
        source_type=source.type,
        source_id=source.id,
        source_name=source.name,
        timestamp=timestamp,
        event_time=event_time,
        metadata=metadata,
        content=content,
        content_hash=content_hash(content),
        warnings=("timestamp_unparsable",) if undated else (),
    )


def check_content(content: object) -> str | Rejection:
    """Check a new text for an existing row; returns it, or the rejection."""
    try:
        return _checked_content(content)
    except _Refused as refused:
        return refused.rejection


def content_hash(content: str) -> bytes:
    """16 bytes that stand for a content in the index of duplicates."""
    return blake2b(content.encode("utf-8"), digest_size=16).digest()


def _checked_content(content: object) -> str:
    text = _checked_text("content", content, MAX_CONTENT)
    if not text.strip():
        raise _Refused(
            "empty_content", f"content is empty or only white space ({len(text)} characters)"
        )
    return text


def _checked_text(field: str, value: object, limit: int, reason: str | None = None) -> str:
    if value is None:
        return ""
    if type(value) is str and value.isascii() and "\0" not in value and len(value) <= limit:
        return value  # most are: what is below costs a bulk import more than its reading
    if not isinstance(value, str):
        raise _Refused("wrong_type", f"{field} must be text, not {type(value).__name__}")
    if len(value) > limit:
        raise _Refused(
            reason or f"{field}_too_long",
            f"{field} is {len(value):,} characters long; at most {limit:,} are allowed",
        )
    _refuse_unstorable(field, value)
    return value


def _refuse_unstorable(field: str, value: str) -> None:
    nul = value.find("\0")
    if nul >= 0:
        raise _Refused("nul_character", f"{field} holds U+0000 at character {nul}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        raise _Refused(
            "lone_surrogate",
            f"{field} holds the lone surrogate U+{code:04X} at character {error.start}",
        ) from None


def _checked_source(source: object) -> Source:
    if source is None:
        return _NO_SOURCE
    if isinstance(source, Source):
        parts: Mapping[Any, object] = {key: getattr(source, key) for key in _SOURCE_KEYS}
    elif isinstance(source, Mapping):
        try:
            parts = dict(source)
        except Exception as error:  # the caller's mapping may raise anything
            cause = f"{type(error).__name__}: {error}"[:200]
            raise _Refused("wrong_type", f"source cannot be read: {cause!a}") from None
    else:
        raise _Refused(
            "wrong_type",
            f"source must be a mapping of type, id and name, not {type(source).__name__}",
        )
    unknown = [key for key in parts if key not in _SOURCE_KEYS]
    if unknown:
        raise _Refused(
            "source_unknown_key",
            f"source has the key {ascii(unknown[0])[:80]}; allowed are type, id and name",
        )
    texts = {
        key: _checked_text(f"source.{key}", parts.get(key), MAX_NAME, "source_too_long")
        for key in _SOURCE_KEYS
    }
    return Source(**texts)


def _checked_metadata(metadata: object) -> str:
    if metadata is None:
        return "{}"
    if not isinstance(metadata, Mapping):
        raise _Refused(
            "metadata_invalid", f"metadata must be a JSON object, not {type(metadata).__name__}"
        )
    try:
        metadata = dict(metadata)
        _check_metadata_values(metadata)
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except _Refused:
        raise
    except Exception as error:  # the caller's mapping may raise anything
        cause = f"{type(error).__name__}: {error}"[:200]
        raise _Refused("metadata_invalid", f"metadata is not JSON: {cause!a}") from None
    if len(text) > MAX_METADATA:
        raise _Refused(
            "metadata_too_long",
            f"metadata is {len(text):,} characters long as JSON; "
            f"at most {MAX_METADATA:,} are allowed",
        )
    return text


def _check_metadata_values(metadata: dict[Any, Any]) -> None:
    """Walk over every key and text; the depth is bounded so that any stack can read it back."""
    pending: list[tuple[Any, int]] = [(metadata, 1)]
    while pending:
        value, depth = pending.pop()
        if isinstance(value, str):
            _refuse_unstorable("metadata", value)
        elif isinstance(value, dict | list | tuple):
            if depth > MAX_METADATA_DEPTH:
                raise _Refused(
                    "metadata_invalid", f"metadata has more than {MAX_METADATA_DEPTH} levels"
                )
            if isinstance(value, dict):
                _check_metadata_keys(value)
                value = value.values()
            pending += [(item, depth + 1) for item in value]


def _check_metadata_keys(level: dict[Any, Any]) -> None:
    for key in level:
        if not isinstance(key, str):
            raise _Refused("metadata_invalid", f"metadata has the key {key!r}, which is no text")
        _refuse_unstorable("metadata", key)


def _checked_timestamp(value: object, now_us: int) -> tuple[str, int | None]:
    timestamp = _checked_text("timestamp", value, MAX_TIMESTAMP)
    event_time = parse_timestamp(timestamp)
    if event_time is not None and event_time > now_us + MAX_AHEAD_US:
        raise _Refused(
            "timestamp_in_future",
            f"timestamp {timestamp!r} is more than 24 hours ahead of now ({format_utc(now_us)})",
        )
    return timestamp, event_time
