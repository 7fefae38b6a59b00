"""A picture for each dataset: evidence and answers against payload, a curve for each count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from harness.exit.ask import FLAT, FLAT_FITTING, PREVIEWS, RECONSTRUCT
from harness.exit.figures import mean_at, shipped
from harness.exit.judge import ALL, CONTAINED, RECALL
from harness.plot_style import file_part, legend_below, style_axes, write_title
from harness.plots import DPI

_BASELINES = ((FLAT, "#000000", "--"), (FLAT_FITTING, "#7f7f7f", ":"))
_PREVIEWS = "#d94801"
_PANELS = ((RECALL, "relevant turns quoted, %"), (CONTAINED, "answers contained, %"))


def draw_exit(record: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """Draw the pictures; return file names and captions."""
    return [_draw(name, of, record, folder) for name, of in record["datasets"].items()]


def _draw(name: str, of: dict[str, Any], record: dict[str, Any], folder: Path) -> tuple[str, str]:
    panels = [one for one in _PANELS if _has(of, one[0])]
    figure = Figure(figsize=(5.2 * len(panels), 4.6), layout="constrained")
    row = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (measure, label) in zip(row, panels, strict=True):
        style_axes(axes)
        _curves(axes, of, record, measure)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("characters of quoted text, mean over questions")
        axes.set_ylabel(label)
    legend_below(figure, row[-1])
    write_title(figure, f"{name}: what a payload holds, by count and budget")
    file = f"exit_{file_part(name)}.png"
    figure.savefig(folder / file, dpi=DPI)
    return file, f"{name}: evidence against payload, a curve for each count, flat recall dashed"


def _curves(axes: Axes, of: dict[str, Any], record: dict[str, Any], measure: str) -> None:
    config, variant = record["config"], shipped(record)
    counts, budgets = config["counts"], config["budgets"]
    flat = sorted({line["budget"] for line in of["means"][ALL] if line["method"] == FLAT})
    for method, colour, style in _BASELINES:
        points = [mean_at(of, variant, method, 0, budget) for budget in flat]
        _line(axes, points, measure, method, color=colour, ls=style, marker="x", ms=4)
    shades = colormaps["viridis"].resampled(len(counts) + 1)
    for place, count in enumerate(counts):
        points = [mean_at(of, variant, RECONSTRUCT, count, budget) for budget in budgets]
        _line(axes, points, measure, f"count {count}", color=shades(place), marker="o", ms=3.5)
    if measure == CONTAINED:
        points = [mean_at(of, variant, PREVIEWS, count, budgets[-1]) for count in counts]
        label = f"{config['preview_chars']}-character previews of the rows of each count"
        _line(axes, points, measure, label, color=_PREVIEWS, marker="s", ms=4, ls="-.")


def _line(axes: Axes, points: Sequence[dict], measure: str, label: str, **look: Any) -> None:
    drawn = [(one["characters"], 100 * one[measure]) for one in points if one["characters"]]
    if drawn:
        axes.plot(*zip(*drawn, strict=True), label=label, **look)


def _has(of: dict[str, Any], measure: str) -> bool:
    return any(line[measure] is not None for lines in of["means"].values() for line in lines)
