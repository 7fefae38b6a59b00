"""``cpersona-jit reembed``."""

from __future__ import annotations

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import Config, Db, Embedder, chosen
from cpersona_jit.cli.printing import console, progress_bar


def reembed(db: Db = None, embedder: Embedder = None, config: Config = None) -> None:
    """Compute the vectors that are missing or that another model made.

    Finished batches are kept: an interrupted run goes on where it stopped.
    """
    settings = chosen(config, db=db, embedder=embedder)
    with open_memory(settings, create=False) as memory, progress_bar() as bar:
        task = bar.add_task("embedding", total=None)
        result = memory.reembed(
            progress=lambda done, total: bar.update(task, completed=done, total=total)
        )
    console().print(f"{result.done} rows embedded, {result.remaining} remaining")
    if result.blocks_done or result.blocks_remaining:
        console().print(
            f"{result.blocks_done} blocks embedded, {result.blocks_remaining} remaining"
        )
    if result.chains_done or result.chains_remaining:
        console().print(
            f"{result.chains_done} long rows embedded in parts, {result.chains_remaining} remaining"
        )
