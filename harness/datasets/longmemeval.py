"""Read LongMemEval's own JSON.

The file is a list of questions, each with its whole haystack: ``question_id``, ``question_type``,
``question``, ``answer``, ``question_date``, and three lists of equal length,
``haystack_session_ids``, ``haystack_dates``, ``haystack_sessions`` (turns of ``role``,
``content`` and, on evidence, ``has_answer: true``), with ``answer_session_ids`` naming the
evidence sessions. Described in the README of https://github.com/xiaowu0162/LongMemEval; data at
Hugging Face ``xiaowu0162/longmemeval-cleaned``. An id ending in ``_abs`` marks a question that
the haystack does not answer.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.datasets.base import Dataset, DatasetError, DatasetQuery, DatasetRow
from harness.datasets.build import build_dataset
from harness.datasets.checks import Places, Qrel, numbered

_TEXT_FIELDS = ("question_id", "question_type", "question")
_LISTS = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
_DATE_FORMAT = "%Y/%m/%d %H:%M"


def find_longmemeval_json(folder: Path) -> Path | None:
    """The one LongMemEval file of a folder, or None.

    Raises
    ------
    DatasetError
        There are several: the folder must say which one is meant.
    """
    found = sorted(folder.glob("longmemeval*.json"))
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise DatasetError(f"{folder}: one LongMemEval file is wanted, found {names}")
    return found[0] if found else None


def load_longmemeval(
    path: Path | str, *, name: str | None = None, by_session: bool = False
) -> Dataset:
    """Load LongMemEval from its JSON.

    Parameters
    ----------
    path : Path or str
        ``longmemeval_s_cleaned.json`` and the like.
    name : str, optional
        Default: the file's stem.
    by_session : bool
        One row per session, its user turns joined by a space, instead of one row per turn.

    Returns
    -------
    Dataset
        Each question is a scope of its own. Document ids are ``<question>/<session>/<turn>`` or
        ``<question>/<session>``, sessions and turns numbered from 0 with three digits.

    Raises
    ------
    DatasetError
        The file is missing, not JSON, or a field is missing or of another type; the message
        names the question.
    """
    path = Path(path)
    rows: list[DatasetRow] = []
    queries: list[DatasetQuery] = []
    qrels: list[Qrel] = []
    notes: list[str] = []
    for index, record in enumerate(_records(path)):
        place = f"{path}, question {index}"
        _check_record(record, place)
        query = _query(record, place)
        queries.append(query)
        read = _session_rows if by_session else _turn_rows
        rows.extend(read(record, query, qrels, place))
        if by_session:
            _note_unknown_evidence(record, notes)
    places = Places(
        numbered("rows of " + str(path)), numbered(str(path), "question"), numbered(str(path))
    )
    return build_dataset(name or path.stem, rows, queries, qrels, places=places, notes=notes)


def _records(path: Path) -> list[Any]:
    try:
        with open(path, encoding="utf-8") as handle:
            records = json.load(handle)
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(records, list):
        raise DatasetError(f"{path}: a list of questions is expected at the top")
    return records


def _check_record(record: Any, place: str) -> None:
    if not isinstance(record, dict):
        raise DatasetError(f"{place}: an object is expected, found {type(record).__name__}")
    for field in _TEXT_FIELDS:
        if not isinstance(record.get(field), str):
            raise DatasetError(f"{place}: {field} must be text, found {record.get(field)!r}")
    place += f" ({record['question_id']})"
    for field in (*_LISTS, "answer_session_ids"):
        if not isinstance(record.get(field), list):
            raise DatasetError(f"{place}: {field} must be a list")
    if len({len(record[field]) for field in _LISTS}) != 1:
        lengths = ", ".join(f"{field} has {len(record[field])}" for field in _LISTS)
        raise DatasetError(f"{place}: the haystack lists differ in length: {lengths}")


def _query(record: dict[str, Any], place: str) -> DatasetQuery:
    answer = record.get("answer")
    date = record.get("question_date")
    return DatasetQuery(
        record["question_id"],
        record["question"],
        None if date is None else _iso(date, place),
        record["question_id"],
        record["question_type"].replace("-", "_"),
        None if answer is None else str(answer),
    )


def _turn_rows(
    record: dict[str, Any], query: DatasetQuery, qrels: list[Qrel], place: str
) -> list[DatasetRow]:
    rows = []
    for number, (session_id, when, turns) in enumerate(_sessions(record, place)):
        for turn_number, turn in enumerate(turns):
            doc_id = f"{query.query_id}/{number:03d}/{turn_number:03d}"
            rows.append(
                DatasetRow(doc_id, turn["content"], when, session_id, turn["role"], query.scope_id)
            )
            if turn.get("has_answer") is True:
                qrels.append((query.query_id, doc_id, 1))
    return rows


def _session_rows(
    record: dict[str, Any], query: DatasetQuery, qrels: list[Qrel], place: str
) -> list[DatasetRow]:
    rows = []
    evidence = set(record["answer_session_ids"])
    for number, (session_id, when, turns) in enumerate(_sessions(record, place)):
        doc_id = f"{query.query_id}/{number:03d}"
        text = " ".join(turn["content"] for turn in turns if turn["role"] == "user")
        rows.append(DatasetRow(doc_id, text, when, session_id, "user", query.scope_id))
        if session_id in evidence:
            qrels.append((query.query_id, doc_id, 1))
    return rows


def _sessions(record: dict[str, Any], place: str) -> list[tuple[str, str, list[dict[str, Any]]]]:
    place += f" ({record['question_id']})"
    sessions = []
    for number, (session_id, date, turns) in enumerate(zip(*map(record.get, _LISTS), strict=True)):
        where = f"{place}, session {number}"
        if not isinstance(session_id, str) or not isinstance(turns, list):
            raise DatasetError(f"{where}: a text id and a list of turns are expected")
        for turn_number, turn in enumerate(turns):
            if not (
                isinstance(turn, dict)
                and isinstance(turn.get("content"), str)
                and isinstance(turn.get("role"), str)
            ):
                raise DatasetError(f"{where}, turn {turn_number}: role and content must be text")
        sessions.append((session_id, _iso(date, where), turns))
    return sessions


def _iso(date: Any, place: str) -> str:
    """``2023/05/20 (Sat) 02:21`` as ISO 8601; ISO 8601 stays as it is."""
    if isinstance(date, str):
        day, _, rest = date.partition(" (")
        try:
            if rest:
                stamp = datetime.strptime(f"{day} {rest.partition(') ')[2]}", _DATE_FORMAT)
            else:
                stamp = datetime.fromisoformat(date)
            return stamp.isoformat()
        except ValueError:
            pass
    raise DatasetError(f"{place}: date {date!r} is not of the form '2023/05/20 (Sat) 02:21'")


def _note_unknown_evidence(record: dict[str, Any], notes: list[str]) -> None:
    unknown = [
        found
        for found in record["answer_session_ids"]
        if found not in record["haystack_session_ids"]
    ]
    if unknown:
        notes.append(
            f"question {record['question_id']}: evidence session {unknown[0]!r} "
            "is not in its haystack and cannot be found"
        )
