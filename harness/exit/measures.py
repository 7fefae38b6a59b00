"""What is measured of one response to one question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cpersona_jit.exits.quote import JOINER
from harness.datasets.base import DatasetQuery
from harness.exit.shown import Shown
from harness.exit.texts import normalised, says, tokens


class Gold(NamedTuple):
    """What answers a question.

    Attributes
    ----------
    documents : frozenset of str
        Relevant ones.
    answer : str or None
        Normalised; None when it cannot be looked for: it is no literal text of a relevant row.
    """

    documents: frozenset[str]
    answer: str | None


class Measured(NamedTuple):
    """Numbers of one response.

    Attributes
    ----------
    evidence_recall : float
        Share of the relevant documents of which some text is shown.
    evidence_precision : float or None
        Share of the documents shown that are relevant; None when nothing is shown.
    contained : bool or None
        Whether a passage says the answer; None when that is not asked.
    items, bundled : int
        Items, and those of two or more claims.
    rows : int
        Documents of which some text is shown.
    characters : int
    tokens : float
    """

    evidence_recall: float
    evidence_precision: float | None
    contained: bool | None
    items: int
    bundled: int
    rows: int
    characters: int
    tokens: float


def gold_of(
    query: DatasetQuery, relevant: Mapping[str, int], texts: Mapping[str, list[str]], asked: bool
) -> Gold:
    """Return what answers a question.

    Parameters
    ----------
    query : DatasetQuery
        The question.
    relevant : mapping of str to int
        Its relevant documents, with grades.
    texts : mapping of str to list of str
        The texts of every document of the scope.
    asked : bool
        Whether the dataset's answers are literal enough to be looked for.
    """
    answer = normalised(query.answer or "")
    rows = [text for document in relevant for text in texts.get(document, ())]
    literal = asked and any(says(normalised(text), answer) for text in rows)
    return Gold(frozenset(relevant), answer if literal else None)


class Judge:
    """Measures responses to one question; passages that come again are read once.

    Parameters
    ----------
    gold : Gold
        What answers it.
    documents : mapping of int to str
        The document of each row.
    """

    def __init__(self, gold: Gold, documents: Mapping[int, str]) -> None:
        self._gold, self._documents = gold, documents
        self._known: dict[str, tuple[bool, float]] = {}

    def measure(self, shown: Shown) -> Measured:
        """Return the numbers of one response."""
        found = {self._documents.get(piece.row_id, "") for piece in shown.pieces if piece.text}
        hits = len(found & self._gold.documents)
        read = [self._read(piece.text) for piece in shown.pieces]
        return Measured(
            hits / len(self._gold.documents),
            hits / len(found) if found else None,
            None if self._gold.answer is None else any(says_it for says_it, _ in read),
            len(shown.claims),
            sum(claims > 1 for claims in shown.claims),
            len(found),
            shown.chars,
            sum(count for _, count in read),
        )

    def _read(self, text: str) -> tuple[bool, float]:
        """Whether a text says the answer, and its tokens."""
        if text not in self._known:
            answer = self._gold.answer
            passages = () if answer is None else text.split(JOINER)
            found = any(says(normalised(one), answer) for one in passages)
            self._known[text] = found, tokens(text)
        return self._known[text]
