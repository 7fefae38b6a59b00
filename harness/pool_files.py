"""The files of a frozen pool and their hashes: what says that a pool is whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cpersona_jit.errors import CPersonaError
from harness.hashes import file_hash

POOL_FILES = ("candidates.parquet", "queries.parquet", "qrels.parquet")
HASHES = "sha256"


class PoolError(CPersonaError):
    """A pool folder is incomplete, damaged or does not fit together."""


def pool_file_hashes(pool_dir: Path) -> dict[str, str]:
    """Return the sha256 of each file of a pool, by name."""
    return {name: file_hash(pool_dir / name) for name in POOL_FILES}


def is_finished(pool_dir: Path) -> bool:
    """Whether a pool needs no more freezing.

    A ``meta.json`` that cannot be read says nothing about that: loading the pool refuses it by
    name, where freezing again would hide the damage.
    """
    path = pool_dir / "meta.json"
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError):
        return True
    return not isinstance(meta, dict) or (meta.get("complete") is True and HASHES in meta)


def check_pool_files(pool_dir: Path, meta: dict[str, Any]) -> None:
    """Compare a pool's files with the hashes that were kept when it was finished.

    Parquet has no checksum of its own here: a changed byte can still be a readable file.

    Raises
    ------
    PoolError
        Names the file that is missing or differs, and what to do.
    """
    kept = meta.get(HASHES)
    if not isinstance(kept, dict) or set(kept) != set(POOL_FILES):
        raise PoolError(
            f"{pool_dir / 'meta.json'}: {HASHES} must hold a hash for each of "
            f"{', '.join(POOL_FILES)}; delete the folder {pool_dir.name} and run again"
        )
    for name in POOL_FILES:
        path = pool_dir / name
        try:
            found = file_hash(path)
        except OSError as error:
            raise PoolError(
                f"{path}: cannot be read ({error.strerror or error}); "
                f"delete the folder {pool_dir.name} and run again"
            ) from error
        if found != kept[name]:
            raise PoolError(
                f"{path}: is not the file that was frozen (its sha256 differs from meta.json's); "
                f"delete the folder {pool_dir.name} and run again"
            )
