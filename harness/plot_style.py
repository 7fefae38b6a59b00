"""The look that all pictures share."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

Picture = tuple[Figure, str, str]
"""Figure, file name, caption."""


def one_axes(figure: Figure) -> Axes:
    axes = figure.subplots()
    style_axes(axes)
    return axes


def style_axes(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", lw=0.7)
    axes.set_axisbelow(True)


def write_title(figure: Figure, text: str) -> None:
    figure.suptitle(text, fontsize=11)


def legend_below(figure: Figure, axes: Axes, last: str | None = None) -> None:
    """Put each label once under the axes, ``last`` at the end."""
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    if last in once:
        once[last] = once.pop(last)
    columns = min(len(once), 3 if len(once) < 7 else 4)
    look = {"loc": "outside lower center", "ncols": columns, "frameon": False, "fontsize": 8.5}
    figure.legend(once.values(), once.keys(), **look)


def file_part(dataset: str) -> str:
    return dataset.replace("/", "_")
