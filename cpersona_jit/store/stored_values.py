"""What a stored row may hold: a damaged file, or another program, can put anything there.

SQLite gives a column's type as advice only, so each row is checked on its way out. A complaint
names the row and the field and never quotes a value: it may be read by another agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.records import format_ref
from cpersona_jit.store.timestamps import MAX_TIME_US, MIN_TIME_US

_TIMES = ("event_time", "created_at", "updated_at", "end_time", "written_at", "superseded_at")
_OPTIONAL = {
    **dict.fromkeys(("event_time", "updated_at", "end_time", "model_id"), int),
    "embedding": bytes,
}
_NUMBERS = (
    *("id", "memory_id", "revision", "block_index", "start_char", "end_char"),
    *("created_at", "written_at", "superseded_at"),
)
_MEANING = {int: "a whole number", str: "text in UTF-8", bytes: "a vector"}


def stored_text(raw: bytes) -> str | bytes:
    """Decode a text of the file; what is not UTF-8 stays bytes, which `row_check` refuses.

    SQLite's own complaint about such a text quotes it.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def row_check(columns: Sequence[str]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that hands a row on when each of its values is what the schema means.

    Parameters
    ----------
    columns : sequence of str
        Names of the row's values; the first is the memory's id.

    Returns
    -------
    callable
        Takes and returns the values of one row; raises CorruptStoreError naming row and field.
    """
    kinds = [_kinds(column) for column in columns]
    allowed = frozenset(product(*kinds))
    times = [position for position, column in enumerate(columns) if column in _TIMES]

    def check(values: tuple[Any, ...]) -> tuple[Any, ...]:
        if tuple(map(type, values)) not in allowed:
            at = next(i for i, value in enumerate(values) if type(value) not in kinds[i])
            raise CorruptStoreError(
                f"{_name(values[0])}: its {columns[at]} is not {_MEANING[kinds[at][0]]}; "
                "the store is damaged"
            )
        for at in times:
            if values[at] is not None and not MIN_TIME_US <= values[at] <= MAX_TIME_US:
                raise CorruptStoreError(
                    f"{_name(values[0])}: its {columns[at]} is outside the years 1 to 9999; "
                    "the store is damaged"
                )
        return values

    return check


def stored_keywords(memory_id: int, text: str) -> tuple[str, ...]:
    """Read the keywords of an episode; '' stands for none.

    Raises
    ------
    CorruptStoreError
        They are no JSON list of texts.
    """
    if not text:
        return ()
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise CorruptStoreError(f"{_name(memory_id)}: its keywords are not a JSON list of texts")
    return tuple(words)


def _kinds(column: str) -> tuple[type, ...]:
    if column in _OPTIONAL:
        return _OPTIONAL[column], type(None)
    return (int,) if column in _NUMBERS else (str,)


def _name(memory_id: object) -> str:
    return format_ref(memory_id) if isinstance(memory_id, int) else "a row"
