"""From raw records to a checked dataset: repair what the store would refuse, note what changed."""

from __future__ import annotations

from collections.abc import Sequence

from harness.datasets.base import Dataset, DatasetQuery, DatasetRow
from harness.datasets.checks import Places, Qrel, check_qrels, check_queries, check_row_ids
from harness.datasets.clean import MAX_CHARS, split_text, storable


def build_dataset(
    name: str,
    rows: Sequence[DatasetRow],
    queries: Sequence[DatasetQuery],
    qrels: Sequence[Qrel],
    *,
    places: Places | None = None,
    notes: Sequence[str] = (),
) -> Dataset:
    """Check raw records and turn them into a dataset.

    Rows without text are dropped together with relevance that names them, rows over 16,000 code
    points are cut into parts, characters the store refuses are replaced; each is noted.

    Parameters
    ----------
    name : str
        As reports show it.
    rows, queries : sequence
        As the loader read them.
    qrels : sequence of (query_id, doc_id, grade)
        Grade 0 means judged not relevant and is left out.
    places : Places, optional
        Names files and positions in messages.
    notes : sequence of str
        The loader's own remarks; they come first.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        See :func:`harness.datasets.checks.validate`.
    """
    places = places or Places()
    notes = list(notes)
    # Ids are checked before anything is dropped: places then count as the file does, and naming
    # an empty turn is not a dangling id.
    check_row_ids(rows, places.rows)
    check_qrels(qrels, queries, rows, places.qrels)
    kept = _storable_rows(rows, notes)
    check_queries(queries, {row.scope_id for row in kept}, places.queries)
    relevance = _relevance(qrels, queries, kept, notes)
    return Dataset(name, kept, list(queries), relevance, notes)


def _storable_rows(rows: Sequence[DatasetRow], notes: list[str]) -> list[DatasetRow]:
    kept: list[DatasetRow] = []
    empty, long, repaired = [], [], []
    for row in rows:
        text = storable(row.text)
        if text != row.text:
            repaired.append(row.doc_id)
            row = row._replace(text=text)
        if not text or text.isspace():
            empty.append(row.doc_id)
        elif len(text) > MAX_CHARS:
            long.append(row.doc_id)
            pieces = [piece for piece in split_text(text) if not piece.isspace()]
            kept.extend(row._replace(text=piece, part=i) for i, piece in enumerate(pieces))
        else:
            kept.append(row)
    _note(notes, empty, "rows without text were dropped")
    _note(notes, long, f"rows over {MAX_CHARS:,} characters were cut into parts")
    _note(notes, repaired, "rows held NUL or lone surrogates, replaced by U+FFFD")
    return kept


def _relevance(
    qrels: Sequence[Qrel],
    queries: Sequence[DatasetQuery],
    rows: Sequence[DatasetRow],
    notes: list[str],
) -> dict[str, dict[str, int]]:
    scope_of = {query.query_id: query.scope_id for query in queries}
    known = {(row.scope_id, row.doc_id) for row in rows}
    relevance: dict[str, dict[str, int]] = {}
    lost = []
    for query_id, doc_id, grade in qrels:
        if (scope_of[query_id], doc_id) not in known:
            lost.append(f"{query_id} -> {doc_id}")
        elif grade > 0:
            relevance.setdefault(query_id, {})[doc_id] = grade
    _note(notes, lost, "judgements named a row without text and were dropped")
    bare = [query.query_id for query in queries if query.query_id not in relevance]
    _note(notes, bare, "queries have no relevant document and are left out of every mean")
    return relevance


def _note(notes: list[str], ids: list[str], what: str) -> None:
    if ids:
        shown = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
        notes.append(f"{len(ids):,} {what} ({shown})")
