"""Opening the memory file that a command was given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cpersona_jit.config.defaults import DEFAULT_DB

if TYPE_CHECKING:
    from cpersona_jit.config.model import Settings
    from cpersona_jit.memory import Memory


def open_memory(settings: Settings, *, create: bool, embedder: str | None = None) -> Memory:
    """Open the memory that the settings name.

    Parameters
    ----------
    settings : Settings
        With the SQLite file and the provider spec.
    create : bool
        Make the file when there is none. Commands that only read do not: a mistyped path must not
        become an empty memory.
    embedder : str, optional
        Another provider than that of the settings.
    """
    import cpersona_jit

    db = Path(settings.db)
    if create:
        make_default_folder(db)
    # One command is one recall: the NumPy kernels answer before the compiled ones are loaded.
    return cpersona_jit.open(
        db, embedder=embedder or settings.embedder, create=create, wait_for_kernels=False
    )


def make_default_folder(db: Path) -> None:
    """Make the folder of the default file, for its owner only; other folders are the user's own."""
    if db == DEFAULT_DB:
        db.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
