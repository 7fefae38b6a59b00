"""Hashes that tie a record to the data, the configuration and the code that made it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.datasets.base import Dataset

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGES = ("cpersona_jit", "harness")
_EXITS = ("cli", "config", "exits", "server")
_FREEZING = (
    "freeze.py",
    "freeze_arms.py",
    "freeze_unit.py",
    "adaptive/candidates.py",
    "adaptive/cue_arms.py",
)


def dataset_hash(dataset: Dataset) -> str:
    """sha256 over everything retrieval can see: rows, queries and relevance, in their order.

    The name and the notes are left out: the same data under another name is the same data.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for row in dataset.rows:
        _feed(digest, "row", row)
    for query in dataset.queries:
        _feed(digest, "query", query)
    for query_id in sorted(dataset.qrels):
        for doc_id, grade in sorted(dataset.qrels[query_id].items()):
            _feed(digest, "qrel", (query_id, doc_id, grade))
    return digest.hexdigest()


def file_hash(path: Path | str) -> str:
    """sha256 of a file's bytes, 64 hexadecimal digits."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def config_hash(obj: Any) -> str:
    """sha256 over the canonical JSON of a configuration.

    Parameters
    ----------
    obj : Any
        JSON values, dataclasses, pydantic models, paths, tuples and sets of these. The order of
        keys does not matter; the order of lists does.

    Raises
    ------
    TypeError
        For anything else: a silent ``repr`` could change from run to run.
    ValueError
        For NaN and infinities, which JSON does not have.
    """
    text = json.dumps(
        obj,
        sort_keys=True,
        ensure_ascii=True,
        separators=(",", ":"),
        allow_nan=False,
        default=_jsonable,
    )
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def code_hash(root: Path | str = _ROOT) -> str:
    """sha256 over the paths and bytes of every Python file of the library and the harness."""
    return _hash_files(Path(root), _python_files(Path(root), _PACKAGES))


def engine_hash(root: Path | str = _ROOT) -> str:
    """sha256 over the Python files that decide what a frozen pool holds.

    These are the library without its commands, settings, exits and server, and what of the harness
    freezes.
    """
    library, harness = (Path(root) / package for package in _PACKAGES)
    outside = {library / folder for folder in _EXITS}
    engine = _python_files(Path(root), [library.name])
    files = [path for path in engine if not outside & set(path.parents)]
    return _hash_files(Path(root), files + [harness / name for name in _FREEZING])


def _hash_files(root: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda found: found.relative_to(root).as_posix()):
        _feed(digest, path.relative_to(root).as_posix(), (file_hash(path),))
    return digest.hexdigest()


def git_revision(root: Path | str = _ROOT) -> str | None:
    """Commit of the checkout, with ``+dirty`` when tracked files differ; None outside of git."""
    # Asked of git only when this very folder is a checkout: an installed copy may lie inside
    # somebody else's repository, whose commit would say nothing.
    if not (Path(root) / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return commit + ("+dirty" if changed else "")


def _feed(digest: Any, tag: str, values: Iterable[str | int | None]) -> None:
    # JSON keeps the borders between values: ("ab", "c") and ("a", "bc") differ.
    digest.update(json.dumps([tag, *values], separators=(",", ":")).encode("ascii"))


def _python_files(root: Path, packages: Iterable[str]) -> list[Path]:
    return [
        path
        for package in packages
        for path in (root / package).rglob("*.py")
        if "__pycache__" not in path.parts
    ]


def _jsonable(obj: Any) -> Any:
    if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        return {spec.name: getattr(obj, spec.name) for spec in dataclasses.fields(obj)}
    if hasattr(obj, "model_dump"):
        return obj.model_dump(mode="json")
    if isinstance(obj, Path):
        return obj.as_posix()
    if isinstance(obj, set | frozenset):
        return sorted(obj)
    raise TypeError(f"cannot hash a {type(obj).__name__} as configuration: {obj!r}")


def _git(root: Path | str, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
