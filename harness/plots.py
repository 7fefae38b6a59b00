"""All pictures of a run, as PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.adaptive.plots import sensitivity
from harness.adaptive.report_cues import cue_picture
from harness.plot_roles import quality_bars, task_dots
from harness.plot_sweep import depth_curves, weight_map

DPI = 130


def draw_plots(summary: dict, records: Sequence[dict], out_dir: Path) -> list[tuple[str, str]]:
    """Write all pictures that the run has data for.

    Parameters
    ----------
    summary : dict
        Of the run.
    records : sequence of dict
        All of its records.
    out_dir : Path
        Folder for the PNG files.

    Returns
    -------
    list of (str, str)
        File name and caption of each picture.
    """
    measure = summary["config"]["select"]["measure"]
    # Settings with a role are in the summary; only the pictures of the sweep need every record.
    headline = [record for record in summary["records"] if record["measure"] == measure]
    sweep = [record for record in records if record["measure"] == measure]
    drawn = [quality_bars(summary, headline, measure)]
    drawn += [task_dots(summary, headline, measure, dataset) for dataset in summary["roles"]]
    if summary["config"].get("kind") == "adaptive":
        drawn += [sensitivity(summary, sweep, measure), cue_picture(summary)]
    else:
        drawn += [depth_curves(summary, sweep, measure)]
        drawn += [weight_map(summary, sweep, measure, dataset) for dataset in summary["roles"]]
    written = []
    for picture in drawn:
        if picture is not None:
            figure, name, caption = picture
            figure.savefig(out_dir / name, dpi=DPI)
            written.append((name, caption))
    return written
