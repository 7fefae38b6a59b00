"""From the text of a variable or an option to a value of the kind its setting has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from annotated_types import Ge, Le

from cpersona_jit.config.model import ReconstructConfig, Settings

_WHOLE = re.compile(r"[+-]?[0-9]{1,12}")
_NONE = "none"


def read_text(name: str, text: str) -> object:
    """Return what a text says for a setting; what is no number stays a text, and is refused later.

    Parameters
    ----------
    name : str
        Full name of the setting.
    text : str
        As a variable or an option has it; ``none`` leaves out what may be left out.
    """
    number, optional = _kind(name)
    text = text.strip() if number else text
    if optional and text.casefold() == _NONE:
        return None
    return int(text) if number and _WHOLE.fullmatch(text) else text


def allowed(name: str) -> str:
    """Return what a setting may be, in words."""
    number, optional = _kind(name)
    if not number:
        return "text that is not empty, without NUL" + (
            ", at most 256 characters" if name == "agent_id" else ""
        )
    low, high = _limits(_field(name))
    return f"a whole number from {low:,} to {high:,}" + (f", or {_NONE}" if optional else "")


def resolve_path(name: str, value: object, folder: Path | None) -> object:
    """Return a path with ``~`` spelled out, and relative to the file it was read from.

    Parameters
    ----------
    name : str
        Full name of the setting; others than ``db`` and an ``onnx:`` embedder hold no path.
    value : object
        What was given.
    folder : Path or None
        Of the TOML file; None for what is relative to the working folder.
    """
    scheme = "onnx:" if name == "embedder" else ""
    if name not in ("db", "embedder") or not isinstance(value, str) or not value:
        return value
    if not value.startswith(scheme) or "\0" in value:
        return value
    try:
        path = Path(value.removeprefix(scheme)).expanduser()
    except RuntimeError:  # the home of a user that is not there
        return value
    return f"{scheme}{path if folder is None else folder / path}"


def near(name: str, known: Iterable[str]) -> str:
    """Say which known name was meant, or which there are."""
    known = list(known)
    by_case = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name.casefold(), by_case, n=1)
    if close:
        return f"did you mean {by_case[close[0]]!r}?"
    # max_count outside of its section.
    last = [one for one in known if one.rpartition(".")[2] == name.rpartition(".")[2]]
    return f"did you mean {last[0]!r}?" if last else f"allowed: {', '.join(known)}"


def _field(name: str) -> Any:
    section, _, key = name.rpartition(".")
    return (ReconstructConfig if section else Settings).model_fields[key]


def _kind(name: str) -> tuple[bool, bool]:
    """Whether a setting is a number, and whether it may be left out."""
    kinds = set(_parts(_field(name).annotation))
    return int in kinds, NoneType in kinds


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield what an annotation is made of, the markers of ``Annotated`` among it."""
    inside = get_args(annotation)
    for part in inside:
        yield from _parts(part)
    if not inside:
        yield annotation


def _limits(field: Any) -> tuple[int, int]:
    markers = [*field.metadata, *_parts(field.annotation)]
    found = [one for marker in markers for one in (marker, *getattr(marker, "metadata", ()))]
    low = next(one.ge for one in found if isinstance(one, Ge))
    return low, next(one.le for one in found if isinstance(one, Le))
