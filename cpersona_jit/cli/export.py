"""``cpersona-jit export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import DEFAULT_DB, Db, Embedder
from cpersona_jit.cli.printing import console


class Format(StrEnum):
    """File formats that the columns can be written in."""

    arrow = "arrow"
    parquet = "parquet"


def export(
    out: Annotated[Path, typer.Argument(help="File to write.")],
    file_format: Annotated[
        Format, typer.Option("--format", help="arrow (IPC file) or parquet.")
    ] = Format.parquet,
    db: Db = DEFAULT_DB,
    embedder: Embedder = "default",
) -> None:
    """Write the columns (ids, axes, times, codes, grams, blocks) to a file for other tools."""
    with open_memory(db, embedder, create=False) as memory:
        from cpersona_jit.columns.export import export_columns

        rows = export_columns(memory.columns(), out, file_format.value, store=db)
    console().print(f"{rows} rows written to {out}", soft_wrap=True)
