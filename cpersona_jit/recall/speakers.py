"""Which rows were said by somebody whom the query asks about."""

from __future__ import annotations

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.recall.addressed import ROLE_NAMES, role_addressed
from cpersona_jit.text.grams import normalise

_SHORTEST_NAME = 2


def speakers_named(columns: Columns, query: str) -> np.ndarray:
    """Return a boolean array of shape (n,): the query asks for words of the row's speaker.

    It names the speaker, as whole words after normalisation, by its first word or as a whole (a
    name written without spaces around it, as in Japanese, is matched anywhere); or it asks for the
    words of one side of a dialogue (:func:`~cpersona_jit.recall.addressed.role_addressed`), and
    the speaker's type or name is what that side is called.
    """
    text = normalise(query)
    role = role_addressed(query)
    of_role = ROLE_NAMES[role] if role else frozenset()
    named = np.zeros(columns.n, bool)
    for column in ("source_name", "source_type"):
        table = columns.tables[column]
        meant = np.zeros(len(table), bool)
        for name, code in table.items():
            meant[code] = name.strip().lower() in of_role
            if column == "source_name" and not meant[code]:
                meant[code] = _names(text, name)
        if meant.any():
            named |= meant[columns.codes_by_name[column]]
    return named


def _names(text: str, name: str) -> bool:
    whole = normalise(name).strip()
    parts = [part for part in (whole, whole.partition(" ")[0]) if len(part) >= _SHORTEST_NAME]
    return any(f" {part} " in text or (not part.isascii() and part in text) for part in parts)
