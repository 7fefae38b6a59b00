"""The places that settings are read from, each as plain names and values."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cpersona_jit.config import defaults
from cpersona_jit.config.defaults import CONFIG_VARIABLE, OTHER_VARIABLES, PREFIX
from cpersona_jit.config.model import NAMES
from cpersona_jit.config.values import near, read_text, resolve_path
from cpersona_jit.errors import UsageError, shown

_SECTION = "reconstruct"
_MAX_BYTES = 1 << 20


class Given(NamedTuple):
    """A value of a setting, and where it came from."""

    value: object
    source: str


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + name.upper().replace(".", "_")


VARIABLES = {variable_of(name): name for name in NAMES}


def config_file(option: Path | None, environment: Mapping[str, str]) -> Path | None:
    """Return the TOML file to read: that of the option, of the variable, or the user's own."""
    named = option if option is not None else environment.get(CONFIG_VARIABLE) or None
    if named is not None:
        return Path(named).expanduser()
    return defaults.DEFAULT_FILE if os.path.lexists(defaults.DEFAULT_FILE) else None


def from_file(path: Path) -> dict[str, Given]:
    """Read a TOML file.

    Raises
    ------
    UsageError
        It cannot be read, is not TOML, or has a key that is no setting.
    """
    found: dict[str, Given] = {}
    for key, value in _document(path).items():
        if key == _SECTION and isinstance(value, dict):
            inner = {f"{_SECTION}.{name}": one for name, one in value.items()}
        else:
            inner = {key: value}
        for name, one in inner.items():
            if name not in NAMES:
                what = "table" if isinstance(one, dict) else "key"
                if name == _SECTION:
                    raise UsageError(f"{path}: {name} is {shown(repr(one))}; allowed: a table")
                raise UsageError(f"{path}: unknown {what} {shown(name)!r}; {near(name, NAMES)}")
            found[name] = Given(resolve_path(name, one, path.absolute().parent), str(path))
    return found


def from_environment(environment: Mapping[str, str]) -> dict[str, Given]:
    """Read the variables with our prefix; an empty one counts as not set.

    Raises
    ------
    UsageError
        One of them belongs to nothing.
    """
    found: dict[str, Given] = {}
    for variable in sorted(environment):
        # Names of variables have no case on Windows.
        known = variable.upper() if os.name == "nt" else variable
        if not known.startswith(PREFIX) or known in OTHER_VARIABLES or known == CONFIG_VARIABLE:
            continue
        if known not in VARIABLES:
            meant = near(known, [*VARIABLES, CONFIG_VARIABLE, *sorted(OTHER_VARIABLES)])
            raise UsageError(f"unknown variable {shown(variable)}; {meant}")
        name, text = VARIABLES[known], environment[variable]
        if text:
            found[name] = Given(resolve_path(name, read_text(name, text), None), known)
    return found


def from_options(options: Mapping[str, tuple[str, object]]) -> dict[str, Given]:
    """Take what the command line gives: for each setting the option's name and value, or None."""
    return {
        name: Given(value, option) for name, (option, value) in options.items() if value is not None
    }


def from_pairs(pairs: Sequence[str]) -> dict[str, Given]:
    """Read ``--set NAME=VALUE`` of the command line.

    Raises
    ------
    UsageError
        A pair has no ``=``, or names no setting.
    """
    found: dict[str, Given] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f"--set is {shown(pair)!r}; allowed: NAME=VALUE")
        if name not in NAMES:
            raise UsageError(f"--set: unknown setting {shown(name)!r}; {near(name, NAMES)}")
        found[name] = Given(resolve_path(name, read_text(name, text), None), "--set")
    return found


def _document(path: Path) -> dict[str, object]:
    try:
        if path.is_dir():
            raise UsageError(f"{path}: is a folder; allowed: a TOML file")
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise UsageError(f"{path}: is over {_MAX_BYTES:,} bytes; allowed: a TOML file")
        # Editors on Windows begin a file with a byte order mark.
        return tomllib.loads(data.decode("utf-8-sig"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"{path}: cannot be read ({reason}); allowed: a TOML file") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {shown(error)}") from error
    except RecursionError as error:
        raise UsageError(f"{path}: lists or tables are nested too deeply") from error
