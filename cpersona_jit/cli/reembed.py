"""``cpersona-jit reembed``."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import DEFAULT_DB, Db, Embedder
from cpersona_jit.cli.printing import console


def reembed(db: Db = DEFAULT_DB, embedder: Embedder = "default") -> None:
    """Compute the vectors that are missing or that another model made.

    Finished batches are kept: an interrupted run goes on where it stopped.
    """
    bar = Progress(
        TextColumn("embedding"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    with open_memory(db, embedder, create=False) as memory, bar:
        task = bar.add_task("embedding", total=None)
        result = memory.reembed(
            progress=lambda done, total: bar.update(task, completed=done, total=total)
        )
    console().print(f"{result.done} rows embedded, {result.remaining} remaining")
