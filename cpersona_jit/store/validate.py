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

from cpersona_jit.records import OldText, Record, Source
from cpersona_jit.store.episode_checks import EpisodeFields, check_kind, checked_episode
from cpersona_jit.store.text_checks import (
    MAX_TIMESTAMP,
    Refused,
    Rejection,
    checked_text,
    checked_time,
    refuse_unstorable,
)
from cpersona_jit.store.timestamps import MAX_TIME_US, MIN_TIME_US, parse_timestamp

MAX_CONTENT = 16_000
MAX_NAME = 256
MAX_METADATA = 8_000
MAX_METADATA_DEPTH = 64

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
    episode : EpisodeFields or None
        What an episode has beyond a memory; None = it is a memory.
    history : tuple of OldText
        Old texts of an imported row, times in UTC microseconds.
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
    episode: EpisodeFields | None = None
    history: tuple[OldText, ...] = ()


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
        names = {name: checked_text(name, getattr(record, name), MAX_NAME) for name in _NAMES}
        if not names["agent_id"]:
            raise Refused("agent_id_required", "agent_id is empty; every memory has an owner")
        content = _checked_content(record.content)
        source = _checked_source(record.source)
        metadata = _checked_metadata(record.metadata)
        timestamp, event_time = checked_time("timestamp", record.timestamp, now_us)
        check_kind(record)
        episode = checked_episode(record, event_time, now_us)
        history = _checked_history(record.history)
    except Refused as refused:
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
        episode=episode,
        history=history,
    )


def check_content(content: object) -> str | Rejection:
    """Check a new text for an existing row; returns it, or the rejection."""
    try:
        return _checked_content(content)
    except Refused as refused:
        return refused.rejection


def content_hash(content: str) -> bytes:
    """16 bytes that stand for a content in the index of duplicates."""
    return blake2b(content.encode("utf-8"), digest_size=16).digest()


def _checked_content(content: object) -> str:
    text = checked_text("content", content, MAX_CONTENT)
    if not text.strip():
        raise Refused(
            "empty_content", f"content is empty or only white space ({len(text)} characters)"
        )
    return text


def _checked_history(history: object) -> tuple[OldText, ...]:
    if history is None or history == ():
        return ()
    if not isinstance(history, list | tuple):
        raise Refused("history_invalid", f"history is a {type(history).__name__}, not a list")
    found = []
    for number, old in enumerate(history):
        if not isinstance(old, OldText):
            raise Refused("history_invalid", f"history[{number}] is no cpersona_jit.OldText")
        place = f"history[{number}]"
        times = [
            _checked_moment(f"{place}.{name}", getattr(old, name))
            for name in ("written_at", "superseded_at")
        ]
        found.append(OldText(_checked_content(old.content), *times))
    return tuple(found)


def _checked_moment(field: str, value: object) -> int:
    moment = value
    if type(value) is not int:
        moment = parse_timestamp(checked_text(field, value, MAX_TIMESTAMP, "history_invalid"))
    if moment is None or not MIN_TIME_US <= moment <= MAX_TIME_US:
        raise Refused("history_invalid", f"{field} is {ascii(value)[:80]}; allowed: ISO 8601")
    return moment


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
            raise Refused("wrong_type", f"source cannot be read: {cause!a}") from None
    else:
        raise Refused(
            "wrong_type",
            f"source must be a mapping of type, id and name, not {type(source).__name__}",
        )
    unknown = [key for key in parts if key not in _SOURCE_KEYS]
    if unknown:
        raise Refused(
            "source_unknown_key",
            f"source has the key {ascii(unknown[0])[:80]}; allowed are type, id and name",
        )
    texts = {
        key: checked_text(f"source.{key}", parts.get(key), MAX_NAME, "source_too_long")
        for key in _SOURCE_KEYS
    }
    return Source(**texts)


def _checked_metadata(metadata: object) -> str:
    if metadata is None:
        return "{}"
    if not isinstance(metadata, Mapping):
        raise Refused(
            "metadata_invalid", f"metadata must be a JSON object, not {type(metadata).__name__}"
        )
    try:
        metadata = dict(metadata)
        _check_metadata_values(metadata)
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except Refused:
        raise
    except Exception as error:  # the caller's mapping may raise anything
        cause = f"{type(error).__name__}: {error}"[:200]
        raise Refused("metadata_invalid", f"metadata is not JSON: {cause!a}") from None
    if len(text) > MAX_METADATA:
        raise Refused(
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
            refuse_unstorable("metadata", value)
        elif isinstance(value, dict | list | tuple):
            if depth > MAX_METADATA_DEPTH:
                raise Refused(
                    "metadata_invalid", f"metadata has more than {MAX_METADATA_DEPTH} levels"
                )
            if isinstance(value, dict):
                _check_metadata_keys(value)
                value = value.values()
            pending += [(item, depth + 1) for item in value]


def _check_metadata_keys(level: dict[Any, Any]) -> None:
    for key in level:
        if not isinstance(key, str):
            raise Refused("metadata_invalid", f"metadata has the key {key!r}, which is no text")
        refuse_unstorable("metadata", key)
