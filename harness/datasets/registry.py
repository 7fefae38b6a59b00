"""Find a dataset by name: a local folder, the download cache, its official home, or made here."""

from __future__ import annotations

from pathlib import Path

from harness.datasets.base import Dataset, DatasetError
from harness.datasets.columnar import load_columnar
from harness.datasets.fetch import HOMES, cache_dir, fetch_dataset
from harness.datasets.lmeb import is_lmeb_folder, load_lmeb
from harness.datasets.longmemeval import find_longmemeval_json, load_longmemeval
from harness.datasets.sampling import sample_queries as sample
from harness.datasets.synthetic import DEFAULT_SEED, make_synthetic

SYNTHETIC = "synthetic"
_BY_SESSION = "_session"


def load_dataset(
    name: str,
    data_dir: Path | str | None = None,
    *,
    seed: int = DEFAULT_SEED,
    sample_queries: int | None = None,
    variant: str | None = None,
) -> Dataset:
    """Load a dataset by name.

    Looked for in this order: ``data_dir/<name>``, the download cache, the official home (which
    needs a network). ``"synthetic"`` is made on the fly and never looked for.

    Parameters
    ----------
    name : str
        A folder's name; ``<name>_session`` reads the same folder with one row per session;
        ``lmeb/<Folder>`` is a dataset of LMEB by its folder's name.
    data_dir : Path or str, optional
        Where local folders lie. A folder holds Parquet columns, LongMemEval's JSON, or LMEB's
        files; the loader is chosen by what is there.
    seed : int
        Of the synthetic generator and of the sample.
    sample_queries : int, optional
        Keep this many queries; see :func:`harness.datasets.sampling.sample_queries`.
    variant : {"session"}, optional
        The same as asking for ``<name>_session``.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        Nothing of that name is found or can be fetched, or what was found is broken.
    """
    if variant not in (None, "session"):
        raise DatasetError(f"dataset {name!r}: variant is {variant!r}, only 'session' is known")
    if variant == "session" and not name.endswith(_BY_SESSION):
        name += _BY_SESSION
    if name == SYNTHETIC + _BY_SESSION:
        raise DatasetError("the synthetic dataset has no variant by session")
    dataset = make_synthetic(seed) if name == SYNTHETIC else _find(name, data_dir)
    return dataset if sample_queries is None else sample(dataset, sample_queries, seed)


def _find(name: str, data_dir: Path | str | None) -> Dataset:
    if data_dir is not None and not Path(data_dir).is_dir():
        raise DatasetError(f"data folder {str(data_dir)!r} does not exist or is not a folder")
    by_session = name.endswith(_BY_SESSION)
    base = name.removesuffix(_BY_SESSION)
    # A name stays inside the folders it is looked for in.
    if {"", ".", ".."} & set(base.replace("\\", "/").split("/")):
        raise DatasetError(f"dataset name {name!r} is not the name of a folder")
    for root in (data_dir, cache_dir()):
        folder = None if root is None else Path(root) / base
        if folder is not None and folder.is_dir():
            return load_folder(folder, name, by_session=by_session)
    if data_dir is not None and base not in HOMES and not base.startswith("lmeb/"):
        folders = sorted(path.name for path in Path(data_dir).iterdir() if path.is_dir())
        raise DatasetError(
            f"there is no dataset {name!r} in {str(data_dir)!r} and it has no known home; "
            f"the folder holds {', '.join(folders) or 'nothing'}; "
            f"known are {', '.join([SYNTHETIC, *HOMES])}"
        )
    return load_folder(fetch_dataset(base), name, by_session=by_session)


def load_folder(folder: Path, name: str, *, by_session: bool = False) -> Dataset:
    """Load a folder with the loader that fits what is in it.

    Parameters
    ----------
    folder : Path
        Parquet columns, LongMemEval's JSON or LMEB's files.
    name : str
        The dataset's name.
    by_session : bool
        One row per session instead of per turn; LMEB's folders do not have that.

    Raises
    ------
    DatasetError
        The folder holds none of the three, or lacks the session variant.
    """
    if (folder / "queries.parquet").is_file() or (folder / "corpus.parquet").is_file():
        return load_columnar(folder, name=name, by_session=by_session)
    if json_file := find_longmemeval_json(folder):
        return load_longmemeval(json_file, name=name, by_session=by_session)
    if is_lmeb_folder(folder):
        if by_session:
            raise DatasetError(f"{folder}: an LMEB folder has no variant by session")
        return load_lmeb(folder, name=name)
    raise DatasetError(
        f"{folder}: no dataset is found there; wanted are corpus.parquet, queries.parquet and "
        "qrels.parquet, or a LongMemEval .json file, or LMEB's corpus.jsonl and queries.jsonl"
    )
