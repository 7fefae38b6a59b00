"""cpersona in a virtual environment of its own: it needs another mcp than this project."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

from filelock import FileLock

from cpersona_jit.errors import CPersonaError

REQUIREMENT = "cpersona>=2.6,<2.7"
_INSTALL_SECONDS, _CHECK_SECONDS = 600, 120


class PeerError(CPersonaError):
    """A peer cannot be compared; the message is the reason, without a path of this machine."""


def cpersona_python(folder: Path) -> Path:
    """Return the interpreter that can import cpersona, made when it is not there.

    Parameters
    ----------
    folder : Path
        Where the environment lies, kept for the next run.

    Returns
    -------
    Path

    Raises
    ------
    PeerError
        The environment cannot be made, or cpersona cannot be installed into it.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(folder.name + ".lock")):
            if not _imports(python):
                venv.EnvBuilder(with_pip=True, clear=True).create(folder)
                _install(python)
    except (OSError, subprocess.SubprocessError) as error:
        raise PeerError(f"no environment for it: {type(error).__name__}") from error
    if not _imports(python):
        raise PeerError(f"{REQUIREMENT} is installed, but cannot be imported")
    return python


def _imports(python: Path) -> bool:
    if not python.is_file():
        return False
    check = [str(python), "-c", "import cpersona.memory_handlers"]
    return subprocess.run(check, capture_output=True, timeout=_CHECK_SECONDS).returncode == 0


def _install(python: Path) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", REQUIREMENT]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=_INSTALL_SECONDS
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
        raise PeerError(f"pip cannot install {REQUIREMENT}: {(said or ['no reason given'])[0]}")
