"""Pictures of a sweep: what depth buys, and how the weights lie."""

from __future__ import annotations

import itertools
import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from harness.measures import MACRO
from harness.plot_style import Picture, file_part, legend_below, style_axes, write_title
from harness.splits import ALL

LINE_COLOURS = ("#009E73", "#E69F00", "#0072B2", "#CC79A7", "#56B4E9", "#D55E00")


def depth_curves(summary: dict, records: list[dict], measure: str) -> Picture | None:
    """For each fusion the weights that are best at its greatest depth, over all depths."""
    sweep = summary["config"]["sweep"]
    if len(set(sweep["depth"])) < 2:
        return None
    datasets = list(summary["roles"])
    columns = 2 if len(datasets) == 4 else min(len(datasets), 3)
    rows = math.ceil(len(datasets) / columns)
    size = (max(6.2, 3.9 * columns), 1.3 + 2.9 * rows)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, dataset in zip(grid.flat, datasets, strict=False):
        style_axes(axes)
        values = _all_queries(records, dataset)
        for number, (label, points) in enumerate(_best_by_depth(summary, values).items()):
            depths = sorted(points)
            low, high = ([100 * points[d][key] for d in depths] for key in ("ci_low", "ci_high"))
            colour = LINE_COLOURS[number % len(LINE_COLOURS)]
            line = [100 * points[depth]["value"] for depth in depths]
            axes.fill_between(depths, low, high, color=colour, alpha=0.13, lw=0)
            axes.plot(depths, line, "o-", ms=4.5, color=colour, label=label)
        axes.set_xscale("log")
        axes.set_xticks(sorted(set(sweep["depth"])), [str(d) for d in sorted(set(sweep["depth"]))])
        axes.minorticks_off()
        axes.set_title(dataset, fontsize=10)
        axes.set_xlabel("depth (candidates of each arm)")
    for axes in list(grid.flat)[len(datasets) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel(f"{measure} × 100")
    write_title(figure, "What depth buys: best weights of each fusion, all queries")
    legend_below(figure, grid.flat[0])
    return figure, "depth.png", "Quality against depth; shaded: bootstrap intervals."


def _best_by_depth(summary: dict, values: dict[str, dict]) -> dict[str, dict[int, dict]]:
    families: dict[tuple, dict[int, dict]] = {}
    for name, setting in summary["settings"].items():
        if name in values:
            key = (_fusion_label(setting), _weights_key(setting))
            families.setdefault(key, {})[setting["depth"]] = values[name]
    deepest = max(summary["config"]["sweep"]["depth"])
    best: dict[str, dict[int, dict]] = {}
    for (label, _), points in families.items():
        if len(points) < 2 or deepest not in points:
            continue
        if label not in best or points[deepest]["value"] > best[label][deepest]["value"]:
            best[label] = points
    return dict(sorted(best.items(), key=lambda pair: (pair[0].startswith("RRF"), pair[0])))


def weight_map(summary: dict, records: list[dict], measure: str, dataset: str) -> Picture | None:
    """Draw how two arms' weights, relative to the first arm's, decide; the rest as proposed."""
    proposal, first = summary["proposal"], summary["config"]["arms"][0]["name"]
    cells = _relative_weights(summary, _all_queries(records, dataset), first)
    panels = _panels(cells, [arm["name"] for arm in summary["config"]["arms"][1:]])
    if not panels:
        return None
    shown = [value for panel in panels.values() for value in panel.values()]
    # A corner without the lexical arms would eat the whole colour scale: it may saturate.
    low, high = float(np.quantile(shown, 0.2)), max(shown)
    limits = {"vmin": low, "vmax": high, "cmap": "viridis"}
    size = (1.4 + 4.2 * len(panels), 4.2)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, ((across, down), panel) in zip(grid, panels.items(), strict=True):
        image = _draw_panel(axes, panel, limits)
        axes.set_xlabel(f"weight of {across} ({first} = 1)")
        axes.set_ylabel(f"weight of {down} ({first} = 1)")
    extend = "min" if min(shown) < low else "neither"
    figure.colorbar(image, ax=grid, label=f"{measure} × 100", extend=extend)
    write_title(figure, f"{dataset}: {_fusion_label(proposal)}, depth {proposal['depth']}")
    caption = f"{dataset}: fusion weights, all queries; the best of the picture is in bold."
    return figure, f"weights-{file_part(dataset)}.png", caption


def _relative_weights(
    summary: dict, values: dict[str, dict], first: str
) -> list[tuple[dict[str, float], float]]:
    """Return (weights over the first arm's, value in percent) of settings like the proposal."""
    cells = []
    for name, setting in summary["settings"].items():
        weights = {arm: weight for arm, weight in setting["weights"].items() if weight > 0}
        alike = all(
            setting[key] == summary["proposal"][key] for key in ("fusion", "depth", "rrf_k")
        )
        if name in values and first in weights and (alike or len(weights) == 1):
            rest = {a: round(w / weights[first], 4) for a, w in weights.items() if a != first}
            cells.append((rest, 100 * values[name]["value"]))
    return cells


def _panels(
    cells: list[tuple[dict[str, float], float]], arms: list[str]
) -> dict[tuple[str, str], dict[tuple[float, float], float]]:
    """Group the cells by the two arms they weigh; a pair needs a point where both speak."""
    panels = {}
    for across, down in itertools.combinations(arms, 2):
        panel = {
            (rest.get(across, 0.0), rest.get(down, 0.0)): value
            for rest, value in cells
            if set(rest) <= {across, down}
        }
        if len(panel) >= 4 and any(a > 0 and d > 0 for a, d in panel):
            panels[across, down] = panel
    return panels


def _draw_panel(axes: Axes, panel: dict[tuple[float, float], float], limits: dict) -> AxesImage:
    columns, rows = (sorted({cell[side] for cell in panel}) for side in (0, 1))
    table = np.full((len(rows), len(columns)), np.nan)
    for (across, down), value in panel.items():
        table[rows.index(down), columns.index(across)] = value
    image = axes.imshow(table, aspect="auto", origin="lower", **limits)
    middle = (limits["vmin"] + limits["vmax"]) / 2
    for row, column in zip(*np.nonzero(~np.isnan(table)), strict=True):
        value = table[row, column]
        axes.text(
            column,
            row,
            f"{value:.1f}",
            ha="center",
            va="center",
            fontsize=9,
            color="white" if value < middle else "black",
            fontweight="bold" if value == limits["vmax"] else "normal",
        )
    axes.set_xticks(range(len(columns)), [f"{weight:g}" for weight in columns])
    axes.set_yticks(range(len(rows)), [f"{weight:g}" for weight in rows])
    return image


def _all_queries(records: list[dict], dataset: str) -> dict[str, dict]:
    return {
        record["setting"]: record
        for record in records
        if record["dataset"] == dataset and record["part"] == ALL and record["task"] == MACRO
    }


def _fusion_label(setting: dict) -> str:
    return "score fusion" if setting["fusion"] == "score" else f"RRF (k = {setting['rrf_k']:g})"


def _weights_key(setting: dict) -> tuple:
    top = max(setting["weights"].values())
    return tuple(sorted((arm, round(w / top, 6)) for arm, w in setting["weights"].items() if w > 0))
