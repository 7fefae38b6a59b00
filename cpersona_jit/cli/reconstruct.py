"""``cpersona-jit reconstruct``."""

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

if TYPE_CHECKING:
    from cpersona_jit.exits.reconstruct.shape import Claim, Item


def reconstruct(
    query: Annotated[str, typer.Argument(help="What you want to know.")],
    db: Db = None,
    embedder: Embedder = None,
    agent_id: AgentId = None,
    config: Config = None,
    project_id: ReadProject = None,
    channel: ReadChannel = None,
    count: Annotated[int | None, typer.Option("--count", min=0, help="Most items.")] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=0, help="Most characters of quoted text.")
    ] = None,
    time_cue: TimeCue = None,
    now: Now = None,
) -> None:
    """Print memories put together from rows, with the rows that each stands on."""
    cue = read_time_cue(time_cue)
    settings = chosen(config, db=db, embedder=embedder, agent_id=agent_id)
    with open_memory(settings, create=False) as memory:
        response = memory.reconstruct(
            query,
            agent_id=settings.agent_id,
            project_id=project_id,
            channel=channel,
            count=count,
            budget=budget,
            time_cue=cue,
            now=now,
            policy=settings.reconstruct_policy(),
        )
    for position, item in enumerate(response["items"], start=1):
        _print_item(position, item)
    if "shortfall_reason" in response:
        asked, told = response["effective_count"], response["returned_count"]
        print_error(f"{told} of at most {asked} items: {response['shortfall_reason']}")
    for reason in response.get("degraded", ()):
        print_error(f"degraded: {reason}")


def _print_item(position: int, item: Item) -> None:
    out = console()
    out.print(Text(f"{position}.  {item['head_ref']}", style="bold"))
    out.print(printable(item["content"]))
    for excerpt in item.get("excerpts", ()):
        out.print(Text(excerpt["ref"], style="bold"))
        out.print(printable(excerpt["content"]))
    for claim in item["claims"]:
        out.print(Text(printable(_claim_line(claim)), style="dim"))
    out.print()


def _claim_line(claim: Claim) -> str:
    parts = [claim["ref"], claim.get("as_of", "undated"), claim.get("why", "")]
    parts += [f"{role['role']} {role['ref']}" for role in claim.get("roles", ())]
    return "  ".join(part for part in parts if part)
