"""Errors a user of the library can meet: each names the field, the value and what is allowed."""

from __future__ import annotations


class CPersonaError(Exception):
    """Base of every error this package raises on purpose."""


class UsageError(CPersonaError):
    """The caller asked for something the contract does not allow."""


class StoreError(CPersonaError):
    """The SQLite file cannot be opened, read or written."""


class EmbeddingError(CPersonaError):
    """An embedding provider failed or answered with something that is not a set of vectors."""
