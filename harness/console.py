"""What a run shows on the terminal: progress bars while it works, a table of winners at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from harness.markdown import percent
from harness.measures import MACRO
from harness.plot_roles import shown_roles
from harness.run import Progress as Told
from harness.splits import VALIDATION
from harness.summary import find_record, judged_on


@contextmanager
def progress_bars(console: Console) -> Iterator[Told]:
    """Show one bar per kind of work, made when that work is first told about."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bars:
        known: dict[str, Any] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in known:
                known[stage] = bars.add_task(stage, total=total)
            bars.update(known[stage], completed=done, total=total)

        yield tell


def winners_table(summary: dict) -> Table:
    """Say, for each dataset, how the winners and what they are compared with fare."""
    config = summary["config"]
    measure, judging = config["select"]["measure"], judged_on(summary)
    confidence = f"{100 * config['bootstrap']['confidence']:g} %"
    table = Table(title=f"{config['name']}: {measure} x 100, mean over tasks", title_justify="left")
    table.caption = (
        f"brackets: {confidence} bootstrap intervals; bold: highest on {judging}; valid.: the "
        "part on which settings were chosen"
    )
    table.caption_justify = "left"
    table.add_column("dataset", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("setting")
    table.add_column(judging, justify="right", no_wrap=True)
    table.add_column("valid.", justify="right", no_wrap=True)
    for dataset, roles in summary["roles"].items():
        _add_dataset(table, summary, dataset, roles, measure)
    return table


def speed_table(record: dict) -> Table:
    """Say how many times faster than NumPy replay is, per mix of settings."""
    table = Table(title=f"replay, NumPy / compiled; goal {record['goal']:g}", title_justify="left")
    table.add_column("settings")
    for name in ("ratio", "quartiles", "NumPy ms", "compiled ms"):
        table.add_column(name, justify="right")
    for mix in record["mixes"]:
        low, high = mix["quartiles"]
        table.add_row(
            mix["mix"],
            f"{mix['ratio']:.1f}",
            f"{low:.1f} to {high:.1f}",
            f"{mix['numpy_ms']:.1f}",
            f"{mix['kernel_ms']:.2f}",
        )
    return table


def _add_dataset(
    table: Table, summary: dict, dataset: str, roles: dict[str, str], measure: str
) -> None:
    shown, judging = [role for role in shown_roles(summary) if role in roles], judged_on(summary)
    values = {
        (role, part): find_record(
            summary["records"],
            dataset=dataset,
            setting=roles[role],
            measure=measure,
            task=MACRO,
            part=part,
        )
        for role in shown
        for part in (judging, VALIDATION)
    }
    unseen = {role: (values[role, judging] or {}).get("value", -1.0) for role in shown}
    for number, role in enumerate(shown):
        table.add_row(
            dataset if number == 0 else "",
            role,
            roles[role],
            percent(values[role, judging]),
            percent(values[role, VALIDATION]).split(" ")[0],
            style="bold" if unseen[role] == max(unseen.values()) else None,
            end_section=number == len(shown) - 1,
        )
