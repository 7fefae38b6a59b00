"""Means over questions, with paired bootstrap intervals, of every point of the sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from harness.bootstrap import stratified_intervals
from harness.config_parts import BootstrapConfig

ALL = "all"
RECALL, PRECISION, CONTAINED = "evidence_recall", "evidence_precision", "contained"
MEANS = (RECALL, PRECISION, CONTAINED, "characters", "tokens", "rows", "milliseconds")
Point = tuple[str, str, int, int]  # variant, method, count, budget


class Grid(NamedTuple):
    """Numbers of every point and question.

    Attributes
    ----------
    values : dict of str to float64 (points, questions)
        By measure; NaN where it is not asked or there is nothing to say.
    points : dict of Point to int
        The row of each.
    parts : ndarray of str (questions,)
    """

    values: dict[str, np.ndarray]
    points: dict[Point, int]
    parts: np.ndarray

    def row(self, measure: str, point: Point) -> np.ndarray:
        """Return one number for each question."""
        return self.values[measure][self.points[point]]


def grid_of(points: pa.Table, queries: pa.Table) -> Grid:
    """Lay out the numbers of a dataset by point and question."""
    numbers = {number: i for i, number in enumerate(queries["query"].to_pylist())}
    keys = list(zip(*(points[name].to_pylist() for name in _KEY), strict=True))
    order = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    place = np.array([order[key] for key in keys], np.int64)
    column = np.array([numbers[number] for number in points["query"].to_pylist()], np.int64)
    values = {}
    for name in (*MEANS, "items", "bundled"):
        laid = np.full((len(order), len(numbers)), np.nan)
        own = pc.cast(points[name], pa.float64()).to_numpy(zero_copy_only=False)
        laid[place, column] = own
        values[name] = laid
    return Grid(values, order, np.array(queries["part"].to_pylist(), str))


_KEY = ("variant", "method", "count", "budget")


def means(grid: Grid, part: str) -> list[dict[str, Any]]:
    """Return the mean of every measure at every point over the questions of a part.

    Questions count the same. The share of items with two or more claims is taken over all items.
    """
    asked = part_mask(grid, part)
    found = {name: _nanmean(grid.values[name][:, asked]) for name in MEANS}
    items = np.nansum(grid.values["items"][:, asked], axis=1)
    bundled = np.nansum(grid.values["bundled"][:, asked], axis=1)
    told = []
    for (variant, method, count, budget), i in grid.points.items():
        line = {"variant": variant, "method": method, "count": count, "budget": budget}
        line |= {name: _number(found[name][i]) for name in MEANS}
        line["items"] = _number(items[i] / max(int(asked.sum()), 1))
        line["bundled_share"] = _number(bundled[i] / items[i]) if items[i] else None
        told.append(line)
    return told


def differences(
    grid: Grid,
    part: str,
    measure: str,
    pairs: Sequence[tuple[Point, Point]],
    bootstrap: BootstrapConfig,
    seed: int,
) -> list[dict[str, Any]]:
    """Compare pairs of points over the same questions.

    Parameters
    ----------
    grid : Grid
        Of one dataset.
    part : str
        A part of the dataset, or ``all``.
    measure : str
        Questions for which it says nothing at one of the two points are left out; precision is
        compared where both show something.
    pairs : sequence of (Point, Point)
        First minus second.
    bootstrap : BootstrapConfig
        Questions are drawn from all of the part: they count the same here, and a task of a few
        that agree would seem to be certain.
    seed : int
        As in the config.

    Returns
    -------
    list of dict
        For each pair both means, their difference and its interval, and the number of questions.
    """
    asked = part_mask(grid, part)
    told = []
    rows = [(grid.row(measure, a)[asked], grid.row(measure, b)[asked]) for a, b in pairs]
    groups: dict[bytes, list[int]] = {}
    for i, (one, other) in enumerate(rows):
        groups.setdefault((~np.isnan(one - other)).tobytes(), []).append(i)
    found: dict[int, dict[str, Any]] = {}
    for mask, members in groups.items():
        kept = np.frombuffer(mask, bool)
        if not kept.any():
            continue
        values = np.stack([(rows[i][0] - rows[i][1])[kept] for i in members])
        limits = stratified_intervals(
            values,
            np.zeros(int(kept.sum()), np.int64),
            np.ones((1, 1)),
            resamples=bootstrap.resamples,
            confidence=bootstrap.confidence,
            seed=seed,
        )
        for place, i in enumerate(members):
            one, other = (float(row[kept].mean()) for row in rows[i])
            found[i] = {
                "first": _number(one),
                "second": _number(other),
                "ratio": _number(one / other) if other else None,
                "difference": _number(limits.value[0, place]),
                "ci_low": _number(limits.low[0, place]),
                "ci_high": _number(limits.high[0, place]),
                "n": int(kept.sum()),
            }
    for i, (first, second) in enumerate(pairs):
        keys = {"measure": measure, "part": part, "points": [list(first), list(second)]}
        told.append({**keys, **found.get(i, {"n": 0})})
    return told


def retrieval_only(queries: pa.Table, part: str, depths: Sequence[int]) -> dict[str, float]:
    """Return how far up the relevant rows stand among the candidates, without any payload."""
    own = [
        ranks
        for ranks, one in zip(
            queries["ranks"].to_pylist(), queries["part"].to_pylist(), strict=True
        )
        if part in (ALL, one)
    ]
    found = {
        f"recall@{depth}": float(np.mean([np.mean([0 <= r < depth for r in one]) for one in own]))
        for depth in depths
    }
    first = [min((rank for rank in one if rank >= 0), default=None) for one in own]
    found["reciprocal rank"] = float(np.mean([0 if r is None else 1 / (r + 1) for r in first]))
    return found


def part_mask(grid: Grid, part: str) -> np.ndarray:
    """Say which questions belong to a part."""
    return np.ones(grid.parts.size, bool) if part == ALL else grid.parts == part


def _nanmean(values: np.ndarray) -> np.ndarray:
    counted = (~np.isnan(values)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nansum(values, axis=1) / counted


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)
