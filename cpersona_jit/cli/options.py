"""Options that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpersona_jit.errors import UsageError

if TYPE_CHECKING:
    from cpersona_jit.config.load import Loaded
    from cpersona_jit.config.model import Settings

_ELSEWHERE = "as the configuration says"

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="TOML file with settings (or CPERSONA_JIT_CONFIG).",
        show_default="config.toml in the user's configuration folder, if there is one",
    ),
]

Db = Annotated[
    Path | None,
    typer.Option(
        "--db",
        help="The SQLite file that holds the memory (or CPERSONA_JIT_DB).",
        show_default="memory.db in the user's data folder",
    ),
]

Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="Embedding model: default, quality, minilm, none, a URL, or onnx:FOLDER "
        "(or CPERSONA_JIT_EMBEDDER).",
        show_default=_ELSEWHERE,
    ),
]

AgentId = Annotated[
    str | None,
    typer.Option(
        "--agent-id",
        help="Whose memory it is (or CPERSONA_JIT_AGENT_ID).",
        show_default=_ELSEWHERE,
    ),
]

PreviewChars = Annotated[
    int | None,
    typer.Option(
        "--preview-chars",
        help="Longest content of a recall row, in characters; 0 never cuts "
        "(or CPERSONA_JIT_RECALL_PREVIEW_CHARS).",
        show_default=_ELSEWHERE,
    ),
]

Pairs = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any setting that `cpersona-jit config` lists; may be repeated.",
    ),
]

TimeCue = Annotated[
    str | None,
    typer.Option(
        "--time-cue",
        metavar="JSON",
        help='When it was, for example \'{"ago": {"unit": "days", "value": 3}}\'.',
    ),
]

Now = Annotated[
    str | None,
    typer.Option("--now", help="When the question is asked, ISO 8601.", show_default="now"),
]

ReadProject = Annotated[
    str | None,
    typer.Option(
        "--project-id",
        help="This project and the global pool; '' for the global pool only.",
        show_default="all projects",
    ),
]

ReadChannel = Annotated[
    str | None,
    typer.Option(
        "--channel", help="This channel and rows without one.", show_default="all channels"
    ),
]


def chosen(
    config: Path | None,
    *,
    db: Path | None = None,
    embedder: str | None = None,
    agent_id: str | None = None,
) -> Settings:
    """Return the settings of a command; its own options win over every other place."""
    return loaded(config, db, embedder, agent_id).settings


def loaded(
    config: Path | None,
    db: Path | None,
    embedder: str | None,
    agent_id: str | None,
    preview_chars: int | None = None,
    pairs: list[str] | None = None,
) -> Loaded:
    """Read the settings and where each came from; parameters are options as they were given."""
    from cpersona_jit.config.load import load_settings

    options = {
        "db": ("--db", None if db is None else str(db)),
        "embedder": ("--embedder", embedder),
        "agent_id": ("--agent-id", agent_id),
        "recall_preview_chars": ("--preview-chars", preview_chars),
    }
    return load_settings(config, options, pairs or ())


def read_time_cue(text: str | None) -> Any:
    """Read the JSON of a cue; what it may say is checked where cues are read."""
    if text is None:
        return None
    try:
        cue = json.loads(text)
    except RecursionError as error:
        raise UsageError("--time-cue is nested too deeply; allowed: a JSON object") from error
    except ValueError as error:
        raise UsageError(f"--time-cue is {text!r}; allowed: JSON ({error})") from error
    if not isinstance(cue, dict):
        raise UsageError(f"--time-cue is {text!r}; allowed: a JSON object")
    return cue
