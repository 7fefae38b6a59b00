"""``cpersona-jit store``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cpersona_jit.cli.opening import open_memory
from cpersona_jit.cli.options import AgentId, Config, Db, Embedder, chosen
from cpersona_jit.cli.printing import console, print_error, printable


def store(
    content: Annotated[str, typer.Argument(help="The text to remember; - reads it from stdin.")],
    db: Db = None,
    embedder: Embedder = None,
    agent_id: AgentId = None,
    config: Config = None,
    project_id: Annotated[
        str, typer.Option("--project-id", help="Project it belongs to.", show_default="global pool")
    ] = "",
    channel: Annotated[
        str, typer.Option("--channel", help="Channel it belongs to.", show_default="none")
    ] = "",
    msg_id: Annotated[
        str, typer.Option("--id", help="Your own id for it.", show_default="none")
    ] = "",
    session_id: Annotated[
        str, typer.Option("--session-id", help="Session it was said in.", show_default="none")
    ] = "",
    source_name: Annotated[
        str, typer.Option("--source-name", help="Who said it.", show_default="unknown")
    ] = "",
    timestamp: Annotated[
        str, typer.Option("--timestamp", help="When, ISO 8601.", show_default="undated")
    ] = "",
) -> None:
    """Store one memory."""
    if content == "-":
        content = sys.stdin.read().removesuffix("\n")
    settings = chosen(config, db=db, embedder=embedder, agent_id=agent_id)
    with open_memory(settings, create=True) as memory:
        outcome = memory.store(
            content,
            agent_id=settings.agent_id,
            project_id=project_id,
            channel=channel,
            msg_id=msg_id,
            source={"name": source_name} if source_name else None,
            session_id=session_id,
            timestamp=timestamp,
        )
    if outcome.status == "rejected":
        print_error(f"rejected ({outcome.reason}): {outcome.detail}")
        raise typer.Exit(1)
    line = " ".join(part for part in (outcome.status, outcome.ref, outcome.reason) if part)
    console().print(printable(line), soft_wrap=True)
    for warning in outcome.warnings:
        print_error(f"warning: {warning}")
