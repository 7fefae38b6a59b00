"""How kernels are compiled: without the interpreter's lock, and kept for the next process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import config

from cpersona_jit.kernels.cache_folder import (
    BASE_VARIABLE,
    base_folder,
    module_folder,
    open_folder,
    remove_old_folders,
)

__all__ = ["folder_of", "kernel", "kernel_folder", "kernel_part"]

logger = logging.getLogger(__name__)

# Nobody calls a kernel from C.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Callable) -> Any:
    """Compile a function that Python calls."""
    return _decorated(function, _OPTIONS)


def kernel_part(function: Callable) -> Any:
    """Compile what only kernels call: without a wrapper for Python it compiles sooner.

    Pass it no bare number where a variable may go as well: each is a type of its own to the
    compiler, which then compiles the part again.
    """
    return _decorated(function, {**_OPTIONS, "no_cpython_wrapper": True})


@cache
def kernel_folder() -> Path | None:
    """Return the folder that keeps compiled kernels; None, said in the log, when there is none."""
    base = base_folder()
    try:
        folder = open_folder(base)
    except OSError as error:
        logger.warning(
            "compiled kernels are not kept, every process compiles its own: %s cannot be written "
            "(%s); %s names another folder",
            base,
            error.strerror or error,
            BASE_VARIABLE,
        )
        return None
    remove_old_folders(base, folder)
    return folder


@cache
def folder_of(module: Path) -> Path | None:
    """Return the folder for the kernels of a module as it is; None when there is none."""
    folder = kernel_folder()
    try:
        return folder and module_folder(folder, module)
    except OSError:  # a part of the folder is somebody else's, or gone
        return None


def _decorated(function: Callable, options: dict[str, bool]) -> Any:
    folder = folder_of(Path(function.__code__.co_filename))
    if folder is None:
        return njit(**options)(function)
    # Numba looks at this setting now and never again. What others compile has its own place.
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        return njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before
