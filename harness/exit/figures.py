"""Finding lines of a record: a mean at a point, a difference between two."""

from __future__ import annotations

from typing import Any

from harness.exit.ask import RECONSTRUCT
from harness.exit.judge import ALL


def shipped(record: dict[str, Any]) -> str:
    """Name of the variant that the others differ from."""
    return record["config"]["variants"][0]["name"]


def mean_at(
    of: dict[str, Any],
    variant: str,
    method: str,
    count: int,
    budget: int,
    part: str = ALL,
) -> dict[str, Any]:
    """Return the means of a dataset at a point."""
    wanted = (variant, method, count, budget)
    return next(
        line
        for line in of["means"][part]
        if (line["variant"], line["method"], line["count"], line["budget"]) == wanted
    )


def difference_at(
    of: dict[str, Any], measure: str, method: str, variant: str, count: int, budget: int, part: str
) -> dict[str, Any] | None:
    """Return reconstruct minus a baseline at a count and budget; None where nothing is compared."""
    for line in of["differences"]:
        first, second = line["points"]
        if (
            (line["measure"], line["part"]) == (measure, part)
            and first == [variant, RECONSTRUCT, count, budget]
            and second[1] == method
        ):
            return line if line["n"] else None
    return None


def best_flat(
    of: dict[str, Any],
    measure: str,
    methods: tuple[str, ...],
    variant: str,
    count: int,
    budget: int,
    part: str,
) -> dict[str, Any] | None:
    """Return the difference to whichever of some baselines is hardest to beat."""
    found = [difference_at(of, measure, one, variant, count, budget, part) for one in methods]
    return min((one for one in found if one), key=lambda one: one["difference"], default=None)
