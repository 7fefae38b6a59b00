"""Opening the memory file that a command was given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cpersona_jit.cli.options import DEFAULT_DB

if TYPE_CHECKING:
    from cpersona_jit.memory import Memory


def open_memory(db: Path, embedder: str, *, create: bool) -> Memory:
    """Open the memory at `db`.

    Parameters
    ----------
    db : pathlib.Path
        The SQLite file.
    embedder : str
        Provider spec.
    create : bool
        Make the file when there is none. Commands that only read do not: a mistyped path must not
        become an empty memory.
    """
    import cpersona_jit

    if create:
        make_default_folder(db)
    # One command is one recall: the NumPy kernels answer before the compiled ones are loaded.
    return cpersona_jit.open(db, embedder=embedder, create=create, wait_for_kernels=False)


def make_default_folder(db: Path) -> None:
    """Make the folder of the default file, for its owner only; other folders are the user's own."""
    if db == DEFAULT_DB:
        db.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
