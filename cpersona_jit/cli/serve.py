"""``cpersona-jit serve``."""

from __future__ import annotations

from pathlib import Path

from cpersona_jit.cli.opening import make_default_folder
from cpersona_jit.cli.options import AgentId, Config, Db, Embedder, Pairs, PreviewChars, loaded


def serve(
    db: Db = None,
    embedder: Embedder = None,
    agent_id: AgentId = None,
    preview_chars: PreviewChars = None,
    config: Config = None,
    pairs: Pairs = None,
) -> None:
    """Serve the memory to an agent over MCP (stdin and stdout).

    An MCP client starts this command itself. --agent-id is used by calls that name no agent.
    `cpersona-jit config` shows what it would be started with.
    """
    # A setting that is not allowed ends the command here, before anything is answered.
    settings = loaded(config, db, embedder, agent_id, preview_chars, pairs).settings
    from cpersona_jit.server.app import serve as serve_stdio
    from cpersona_jit.server.settings import ServerSettings

    path = Path(settings.db)
    make_default_folder(path)
    serve_stdio(
        ServerSettings(
            db=path,
            embedder=settings.embedder,
            agent_id=settings.agent_id,
            preview_chars=settings.recall_preview_chars,
            excerpt_chars=settings.recall_excerpt_chars,
            full_content_chars=settings.full_content_chars,
            reconstruct=settings.reconstruct_policy(),
        )
    )
