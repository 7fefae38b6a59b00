"""Asking one question: its candidates once, then every count, budget and variant over them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from cpersona_jit.defaults import DEFAULT_SETTINGS
from cpersona_jit.memory import Memory
from cpersona_jit.records import Row
from harness.datasets.base import DatasetQuery
from harness.exit.config import ExitConfig, VariantConfig
from harness.exit.measures import Gold, Judge
from harness.exit.replay import Asked, candidates, reconstructed
from harness.exit.shown import (
    Shown,
    flat,
    flat_fitting,
    of_response,
    prefixes,
    previews,
    quoted_rows,
)

RECONSTRUCT = "reconstruct"
FLAT, FLAT_FITTING = "flat", "flat, rows that fit"
EQUAL_FLAT, EQUAL_FITTING = "flat at equal payload", "flat, rows that fit, at equal payload"
PREVIEWS, PREFIXES = "previews of the same rows", "prefixes as long as the quotes"
QUOTED_ROWS = "quotes of rows, not bundled"

# The time cap would make a record depend on the machine.
SETTINGS = replace(DEFAULT_SETTINGS, bounds=replace(DEFAULT_SETTINGS.bounds, milliseconds=None))

SCHEMA = pa.schema(
    [
        ("query", pa.int32()),
        ("variant", pa.string()),
        ("method", pa.string()),
        ("count", pa.int32()),
        ("budget", pa.int32()),
        ("evidence_recall", pa.float64()),
        ("evidence_precision", pa.float64()),
        ("contained", pa.bool_()),
        ("items", pa.int32()),
        ("bundled", pa.int32()),
        ("rows", pa.int32()),
        ("characters", pa.int32()),
        ("tokens", pa.float64()),
        ("milliseconds", pa.float64()),
    ]
)
QUERY_SCHEMA = pa.schema(
    [
        ("query", pa.int32()),
        ("query_id", pa.string()),
        ("scope_id", pa.string()),
        ("task", pa.string()),
        ("literal", pa.bool_()),
        ("ranks", pa.list_(pa.int32())),
        ("candidate_milliseconds", pa.float64()),
        ("call_milliseconds", pa.float64()),
    ]
)


class Answers(NamedTuple):
    """What one question gave."""

    points: pa.Table  # SCHEMA
    query: pa.Table  # QUERY_SCHEMA
    texts: dict[str, str]  # for a reader: what each ablation would show


def ask(
    memory: Memory,
    query: DatasetQuery,
    number: int,
    gold: Gold,
    documents: Mapping[int, str],
    now: str | None,
    config: ExitConfig,
) -> Answers:
    """Ask one question of a memory that holds its scope.

    Parameters
    ----------
    memory : Memory
        With the rows of its scope.
    query : DatasetQuery
        The question.
    number : int
        Of the query, in the record.
    gold : Gold
        What answers it.
    documents : mapping of int to str
        The document of each row.
    now : str or None
        When it is asked.
    config : ExitConfig
        What to try.
    """
    judge = Judge(gold, documents)
    deep = candidates(memory, query, config.flat_rows, now, SETTINGS)
    rows = [one.row for one in deep.found.rows]
    content = {row.id: row.content for row in rows}
    lines: list[dict[str, Any]] = []

    def tell(variant: str, method: str, count: int, budget: int, shown: Shown, ms: float) -> None:
        keys = {"query": number, "variant": variant, "method": method}
        told = judge.measure(shown)._asdict()
        lines.append({**keys, "count": count, "budget": budget, **told, "milliseconds": ms})

    first = config.variants[0].name
    for budget in config.flat_budgets:
        tell(first, FLAT, 0, budget, flat(rows, budget), 0.0)
        tell(first, FLAT_FITTING, 0, budget, flat_fitting(rows, budget), 0.0)
    took = 0.0
    for variant in config.variants:
        settings = replace(SETTINGS, seats=variant.seats)
        asked = candidates(memory, query, variant.top_k, now, settings)
        if variant.name == first:
            took = asked.milliseconds
        content |= {one.row.id: one.row.content for one in asked.found.rows}
        for count, budget, method, shown, ms in _points(asked, variant, config, rows, content):
            tell(variant.name, method, count, budget, shown, ms)
    told = {
        "query": number,
        "query_id": query.query_id,
        "scope_id": query.scope_id,
        "task": query.task,
        "literal": gold.answer is not None,
        "ranks": _ranks(rows, gold, documents),
        "candidate_milliseconds": took,
        "call_milliseconds": _call(memory, query, now, config),
    }
    raw = flat_fitting(rows, config.reader.budget)
    return Answers(
        pa.Table.from_pylist(lines, SCHEMA),
        pa.Table.from_pylist([told], QUERY_SCHEMA),
        {"raw": "\n\n".join(piece.text for piece in raw.pieces)},
    )


def _points(
    asked: Asked,
    variant: VariantConfig,
    config: ExitConfig,
    rows: Sequence[Row],
    content: dict[int, str],
) -> Iterator[tuple[int, int, str, Shown, float]]:
    """Yield what a variant shows at every count and budget, and what it is compared with."""
    policy = config.policy(variant)
    own = [one.row for one in asked.found.rows]
    for count in config.counts:
        for budget in config.budgets_of(variant):
            start = time.perf_counter()
            response = reconstructed(asked, count, budget, policy)
            ms = (time.perf_counter() - start) * 1e3
            shown = of_response(response)
            yield count, budget, RECONSTRUCT, shown, ms
            yield count, budget, EQUAL_FLAT, flat(rows, shown.chars), 0.0
            yield count, budget, EQUAL_FITTING, flat_fitting(rows, shown.chars), 0.0
            yield count, budget, PREVIEWS, previews(shown, content, config.preview_chars), 0.0
            yield count, budget, PREFIXES, prefixes(shown, content), 0.0
            alone = quoted_rows(own, asked.found.quoter, count, budget, policy)
            yield count, budget, QUOTED_ROWS, alone, 0.0


def _ranks(rows: Sequence[Row], gold: Gold, documents: Mapping[int, str]) -> list[int]:
    """Return where the relevant documents stand among the candidates, -1 for each that does not."""
    first: dict[str, int] = {}
    for rank, row in enumerate(rows):
        first.setdefault(documents[row.id], rank)
    found = sorted(first[one] for one in gold.documents if one in first)
    return found + [-1] * (len(gold.documents) - len(found))


def _call(memory: Memory, query: DatasetQuery, now: str | None, config: ExitConfig) -> float:
    """Return how long the library takes for the headline pair, recall and all."""
    start = time.perf_counter()
    memory.reconstruct(
        query.text,
        agent_id=query.scope_id,
        count=config.headline_count,
        budget=config.headline_budget,
        now=now,
        settings=SETTINGS,
        policy=config.policy(config.variants[0]),
    )
    return (time.perf_counter() - start) * 1e3


def question_time(query: DatasetQuery, newest: str | None) -> str | None:
    """Return when a question is asked: as it says, else when the newest row of its scope was.

    Never the clock, which would make a record depend on the day.
    """
    return query.timestamp or newest
