"""What an operator may set when starting the server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cpersona_jit.config.defaults import (
    DEFAULT_AGENT_ID,
    DEFAULT_EXCERPT_CHARS,
    DEFAULT_FULL_CONTENT_CHARS,
    DEFAULT_PREVIEW_CHARS,
)
from cpersona_jit.errors import UsageError
from cpersona_jit.exits.reconstruct.settings import DEFAULT_POLICY, ReconstructSettings


@dataclass(frozen=True)
class ServerSettings:
    """Settings of one server process.

    Parameters
    ----------
    db : pathlib.Path
        The SQLite file; created when it does not exist.
    embedder : str
        Provider spec, see :func:`cpersona_jit.embed.registry.load_provider`.
    agent_id : str
        The ``agent_id`` of calls that name none.
    preview_chars : int
        Longest ``content`` of a recall row, in characters; 0 never cuts.
    excerpt_chars : int
        Longest ``excerpt`` of a row whose content was cut.
    full_content_chars : int
        Characters of content in one response with ``full_content``; rows beyond are cut.
    reconstruct : ReconstructSettings
        The policy of ``reconstruct``.
    """

    db: Path
    embedder: str = "default"
    agent_id: str = DEFAULT_AGENT_ID
    preview_chars: int = DEFAULT_PREVIEW_CHARS
    excerpt_chars: int = DEFAULT_EXCERPT_CHARS
    full_content_chars: int = DEFAULT_FULL_CONTENT_CHARS
    reconstruct: ReconstructSettings = DEFAULT_POLICY

    def __post_init__(self) -> None:
        if not self.agent_id:
            raise UsageError("agent_id '' is empty; allowed: any name, it owns the memories")
        if self.preview_chars < 0:
            raise UsageError(
                f"preview_chars {self.preview_chars} is negative; allowed: 0 (never cut) or more"
            )
        if self.excerpt_chars < 1:
            raise UsageError(f"excerpt_chars {self.excerpt_chars} is below 1; allowed: 1 or more")
        if self.full_content_chars < 1:
            raise UsageError(
                f"full_content_chars {self.full_content_chars} is below 1; allowed: 1 or more"
            )
