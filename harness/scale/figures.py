"""Figures of the stores that are followed over the rows: their slopes, and the goals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.scale.slopes import slopes

Store = dict[str, Any]

RECALL_GOALS_MS = {10_000: 1.0, 100_000: 2.0, 1_000_000: 10.0}
RESIDENT_ROWS, RESIDENT_GOAL_MB = 1_000_000, 1600.0
_CHAT = "chat"


def _of(part: str, variant: str, figure: str) -> Callable[[Store], float | None]:
    return lambda store: (store[part].get(variant) or {}).get(figure)


# What is followed, and where a store has it; a store may lack a figure.
FOLLOWED: dict[str, Callable[[Store], float | None]] = {
    "recall, columns in memory, ms": _of("latency", "built", "recall_ms"),
    "recall, columns from their file, ms": _of("latency", "opened", "recall_ms"),
    "process, ms": _of("latency", "built", "process_ms"),
    "resident, columns made, MB": _of("memory", "built", "resident"),
    "resident, columns from their file, MB": _of("memory", "opened", "resident"),
    "first answer, columns made, ms": _of("memory", "built", "first_answer_ms"),
    "first answer, columns from their file, ms": _of("memory", "opened", "first_answer_ms"),
    "SQLite file, bytes": lambda store: store["disk"]["sqlite"],
    "columns file, bytes": lambda store: store["disk"]["columns"],
    "loss of NDCG@10, shipped": lambda store: _lost(store),
}


def slopes_of(stores: Sequence[Store]) -> list[dict[str, Any]]:
    """Return the exponent of growth of each figure, for each kind of text.

    A figure is followed over the stores that have it above 0; one size has no slope.
    """
    found = []
    for text in dict.fromkeys(store["text"] for store in stores):
        for figure, value in FOLLOWED.items():
            points = [
                (store["rows"], value(store))
                for store in stores
                if store["text"] == text and (value(store) or 0) > 0
            ]
            if len(points) > 1:
                found.append({"text": text, "figure": figure, **slopes(*zip(*points, strict=True))})
    return found


def goals_of(stores: Sequence[Store]) -> list[dict[str, Any]]:
    """Hold the chat stores of the sizes that goals are set for to their goals."""
    found = []
    for store in stores:
        rows = store["rows"]
        if store["text"] != _CHAT:
            continue
        for variant, of in store["latency"].items():
            if rows in RECALL_GOALS_MS:
                found.append(
                    _goal("recall, ms", variant, rows, of["recall_ms"], RECALL_GOALS_MS[rows])
                )
        for variant, of in store["memory"].items():
            if rows == RESIDENT_ROWS and of is not None:
                found.append(_goal("resident, MB", variant, rows, of["resident"], RESIDENT_GOAL_MB))
    return found


def _goal(figure: str, variant: str, rows: int, value: float, goal: float) -> dict[str, Any]:
    return {
        "figure": figure,
        "variant": variant,
        "rows": rows,
        "value": value,
        "goal": goal,
        "reached": value <= goal,
    }


def _lost(store: Store) -> float | None:
    """What is missing to the best NDCG@10."""
    return 1.0 - store["quality"]["shipped"]["ndcg"] if "quality" in store else None
