"""Read JSON lines and tab-separated judgements, each record with its line number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.datasets.base import DatasetError

# A sign, and no more digits than any allowed score needs: int() refuses thousands of them.
_SCORE = re.compile(r"[+-]?\d{1,18}")


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number from 1, object)``; blank lines are skipped.

    Raises
    ------
    DatasetError
        The file is missing or not UTF-8, or a line is not a JSON object.
    """
    for number, line in _lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{path}, line {number}: not JSON: {error}") from error
        if not isinstance(record, dict):
            raise DatasetError(
                f"{path}, line {number}: an object is expected, found {type(record).__name__}"
            )
        yield number, record


def read_qrels(path: Path) -> Iterator[tuple[int, tuple[str, str, int]]]:
    """Yield ``(line number from 1, (query id, document id, grade))``.

    LMEB's files have no header; BEIR's has one, which is told by its third field holding no
    digit.

    Raises
    ------
    DatasetError
        The file is missing or not UTF-8, or a line is not two ids and a whole number.
    """
    for number, line in _lines(path):
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) != 3:
            raise DatasetError(
                f"{path}, line {number}: query id, document id and score are expected, "
                f"found {len(fields)} field(s)"
            )
        query_id, doc_id, score = fields
        if not _SCORE.fullmatch(score.strip()):
            if number == 1 and not any(map(str.isdecimal, score)):
                continue
            shown = score if len(score) <= 40 else f"{score[:40]}..."
            raise DatasetError(
                f"{path}, line {number}: score {shown!r} is not a whole number of at most 18 digits"
            )
        yield number, (query_id, doc_id, int(score))


def text_field(record: dict[str, Any], names: tuple[str, ...], place: str) -> str:
    """The first of the named fields that is present, as text; numbers are written out.

    Raises
    ------
    DatasetError
        None is present, or it is neither text nor a whole number.
    """
    for name in names:
        if name in record:
            value = record[name]
            if isinstance(value, str):
                return value
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
            raise DatasetError(f"{place}: {name} must be text, found {value!r}")
    raise DatasetError(f"{place}: {' or '.join(names)} is missing")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        # Only "\n" ends a line: texts may hold U+2028 and the like unescaped.
        with open(path, encoding="utf-8", newline="\n") as handle:
            for number, line in enumerate(handle, start=1):
                if line.strip():
                    yield number, line
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot be read: {error}") from error
