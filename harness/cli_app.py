"""What all commands of the harness share: the app, and how a command ends that cannot go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from cpersona_jit.errors import CPersonaError, UsageError

USAGE, FAILURE, INTERRUPTED = 2, 1, 130

app = typer.Typer(
    name="python -m harness",
    help="Measure recall: freeze candidate pools, replay settings over them, choose by evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@contextmanager
def told_failures() -> Iterator[None]:
    """End with one line and an exit code when the work inside cannot go on."""
    try:
        yield
    except (CPersonaError, OSError, KeyboardInterrupt) as error:
        _fail(error)


def _fail(error: BaseException) -> NoReturn:
    if isinstance(error, KeyboardInterrupt):
        typer.echo("error: interrupted; what is finished is kept: run again to go on", err=True)
        raise typer.Exit(INTERRUPTED)
    typer.echo(f"error: {error}", err=True)
    raise typer.Exit(USAGE if isinstance(error, UsageError) else FAILURE)
