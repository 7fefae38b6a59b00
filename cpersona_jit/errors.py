"""Errors a user of the library can meet: each names the field, the value and what is allowed."""

from __future__ import annotations

import unicodedata

FOREIGN_CHARS = 200  # of what a server or a library says
_MESSAGE_CHARS = 500


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
    """An embedding provider failed or answered with something that is not a set of vectors.

    Its message may hold what a server or a library said and is read by an agent, so that it is
    :func:`shown`, whoever raises it.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(shown(message, _MESSAGE_CHARS))


class ExportError(CPersonaError):
    """A file for other tools could not be written; an older file of that name is as it was."""


class ImportFileError(CPersonaError):
    """A file to import cannot be read, or is damaged; batches that were stored before are kept."""


def shown(text: object, limit: int = FOREIGN_CHARS) -> str:
    r"""Return foreign text in one line: unprintable characters escaped, at most `limit` characters.

    Parameters
    ----------
    text : object
        Text, or an error that says it.
    limit : int
        Longest result; a longer one is cut and ends with an ellipsis.
    """
    escaped = ""
    for char in str(text)[: limit + 1]:
        kept = char.isprintable() or unicodedata.category(char) == "Zs"
        escaped += char if kept else char.encode("unicode_escape").decode("ascii")
    return escaped if len(escaped) <= limit else escaped[: limit - 1] + "…"
