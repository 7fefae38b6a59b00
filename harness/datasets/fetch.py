"""Download a dataset from its official home, once, and only when it is asked for and absent."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import platformdirs

from harness.datasets.base import DatasetError

_LMEB = "KaLM-Embedding/LMEB"
_LONGMEMEVAL = "xiaowu0162/longmemeval-cleaned"


class Home(NamedTuple):
    """A dataset's place on the Hugging Face hub: repository, and a folder or one file in it."""

    repo_id: str
    path: str


HOMES = {
    "locomo": Home(_LMEB, "Dialogue/LoCoMo"),
    "realtalk": Home(_LMEB, "Dialogue/REALTALK"),
    "tmd": Home(_LMEB, "Dialogue/TMD"),
    "knowmebench": Home(_LMEB, "Episodic/KnowMeBench"),
    "scifact": Home(_LMEB, "Semantic/SciFact"),
    "gorilla": Home(_LMEB, "Procedural/Gorilla"),
    "proced_mem_bench": Home(_LMEB, "Procedural/Proced_mem_bench"),
    "longmemeval_s": Home(_LONGMEMEVAL, "longmemeval_s_cleaned.json"),
    "longmemeval_m": Home(_LONGMEMEVAL, "longmemeval_m_cleaned.json"),
    "longmemeval_oracle": Home(_LONGMEMEVAL, "longmemeval_oracle.json"),
}
"""Where each dataset is fetched from. The licences are the datasets' own."""


def cache_dir() -> Path:
    """Folder of fetched datasets, one folder each; ``CPERSONA_JIT_DATA_CACHE`` moves it."""
    chosen = os.environ.get("CPERSONA_JIT_DATA_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("cpersona-jit") / "datasets"


def fetch_dataset(name: str) -> Path:
    """Download a dataset into the cache.

    Parameters
    ----------
    name : str
        A key of :data:`HOMES`, or ``lmeb/<Folder>`` for any dataset of LMEB.

    Returns
    -------
    Path
        Its folder in the cache. It appears only when complete: a download that was cut off
        leaves a ``.partial`` folder, which the next attempt goes on from.

    Raises
    ------
    DatasetError
        The name has no known home, or the download failed, for instance without a network.
    """
    home = _home(name)
    target = cache_dir() / name
    partial = target.with_name(target.name + ".partial")
    try:
        partial.mkdir(parents=True, exist_ok=True)
        _download(home, partial)
        files = sorted(partial.glob(home.path))
        if not files:
            raise DatasetError(f"dataset {name!r}: {home.repo_id} has no {home.path}")
        _move_into_place(files[0], target)
        shutil.rmtree(partial, ignore_errors=True)
    except DatasetError:
        raise
    except Exception as error:
        # The hub client raises its HTTP library's errors as well as its own; to the user all of
        # them mean the same: no data came.
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DatasetError(
            f"dataset {name!r} is not here and could not be fetched from the Hugging Face hub, "
            f"{home.repo_id}: {reason}. Put it in a folder {name!r} and give the folder above "
            "it with --data."
        ) from error
    return target


def _home(name: str) -> Home:
    if name in HOMES:
        return HOMES[name]
    family, _, folder = name.partition("/")
    if family == "lmeb" and folder and not set(folder) & set("/\\*?[") and folder[0] != ".":
        return Home(_LMEB, f"*/{folder}")
    raise DatasetError(
        f"there is no dataset {name!r}; known are synthetic, {', '.join(HOMES)} and "
        "lmeb/<Folder>, or give a folder that holds it with --data"
    )


def _download(home: Home, folder: Path) -> None:
    # Imported here: it is slow to import and only a first run needs it.
    from huggingface_hub import snapshot_download

    patterns = [home.path] if home.path.endswith(".json") else [home.path + "/*"]
    snapshot_download(home.repo_id, repo_type="dataset", allow_patterns=patterns, local_dir=folder)


def _move_into_place(source: Path, target: Path) -> None:
    if source.is_dir():
        source.replace(target)
    else:
        staged = source.parent / (source.stem + ".folder")
        staged.mkdir(exist_ok=True)
        source.replace(staged / source.name)
        staged.replace(target)
