"""The fields of a record in a file, and how they become a record.

Text fields are checked for their type here, where the value can still be shown; every other limit
is the store's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from cpersona_jit.errors import UsageError, shown
from cpersona_jit.records import OldText, Record

TEXT_FIELDS = (
    *("content", "agent_id", "project_id", "channel", "msg_id", "session_id", "timestamp"),
    *("kind", "end"),
)
SOURCE_FIELDS = {"source_type": "type", "source_id": "id", "source_name": "name"}
FIELDS = (
    *(*TEXT_FIELDS, "metadata", "source", *SOURCE_FIELDS, "keywords", "history"),
    *("embedding", "embedding_model"),
)
_ALLOWED = frozenset(FIELDS)
_SHOWN_CHARS = 60


class Unreadable(NamedTuple):
    """Why a line or row is no record: a key of ``READ_REASONS`` and a sentence for a person."""

    reason: str
    detail: str


class Item(NamedTuple):
    """One line or row of a file.

    Attributes
    ----------
    number : int
        Of the line or row, from 1.
    end : int
        Where to go on behind it: in bytes, or in rows.
    record : Record or Unreadable
    vector : ndarray of float32, shape (dim,), or None
        Given with the row; not normalised, and any value in it.
    """

    number: int
    end: int
    record: Record | Unreadable
    vector: np.ndarray | None = None


# The reasons that only a file can give; ``store.reasons`` has the others.
READ_REASONS: dict[str, str] = {
    "invalid_json": "the line is not JSON",
    "not_an_object": "the line is JSON, but no object",
    "not_utf8": "the line or text is not UTF-8",
    "line_too_long": "the line has more than 4 MiB",
    "duplicate_key": "a field is given twice",
    "unknown_field": "the record has a field that is none of a memory's",
    "embedding_invalid": "embedding is no list of finite numbers, or is all zero",
    "embedding_dimension": "embedding has not as many numbers as the model makes",
    "embedding_model": "embedding is another model's, or does not say which model's it is",
}

# Checks a vector as it is given, with the model it is said to be of.
VectorReader = Callable[[Any, Any], "np.ndarray | Unreadable"]


def known_fields(ignored: Collection[str]) -> None:
    """Raise UsageError when a field to be ignored is the text itself."""
    if "content" in ignored:
        raise UsageError("content cannot be ignored: it is the memory")


def unknown_field(names: Iterable[str]) -> Unreadable | None:
    """Return what to say about names that are no fields, or None when all are."""
    unknown = sorted(str(name) for name in set(names) - _ALLOWED)
    if not unknown:
        return None
    return Unreadable(
        "unknown_field",
        f"{shown(unknown[0], _SHOWN_CHARS)!r} is no field of a memory; allowed: "
        f"{', '.join(FIELDS)}; or ignore it by name",
    )


def read_record(
    number: int,
    end: int,
    fields: dict[str, Any],
    defaults: Mapping[str, str],
    read_vector: VectorReader,
) -> Item:
    """Make a record of the fields of a line or row.

    Parameters
    ----------
    number, end : int
        As in :class:`Item`.
    fields : dict
        Values by name, without those that are ignored.
    defaults : mapping
        For text fields that a row does not have, or has empty.
    read_vector : callable
        Takes ``embedding`` and ``embedding_model``.
    """
    if not fields.keys() <= _ALLOWED:
        return Item(number, end, unknown_field(fields))
    get = fields.get
    texts = []
    for name in TEXT_FIELDS:
        value = get(name)
        if not value and name in defaults and (value is None or value == ""):
            value = defaults[name]
        if type(value) is not str and value is not None:
            return Item(number, end, _no_text(name, value))
        texts.append(value)
    content, agent_id, project_id, channel, msg_id, session_id, timestamp, kind, until = texts
    source, history = _source(fields), get("history")
    if history is not None:
        history = _history(history)
    for value in (source, history):
        if isinstance(value, Unreadable):
            return Item(number, end, value)
    record = Record(
        content, agent_id, project_id, channel, msg_id, source, session_id, timestamp,
        get("metadata"), kind or "memory", until, get("keywords"), history or (),
    )  # fmt: skip
    embedding = get("embedding")
    if embedding is None:
        return Item(number, end, record)
    vector = read_vector(embedding, get("embedding_model"))
    if isinstance(vector, Unreadable):
        return Item(number, end, vector)
    return Item(number, end, record, vector)


def _source(fields: dict[str, Any]) -> Any:
    """Return the source in one of its two spellings; the store checks what is in it."""
    source = fields.get("source")
    flat = {key: fields.get(name) for name, key in SOURCE_FIELDS.items() if name in fields}
    if source is None:
        return flat or None
    if any(value is not None for value in flat.values()):
        return Unreadable(
            "duplicate_key",
            "source is given as an object and in parts (source_name, ...); allowed: one of both",
        )
    return source


def _history(value: Any) -> tuple[OldText, ...] | Unreadable:
    """Read the old texts of a row; the store checks what is in them."""
    names = {"content", "written_at", "superseded_at"}
    if isinstance(value, list) and all(
        isinstance(old, dict) and set(old) == names for old in value
    ):
        return tuple(OldText(**old) for old in value)
    return Unreadable(
        "history_invalid",
        f"history is {brief(value)}; allowed: a list of objects of content, written_at and "
        "superseded_at",
    )


def _no_text(name: str, value: Any) -> Unreadable:
    return Unreadable("wrong_type", f"{name} is {brief(value)}; allowed: text")


def brief(value: Any) -> str:
    """Return a value of any type, short enough for a report."""
    try:
        text = repr(value)
    except RecursionError:
        text = "..."
    return f"{shown(text, _SHOWN_CHARS)} ({type(value).__name__})"
