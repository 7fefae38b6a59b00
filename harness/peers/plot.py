"""One picture: how many times as fast as each peer, by the number of rows, and the goals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from harness.peers.figures import TIMES_AS_FAST
from harness.peers.goals import COMPARISONS
from harness.plot_style import legend_below, one_axes, write_title
from harness.plots import DPI

PICTURE = "ratios.png"
_COLOURS = ("#9ecae1", "#4292c6", "#08519c", "#08306b")
_GOAL = "goal"


def draw_ratios(record: dict[str, Any], folder: Path) -> bool:
    """Draw the ratios of a record; return whether there are any."""
    points = [
        (_label(one, figure), one["rows"], figure)
        for one in sorted(
            record["comparisons"], key=lambda one: COMPARISONS.index(one["comparison"])
        )
        for figure in one["figures"]
        if figure["unit"] == TIMES_AS_FAST
    ]
    if not points:
        return False
    labels = list(dict.fromkeys(label for label, _, _ in points))
    sizes = sorted({rows for _, rows, _ in points})
    figure = Figure(figsize=(8.5, 1.6 + 0.3 * len(labels)), layout="constrained")
    axes = one_axes(figure)
    for label, rows, point in points:
        place, shift = labels.index(label), 0.22 * (sizes.index(rows) - (len(sizes) - 1) / 2)
        colour = _COLOURS[min(sizes.index(rows), len(_COLOURS) - 1)]
        height = place + shift
        axes.plot(point["quartiles"], [height, height], color=colour, lw=1.5)
        axes.plot(point["value"], height, "o", color=colour, ms=5, label=f"{rows:,} rows")
        if "goal" in point:
            wanted = float(point["goal"].split()[-1])
            look = {"color": "#cb181d", "marker": "|", "ms": 9, "mew": 2, "ls": ""}
            axes.plot(wanted, height, label=_GOAL, **look)
    axes.set_xscale("log")
    axes.axvline(1.0, color="#888888", lw=0.8)
    axes.set_yticks(range(len(labels)), labels, fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast, median and quartiles of paired rounds")
    write_title(figure, "The engine and its peers, one thread")
    legend_below(figure, axes, _GOAL)
    figure.savefig(folder / PICTURE, dpi=DPI)
    return True


def _label(one: dict, figure: dict) -> str:
    detail = f" {one['dim']}" if "dim" in one and "limit" not in one else ""
    detail += f" {one['gram_size']}-grams" if "gram_size" in one else ""
    return f"{one['comparison']}{detail}: {figure['against']}"
