"""``cpersona-jit status``."""

from __future__ import annotations

from dataclasses import asdict

from rich.table import Table

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import Config, Db, Embedder, chosen
from cpersona_jit.cli.printing import console, printable


def status(db: Db = None, embedder: Embedder = None, config: Config = None) -> None:
    """Print what the file holds, and whether its vectors fit the embedding model."""
    settings = chosen(config, db=db, embedder=embedder)
    with open_memory(settings, create=False) as memory:
        found = memory.status()
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in asdict(found).items():
        table.add_row(name.replace("_", " "), printable(_words(value)))
    console().print(table)


def _words(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)
