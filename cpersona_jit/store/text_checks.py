"""Checks of single texts and times of a record, and how one is refused."""

from __future__ import annotations

from dataclasses import dataclass

from cpersona_jit.records import StoreOutcome, format_utc
from cpersona_jit.store.timestamps import US_PER_DAY, parse_timestamp

MAX_TIMESTAMP = 64
MAX_AHEAD_US = US_PER_DAY


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a record cannot be stored: a key of ``REASONS`` and a sentence for a person."""

    reason: str
    detail: str

    @property
    def outcome(self) -> StoreOutcome:
        """The outcome of storing the record."""
        return StoreOutcome("rejected", None, self.reason, self.detail)


class Refused(Exception):
    """Carries a rejection out of the nested checks; never leaves the checks."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.rejection = Rejection(reason, detail)


def checked_text(field: str, value: object, limit: int, reason: str | None = None) -> str:
    """Return a text of at most `limit` characters that can be stored; '' for None."""
    if value is None:
        return ""
    if type(value) is str and value.isascii() and "\0" not in value and len(value) <= limit:
        return value  # most are: what is below costs a bulk import more than its reading
    if not isinstance(value, str):
        raise Refused("wrong_type", f"{field} must be text, not {type(value).__name__}")
    if len(value) > limit:
        raise Refused(
            reason or f"{field}_too_long",
            f"{field} is {len(value):,} characters long; at most {limit:,} are allowed",
        )
    refuse_unstorable(field, value)
    return value


def refuse_unstorable(field: str, value: str) -> None:
    """Raise Refused when a text cannot be written as UTF-8, or holds a NUL."""
    nul = value.find("\0")
    if nul >= 0:
        raise Refused("nul_character", f"{field} holds U+0000 at character {nul}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        raise Refused(
            "lone_surrogate",
            f"{field} holds the lone surrogate U+{code:04X} at character {error.start}",
        ) from None


def checked_time(field: str, value: object, now_us: int) -> tuple[str, int | None]:
    """Return a timestamp and its UTC microseconds, None when it is no ISO 8601."""
    text = checked_text(field, value, MAX_TIMESTAMP)
    moment = parse_timestamp(text)
    refuse_future(field, text, moment, now_us)
    return text, moment


def refuse_future(field: str, text: str, moment: int | None, now_us: int) -> None:
    """Raise Refused when a time is more than a day ahead."""
    if moment is not None and moment > now_us + MAX_AHEAD_US:
        raise Refused(
            "timestamp_in_future",
            f"{field} {text!r} is more than 24 hours ahead of now ({format_utc(now_us)})",
        )
