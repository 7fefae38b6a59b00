"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from platformdirs import user_data_path

DEFAULT_DB = user_data_path("cpersona-jit") / "memory.db"

Db = Annotated[
    Path,
    typer.Option(
        "--db",
        envvar="CPERSONA_JIT_DB",
        help="The SQLite file that holds the memory.",
        show_default="memory.db in the user's data folder",
    ),
]

Embedder = Annotated[
    str,
    typer.Option(
        "--embedder",
        envvar="CPERSONA_JIT_EMBEDDER",
        help="Embedding model: default, quality, minilm, none, a URL, or onnx:FOLDER.",
    ),
]

AgentId = Annotated[
    str,
    typer.Option("--agent-id", envvar="CPERSONA_JIT_AGENT_ID", help="Whose memory it is."),
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
