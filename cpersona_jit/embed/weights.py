"""Locating installed model packages and proving that their weight files are the pinned ones."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cache
from pathlib import Path

from cpersona_jit.errors import EmbeddingError


def package_folder(module: str, install: str) -> Path:
    """Return the folder of an installed package without importing it.

    Parameters
    ----------
    module : str
        Name of a top-level package.
    install : str
        What to give to ``pip install`` when it is missing.

    Raises
    ------
    EmbeddingError
        If the package is not installed; the message names the command that installs it.
    """
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddingError(f"package {module!r} is not installed; run: pip install '{install}'")
    return Path(spec.submodule_search_locations[0])


@cache
def verify_file(path: Path, sha256: str) -> None:
    """Check a file's sha256; a pair that passed is not read again in this process.

    Parameters
    ----------
    path : Path
        The weight file.
    sha256 : str
        Expected digest, 64 hex digits.

    Raises
    ------
    EmbeddingError
        If the file cannot be read or is not the expected one.
    """
    found = file_sha256(path)
    if found != sha256:
        raise EmbeddingError(
            f"weight file {path} has sha256 {found}, expected {sha256}; reinstall its package"
        )


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file as 64 hex digits; EmbeddingError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbeddingError(f"cannot read weight file {path}: {error.strerror}") from error
