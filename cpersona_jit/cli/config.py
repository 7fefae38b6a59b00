"""``cpersona-jit config``: every setting, its value, and where the value came from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from cpersona_jit.cli.options import AgentId, Config, Db, Embedder, Pairs, PreviewChars, loaded
from cpersona_jit.cli.printing import console, print_wide, printable

if TYPE_CHECKING:
    from cpersona_jit.config.load import Loaded


def config(
    db: Db = None,
    embedder: Embedder = None,
    agent_id: AgentId = None,
    preview_chars: PreviewChars = None,
    config: Config = None,
    pairs: Pairs = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Show every setting with its value and source: default, TOML file, variable or option.

    Later ones win. Options are read as `serve` reads them; what it would refuse is refused here.
    """
    found = loaded(config, db, embedder, agent_id, preview_chars, pairs)
    if as_json:
        print(json.dumps(_as_json(found), indent=1, ensure_ascii=True))
        return
    file = "none is read" if found.file is None else printable(str(found.file))
    console().print(f"file: {file}", soft_wrap=True)
    print_wide(_table(found))


def _table(found: Loaded) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("setting", "value", "from"):
        table.add_column(name, no_wrap=True)
    for name, entry in _as_json(found)["settings"].items():
        value = "none" if entry["value"] is None else str(entry["value"])
        table.add_row(name, printable(value), printable(entry["source"]))
    return table


def _as_json(found: Loaded) -> dict:
    from cpersona_jit.config.model import NAMES, value_of
    from cpersona_jit.config.sources import variable_of

    return {
        "file": None if found.file is None else str(found.file),
        "settings": {
            name: {
                "value": value_of(found.settings, name),
                "source": found.sources[name],
                "variable": variable_of(name),
            }
            for name in NAMES
        },
    }
