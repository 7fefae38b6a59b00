"""Which rows were said by somebody whom the query asks about."""

from __future__ import annotations

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
        codes, of_row = np.unique(columns.codes_by_name[column][rows], return_inverse=True)
        meant = [names[code].strip().lower() in of_role for code in codes.tolist()]
        if column == "source_name":
            meant = [
                is_role or _names(text, names[code])
                for is_role, code in zip(meant, codes, strict=True)
            ]
        named |= np.array(meant, bool)[of_row]
    return named


def _names(text: str, name: str) -> bool:
    whole = normalise(name).strip()
    parts = [part for part in (whole, whole.partition(" ")[0]) if len(part) >= _SHORTEST_NAME]
    return any(f" {part} " in text or (not part.isascii() and part in text) for part in parts)
