"""The columns of a Parquet file as the values of fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from cpersona_jit.bulk.fields import SOURCE_FIELDS, TEXT_FIELDS, Unreadable, brief, unknown_field
from cpersona_jit.errors import UsageError, shown

_TEXTS = frozenset((*TEXT_FIELDS, *SOURCE_FIELDS, "embedding_model"))


def check_columns(schema: pa.Schema, names: Sequence[str]) -> None:
    """Refuse columns that cannot be read as the fields of memories.

    Raises
    ------
    UsageError
        A column is missing, there twice, unknown, or of another type than its field.
    """
    if "content" not in names:
        exported = {"ref", "event_time", "length"} <= set(names)
        why = (
            "; it holds columns, as `export` writes them without --memories: no texts"
            if exported
            else ""
        )
        raise UsageError(f"the file has no column content{why}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"the file has the column {twice[0]!r} twice")
    unknown = unknown_field(names)
    if unknown is not None:
        raise UsageError(f"column {unknown.detail}")
    for name in names:
        kind = _plain(schema.field(name).type)
        allowed = _allowed(name, kind)
        if allowed and not kinds.is_null(kind):
            raise UsageError(f"column {name} is of type {kind}; allowed: {allowed}")


def read_column(name: str, column: pa.Array) -> Sequence[Any]:
    """Return a value per row: text, dict, vector, None, or Unreadable.

    Parameters
    ----------
    name : str
        Of the field.
    column : pyarrow.Array
        Of a type that `check_columns` let pass.
    """
    if kinds.is_dictionary(column.type):
        column = column.dictionary_decode()
    if kinds.is_null(column.type):
        return [None] * len(column)
    if name == "embedding":
        return _vectors(column)
    if name == "timestamp" and not _is_text(column.type):
        return _times(column)
    if name == "metadata" and _is_text(column.type):
        return [_metadata(value) for value in _texts(name, column)]
    if name in ("keywords", "history"):
        return [_decoded(name, value) for value in column]
    if name in ("metadata", "source"):
        return [_without_nulls(value) for value in column.to_pylist(maps_as_pydicts="lossy")]
    return _texts(name, column)


def _allowed(name: str, kind: pa.DataType) -> str:
    """Name the types that are allowed for a field, or '' when this one is."""
    if name == "embedding":
        ok = (
            kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind)
        ) and (kinds.is_floating(kind.value_type) or kinds.is_integer(kind.value_type))
        return "" if ok else "a list of numbers"
    if name in ("keywords", "history"):
        ok = kinds.is_list(kind) or kinds.is_large_list(kind)
        fits = _is_text if name == "keywords" else kinds.is_struct
        what = "a list of strings" if name == "keywords" else "a list of structs"
        return "" if ok and fits(kind.value_type) else what
    if name == "metadata":
        ok = _is_text(kind) or kinds.is_struct(kind) or kinds.is_map(kind)
        return "" if ok else "a string of JSON, a struct or a map"
    if name == "source":
        return "" if kinds.is_struct(kind) else "a struct of type, id and name"
    if name == "timestamp" and (kinds.is_timestamp(kind) or kinds.is_date(kind)):
        return ""
    if _is_text(kind):
        return ""
    return "string, timestamp or date" if name == "timestamp" else "string"


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if kinds.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    view = getattr(kinds, "is_string_view", None)
    return kinds.is_string(kind) or kinds.is_large_string(kind) or bool(view and view(kind))


def _texts(name: str, column: pa.Array) -> list[Any]:
    try:
        return column.to_numpy(zero_copy_only=False).tolist()
    except (UnicodeDecodeError, pa.ArrowException):
        return [_decoded(name, value) for value in column]


def _decoded(name: str, value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError as error:
        return Unreadable("not_utf8", f"byte {error.start} of {name} is not UTF-8")


def _times(column: pa.Array) -> list[str | None]:
    """Write times as ISO 8601: with Z where the column has a time zone, else as they are."""
    known = column.is_valid().to_pylist()
    zone = ""
    if kinds.is_date(column.type):
        unit, numbers = "datetime64[D]", column.cast(pa.date32()).cast(pa.int32())
    else:
        zone = "Z" if column.type.tz else ""
        exact = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        unit, numbers = "datetime64[us]", exact.cast(pa.int64())
    texts = np.datetime_as_string(numbers.fill_null(0).to_numpy().astype(unit)).tolist()
    return [
        text.removesuffix(".000000") + zone if valid else None
        for text, valid in zip(texts, known, strict=True)
    ]


def _metadata(value: Any) -> Any:
    if not isinstance(value, str) or not value:
        return value or None
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        return Unreadable(
            "metadata_invalid", f"metadata is not JSON ({shown(error)}): {brief(value)}"
        )


def _without_nulls(value: Any) -> Any:
    """A struct has every name in every row: what is null there was not given."""
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if item is not None}


def _vectors(column: pa.Array) -> list[np.ndarray | None]:
    """Return a view into one array per row."""
    known = column.is_valid().to_pylist()
    if kinds.is_fixed_size_list(column.type):
        width = column.type.list_size
        bounds = (np.arange(len(column) + 1) + column.offset) * width
    else:
        bounds = column.offsets.to_numpy()
    low, high = int(bounds[0]), int(bounds[-1])
    numbers = column.values.slice(low, high - low).to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):  # becomes inf, and is refused as not finite
        numbers = numbers.astype(np.float32, copy=False)
    cuts = (bounds - low).tolist()
    return [numbers[cuts[at] : cuts[at + 1]] if valid else None for at, valid in enumerate(known)]
