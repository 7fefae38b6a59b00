"""Putting the places together: defaults, TOML file, variables, command line; later ones win."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from cpersona_jit.config.model import NAMES, Settings, contradiction, value_of
from cpersona_jit.config.sources import (
    Given,
    config_file,
    from_environment,
    from_file,
    from_options,
    from_pairs,
)
from cpersona_jit.config.values import allowed
from cpersona_jit.errors import UsageError, shown

DEFAULT = "default"


@dataclass(frozen=True)
class Loaded:
    """Settings, and where each came from.

    Attributes
    ----------
    settings : Settings
    sources : dict of str to str
        For each full name: ``default``, the path of the TOML file, a variable or an option.
    file : Path or None
        The TOML file that was read.
    """

    settings: Settings
    sources: dict[str, str]
    file: Path | None


def load_settings(
    config: Path | None = None,
    options: Mapping[str, tuple[str, object]] | None = None,
    pairs: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Loaded:
    """Read all settings.

    Parameters
    ----------
    config : Path, optional
        The TOML file; left out, ``CPERSONA_JIT_CONFIG`` names it, or it is the user's own if
        there is one.
    options : mapping of str to (str, object), optional
        For each setting the option that gives it and its value, None when it was not used.
    pairs : sequence of str
        ``NAME=VALUE``, as for ``--set``.
    environment : mapping, optional
        The process's own unless given.

    Raises
    ------
    UsageError
        A place cannot be read, or a value is not allowed: names setting, value, what is allowed
        and where the value came from, in one line.
    """
    environment = os.environ if environment is None else environment
    file = config_file(config, environment)
    given: dict[str, Given] = {}
    given |= from_file(file) if file is not None else {}
    given |= from_environment(environment)
    given |= from_options(options or {})
    given |= from_pairs(pairs)
    settings = _checked(given)
    sources = {name: given[name].source if name in given else DEFAULT for name in NAMES}
    return Loaded(settings, sources, file)


def _checked(given: Mapping[str, Given]) -> Settings:
    inner = {
        name.removeprefix("reconstruct."): one.value
        for name, one in given.items()
        if name.startswith("reconstruct.")
    }
    outer = {name: one.value for name, one in given.items() if "." not in name}
    try:
        return Settings.model_validate({**outer, "reconstruct": inner})
    except ValidationError as error:
        raise UsageError(_explain(error, given, outer, inner)) from error


def _explain(error: ValidationError, given: Mapping[str, Given], outer: dict, inner: dict) -> str:
    """Say the first mistake, with the place of the value."""
    mistakes = {".".join(map(str, item["loc"])) for item in error.errors() if item["loc"]}
    # A value of an optional setting has a place inside, such as reconstruct.forced_count.int.
    for name in NAMES:
        if any(one == name or one.startswith(f"{name}.") for one in mistakes):
            return _line(name, given[name].value, allowed(name), given[name].source)
    # Each value is good by itself, so that they can be looked at without the check.
    loose = Settings.model_construct(**outer)
    loose = loose.model_copy(
        update={"reconstruct": type(Settings().reconstruct).model_construct(**inner)}
    )
    name, limit = contradiction(loose) or ("settings", "values that fit together")
    source = given[name].source if name in given else DEFAULT
    return _line(name, value_of(loose, name), f"{limit}{_cause(name, limit, given)}", source)


def _cause(name: str, limit: str, given: Mapping[str, Given]) -> str:
    """Say where the value came from that forbids another one."""
    if "max_" in limit:
        others = [f"reconstruct.max_{name.rpartition('_')[2]}"]
    elif "preview" in limit:
        others = ["recall_preview_chars"]
    else:
        others = ["reconstruct.quote_chars", "reconstruct.full_quotes"]
    found = [given[other].source for other in others if other in given]
    return f" (from {shown(found[0], 300)})" if found else ""


def _line(name: str, value: object, limit: str, source: str) -> str:
    return f"{name} is {shown(repr(value))} (from {shown(source, 300)}); allowed: {limit}"
