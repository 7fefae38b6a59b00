"""``cpersona-jit recall``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import (
    AgentId,
    Config,
    Db,
    Embedder,
    Now,
    ReadChannel,
    ReadProject,
    TimeCue,
    chosen,
    read_time_cue,
)
from cpersona_jit.cli.printing import console, print_error, printable
from cpersona_jit.server.preview import preview

if TYPE_CHECKING:
    from cpersona_jit.results import RecallRow


def recall(
    query: Annotated[str, typer.Argument(help="What you want to know.")],
    db: Db = None,
    embedder: Embedder = None,
    agent_id: AgentId = None,
    config: Config = None,
    project_id: ReadProject = None,
    channel: ReadChannel = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Most rows to print.")] = 10,
    time_cue: TimeCue = None,
    now: Now = None,
) -> None:
    """Print the memories that best match a question, best first."""
    cue = read_time_cue(time_cue)
    settings = chosen(config, db=db, embedder=embedder, agent_id=agent_id)
    with open_memory(settings, create=False) as memory:
        result = memory.recall(
            query,
            agent_id=settings.agent_id,
            project_id=project_id,
            channel=channel,
            limit=limit,
            time_cue=cue,
            now=now,
        )
    for position, row in enumerate(result.rows, start=1):
        _print_row(position, row, settings.recall_preview_chars)
    if not result.rows:
        print_error(f"no memory of agent {settings.agent_id!r} was found")
    for reason in result.degraded:
        print_error(f"degraded: {reason}")


def _print_row(position: int, row: RecallRow, preview_chars: int) -> None:
    heading = [f"{position}.", row.ref, row.timestamp, row.source.name]
    out = console()
    out.print(Text(printable("  ".join(part for part in heading if part)), style="bold"))
    shown = preview(row.content, preview_chars)
    cut = f" … ({shown['content_len']} characters)" if "content_len" in shown else ""
    out.print(printable(shown["content"]) + cut)
    out.print()
