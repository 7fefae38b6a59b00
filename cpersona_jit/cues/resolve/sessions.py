"""Resolvers of session references."""

from __future__ import annotations

from cpersona_jit.cues.resolve.base import (
    Captures,
    Context,
    resolver,
)
from cpersona_jit.cues.time_cue import (
    SessionReference,
)


@resolver
def session_ago(context: Context, captures: Captures) -> SessionReference | None:
    """Counted from the newest: 1 is the newest stored session."""
    n = captures.get("n", captures.get("ago", 1))
    return SessionReference("ago", n) if n >= 1 else None


@resolver
def session_ordinal(context: Context, captures: Captures) -> SessionReference | None:
    """Counted from the beginning."""
    n = captures.get("n", 1)
    return SessionReference("ordinal", n) if n >= 1 else None


@resolver
def session_range(context: Context, captures: Captures) -> SessionReference | None:
    """From one to another, counted from the beginning."""
    first, to = captures["n"], captures["m"]
    return SessionReference("range", first, to) if 1 <= first <= to else None


@resolver
def first_sessions(context: Context, captures: Captures) -> SessionReference | None:
    """Return the n oldest."""
    return SessionReference("first", captures["n"]) if captures["n"] >= 1 else None


@resolver
def last_sessions(context: Context, captures: Captures) -> SessionReference | None:
    """Return the n newest."""
    return SessionReference("last", captures["n"]) if captures["n"] >= 1 else None
