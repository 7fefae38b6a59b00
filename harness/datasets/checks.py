"""The laws of a dataset; a broken one is an error that names the file, the place and the id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from cpersona_jit.embed.guard import clean_text
from harness.datasets.base import Dataset, DatasetError, DatasetQuery, DatasetRow
from harness.datasets.clean import MAX_CHARS

Place = Callable[[int], str]
"""Where the record of an index stands in its file, as a person would look for it."""

Qrel = tuple[str, str, int]
"""Query id, document id, grade."""

MAX_GRADE = 1_000_000
"""Far above any benchmark's grades, and small enough for every measure's arithmetic."""


def numbered(file: str, unit: str = "row", first: int = 0) -> Place:
    """Place of record ``i`` as ``"<file>, <unit> <i + first>"``."""
    return lambda index: f"{file}, {unit} {index + first}"


class Places(NamedTuple):
    """Where the rows, queries and relevance judgements come from."""

    rows: Place = numbered("rows")
    queries: Place = numbered("queries")
    qrels: Place = numbered("qrels")


def validate(dataset: Dataset, places: Places | None = None) -> None:
    """Check every law of a dataset.

    Parameters
    ----------
    dataset : Dataset
        Built by a loader or by hand.
    places : Places, optional
        Names the files in messages.

    Raises
    ------
    DatasetError
        A duplicate id, an empty text, a query in an unknown scope, or relevance that points at a
        query or document that does not exist or lies in another scope.
    """
    places = places or Places()
    check_row_ids(dataset.rows, places.rows)
    check_row_texts(dataset.rows, places.rows)
    check_queries(dataset.queries, {row.scope_id for row in dataset.rows}, places.queries)
    triples = [(q, d, grade) for q, docs in dataset.qrels.items() for d, grade in docs.items()]
    check_qrels(triples, dataset.queries, dataset.rows, places.qrels)


def check_row_ids(rows: Sequence[DatasetRow], place: Place) -> None:
    """Refuse an empty corpus, missing ids, and a document that occurs twice in one scope."""
    if not rows:
        raise DatasetError(f"{_file(place)}: there are no rows")
    seen: set[tuple[str, str, int]] = set()
    for index, row in enumerate(rows):
        if not row.doc_id or not row.scope_id:
            raise DatasetError(f"{place(index)}: doc_id and scope_id must not be empty")
        seen.add((row.scope_id, row.doc_id, row.part))
        if len(seen) != index + 1:
            raise DatasetError(
                f"{place(index)}: doc_id {row.doc_id!r} occurs twice in scope {row.scope_id!r}"
            )


def check_row_texts(rows: Sequence[DatasetRow], place: Place) -> None:
    """Refuse texts that the store would not take."""
    for index, row in enumerate(rows):
        if not row.text or row.text.isspace():
            raise DatasetError(f"{place(index)}: doc_id {row.doc_id!r} has an empty text")
        if len(row.text) > MAX_CHARS:
            raise DatasetError(
                f"{place(index)}: doc_id {row.doc_id!r} has {len(row.text):,} characters, "
                f"at most {MAX_CHARS:,} are allowed"
            )


def check_queries(queries: Sequence[DatasetQuery], scopes: set[str], place: Place) -> None:
    """Refuse missing or repeated ids, texts that cannot be asked, and scopes without rows."""
    if not queries:
        raise DatasetError(f"{_file(place)}: there are no queries")
    seen: set[str] = set()
    for index, query in enumerate(queries):
        if not query.query_id or not query.task:
            raise DatasetError(f"{place(index)}: query_id and task must not be empty")
        if query.query_id in seen:
            raise DatasetError(f"{place(index)}: query_id {query.query_id!r} occurs twice")
        seen.add(query.query_id)
        _check_query_text(query, place(index))
        if query.scope_id not in scopes:
            raise DatasetError(
                f"{place(index)}: query_id {query.query_id!r} asks in scope "
                f"{query.scope_id!r}, which has no rows"
            )


def _check_query_text(query: DatasetQuery, where: str) -> None:
    for name, value in (("query_id", query.query_id), ("task", query.task)):
        if clean_text(value) != value:
            raise DatasetError(f"{where}: {name} {value!r} holds NUL or a lone surrogate")
    if not clean_text(query.text).strip():
        raise DatasetError(f"{where}: query_id {query.query_id!r} has an empty text")
    if len(query.text) > MAX_CHARS:
        raise DatasetError(
            f"{where}: query_id {query.query_id!r} has {len(query.text):,} characters, "
            f"at most {MAX_CHARS:,} can be asked"
        )


def check_qrels(
    qrels: Iterable[Qrel],
    queries: Sequence[DatasetQuery],
    rows: Sequence[DatasetRow],
    place: Place,
) -> None:
    """Refuse relevance that dangles, contradicts itself or is out of range.

    It dangles when the query or the document is unknown or the document lies in another scope.
    """
    scope_of = {query.query_id: query.scope_id for query in queries}
    known = {(row.scope_id, row.doc_id) for row in rows}
    judged: dict[tuple[str, str], tuple[int, int]] = {}
    for index, (query_id, doc_id, grade) in enumerate(qrels):
        if query_id not in scope_of:
            raise DatasetError(f"{place(index)}: query_id {query_id!r} is not among the queries")
        if (scope_of[query_id], doc_id) not in known:
            others = [row.scope_id for row in rows if row.doc_id == doc_id]
            why = f"lies in scope {others[0]!r}" if others else "is not in the corpus"
            raise DatasetError(
                f"{place(index)}: doc_id {doc_id!r} {why}, but query_id {query_id!r} "
                f"asks in scope {scope_of[query_id]!r}"
            )
        if not 0 <= grade <= MAX_GRADE:
            raise DatasetError(
                f"{place(index)}: score {grade} of doc_id {doc_id!r} for query_id {query_id!r}; "
                f"allowed: whole numbers from 0 to {MAX_GRADE:,}"
            )
        earlier, first = judged.setdefault((query_id, doc_id), (grade, index))
        if earlier != grade:
            raise DatasetError(
                f"{place(index)}: score {grade} of doc_id {doc_id!r} for query_id {query_id!r} "
                f"contradicts score {earlier} in {place(first)}"
            )


def _file(place: Place) -> str:
    return place(0).rsplit(",", 1)[0]
