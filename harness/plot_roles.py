"""Pictures of who wins where: one bar per role and dataset, one dot per role and task."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.measures import MACRO
from harness.plot_style import Picture, file_part, legend_below, one_axes, write_title
from harness.selection import (
    BEST_ARM,
    BEST_FUSED,
    PROPOSAL,
    RAW_EMBEDDING,
    ROW_FUSION_ROLE,
    RRF,
    SHIPPED_ROLE,
)
from harness.splits import VALIDATION
from harness.summary import find_record, judged_on

# Okabe and Ito's palette: told apart in print and by colour-blind readers.
ROLE_COLOURS = {
    RAW_EMBEDDING: "#999999",
    BEST_ARM: "#56B4E9",
    RRF: "#E69F00",
    BEST_FUSED: "#0072B2",
    PROPOSAL: "#009E73",
    ROW_FUSION_ROLE: "#F0E442",
    SHIPPED_ROLE: "#CC79A7",
}
DARK_ROLES = (BEST_FUSED, PROPOSAL)
DIAMOND = "on validation"
DIAMOND_LOOK = {"marker": "D", "ls": "", "ms": 4, "mfc": "white", "mec": "#222222", "mew": 0.9}


def shown_roles(summary: dict) -> list[str]:
    """Return the roles worth a bar: the dataset's own best only where it is not the proposal."""
    roles = summary["roles"].values()
    return [
        role
        for role in ROLE_COLOURS
        if any(role in settings for settings in roles)
        and not (role == BEST_FUSED and all(r.get(role) == r[PROPOSAL] for r in roles))
    ]


def quality_bars(summary: dict, records: list[dict], measure: str) -> Picture:
    """Draw a bar per dataset and role: the judging part, and the validation value as a diamond."""
    judging = judged_on(summary)
    datasets, roles = list(summary["roles"]), shown_roles(summary)
    width = 0.82 / len(roles)
    size = (max(6.0, 1.2 + 0.5 * len(roles) * len(datasets)), 4.6)
    figure = Figure(figsize=size, layout="constrained")
    axes = one_axes(figure)
    for number, role in enumerate(roles):
        offset = (number - (len(roles) - 1) / 2) * width
        held = {
            place + offset: found
            for place, dataset in enumerate(datasets)
            if (found := _of_role(summary, records, dataset, role, judging, MACRO))
        }
        colour, ink = ROLE_COLOURS[role], "white" if role in DARK_ROLES else "#111111"
        value, errors = _values_and_errors(list(held.values()))
        axes.bar(list(held), value, width * 0.92, color=colour, label=role)
        axes.errorbar(list(held), value, errors, fmt="none", ecolor="#222222", elinewidth=1.1)
        for x, height in zip(held, value, strict=True):
            _write_inside(axes, x, height, ink)
        for place, dataset in enumerate(datasets):
            if seen := _of_role(summary, records, dataset, role, VALIDATION, MACRO):
                # Beside the interval of the bar, not on it.
                x = place + offset + 0.27 * width
                axes.plot(x, 100 * seen["value"], label=DIAMOND, **DIAMOND_LOOK)
    axes.set_xticks(range(len(datasets)), datasets)
    axes.set_ylabel(f"{measure} × 100")
    axes.grid(axis="x", visible=False)
    write_title(figure, f"{summary['config']['name']}: {measure}, mean over tasks")
    legend_below(figure, axes, last=DIAMOND)
    caption = (
        f"Bars: {judging} queries with {_confidence(summary)} bootstrap intervals. "
        "Diamonds: the validation part, on which settings were chosen."
    )
    return figure, "quality.png", caption


def task_dots(summary: dict, records: list[dict], measure: str, dataset: str) -> Picture | None:
    """Draw a dot per task and role on the judging part; nothing for a dataset of one task."""
    judging = judged_on(summary)
    counts = {
        record["task"]: record["n"]
        for record in records
        if record["dataset"] == dataset and record["part"] == judging and record["task"] != MACRO
    }
    if len(counts) < 2:
        return None
    tasks, roles = [*sorted(counts), MACRO], shown_roles(summary)
    size = (7.6, 1.7 + (0.1 + 0.15 * len(roles)) * len(tasks))
    figure = Figure(figsize=size, layout="constrained")
    axes = one_axes(figure)
    for number, role in enumerate(roles):
        offset = (number - (len(roles) - 1) / 2) * (0.72 / len(roles))
        held = {
            place + offset: found
            for place, task in enumerate(tasks)
            if (found := _of_role(summary, records, dataset, role, judging, task))
        }
        value, errors = _values_and_errors(list(held.values()))
        look = {"fmt": "o", "ms": 5, "elinewidth": 1.3, "color": ROLE_COLOURS[role]}
        axes.errorbar(value, list(held), xerr=errors, label=role, **look)
    names = [f"{task}\n{counts[task]} queries" for task in tasks[:-1]]
    axes.set_yticks(range(len(tasks)), [*names, "mean over\ntasks"])
    axes.set_ylim(len(tasks) - 0.45, -0.55)
    axes.axhline(len(tasks) - 1.5, color="#888888", lw=0.8)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(left=min(0, axes.get_xlim()[0]))
    axes.set_xlabel(f"{measure} × 100 on {judging} queries, {_confidence(summary)} intervals")
    write_title(figure, f"{dataset}: by task")
    legend_below(figure, axes)
    return figure, f"tasks-{file_part(dataset)}.png", f"{dataset} by task, {judging} queries."


def _write_inside(axes: Axes, x: float, height: float, ink: str) -> None:
    """Write a bar's value at its foot, where neither interval nor diamond can cover it."""
    axes.annotate(
        f"{height:.1f}",
        (x, 0),
        (0, 4),
        textcoords="offset points",
        ha="center",
        fontsize=7.5,
        color=ink,
    )


def _of_role(
    summary: dict, records: list[dict], dataset: str, role: str, part: str, task: str
) -> dict | None:
    setting = summary["roles"][dataset].get(role)
    return find_record(records, dataset=dataset, setting=setting, part=part, task=task)


def _values_and_errors(records: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    """Return values (n,) and distances to the limits (2, n), all in percent."""
    numbers = np.array([[r["value"], r["ci_low"], r["ci_high"]] for r in records]).reshape(-1, 3)
    value, low, high = 100 * numbers.T
    return value, np.maximum([value - low, high - value], 0.0)


def _confidence(summary: dict) -> str:
    return f"{100 * summary['config']['bootstrap']['confidence']:g} %"
