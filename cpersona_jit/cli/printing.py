"""What the commands print: for people, safe for the terminal."""

from __future__ import annotations

import sys
import unicodedata

from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table


def console(width: int | None = None) -> Console:
    """Return a console on stdout that prints texts as they are: no markup, no emoji codes.

    Its width is that of the terminal unless `width` says otherwise.
    """
    return Console(markup=False, highlight=False, emoji=False, width=width)


def print_wide(table: Table) -> None:
    """Print a table without cutting any number, even where the terminal is too narrow for it."""
    out = console()
    needed = Measurement.get(out, out.options.update(max_width=10_000), table).minimum
    console(max(out.width, needed)).print(table)


def progress_bar() -> Progress:
    """Return a progress bar on stderr; enter it, and add a task for each line of it."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def bulk_progress_bar() -> Progress:
    """Return a progress bar for amounts too large to count, nothing where stderr is no terminal.

    Its tasks have a field ``records``.
    """
    out = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[records]}"),
        TimeRemainingColumn(),
        console=out,
        disable=not out.is_terminal,
    )


def print_error(message: str) -> None:
    """Print one line to stderr."""
    print(f"cpersona-jit: {printable(message)}", file=sys.stderr)


def printable(text: str) -> str:
    r"""Replace control characters other than ``\n`` and ``\t`` by U+FFFD.

    A stored text may come from anywhere, and an escape sequence in it must not drive the terminal.
    """
    return "".join(
        "\ufffd" if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t" else char
        for char in text
    )
