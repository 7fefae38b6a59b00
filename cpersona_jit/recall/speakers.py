"""Which rows were said by somebody whom the query asks about."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.recall.addressed import ROLE_NAMES, role_addressed
from cpersona_jit.text.grams import normalise

_SHORTEST_NAME = 2


def speakers_named(columns: Columns, query: str, rows: np.ndarray) -> np.ndarray:
    """Return whether the query asks for words of the speaker of each of `rows`, bool.

    It names the speaker, as whole words after normalisation, by its first word or as a whole (a
    name written without spaces around it, as in Japanese, is matched anywhere); or it asks for the
    words of one side of a dialogue (:func:`~cpersona_jit.recall.addressed.role_addressed`), and
    the speaker's type or name is what that side is called.
    """
    text = normalise(query)
    role = role_addressed(query)
    of_role = ROLE_NAMES[role] if role else frozenset()
    named = np.zeros(rows.size, bool)
    for column in ("source_name", "source_type") if role else ("source_name",):
        names = list(columns.tables[column])  # in the order of their codes
        codes = columns.codes_by_name[column][rows]
        meant = np.zeros(len(names), bool)
        for code in np.flatnonzero(np.bincount(codes, minlength=len(names))).tolist():
            meant[code] = names[code].strip().lower() in of_role or (
                column == "source_name" and _names(text, names[code])
            )
        named |= meant[codes]
    return named


def _names(text: str, name: str) -> bool:
    return any(part in text for part in _said_as(name))


@lru_cache(maxsize=4096)  # names come again at each recall
def _said_as(name: str) -> tuple[str, ...]:
    """Stretches of a normalised text that name a speaker."""
    whole = normalise(name).strip()
    parts = [part for part in (whole, whole.partition(" ")[0]) if len(part) >= _SHORTEST_NAME]
    return tuple(f" {part} " if part.isascii() else part for part in parts)
