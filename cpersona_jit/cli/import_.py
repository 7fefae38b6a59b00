"""``cpersona-jit import``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import AgentId, Config, Db, Embedder, chosen
from cpersona_jit.cli.printing import bulk_progress_bar, console, print_error, printable

if TYPE_CHECKING:
    from cpersona_jit.bulk.report import ImportReport, Line

INTERRUPTED = 130
_SHOWN_CHARS = 300


def import_(
    file: Annotated[str, typer.Argument(help="JSON Lines or Parquet; - reads lines from stdin.")],
    db: Db = None,
    embedder: Embedder = None,
    agent_id: AgentId = None,
    config: Config = None,
    project_id: Annotated[
        str,
        typer.Option(
            "--project-id", help="Project of records without one.", show_default="global pool"
        ),
    ] = "",
    channel: Annotated[
        str, typer.Option("--channel", help="Channel of records without one.", show_default="none")
    ] = "",
    embedding_model: Annotated[
        str,
        typer.Option(
            "--embedding-model",
            help="Model that made the vectors in the file: its name or its fingerprint.",
            show_default="as the file says",
        ),
    ] = "",
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="FIELD", help="Leave a field out; may be repeated."),
    ] = None,
    dedup: Annotated[
        bool,
        typer.Option(
            "--dedup/--no-dedup", help="Skip what is stored already, or store equal contents again."
        ),
    ] = True,
    rejects: Annotated[
        Path | None,
        typer.Option("--rejects", metavar="FILE", help="List every rejected record in this file."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Begin at the first record, also of a file that is in.")
    ] = False,
) -> None:
    """Store the records of a file, and say what became of each.

    Run the same command again after an interruption: it goes on where it was. --agent-id owns the
    records that name no agent.
    """
    from cpersona_jit.bulk.importing import ImportOptions

    settings = chosen(config, db=db, embedder=embedder, agent_id=agent_id)
    options = ImportOptions(
        settings.agent_id, project_id, channel, embedding_model, tuple(ignore or ()), dedup
    )
    done = 0
    try:
        with open_memory(settings, create=True) as memory, bulk_progress_bar() as bar:
            tasks = {"reading": bar.add_task("reading the file", total=None, records="")}

            def show(stage: str, at: int, total: int | None, records: int) -> None:
                nonlocal done
                done = records
                if stage not in tasks:
                    tasks[stage] = bar.add_task("storing", total=total, records="")
                shown = f"{records:,} records" if stage == "storing" else ""
                bar.update(tasks[stage], completed=at, total=total, records=shown)

            report = memory.import_file(file, options, again=again, rejects=rejects, progress=show)
    except KeyboardInterrupt:
        print_error(f"interrupted after {done:,} records; the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    _print(report, file)
    if report.of("rejected"):
        raise typer.Exit(1)


def _print(report: ImportReport, file: str) -> None:
    out = console()
    if report.already:
        out.print(f"{printable(file)} was imported before; --again begins at its first record")
    elif report.resumed:
        out.print(f"went on behind {report.unit} {report.resumed:,}")
    told = ", ".join(
        f"{report.of(status):,} {status}" for status in ("stored", "skipped", "rejected")
    )
    out.print(f"{report.records:,} records: {told}", soft_wrap=True)
    lines = report.lines()
    for line in lines:
        status = "stored with a warning" if line.status == "warning" else line.status
        out.print(f"{status}, {line.reason}: {line.count:,}", soft_wrap=True)
        for shown in _examples(line, report.unit):
            out.print(f"    {printable(shown)}", soft_wrap=True)
    warned = {line.reason for line in lines if line.status == "warning"}
    if warned & {"not_embedded", "blocks_not_embedded"}:
        print("cpersona-jit reembed makes the vectors that are missing", file=sys.stderr)


def _examples(line: Line, unit: str) -> list[str]:
    if any(one.detail for one in line.examples):
        return [f"{unit} {one.number}: {one.detail[:_SHOWN_CHARS]}" for one in line.examples]
    numbers = ", ".join(f"{unit} {one.number}" for one in line.examples)
    return [f"{line.meaning}{f' ({numbers})' if numbers else ''}"]
