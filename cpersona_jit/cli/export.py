"""``cpersona-jit export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import Config, Db, Embedder, chosen
from cpersona_jit.cli.printing import console


class Format(StrEnum):
    """File formats that columns or memories can be written in."""

    arrow = "arrow"
    parquet = "parquet"
    jsonl = "jsonl"


def export(
    out: Annotated[Path, typer.Argument(help="File to write.")],
    file_format: Annotated[
        Format, typer.Option("--format", help="arrow (IPC file), parquet, or jsonl for --memories.")
    ] = Format.parquet,
    memories: Annotated[
        bool, typer.Option("--memories", help="Write the memories: what import reads again.")
    ] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="With their vectors, or without.")
    ] = True,
    db: Db = None,
    embedder: Embedder = None,
    config: Config = None,
) -> None:
    """Write the columns (ids, axes, times, codes, grams, blocks) to a file for other tools.

    With --memories it is the memories themselves (texts, names, times, vectors) instead.
    """
    settings = chosen(config, db=db, embedder=embedder)
    if memories:
        with open_memory(settings, create=False, embedder="none") as memory:
            rows = memory.export_memories(out, file_format.value, vectors=vectors)
        console().print(f"{rows} memories written to {out}", soft_wrap=True)
        return
    with open_memory(settings, create=False) as memory:
        from cpersona_jit.columns.export import export_columns

        columns = memory.columns()
        rows = export_columns(
            columns, out, file_format.value, store=settings.db, episodes=memory.episode_ids()
        )
    console().print(f"{rows} rows written to {out}", soft_wrap=True)
