"""``cpersona-jit reblock``."""

from __future__ import annotations

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import Config, Db, Embedder, chosen
from cpersona_jit.cli.printing import console, progress_bar

_STAGES = {"split": "splitting rows", "embed": "embedding blocks"}


def reblock(db: Db = None, embedder: Embedder = None, config: Config = None) -> None:
    """Split long memories into blocks again, and embed the blocks that have no vector.

    For files that an older version wrote. Finished batches are kept: an interrupted run goes on
    where it stopped.
    """
    settings = chosen(config, db=db, embedder=embedder)
    with open_memory(settings, create=False) as memory, progress_bar() as bar:
        tasks = {stage: bar.add_task(text, total=None) for stage, text in _STAGES.items()}
        result = memory.reblock(
            progress=lambda stage, done, total: bar.update(
                tasks[stage], completed=done, total=total
            )
        )
    console().print(
        f"{result.rows} rows split, {result.changed} changed; "
        f"{result.blocks_done} blocks embedded, {result.blocks_remaining} remaining"
    )
