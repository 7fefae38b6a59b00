"""What the two-phase search loses on real vectors: texts of the benchmarks, never the holdout."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np

from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.kernels.quantize import padded_width, quantize_rows, sign_words
from cpersona_jit.passages import passages
from harness.adaptive.splits import SPLITS_FILE, committed_split, keep_parts
from harness.datasets.base import Dataset
from harness.datasets.registry import SYNTHETIC, load_dataset
from harness.embedding_cache import CachedProvider
from harness.peers.dense import K, full_scan
from harness.peers.figures import add_figure, rounded
from harness.peers.goals import LOSS, TWO_PHASE
from harness.peers.installed import Skip
from harness.peers.searcher import Searcher
from harness.peers.signs import SHORTLIST, two_phase_search
from harness.peers.vectors import with_queries
from harness.run import Progress
from harness.splits import DEVELOPMENT, VALIDATION

MOST_ROWS, MOST_QUERIES = 100_000, 200
_LARGE = {"longmemeval_s": 120}  # queries of the sample whose haystacks are read
_EMBED_AT_ONCE = 4096


def compare_recall(
    data: Path | None, cache: Path, most_rows: int, skip: Skip, progress: Progress
) -> dict | None:
    """Compare the ten best rows of both searches with those of the exact float32 vectors.

    Parameters
    ----------
    data : Path or None
        Folder with one folder per dataset.
    cache : Path
        Folder of the embedding cache; missing vectors are made, which takes its time once.
    most_rows : int
        Distinct texts to read at most.
    skip : callable
        Told when there is nothing to compare on.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    dict or None
        The comparison, None without data.
    """
    datasets = [] if data is None else _datasets(data)
    if not datasets:
        skip(f"{TWO_PHASE}, {LOSS}", "no real vectors: --data names no folder with datasets")
        return None
    texts = list(islice(dict.fromkeys(_passages(datasets)), most_rows))
    questions = list(dict.fromkeys(q.text for one in datasets for q in one.queries))
    asked = questions[:: max(1, -(-len(questions) // MOST_QUERIES))]
    rows, queries, label = _vectors(texts, asked, cache, progress)
    return {**recall_of(rows, queries), "datasets": [one.name for one in datasets], "model": label}


def recall_of(rows: np.ndarray, queries: np.ndarray) -> dict:
    """Return the comparison over unit vectors, float32, shapes (n, dim) and (Q, dim)."""
    width = padded_width(rows.shape[1])
    wide = np.zeros((len(queries), width), np.float32)
    wide[:, : rows.shape[1]] = queries
    data = with_queries(quantize_rows(rows), sign_words(rows), wide)
    # Of equal vectors the lowest row first, as in the engine.
    exact = [np.argsort(-(rows @ query), kind="stable")[:K] for query in queries]
    full, short = (_recall(one, exact) for one in (full_scan(data), two_phase_search(data)))
    found = {
        "comparison": TWO_PHASE,
        "rows": len(rows),
        "dim": rows.shape[1],
        "queries": len(queries),
        "shortlist": SHORTLIST,
        "recall": {"full int8 scan": rounded(full), "two-phase": rounded(short)},
        "figures": [],
    }
    add_figure(found, LOSS, full - short, "of 1")
    return found


def _recall(searcher: Searcher, exact: list[np.ndarray]) -> float:
    return float(
        np.mean([np.isin(best, searcher.answer(query)).mean() for query, best in enumerate(exact)])
    )


def _datasets(data: Path) -> list[Dataset]:
    """Development and validation parts of what lies in the folder, the small datasets first."""
    known = [name for name in json.loads(SPLITS_FILE.read_text("utf-8")) if name != SYNTHETIC]
    present = [name for name in known if (data / name).is_dir()]
    return [
        keep_parts(
            load_dataset(name, data, sample_queries=_LARGE.get(name)),
            committed_split(name),
            (DEVELOPMENT, VALIDATION),
        )
        for name in sorted(present, key=lambda name: (name in _LARGE, name))
    ]


def _passages(datasets: list[Dataset]):
    """Yield what storing the rows asks a model for: whole texts, and blocks of the long ones."""
    for dataset in datasets:
        for row in dataset.rows:
            yield from passages(row.speaker or "", row.text).texts


def _vectors(
    texts: list[str], asked: list[str], cache: Path, progress: Progress
) -> tuple[np.ndarray, np.ndarray, str]:
    with closing(CachedProvider(load_provider("default"), cache)) as provider:
        queries = guarded_embed(provider, asked, "query")
        parts = []
        for start in range(0, len(texts), _EMBED_AT_ONCE):
            progress("real vectors", start, len(texts))
            part = texts[start : start + _EMBED_AT_ONCE]
            parts.append(guarded_embed(provider, part, "passage"))
        progress("real vectors", len(texts), len(texts))
        return np.concatenate(parts), queries, provider.info.label
