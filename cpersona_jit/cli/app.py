"""``cpersona-jit``: one small command per file, errors in one line, exit status 2 for usage."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from cpersona_jit.cli.config import config
from cpersona_jit.cli.explain import explain
from cpersona_jit.cli.export import export
from cpersona_jit.cli.import_ import import_
from cpersona_jit.cli.printing import print_error
from cpersona_jit.cli.reblock import reblock
from cpersona_jit.cli.recall import recall
from cpersona_jit.cli.reconstruct import reconstruct
from cpersona_jit.cli.reembed import reembed
from cpersona_jit.cli.serve import serve
from cpersona_jit.cli.status import status
from cpersona_jit.cli.store import store
from cpersona_jit.errors import CPersonaError, UsageError

FAILURE = 1
USAGE = 2

app = typer.Typer(
    name="cpersona-jit",
    help="Long-term memory for AI agents, in one SQLite file that you own.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_COMMANDS = (
    *(serve, store, recall, reconstruct, explain, status, config),
    *(reembed, reblock, import_, export),
)

for command in _COMMANDS:
    app.command(command.__name__.rstrip("_"))(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version("cpersona-jit"))
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Long-term memory for AI agents, in one SQLite file that you own."""


def main() -> None:
    """Run the command line; exits 0 on success, 1 on failure, 2 on wrong usage."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A memory holds any script; a terminal that cannot show one still shows the rest.
        sys.stdout.reconfigure(errors="replace")
    try:
        app(prog_name="cpersona-jit")
    except UsageError as error:
        print_error(str(error))
        sys.exit(USAGE)
    except (CPersonaError, OSError) as error:
        print_error(str(error))
        sys.exit(FAILURE)


if __name__ == "__main__":
    main()
