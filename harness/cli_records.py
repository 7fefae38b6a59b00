"""The commands of the harness that time the engine and its peers, each for a record of its own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cpersona_jit.errors import UsageError
from harness.cli_app import app, told_failures
from harness.run_command import portable

MOST_ROWS = 1_000_000

Rows = Annotated[
    str, typer.Option(help="Rows of the stores, separated by commas.", metavar="N,N,...")
]
Out = Annotated[Path, typer.Option(help="Folder for the record.", file_okay=False, metavar="DIR")]


@app.command("replay-speed", short_help="Time the replay kernel against NumPy.")
def replay_speed_command(
    out: Out = Path("out/replay_speed"),
) -> None:
    """Time the replay kernel against NumPy doing the same work, turn about, on one thread."""
    with told_failures():
        _replay_speed(out)


@app.command("recall-speed", short_help="Time recall over made-up stores.")
def recall_speed_command(
    rows: Rows = "10000,100000",
    texts: Annotated[
        str,
        typer.Option(help="Kinds of rows: chat (1.1 blocks a row), long (4).", metavar="KIND,..."),
    ] = "chat,long",
    out: Out = Path("out/recall_speed"),
) -> None:
    """Time recall without the query's embedding, and what blocks, structure and a time cue add.

    Stores of made-up talk are written to a temporary folder: about a minute for 100,000 chat rows,
    and ten and some gigabytes of memory for as many long ones.
    """
    with told_failures():
        _recall_speed(rows, texts, out)


@app.command("bulk-speed", short_help="Time import and export of made-up memories.")
def bulk_speed_command(
    rows: Annotated[
        str, typer.Option(help="Rows of the files, separated by commas.", metavar="N,N,...")
    ] = "10000,100000",
    out: Out = Path("out/bulk_speed"),
) -> None:
    """Time import and export, vectors given: a million rows take 6 GB in the temporary folder."""
    with told_failures():
        _bulk_speed(rows, out)


@app.command("serving", short_help="Time a server's start, and many recalls at once.")
def serving_command(
    rows: Annotated[str, typer.Option(help="Rows of the store.", metavar="N")] = "100000",
    out: Out = Path("out/serving"),
) -> None:
    """Time a server's start, compiled kernels kept or not, many recalls at once, and pings."""
    with told_failures():
        _serving(rows, out)


@app.command("peers", short_help="Compare with what a user would pick instead.")
def peers_command(
    rows: Annotated[
        str, typer.Option(help="Rows to search, separated by commas.", metavar="N,N,...")
    ] = "1000,10000,100000",
    data: Annotated[
        Path | None,
        typer.Option(
            help="As for run; for real vectors.", exists=True, file_okay=False, metavar="DIR"
        ),
    ] = None,
    out: Out = Path("out/peers"),
) -> None:
    """Compare with faiss, bm25s, SQLite, usearch and cpersona, turn about, on one thread.

    A peer that is not installed (extra `peers`) is left out. cpersona gets an environment of its
    own in the cache folder.
    """
    with told_failures():
        _peers(rows, data, out)


@app.command("exit-speed", short_help="Time excerpts and reconstruct over made-up stores.")
def exit_speed_command(
    rows: Rows = "100000",
    texts: Annotated[str, typer.Option(help="As for recall-speed.", metavar="TEXT,...")] = (
        "chat,long"
    ),
    out: Out = Path("out/exit_speed"),
) -> None:
    """Time a recall without and with excerpts, and reconstruct, on one thread."""
    with told_failures():
        _exit_speed(rows, texts, out)


@app.command("recall-profile", short_help="Take the time of a recall apart.")
def recall_profile_command(
    rows: Rows = "10000,100000",
    out: Out = Path("out/recall_profile"),
) -> None:
    """Time each kernel of a recall and what lies between them, on one thread."""
    with told_failures():
        _recall_profile(rows, out)


@app.command("node-reach", short_help="Measure whether overflow nodes should find rows.")
def node_reach_command(
    data: Annotated[
        Path | None,
        typer.Option(help="As for run.", exists=True, file_okay=False, metavar="DIR"),
    ] = None,
    out: Out = Path("out/node_reach"),
) -> None:
    """Compare recall with and without overflow nodes among the blocks that find a long row."""
    with told_failures():
        _node_reach(data, out)


def _replay_speed(out: Path) -> None:
    from harness.console import progress_bars, speed_table
    from harness.replay_speed import measure_replay_speed, write_record

    out.mkdir(parents=True, exist_ok=True)  # a folder that cannot be made is said before the work
    with progress_bars(Console(stderr=True)) as progress:
        command = _command("replay-speed", "--out", portable(out, "results"))
        record = measure_replay_speed(command, progress)
    path = write_record(out, record)
    Console().print(speed_table(record))
    typer.echo(f"record: {path}")


def _recall_speed(rows: str, texts: str, out: Path) -> None:
    from harness.console import progress_bars
    from harness.speed.measure import measure_recall_speed
    from harness.speed.report import recall_speed_table, write_speed_record

    sizes, kinds = _sizes(rows), _kinds(texts)
    out.mkdir(parents=True, exist_ok=True)
    command = _command(
        "recall-speed", "--rows", rows, "--texts", texts, "--out", portable(out, "results")
    )
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_recall_speed(sizes, kinds, command, progress)
    path = write_speed_record(out, record)
    Console().print(recall_speed_table(record))
    typer.echo(f"report: {path}")


def _bulk_speed(rows: str, out: Path) -> None:
    sizes = _sizes(rows)
    from harness.speed.bulk import run_bulk_speed

    command = _command("bulk-speed", "--rows", rows, "--out", portable(out, "results"))
    typer.echo(f"report: {run_bulk_speed(sizes, out, command)}")


def _serving(rows: str, out: Path) -> None:
    sizes = _sizes(rows)
    if len(sizes) > 1:
        raise UsageError(f"--rows is {rows!r}; allowed: one whole number from 1 to {MOST_ROWS:,}")
    from harness.console import progress_bars
    from harness.serving.measure import measure_serving
    from harness.serving.report import serving_table, write_serving_record

    out.mkdir(parents=True, exist_ok=True)
    command = _command("serving", "--rows", rows, "--out", portable(out, "results"))
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_serving(sizes[0], command, progress)
    path = write_serving_record(out, record)
    Console().print(serving_table(record))
    typer.echo(f"report: {path}")


def _peers(rows: str, data: Path | None, out: Path) -> None:
    sizes = _sizes(rows)  # a mistake is said before the engine is loaded
    from harness.peers.command import run_peers

    words = ["peers", "--rows", rows, "--out", portable(out, "results")]
    words += [] if data is None else ["--data", portable(data, "..")]
    path = run_peers(sizes, data, out, _command(*words))
    typer.echo(f"report: {path}")


def _exit_speed(rows: str, texts: str, out: Path) -> None:
    from harness.console import progress_bars
    from harness.speed.exits import exit_speed_report, measure_exit_speed
    from harness.speed.report import write_speed_record

    sizes, kinds = _sizes(rows), _kinds(texts)
    out.mkdir(parents=True, exist_ok=True)
    command = _command(
        "exit-speed", "--rows", rows, "--texts", texts, "--out", portable(out, "results")
    )
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_exit_speed(sizes, kinds, command, progress)
    typer.echo(f"report: {write_speed_record(out, record, exit_speed_report)}")


def _recall_profile(rows: str, out: Path) -> None:
    from harness.console import progress_bars
    from harness.speed.profile import measure_profile, profile_report
    from harness.speed.report import write_speed_record

    sizes = _sizes(rows)
    out.mkdir(parents=True, exist_ok=True)
    command = _command("recall-profile", "--rows", rows, "--out", portable(out, "results"))
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_profile(sizes, command, progress)
    typer.echo(f"report: {write_speed_record(out, record, profile_report)}")


def _kinds(texts: str) -> list[str]:
    from harness.speed.measure import TEXTS

    kinds = [kind.strip() for kind in texts.split(",")]
    if not set(kinds) <= set(TEXTS):
        raise UsageError(f"--texts is {texts!r}; allowed: {', '.join(TEXTS)}")
    return kinds


def _node_reach(data: Path | None, out: Path) -> None:
    import platformdirs

    from harness.console import progress_bars
    from harness.node_reach.measure import measure_node_reach
    from harness.node_reach.report import write_node_record

    out.mkdir(parents=True, exist_ok=True)
    cache = platformdirs.user_cache_path("cpersona-jit") / "embeddings"
    words = ["node-reach", "--out", portable(out, "results")]
    words += [] if data is None else ["--data", portable(data, "..")]
    command = _command(*words)
    with progress_bars(Console(stderr=True)) as progress:
        record = measure_node_reach(data, cache, command, progress)
    typer.echo(f"report: {write_node_record(out, record)}")


def _command(*words: str) -> str:
    """Return what reproduces a record."""
    return shlex.join(["python", "-m", "harness", *words])


def _sizes(rows: str) -> list[int]:
    sizes = [int(size) if size.strip().isdecimal() else 0 for size in rows.split(",")]
    if not all(1 <= size <= MOST_ROWS for size in sizes):
        raise UsageError(f"--rows is {rows!r}; allowed: whole numbers from 1 to {MOST_ROWS:,}")
    return sizes
