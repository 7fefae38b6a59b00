"""Which rows were said by somebody whom the query names."""

from __future__ import annotations

import numpy as np

from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.text.grams import normalise

_SHORTEST_NAME = 2


def speakers_named(columns: Columns, query: str) -> np.ndarray:
    """Return a boolean array of shape (n,): the query names the row's speaker.

    A name is matched as whole words after normalisation, by its first word or as a whole; a name
    written without spaces around it, as in Japanese, is matched anywhere.
    """
    text = normalise(query)
    table = columns.tables["source_name"]
    named = np.zeros(len(table), bool)
    for name, code in table.items():
        named[code] = _names(text, name)
    return named[columns.codes_by_name["source_name"]] if table else np.zeros(columns.n, bool)


def _names(text: str, name: str) -> bool:
    whole = normalise(name).strip()
    parts = [part for part in (whole, whole.partition(" ")[0]) if len(part) >= _SHORTEST_NAME]
    return any(f" {part} " in text or (not part.isascii() and part in text) for part in parts)
