"""What a retrieval benchmark is to the harness: rows, queries and relevance, in scopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cpersona_jit.errors import CPersonaError


class DatasetError(CPersonaError):
    """A dataset cannot be read or contradicts itself; names the file, the place and the id."""


class DatasetRow(NamedTuple):
    """One thing that can be remembered: a turn, a session, a paragraph.

    A NamedTuple because a dataset holds up to a few hundred thousand of them.

    Attributes
    ----------
    doc_id : str
        Identity that relevance refers to. Unique inside ``scope_id`` together with ``part``.
    text : str
        Never empty or only white space, at most 16,000 code points.
    timestamp : str or None
        ISO 8601 as the source gives it.
    session_id, speaker : str or None
    scope_id : str
        Retrieval stays inside one scope (a conversation, a haystack).
    part : int
        0, or the number of the piece when an over-long document was cut; every piece carries the
        same ``doc_id`` and any of them counts as the document.
    """

    doc_id: str
    text: str
    timestamp: str | None
    session_id: str | None
    speaker: str | None
    scope_id: str
    part: int = 0


class DatasetQuery(NamedTuple):
    """One question, asked inside one scope.

    Attributes
    ----------
    query_id, text : str
    timestamp : str or None
        When the question is asked, ISO 8601.
    scope_id : str
    task : str
        The benchmark's own subset; a dataset's score is the unweighted mean over its tasks.
    answer : str or None
        Free text, for people; retrieval does not use it.
    """

    query_id: str
    text: str
    timestamp: str | None
    scope_id: str
    task: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class Dataset:
    """A checked benchmark; make it with :func:`harness.datasets.build.build_dataset`.

    Attributes
    ----------
    name : str
    rows : list of DatasetRow
        In the source's order, which is the order of time inside a session.
    queries : list of DatasetQuery
    qrels : dict of str to dict of str to int
        ``query_id -> {doc_id: grade > 0}``. Queries without a relevant document have no entry.
    notes : list of str
        What was dropped, cut or repaired on the way in: for the report.
    """

    name: str
    rows: list[DatasetRow]
    queries: list[DatasetQuery]
    qrels: dict[str, dict[str, int]]
    notes: list[str] = field(default_factory=list)

    @property
    def scope_ids(self) -> list[str]:
        """Scopes in order of their first row."""
        return list(dict.fromkeys(row.scope_id for row in self.rows))

    @property
    def tasks(self) -> list[str]:
        """Tasks in order of their first query."""
        return list(dict.fromkeys(query.task for query in self.queries))

    def rows_by_scope(self) -> dict[str, list[DatasetRow]]:
        """Group the rows by scope, keeping their order."""
        groups: dict[str, list[DatasetRow]] = {}
        for row in self.rows:
            groups.setdefault(row.scope_id, []).append(row)
        return groups
