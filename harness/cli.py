"""The command line of the harness: run a config, report on it, time the engine and its peers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.cli_app import app, told_failures
from harness.run_command import naming, run_config


@app.command("run", short_help="Run a config and say which settings win.")
def run_command(
    config: Annotated[
        Path, typer.Argument(help="TOML file, such as configs/quick.toml.", metavar="CONFIG")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with one folder per dataset. Without it: the download cache, then the "
            "dataset's official home.",
            exists=True,
            file_okay=False,
            metavar="DIR",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for pools, records, report and pictures. [default: out/<config's name>]",
            file_okay=False,
            metavar="DIR",
        ),
    ] = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            help="Open the holdout of an adaptive config, for this reason, which is written to "
            "results/holdout_ledger.jsonl.",
            metavar="REASON",
        ),
    ] = None,
) -> None:
    """Run a config: say which settings win, with intervals, and propose a default.

    Each query runs its arms once; the candidate pool is kept in DIR/pools and found again by the
    next run, also after an interruption. All settings are then replayed over the pool. The setting
    is chosen on the validation part and judged on the unseen rest.

    A config of kind "scale" measures made-up stores of many sizes instead, one of kind "exit" what
    the exits return for the questions of benchmarks.
    """
    with told_failures():
        run_config(config, data, out, holdout)


@app.command("report", short_help="Write the report of a run again.")
def report_command(
    folder: Annotated[
        Path, typer.Argument(help="The --out folder of an earlier run.", metavar="DIR")
    ],
) -> None:
    """Write report.md and its pictures again from the records of a run."""
    from harness.console import winners_table
    from harness.exit.command import rewrite_report
    from harness.report import write_report
    from harness.summary import read_summary

    with told_failures(), naming(folder):
        path = rewrite_report(folder)
        if path is None:
            path = write_report(folder)
            Console().print(winners_table(read_summary(folder)[0]))
    typer.echo(f"report: {path}")


@app.command("split", short_help="Draw the committed parts of datasets that have none.")
def split_command(
    names: Annotated[list[str], typer.Argument(help="Datasets.", metavar="DATASET...")],
    data: Annotated[
        Path | None,
        typer.Option(help="As for run.", exists=True, file_okay=False, metavar="DIR"),
    ] = None,
) -> None:
    """Draw development, validation and holdout, and add them to harness/splits.json.

    A dataset that is in the file keeps its parts: they are drawn once and committed.
    """
    from harness.adaptive.splits import SPLITS_FILE, draw_split, write_splits
    from harness.datasets.registry import load_dataset

    with told_failures():
        write_splits(draw_split(load_dataset(name, data)) for name in names)
    typer.echo(f"parts: {SPLITS_FILE.name}; commit it")


# Its commands join the app behind those above.
import harness.cli_records  # noqa: E402, F401


def main() -> None:
    """Run the command line."""
    app()
