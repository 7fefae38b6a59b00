"""Two pictures: what grows with the rows, and what decides how a large scope is scanned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.plot_style import style_axes, write_title
from harness.plots import DPI
from harness.scale.figures import FOLLOWED, RECALL_GOALS_MS

GROWTH, SCANS = "scale.png", "scans.png"
_COLOURS = {"chat": "#08519c", "long": "#d94801"}
_SHADES = ("#c6dbef", "#6baed6", "#08519c", "#08306b")

Value = Callable[[dict], float | None]


def draw_scale(record: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """Draw the pictures that there is something for; return file names and captions."""
    drawn = [_growth(record, folder)]
    if record["swept"] or record["real"]:
        drawn.append(_scans(record, folder))
    return drawn


def _growth(record: dict[str, Any], folder: Path) -> tuple[str, str]:
    figure = Figure(figsize=(12.0, 4.2), layout="constrained")
    latency, memory, quality = figure.subplots(1, 3)
    for axes in (latency, memory, quality):
        style_axes(axes)
        _log_ticks(axes, [store["rows"] for store in record["stores"]], "rows")
    made, mapped = "columns in memory", "columns from their file"
    for text in dict.fromkeys(store["text"] for store in record["stores"]):
        stores = [store for store in record["stores"] if store["text"] == text]
        for name, style in ((made, "-"), (mapped, "--")):
            value = FOLLOWED[f"recall, {name}, ms"]
            _line(latency, stores, value, f"{text}, {name}", ls=style, color=_COLOURS[text])
        for name, style in (("columns made", "-"), (mapped, "--")):
            value = FOLLOWED[f"resident, {name}, MB"]
            _line(memory, stores, value, f"{text}, {name}", ls=style, color=_COLOURS[text])
    points = {"color": "#cb181d", "marker": "_", "ms": 12, "mew": 2, "ls": "", "label": "goal"}
    most = max(store["rows"] for store in record["stores"])
    goals = {rows: goal for rows, goal in RECALL_GOALS_MS.items() if rows <= most}
    if goals:
        latency.plot(list(goals), list(goals.values()), **points)
    judged = [store for store in record["stores"] if "quality" in store]
    for scan, style in (("exact", "-"), ("two phases", "--")):
        for measure, colour in (("ndcg", "#006d2c"), ("recall", "#74c476")):
            value = _quality(scan, measure)
            _line(quality, judged, value, f"{measure}@10, {scan}", ls=style, color=colour)
    for axes, name in ((latency, "recall, ms"), (memory, "resident, MB")):
        axes.set_yscale("log")
        axes.set_ylabel(name)
    quality.set_ylabel("planted rows, x 100")
    for axes in (latency, memory, quality):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, fontsize=7.5, handlelength=3.5)
    write_title(figure, "Latency, memory and quality against rows")
    figure.savefig(folder / GROWTH, dpi=DPI)
    return GROWTH, "Latency, memory and quality against rows"


def _scans(record: dict[str, Any], folder: Path) -> tuple[str, str]:
    places = list(record["swept"])
    if record["real"]:
        real = record["real"]
        places.append({"place": f"{real['dataset']}, {real['rows']:,} rows", **real})
    figure = Figure(figsize=(4.0 * (len(places) + 1), 4.0), layout="constrained")
    *swept, threshold = figure.subplots(1, len(places) + 1, squeeze=False)[0]
    for axes, place in zip(swept, places, strict=True):
        style_axes(axes)
        pairs = place["scans"][1:]
        for shade, sample in zip(_SHADES, sorted({one["sample"] for one in pairs}), strict=False):
            own = sorted((o["shortlist"], o["same_rows"]) for o in pairs if o["sample"] == sample)
            shortlist, same = zip(*own, strict=True)
            shares = [100 * value for value in same]
            axes.plot(shortlist, shares, "o-", ms=4, color=shade, label=f"sample {sample:,}")
        _log_ticks(axes, [one["shortlist"] for one in pairs], "shortlist")
        axes.set_title(place["place"], fontsize=9)
        axes.legend(frameon=False, fontsize=8)
    swept[0].set_ylabel("of the exact scan's ten best rows, %")
    style_axes(threshold)
    rows = [one["rows"] for one in record["threshold"]]
    for name, label in (("exact_ms", "exact"), ("two_phase_ms", "two phases")):
        threshold.plot(rows, [one[name] for one in record["threshold"]], "o-", ms=4, label=label)
    _log_ticks(threshold, rows, "rows")
    threshold.set_ylabel("process, ms")
    threshold.legend(frameon=False, fontsize=8)
    write_title(figure, "How a large scope is scanned")
    figure.savefig(folder / SCANS, dpi=DPI)
    return SCANS, "Agreement of two phases with the exact scan, and what both take"


def _line(axes: Axes, stores: list[dict], value: Value, label: str, **look: Any) -> None:
    points = [(store["rows"], value(store)) for store in stores if value(store)]
    if points:
        axes.plot(*zip(*points, strict=True), marker="o", ms=4, label=label, **look)


def _log_ticks(axes: Axes, values: list[int], label: str) -> None:
    """A logarithmic axis with a tick at each value."""
    own = sorted(set(values))
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(own, [f"{value:,}" for value in own], fontsize=8)
    axes.set_xlabel(label)


def _quality(scan: str, measure: str) -> Value:
    return lambda store: 100 * store["quality"][scan][measure]
