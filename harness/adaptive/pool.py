"""A frozen pool of signals as arrays: what any adaptive setting needs to rank each query again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cpersona_jit.kernels.numpy_path.calibration import SIGNALS
from cpersona_jit.recall.signals import SIGNAL_NAMES
from harness.adaptive.cue_arms import CUE_ARMS
from harness.judged import (
    CANDIDATE_COLUMNS,
    QUERY_COLUMNS,
    Judged,
    PoolError,
    read_judged,
    read_meta,
    read_table,
    stack,
)

_INTEGERS = ("row", "before", "after", "session", "event_time", "source", "project", "text_length")
_FLAGS = ("is_question", "speaker_named", "listed")
_PERIODS = tuple(f"{arm}_{end}_us" for arm in CUE_ARMS for end in ("start", "end"))
_SCOPE = ("admitted", "newest_us", "cosine_unit", "alternation", "median_length")


@dataclass(frozen=True)
class SignalPool(Judged):
    """A pool of signals; a document that was split is several candidates, one per part.

    Parameters
    ----------
    signals : int64 (7, N)
        In the order of ``cpersona_jit.recall.signals.SIGNAL_NAMES``.
    row : int64 (N,)
        Position of each candidate in its scope's snapshot.
    before, after : int64 (N,)
        Neighbours in the session, as positions inside the query's slice; -1 without one there.
    session, event_time, text_length : int64 (N,)
        As in the snapshot.
    source, project : int64 (N,)
        Groups of the candidates by speaker and project; negative without one.
    is_question, speaker_named, listed : bool (N,)
        The row asks something; the query names who said it; some list holds the row (the others
        are there to lend to their neighbours).
    inside : bool (3, N)
        The row lies in the period of each cue arm.
    period : int64 (3, Q, 2)
        That period, both ends inside.
    opened : bool (3, Q)
        Whether the arm's cue says something about the store; else it has no period.
    fired : bool (Q,)
        Whether the parser found a cue in the question.
    certainty, cue_words, cue_form : list of (str or None)
        Of the parsed cue of each query.
    about_event : bool (Q,)
        The parsed cue is about an event.
    bare : bool (Q,)
        The question names a time and asks for nothing in particular.
    readings : list of tuple of (int, int)
        Periods that the parsed cue means as often as each other; none when it means one.
    asked_us : int64 (Q,)
        When the question was asked; the smallest int64 when nobody knows.
    admitted : int64 (Q,)
        Rows that the query may see.
    newest_us : int64 (Q,)
        The latest time of one of them; the smallest int64 when none is dated.
    cosine_unit : float64 (Q,)
        Cosine that one unit of the dense signals means.
    alternation, median_length : float64 (Q,)
        Of its scope.
    mean, covariance : float64 (Q, 7), (Q, 7, 7)
        Moments of the signals over the admitted rows.
    """

    signals: np.ndarray
    row: np.ndarray
    before: np.ndarray
    after: np.ndarray
    session: np.ndarray
    event_time: np.ndarray
    source: np.ndarray
    project: np.ndarray
    text_length: np.ndarray
    is_question: np.ndarray
    speaker_named: np.ndarray
    listed: np.ndarray
    inside: np.ndarray
    period: np.ndarray
    opened: np.ndarray
    fired: np.ndarray
    certainty: list[str | None]
    cue_words: list[str | None]
    cue_form: list[str | None]
    about_event: np.ndarray
    bare: np.ndarray
    readings: list[tuple[tuple[int, int], ...]]
    asked_us: np.ndarray
    admitted: np.ndarray
    newest_us: np.ndarray
    cosine_unit: np.ndarray
    alternation: np.ndarray
    median_length: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray


def load_signal_pool(pool_dir: Path) -> SignalPool:
    """Read a frozen pool of signals.

    Parameters
    ----------
    pool_dir : Path
        Folder that freezing wrote.

    Raises
    ------
    PoolError
        A file is missing, damaged, incomplete, or the files contradict each other.
    """
    pool_dir = Path(pool_dir)
    meta = read_meta(pool_dir, "signals")
    cue = ["cue_words", "cue_form", "cue_certainty", "cue_about_event", "cue_bare", "cue_readings"]
    queries = read_table(
        pool_dir / "queries.parquet",
        [*QUERY_COLUMNS, *_SCOPE, *_PERIODS, *cue, "asked_us", "mean", "covariance"],
    )
    inside = [f"inside_{arm}" for arm in CUE_ARMS]
    candidates = read_table(
        pool_dir / "candidates.parquet",
        [*CANDIDATE_COLUMNS, *SIGNAL_NAMES, *_INTEGERS, *_FLAGS, *inside],
        dictionary=["doc_id"],
    )
    common = read_judged(pool_dir, queries, candidates, meta)
    _check_neighbours(candidates, common["offsets"], pool_dir)
    size = queries.num_rows
    periods = [_or_lowest(queries[name]) for name in _PERIODS]
    opened = [queries[f"{arm}_start_us"].is_valid().to_numpy() for arm in CUE_ARMS]
    return SignalPool(
        **common,
        signals=stack(candidates, list(SIGNAL_NAMES), np.int64),
        **{name: candidates[name].to_numpy().astype(np.int64) for name in _INTEGERS},
        **{name: candidates[name].to_numpy() for name in _FLAGS},
        inside=stack(candidates, inside, bool),
        period=np.array(periods).reshape(len(CUE_ARMS), 2, size).transpose(0, 2, 1),
        opened=np.array(opened),
        fired=queries["cue_form"].is_valid().to_numpy(),
        certainty=queries["cue_certainty"].to_pylist(),
        cue_words=queries["cue_words"].to_pylist(),
        cue_form=queries["cue_form"].to_pylist(),
        about_event=pc.fill_null(queries["cue_about_event"], False).to_numpy(),
        bare=pc.fill_null(queries["cue_bare"], False).to_numpy(),
        readings=[_spans(ends or ()) for ends in queries["cue_readings"].to_pylist()],
        asked_us=_or_lowest(queries["asked_us"]),
        **{name: queries[name].to_numpy() for name in _SCOPE},
        mean=_moments(queries["mean"], (size, SIGNALS), pool_dir),
        covariance=_moments(queries["covariance"], (size, SIGNALS, SIGNALS), pool_dir),
    )


def _spans(ends: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(zip(ends[::2], ends[1::2], strict=True))


def _or_lowest(column: pa.ChunkedArray) -> np.ndarray:
    return pc.fill_null(column, np.iinfo(np.int64).min).to_numpy()


def _moments(column: pa.ChunkedArray, shape: tuple[int, ...], pool_dir: Path) -> np.ndarray:
    flat = pc.list_flatten(column).to_numpy()
    if flat.size != np.prod(shape) or not np.isfinite(flat).all():
        raise PoolError(f"{pool_dir / 'queries.parquet'}: the moments are not those of 7 signals")
    return np.ascontiguousarray(flat).reshape(shape)


def _check_neighbours(candidates: pa.Table, offsets: np.ndarray, pool_dir: Path) -> None:
    """A neighbour outside its query's slice would be read from another query's rows."""
    size = np.repeat(np.diff(offsets), np.diff(offsets))
    for name in ("before", "after"):
        place = candidates[name].to_numpy()
        if not ((place >= -1) & (place < size)).all():
            raise PoolError(f"{pool_dir / 'candidates.parquet'}: {name} leads out of the query")
