"""Markdown pieces of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; bars inside cells are escaped."""
    lines = [list(header), ["---"] * len(header), *[list(row) for row in rows]]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def percent(record: dict | None, *, signed: bool = False) -> str:
    """Write a record's value and interval in percent, such as ``46.2 [44.1, 48.3]``."""
    if record is None:
        return "-"
    sign = "+" if signed else ""
    value, low, high = (100 * record[key] for key in ("value", "ci_low", "ci_high"))
    return f"{value:{sign}.1f} [{low:{sign}.1f}, {high:{sign}.1f}]"
