"""Errors a user of the library can meet: each names the field, the value and what is allowed."""

from __future__ import annotations


class CPersonaError(Exception):
    """Base of every error this package raises on purpose."""


class UsageError(CPersonaError):
    """The caller asked for something the contract does not allow."""


class StoreError(CPersonaError):
    """The SQLite file cannot be opened, read or written."""


class StoreNotFoundError(StoreError):
    """There is no file at the path, and the caller did not ask to create one."""


class NotAStoreError(StoreError):
    """The path holds something else: a folder, another program's database, no database at all."""


class NewerSchemaError(StoreError):
    """The file was written by a newer version of the package; it is left untouched."""


class CorruptStoreError(StoreError):
    """The file is one of ours, but SQLite or its contents are damaged."""


class ReadOnlyStoreError(StoreError):
    """The file or its folder cannot be written; an open store still answers reads."""


class StoreFullError(StoreError):
    """The disk or a quota is full; the write was rolled back and the store is as it was."""


class StoreBusyError(StoreError):
    """Another process held the write lock for longer than the busy timeout."""


class EmbeddingError(CPersonaError):
    """An embedding provider failed or answered with something that is not a set of vectors."""


class ExportError(CPersonaError):
    """A file for other tools could not be written; an older file of that name is as it was."""
