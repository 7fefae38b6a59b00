"""The folder that keeps compiled kernels from one process to the next.

Each version of the package and of the compiler, and each processor, has a folder of its own. Numba
looks only at the file of the function it compiled, not at those of the functions called from there,
and not at constants. So each module of kernels has a folder in it for each state of all the files
that the module imports; what is in there never goes stale.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import time
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import platformdirs

BASE_VARIABLE = "NUMBA_CACHE_DIR"
MARKER = "cpersona-jit-kernels.txt"
KEPT = 5  # folders of other versions that stay, those used last
KEPT_SECONDS = 24 * 3600  # so long after its last use a folder stays whatever the number
OLDEST_SECONDS = 30 * 24 * 3600  # and no longer than this

_PACKAGE = Path(__file__).resolve().parent.parent
_IMPORT = re.compile(r"^\s*from cpersona_jit\.([\w.]+) import", re.MULTILINE)
_NAME = re.compile(r"kernels-[^/\\]+-[0-9a-f]{16}")
_ABOUT = "Kernels that cpersona-jit compiled. The folder may be deleted at any time.\n"


def base_folder() -> Path:
    """Return the folder of the folders: ``NUMBA_CACHE_DIR``, else the user's cache."""
    chosen = os.environ.get(BASE_VARIABLE, "")
    return Path(chosen) if chosen else platformdirs.user_cache_path("cpersona-jit") / "kernels"


def folder_name() -> str:
    """Return the name of the folder for this version of the package on this processor."""
    try:
        release = version("cpersona-jit")
    except PackageNotFoundError:  # run from its sources, without being installed
        release = "source"
    digest = _digest([release, *_compiler(), *_processor()])
    return f"kernels-{re.sub(r'[^0-9A-Za-z.]', '_', release)}-{digest}"


def open_folder(base: Path) -> Path:
    """Make the folder of this version below `base`, and note that it is in use.

    Raises
    ------
    OSError
        It cannot be made or written.
    """
    folder = base / folder_name()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text(_ABOUT, encoding="utf-8")  # its time says when it was last used
    return folder


def module_folder(folder: Path, module: Path) -> Path:
    """Return the folder, inside that of this version, for a module and what it imports.

    Those of earlier states of its sources, which only someone who changes them has, are removed.

    Parameters
    ----------
    folder : pathlib.Path
        From `open_folder`.
    module : pathlib.Path
        File of the module.
    """
    files = sources(module)
    digest = _digest(text for file in sorted(files) for text in (file.name, files[file]))
    mine = folder / f"{module.stem}-{digest}"
    mine.mkdir(exist_ok=True)
    os.utime(mine)
    for other in folder.glob(f"{module.stem}-*"):
        if other != mine and time.time() - other.stat().st_mtime > KEPT_SECONDS:
            _remove_compiled(other)
    return mine


def sources(module: Path) -> dict[Path, str]:
    """Return the files that a module takes code or constants from, itself too, and their text."""
    found: dict[Path, str] = {}
    waiting = [module.resolve()]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found[file] = _text(file)
            names = _IMPORT.findall(found[file])
            waiting += [_PACKAGE.joinpath(*name.split(".")).with_suffix(".py") for name in names]
    return found


def remove_old_folders(base: Path, current: Path) -> None:
    """Remove folders of other versions that were not used for long; nothing else is touched.

    A folder stays when it has not our name and our mark in it, when anything but compiled kernels
    is in it, and when it cannot be removed.
    """
    now, old = time.time(), []
    for folder in base.glob("kernels-*"):
        marker = folder / MARKER
        if folder == current or folder.is_symlink() or not _NAME.fullmatch(folder.name):
            continue
        try:
            old.append((now - marker.stat().st_mtime, folder))
        except OSError:
            continue
    for place, (unused, folder) in enumerate(sorted(old)):
        if unused > OLDEST_SECONDS or (place >= KEPT and unused > KEPT_SECONDS):
            _remove(folder)


def _remove(folder: Path) -> None:
    try:
        for inner in folder.iterdir():
            if inner.is_dir():
                _remove_compiled(inner)
        (folder / MARKER).unlink()
        folder.rmdir()
    except OSError:
        return


def _remove_compiled(folder: Path) -> None:
    """Remove what Numba wrote for a module, and the folders when nothing else is in them."""
    try:
        for inner in folder.iterdir():
            for file in inner.glob("*.nb[ic]*"):  # also one half written
                file.unlink()
            inner.rmdir()
        folder.rmdir()
    except OSError:
        return


def _compiler() -> list[str]:
    return [platform.python_version(), np.__version__, version("numba"), version("llvmlite")]


def _processor() -> list[str]:
    import llvmlite.binding
    from numba.core import config

    from cpersona_jit.kernels.cpu import compiled_features

    name = config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    return [platform.machine(), name, *sorted(compiled_features())]


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
