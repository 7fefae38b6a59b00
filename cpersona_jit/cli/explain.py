"""``cpersona-jit explain``: why each row stands where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
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
from cpersona_jit.cli.printing import console, print_error, print_wide, printable
from cpersona_jit.exits.period import period_fields

if TYPE_CHECKING:
    from cpersona_jit.results import RecallResult, RecallRow

_SHOWN_CHARS = 60
_MEMORY_WIDTH = 44


def explain(
    query: Annotated[str, typer.Argument(help="What you want to know.")],
    db: Db = None,
    embedder: Embedder = None,
    agent_id: AgentId = None,
    config: Config = None,
    project_id: ReadProject = None,
    channel: ReadChannel = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Most rows to explain.")] = 10,
    time_cue: TimeCue = None,
    now: Now = None,
) -> None:
    """Show what each signal, term and prior adds to the score of each row that is recalled."""
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
            trace=True,
        )
    if result.rows:
        print_wide(contributions_table(result))
    else:
        print_error(f"no memory of agent {settings.agent_id!r} was found")
    if result.period is not None:
        console().print(_period(result.period), soft_wrap=True)
    for reason in result.degraded:
        print_error(f"degraded: {reason}")


def contributions_table(result: RecallResult) -> Table:
    """Return a table with a line per row and a column per contribution.

    Contributions are shown with as many decimals as it takes to add them up by hand; what adds
    nothing to any of the rows has no column.

    Parameters
    ----------
    result : RecallResult
        Of a recall with ``trace=True``, under any kind of settings.
    """
    lines = [_contributions(result, row) for row in result.rows]
    names = [name for name in lines[0] if any(line[name] for line in lines)] if lines else []
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("row", no_wrap=True)
    for name in [*names, "score"]:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("memory", width=_MEMORY_WIDTH, overflow="fold")
    for row, line in zip(result.rows, lines, strict=True):
        numbers = [f"{line[name]:+.4f}" for name in names]
        table.add_row(row.ref, *numbers, f"{row.score:.4f}", _memory(row))
    return table


def _contributions(result: RecallResult, row: RecallRow) -> dict[str, float]:
    trace = result.trace
    at = trace.pool_ids.tolist().index(int(row.ref.partition(":")[2]))
    return {name: float(values[at]) for name, values in trace.contributions.items()}


def _period(period: dict[str, Any]) -> str:
    told = period_fields(period)
    words = f" ({printable(told['words'])})" if "words" in told else ""
    moved = ", the nearest one with rows" if "moved" in told else ""
    ends = f"{told.get('from', 'the beginning')} to {told.get('to', 'the end')}"
    return f"period: {ends}{words}{moved}"


def _memory(row: RecallRow) -> Text:
    """One line of a row: how it was admitted, when, who, and how it begins."""
    start = " ".join(row.content[: 4 * _SHOWN_CHARS].split())
    if len(start) > _SHOWN_CHARS or len(row.content) > 4 * _SHOWN_CHARS:
        start = start[:_SHOWN_CHARS] + "…"
    admission = f"[{row.admission}]" if row.admission else ""
    parts = (admission, row.timestamp, row.source.name, start)
    return Text(printable("  ".join(part for part in parts if part)))
