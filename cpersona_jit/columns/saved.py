"""A snapshot as a file beside its store, from which the next process begins."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, BinaryIO

import numpy as np

from cpersona_jit.columns.arrays import array_names, arrays_of, block_array, put_together
from cpersona_jit.columns.buffers import Buffers, spare_places
from cpersona_jit.columns.centre import Centre
from cpersona_jit.columns.masks import Mask
from cpersona_jit.columns.rows import Model
from cpersona_jit.columns.sections import (
    Sections,
    UnusableFileError,
    read_sections,
    write_sections,
)
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.columns.texts import no_grams
from cpersona_jit.kernels.gram_lists import GramIndex
from cpersona_jit.kernels.row_mask import count_admitted
from cpersona_jit.text.grams import GRAM_SIZES

# Raised whenever the same rows would give other arrays: other grams, codes, lists, names.
FORMAT = 1
_MASKS = ("alive", "embedded", "unsplit")
_INDEX_ARRAYS = tuple(name for name in GramIndex._fields if name != "n")


def write_columns(file: BinaryIO, columns: Columns, token: str) -> None:
    """Write a snapshot whose rows are all indexed.

    Parameters
    ----------
    file : binary file
        Empty, open for writing.
    columns : Columns
        The snapshot.
    token : str
        The name by which the store will know this file.
    """
    about = {
        **_made_by(),
        "token": token,
        "generation": columns.generation,
        "fingerprint": columns.fingerprint,
        "dim": columns.dim,
        "centred": columns.centres is not None,
    }
    arrays = arrays_of(columns)
    room = {name: spare_places(array.shape[0]) for name, array in arrays.items()}
    arrays |= {f"mask {name}": getattr(columns, name).words for name in _MASKS}
    arrays["mask blocks embedded"] = columns.blocks.embedded.words
    for prefix, texts in (("", columns), (block_array(""), columns.blocks)):
        for size, index in texts.gram_index.items():
            if index.n != texts.n:
                raise ValueError("rows behind the index have no place in a file")
            for name in _INDEX_ARRAYS:
                arrays[_gram_array(prefix, size, name)] = getattr(index, name)
    arrays |= _names(columns)
    write_sections(file, about, arrays, room)


def read_columns(path: str, token: str, generation: int, model: Model) -> Columns:
    """Return the snapshot that a file holds, if it is one of this store for this model.

    Parameters
    ----------
    path : str
        The file.
    token : str
        The name by which the store knows its file.
    generation : int
        The store's generation: the file shows it, or an earlier one.
    model : Model
        The model in use.

    Raises
    ------
    UnusableFileError
        It cannot be used, with the reason. A wrong answer is never the way to find out.
    OSError
        It cannot be read.
    """
    refuse_other(read_sections(path, check=False).about, token, generation, model)
    sections = read_sections(path)
    refuse_other(sections.about, token, generation, model)  # it may have been replaced
    return _columns(sections)


def refuse_other(about: Mapping[str, Any], token: str, generation: int, model: Model) -> None:
    """Raise UnusableFileError for what is not this store's, this version's and this model's."""
    made_by = _made_by()
    for name, value in made_by.items():
        if about.get(name) != value:
            raise UnusableFileError(f"its {name} is {about.get(name)!r}, here it is {value!r}")
    if about["token"] != token:
        raise UnusableFileError("it does not belong to this store, or to its present state")
    if about["generation"] > generation:
        raise UnusableFileError(
            f"it shows generation {about['generation']} of a store that is at {generation}"
        )
    wanted = {"fingerprint": model.fingerprint, "dim": model.dim, "centred": model.centred}
    if any(about[name] != value for name, value in wanted.items()):
        raise UnusableFileError("it holds the vectors of another model")


@cache
def _made_by() -> dict[str, Any]:
    try:
        package = version("cpersona-jit")
    except PackageNotFoundError:  # run from its sources
        package = ""
    return {"format": FORMAT, "version": package, "unicode": unicodedata.unidata_version}


def _gram_array(prefix: str, size: int, name: str) -> str:
    return f"{prefix}gram{size} {name}"


def _names(columns: Columns) -> dict[str, np.ndarray]:
    """What has no fixed size: names of the string columns, and the centres."""
    centres = columns.centres or {}
    told = {
        "tables": {name: list(table) for name, table in columns.tables.items()},
        "centres": [[name, centre.rows.size] for name, centre in centres.items()],
    }
    nothing = np.zeros(0, np.int64)
    vectors = [centre.vector for centre in centres.values()]
    return {
        "names": np.frombuffer(json.dumps(told).encode(), np.uint8),
        "centre rows": np.concatenate([nothing, *(centre.rows for centre in centres.values())]),
        "centre vectors": np.array(vectors, np.float64).reshape(len(centres), columns.dim),
    }


def _columns(sections: Sections) -> Columns:
    about, arrays = sections.about, sections.arrays
    told = json.loads(arrays["names"].tobytes())
    masks = {
        name: Mask(arrays[f"mask {name}"], count_admitted(arrays[f"mask {name}"]))
        for name in (*_MASKS, "blocks embedded")
    }
    centres, at = {}, 0
    for (name, rows), vector in zip(told["centres"], arrays["centre vectors"], strict=True):
        centres[name] = Centre(arrays["centre rows"][at : at + rows], vector)
        at += rows
    n, nb = arrays["ids"].size, arrays[block_array("row")].size
    grown = {name: sections.room[name] for name in array_names()}
    parts = {
        "generation": about["generation"],
        "tables": {
            name: {value: code for code, value in enumerate(values)}
            for name, values in told["tables"].items()
        },
        "fingerprint": about["fingerprint"],
        "dim": about["dim"],
        "centres": centres if about["centred"] else None,
        "_buffers": Buffers(grown, n, nb),
        **{name: masks[name] for name in _MASKS},
        **_grams(arrays, "", n),
    }
    block_parts = {
        "embedded": masks["blocks embedded"],
        **_grams(arrays, block_array(""), nb),
    }
    return put_together(arrays, parts, block_parts)


def _grams(arrays: Mapping[str, np.ndarray], prefix: str, n: int) -> dict[str, dict]:
    return {
        "gram_index": {
            size: GramIndex(
                **{name: arrays[_gram_array(prefix, size, name)] for name in _INDEX_ARRAYS}, n=n
            )
            for size in GRAM_SIZES
        },
        "gram_tail": dict.fromkeys(GRAM_SIZES, no_grams()),
    }
