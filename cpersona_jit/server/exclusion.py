"""Leaving out of a recall what the caller has already."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cpersona_jit.exits.quoter import Quoter
    from cpersona_jit.results import RecallResult, RecallRow

# A shorter text says too little: "Yes." would hide every memory that begins with it.
MIN_PREFIX_CHARS = 32
_PASSES = 4


class Exclusion:
    """Texts that a caller has already.

    A memory is one of them when both are equal, or when one begins with the other and the caller's
    text has at least 32 characters; so a preview stands for the whole memory. Compared without
    white space at the ends, in NFKC and without case.

    Parameters
    ----------
    texts : iterable of str
        Whole contents, previews, or messages of a conversation.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        stripped = dict.fromkeys(text.strip() for text in texts)
        self._whole = {_normalised(text) for text in stripped}
        long = [text for text in stripped if len(_normalised(text)) >= MIN_PREFIX_CHARS]
        # A preview may end between a letter and its mark, which NFKC joins in the whole text: the
        # texts as they are tell that it is a prefix after all.
        self._prefixes = tuple(dict.fromkeys([*long, *map(_normalised, long)]))

    def __bool__(self) -> bool:
        return bool(self._whole)

    def excludes(self, content: str) -> bool:
        """Whether the caller has the memory with this content."""
        if not self._whole:
            return False
        forms = (_normalised(content), content.strip())
        if forms[0] in self._whole:
            return True
        return any(
            form.startswith(self._prefixes) or any(one.startswith(form) for one in self._prefixes)
            for form in filter(None, forms)
        )


def _normalised(text: str) -> str:
    return unicodedata.normalize("NFKC", text.strip()).casefold().strip()


def recall_without(
    recall: Callable[[int], tuple[RecallResult, Quoter]], limit: int, exclusion: Exclusion
) -> tuple[RecallResult, list[RecallRow], Quoter]:
    """Recall rows that the caller does not have yet.

    Excluded rows take no place in the window: it is asked for again, as much longer as rows of it
    were excluded, and more generously each time. Nothing else depends on how long it is, except
    which rows are left for the seats behind it.

    Parameters
    ----------
    recall : callable
        Returns the result and the quoter of a recall with the limit it is given.
    limit : int
        Rows of the window to return.
    exclusion : Exclusion
        What the caller has.

    Returns
    -------
    result : RecallResult
        What the last recall said besides its rows.
    rows : list of RecallRow
        The rows that are left, in its order: at most `limit`, then those on seats.
    quoter : Quoter
        Quotes them.
    """
    asked = limit
    for generosity in range(_PASSES):
        result, quoter = recall(asked)
        left = [row for row in result.rows if not exclusion.excludes(row.content)]
        window = [row for row in left if not row.admission]
        everything = sum(not row.admission for row in result.rows) < asked
        if len(window) >= limit or everything:
            break
        asked = limit + (asked - len(window)) * 2**generosity
    return result, [*window[:limit], *(row for row in left if row.admission)], quoter
