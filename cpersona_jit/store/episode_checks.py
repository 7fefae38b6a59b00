"""What a record of an episode must be, beyond what every record must."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from cpersona_jit.records import Record, format_utc
from cpersona_jit.store.text_checks import MAX_TIMESTAMP, Refused, checked_text, checked_time
from cpersona_jit.store.timestamps import end_of

MAX_KEYWORDS = 50
MAX_KEYWORD = 100


class EpisodeFields(NamedTuple):
    """What an episode has beyond a memory; `keywords` is a JSON list."""

    end_time: int
    end_timestamp: str
    keywords: str


def check_kind(record: Record) -> None:
    """Refuse a kind that there is none of, and a memory with what only episodes have."""
    if record.kind not in ("memory", "episode"):
        raise Refused(
            "kind_invalid", f"kind is {ascii(record.kind)[:80]}; allowed: memory, episode"
        )
    given = [name for name in ("end", "keywords") if getattr(record, name)]
    if record.kind == "memory" and given:
        raise Refused("kind_invalid", f"a memory has {given[0]}; allowed: in an episode only")


def checked_episode(record: Record, start: int | None, now_us: int) -> EpisodeFields | None:
    """Check what an episode has beyond a memory; None for a memory.

    Parameters
    ----------
    record : Record
        Of a kind that there is.
    start : int or None
        Its timestamp in UTC microseconds; None = missing or no ISO 8601.
    now_us : int
        The present.
    """
    if record.kind != "episode":
        return None
    if start is None:
        raise Refused(
            "episode_time_invalid",
            f"start is {ascii(record.timestamp)[:80]}; allowed: ISO 8601, it is required",
        )
    text = checked_text("end", record.end, MAX_TIMESTAMP, "timestamp_too_long")
    checked_time("end", text, now_us)
    end = end_of(text)
    if end is None:
        raise Refused("episode_time_invalid", f"end is {text!a}; allowed: ISO 8601, it is required")
    if end < start:
        raise Refused(
            "episode_ends_before_start",
            f"end {text!r} ({format_utc(end)}) is before start ({format_utc(start)})",
        )
    return EpisodeFields(end, text, _checked_keywords(record.keywords))


def _checked_keywords(keywords: object) -> str:
    if keywords is None:
        return "[]"
    if isinstance(keywords, str) or not isinstance(keywords, Sequence):
        raise Refused(
            "keywords_invalid", f"keywords is a {type(keywords).__name__}; allowed: a list of texts"
        )
    if len(keywords) > MAX_KEYWORDS:
        raise Refused(
            "keywords_invalid",
            f"keywords has {len(keywords)} entries; at most {MAX_KEYWORDS} are allowed",
        )
    found = []
    for number, word in enumerate(keywords):
        field = f"keywords[{number}]"
        text = checked_text(field, word, MAX_KEYWORD, "keywords_invalid")
        if not text.strip():
            raise Refused("keywords_invalid", f"{field} is empty")
        found.append(text)
    return json.dumps(found, ensure_ascii=False)
