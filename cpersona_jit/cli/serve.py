"""``cpersona-jit serve``."""

from __future__ import annotations

from typing import Annotated

import typer

from cpersona_jit.cli.opening import make_default_folder
from cpersona_jit.cli.options import DEFAULT_DB, AgentId, Db, Embedder
from cpersona_jit.server.settings import (
    DEFAULT_AGENT_ID,
    DEFAULT_PREVIEW_CHARS,
    ServerSettings,
)


def serve(
    db: Db = DEFAULT_DB,
    embedder: Embedder = "default",
    agent_id: AgentId = DEFAULT_AGENT_ID,
    preview_chars: Annotated[
        int,
        typer.Option(
            "--preview-chars",
            envvar="CPERSONA_JIT_RECALL_PREVIEW_CHARS",
            min=0,
            help="Longest content of a recall row, in characters; 0 never cuts.",
        ),
    ] = DEFAULT_PREVIEW_CHARS,
) -> None:
    """Serve the memory to an agent over MCP (stdin and stdout).

    An MCP client starts this command itself. --agent-id is used by calls that name no agent.
    """
    from cpersona_jit.server.app import serve as serve_stdio

    make_default_folder(db)
    serve_stdio(ServerSettings(db, embedder, agent_id, preview_chars))
