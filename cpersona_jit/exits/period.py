"""The period that a recall aimed at, in the words of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired

# pydantic reads the typing module's TypedDict only from Python 3.12 on.
from typing_extensions import TypedDict

from cpersona_jit.records import format_utc

# `from` is no name for a field of a class.
Period = TypedDict(
    "Period",
    {
        "from": NotRequired[str],
        "to": NotRequired[str],
        "words": NotRequired[str],
        "moved": NotRequired[bool],
    },
)
Period.__doc__ = (
    "The time that a recall aimed at; an open end is left out. moved: nothing is stored of the "
    "time that was asked for, and this is the nearest one of which something is."
)


def period_fields(period: Mapping[str, Any]) -> Period:
    """Return the period of a recall in the words of an agent: ISO 8601, ends inside, in UTC."""
    told: Period = {}
    if period["start_us"] is not None:
        told["from"] = format_utc(period["start_us"])
    if period["end_us"] is not None:
        told["to"] = format_utc(period["end_us"])
    if period["words"]:
        told["words"] = period["words"]
    if period["moved"]:
        told["moved"] = True
    return told
