"""Pictures of an adaptive sweep: how much each number matters, around the base."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.evaluate import MEAN_OF_DATASETS
from harness.measures import MACRO
from harness.plot_style import Picture, legend_below, style_axes, write_title
from harness.splits import ALL, VALIDATION

BASE = "base"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#000000")
COLUMNS = 4


def sensitivity(summary: dict, records: Sequence[dict], measure: str) -> Picture | None:
    """Draw a panel per number that the sweep varies alone: the change against the base.

    Parameters
    ----------
    summary : dict
        Of the run.
    records : sequence of dict
        Those of the selecting measure.
    measure : str
        Its name.

    Returns
    -------
    Picture or None
        None when nothing was varied alone.
    """
    panels = varied_alone(summary["settings"])
    part = ALL if any(record["part"] == ALL for record in records) else VALIDATION
    held = {
        (record["dataset"], record["setting"]): 100 * record["value"]
        for record in records
        if record["part"] == part and record["task"] == MACRO
    }
    if not panels:
        return None
    rows = math.ceil(len(panels) / COLUMNS)
    columns = min(len(panels), COLUMNS)
    figure = Figure(figsize=(1.2 + 3.0 * columns, 1.4 + 2.3 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, (path, points) in zip(grid.flat, panels.items(), strict=False):
        _draw(axes, path, points, held, list(summary["roles"]))
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel(f"{measure} × 100 - base")
    write_title(figure, f"{summary['config']['name']}: one number at a time, {part} queries")
    legend_below(figure, grid.flat[0])
    caption = "Each panel varies one number and leaves the rest at the base (dashed)."
    return figure, "sensitivity.png", caption


def varied_alone(settings: Mapping[str, dict]) -> dict[str, dict[Any, str]]:
    """Find the numbers that some settings vary and nothing else.

    Parameters
    ----------
    settings : mapping of str to dict
        JSON-ready settings by name, one of them called ``base``.

    Returns
    -------
    dict of str to dict
        For each path, such as ``calibration.dense_weight``, the setting of each of its values,
        the base's own among them; values ascend.
    """
    if BASE not in settings:
        return {}
    base = dict(_leaves(settings[BASE]))
    found: dict[str, dict[Any, str]] = {}
    for name, setting in settings.items():
        if setting.get("kind") != "adaptive" or name == BASE:
            continue
        own = dict(_leaves(setting))
        changed = [path for path in {**base, **own} if base.get(path) != own.get(path)]
        if len(changed) == 1 and changed[0] in base and _is_number(own[changed[0]]):
            found.setdefault(changed[0], {base[changed[0]]: BASE})[own[changed[0]]] = name
    return {
        path: dict(sorted(points.items()))
        for path, points in found.items()
        if all(_is_number(value) for value in points)
    }


def _leaves(setting: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in setting.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield path + key, value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _draw(axes: Axes, path: str, points: dict[Any, str], held: dict, datasets: list[str]) -> None:
    style_axes(axes)
    values = list(points)
    base = next(value for value, name in points.items() if name == BASE)
    axes.axvline(base, color="#888888", lw=0.9, ls="--")
    for number, dataset in enumerate([*datasets, MEAN_OF_DATASETS]):
        own = [held.get((dataset, points[value])) for value in values]
        zero = held.get((dataset, BASE))
        if zero is None or None in own:
            continue
        mean = dataset == MEAN_OF_DATASETS
        axes.plot(
            values,
            [value - zero for value in own],
            "o-",
            ms=3,
            lw=2.4 if mean else 1.1,
            color="#222222" if mean else COLOURS[number % len(COLOURS)],
            label=dataset,
        )
    axes.set_title(path.replace("calibration.", ""), fontsize=9)
    axes.tick_params(labelsize=8)
