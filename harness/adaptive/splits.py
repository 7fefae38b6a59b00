"""Three parts of every dataset that never mix: to explore on, to choose on, to open once.

The parts are committed, in ``harness/splits.json``, so that nobody can draw them again until they
like them. Whole scopes go to one part. Data of fewer than six scopes is parted by a hash of the
query id, which needs no list.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from cpersona_jit.errors import CPersonaError
from harness.datasets.base import Dataset
from harness.splits import DEVELOPMENT, HOLDOUT, MIN_SCOPES, VALIDATION

SPLITS_FILE = Path(__file__).resolve().parent.parent / "splits.json"
SEED = 20261130
# Of the scopes, or of the draws of query ids; the rest is for choosing.
SHARES = {DEVELOPMENT: 0.3, HOLDOUT: 0.3}
PARTS = (DEVELOPMENT, VALIDATION, HOLDOUT)
BY_QUERY = "by a hash of the query id"


class SplitError(CPersonaError):
    """A dataset has no committed parts, or a query belongs to none of them."""


@dataclass(frozen=True)
class Split:
    """The parts of one dataset.

    Parameters
    ----------
    dataset : str
        Name of the dataset.
    scopes : dict of str to str, or None
        The part of each scope; None parts by a hash of the query id.
    """

    dataset: str
    scopes: dict[str, str] | None

    def part_of(self, query_id: str, scope_id: str) -> str:
        """Return the part of a query.

        Raises
        ------
        SplitError
            The scope is in no part.
        """
        if self.scopes is None:
            draw = hashlib.sha256(f"{SEED}\n{query_id}".encode()).digest()
            share = int.from_bytes(draw[:8], "big") / 2**64
            if share < SHARES[DEVELOPMENT]:
                return DEVELOPMENT
            return HOLDOUT if share >= 1.0 - SHARES[HOLDOUT] else VALIDATION
        if scope_id not in self.scopes:
            raise SplitError(
                f"dataset {self.dataset!r}: scope {scope_id!r} is in no part of {SPLITS_FILE.name}"
            )
        return self.scopes[scope_id]


def draw_split(dataset: Dataset) -> Split:
    """Draw the parts of a dataset, from its scope ids and the seed alone."""
    scopes = sorted({query.scope_id for query in dataset.queries})
    if len(scopes) < MIN_SCOPES:
        return Split(dataset.name, None)
    order = np.random.default_rng(SEED).permutation(len(scopes))
    first, last = (round(SHARES[part] * len(scopes)) for part in (DEVELOPMENT, HOLDOUT))
    parts = [DEVELOPMENT] * first + [VALIDATION] * (len(scopes) - first - last) + [HOLDOUT] * last
    drawn = {scopes[place]: part for place, part in zip(order.tolist(), parts, strict=True)}
    return Split(dataset.name, dict(sorted(drawn.items())))


def write_splits(splits: Iterable[Split], path: Path = SPLITS_FILE) -> None:
    """Write the file of committed parts; a dataset that is in it already keeps its parts."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for split in splits:
        known.setdefault(split.dataset, _as_json(split))
    path.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")


@cache
def committed_split(dataset: str) -> Split:
    """Return the committed parts of a dataset.

    Raises
    ------
    SplitError
        It has none.
    """
    known = json.loads(SPLITS_FILE.read_text(encoding="utf-8"))
    if dataset not in known:
        raise SplitError(
            f"dataset {dataset!r} has no committed parts; known are {', '.join(known)}; "
            f"draw them with: python -m harness split {dataset}, and commit {SPLITS_FILE.name}"
        )
    parts = known[dataset]
    if parts == BY_QUERY:
        return Split(dataset, None)
    return Split(dataset, {scope: part for part in PARTS for scope in parts[part]})


def keep_parts(dataset: Dataset, split: Split, parts: Sequence[str]) -> Dataset:
    """Keep the queries of some parts, and the rows of the scopes they ask in."""
    queries = [q for q in dataset.queries if split.part_of(q.query_id, q.scope_id) in parts]
    kept = {query.query_id for query in queries}
    scopes = {query.scope_id for query in queries}
    return replace(
        dataset,
        rows=[row for row in dataset.rows if row.scope_id in scopes],
        queries=queries,
        qrels={query_id: docs for query_id, docs in dataset.qrels.items() if query_id in kept},
    )


def _as_json(split: Split) -> object:
    if split.scopes is None:
        return BY_QUERY
    return {part: [scope for scope, own in split.scopes.items() if own == part] for part in PARTS}
