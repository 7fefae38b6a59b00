"""Checks of what callers pass, with messages that name the argument and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cpersona_jit.embed.guard import clean_text
from cpersona_jit.errors import UsageError

MAX_LIMIT = 10_000
MAX_REFS = 20
MAX_QUERY_CHARS = 16_000


def checked_query(query: str) -> str:
    """Return the query without NULs and lone surrogates, or raise UsageError."""
    if not isinstance(query, str):
        raise UsageError(f"query must be a string, not {type(query).__name__}")
    cleaned = clean_text(query)
    if not cleaned.strip():
        raise UsageError("query is empty; allowed: 1 to 16,000 characters")
    if len(cleaned) > MAX_QUERY_CHARS:
        raise UsageError(f"query has {len(cleaned)} characters; allowed: at most {MAX_QUERY_CHARS}")
    return cleaned


def check_limit(limit: int) -> None:
    """Raise UsageError unless `limit` is a number of rows that may be asked for."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit <= MAX_LIMIT:
        raise UsageError(f"limit is {limit!r}; allowed: a whole number from 0 to {MAX_LIMIT}")


def checked_refs(refs: Sequence[str]) -> list[str]:
    """Return the references as a list, or raise UsageError when they are no strings."""
    listed = list(refs) if isinstance(refs, Iterable) and not isinstance(refs, str) else [None]
    if not all(isinstance(ref, str) for ref in listed):
        raise UsageError("refs must be a list of strings such as 'mem:12'")
    return listed
