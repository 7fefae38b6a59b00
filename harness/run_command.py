"""What the command ``run`` does once its options are read, by the kind of its config."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import typer
from rich.console import Console

from cpersona_jit.errors import CPersonaError, UsageError
from harness.config import RunConfig, load_config
from harness.exit.config import ExitConfig
from harness.scale.config import ScaleConfig


def run_config(config_path: Path, data: Path | None, out: Path | None, holdout: str | None) -> None:
    """Run a config of any kind and show what came out."""
    config = load_config(config_path)
    if holdout is not None and isinstance(config, ScaleConfig | ExitConfig):
        raise UsageError("--holdout: only a config of kind 'adaptive' keeps a holdout")
    out_dir = out or Path("out") / config.name
    out_dir.mkdir(parents=True, exist_ok=True)
    cache_dir = platformdirs.user_cache_path("cpersona-jit") / "embeddings"
    command = _command(config_path, data, holdout)
    with naming(out_dir):
        if isinstance(config, ScaleConfig):
            from harness.scale.command import run_scale

            report = run_scale(config, data, cache_dir, out_dir, command)
        elif isinstance(config, ExitConfig):
            from harness.exit.command import run_exit

            report = run_exit(config, data, cache_dir, out_dir, command)
        else:
            report = _run_datasets(config, data, cache_dir, out_dir, command, holdout)
    typer.echo(f"report: {report}")


def _run_datasets(
    config: RunConfig,
    data: Path | None,
    cache_dir: Path,
    out_dir: Path,
    command: str,
    holdout: str | None,
) -> Path:
    # The engine and its compiler are imported only once the config is known to be good.
    from harness.console import progress_bars, winners_table
    from harness.report import write_report
    from harness.run import run

    with progress_bars(Console(stderr=True)) as progress:
        summary = run(
            config,
            data_dir=data,
            out_dir=out_dir,
            cache_dir=cache_dir,
            command=command,
            progress=progress,
            holdout=holdout,
        )
        progress("report and pictures", 0, 1)
        report = write_report(out_dir)
        progress("report and pictures", 1, 1)
    console = Console()
    console.print(winners_table(summary))
    proposal = summary["proposal"]
    console.print(f"proposal: {proposal['setting']}", highlight=False)
    for note in summary["degraded"]:
        console.print(f"note: {note}", highlight=False, markup=False)
    return report


def _command(config_path: Path, data: Path | None, holdout: str | None) -> str:
    """Say what reproduces the run, without this machine's absolute paths."""
    words = ["python", "-m", "harness", "run", portable(config_path, "configs")]
    if data is not None:
        words += ["--data", portable(data, "..")]
    if holdout is not None:
        words += ["--holdout", holdout]
    return shlex.join(words)


def portable(path: Path, parent: str) -> str:
    """Return a path as a record may have it: of an absolute one the name alone."""
    return path.as_posix() if not path.is_absolute() else f"{parent}/{path.name}"


@contextmanager
def naming(folder: Path) -> Iterator[None]:
    """Put the folder into errors that name no file, as those of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise CPersonaError(f"{folder}: {error.strerror or error}") from error
