"""The record of an exit run: every dataset in its turn, the comparisons, and the proposal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from harness.exit.ask import (
    EQUAL_FITTING,
    EQUAL_FLAT,
    FLAT,
    FLAT_FITTING,
    PREFIXES,
    PREVIEWS,
    QUOTED_ROWS,
    RECONSTRUCT,
    SETTINGS,
)
from harness.exit.config import ExitConfig, ExitDatasetConfig
from harness.exit.judge import (
    ALL,
    CONTAINED,
    RECALL,
    Grid,
    Point,
    differences,
    grid_of,
    means,
    retrieval_only,
)
from harness.exit.measure import PARTS, Found, measure_dataset
from harness.exit.proposal import propose
from harness.exit.reader import SKIPPED, ReaderError, read_answers
from harness.exit.texts import ANSWER_RULE, TOKEN_RULE
from harness.hashes import config_hash, dataset_hash
from harness.machine import load_average
from harness.provenance import provenance
from harness.splits import VALIDATION

DEPTHS = (1, 3, 5, 10, 20, 50, 100)
MEASURE = (
    "Production regime: the shipped default with its seats, cues and bounds, without the time "
    "cap. Evidence recall: share of a question's relevant turns of which some text is quoted; "
    "precision: share of the turns quoted that are relevant; answer contained: share of the "
    "questions whose literal answer stands in a relevant turn for which a quoted passage says it. "
    "Questions count the same, and intervals draw them from all of a part. Milliseconds are of "
    "the exit alone, candidates given, one worker per core at once."
)
# What reconstruct is compared with, by measure; flat recall at the same budget is a point without
# a count.
COMPARED = {
    RECALL: (EQUAL_FLAT, EQUAL_FITTING, QUOTED_ROWS),
    CONTAINED: (EQUAL_FLAT, EQUAL_FITTING, PREVIEWS, PREFIXES),
}
AT_BUDGET = {FLAT: "flat at the same budget", FLAT_FITTING: "flat, rows that fit, at that budget"}

Progress = Callable[[str, int, int], None]


def measure_exit(
    config: ExitConfig,
    data: Path | None,
    cache: Path,
    out: Path,
    command: str,
    progress: Progress,
) -> dict[str, Any]:
    """Measure everything that a config asks for; parameters as in other kinds of configs.

    Returns
    -------
    dict
        The record: numbers and names only, no text of a dataset.
    """
    load_before = load_average()
    datasets, skipped = {}, []
    for section in config.datasets:
        found = measure_dataset(section, config, data, cache, out, progress)
        datasets[section.name] = _judged(section, found, config, skipped, progress)
    if not config.reader.endpoint:
        skipped.append(SKIPPED)
    validation = {name: one["means"][VALIDATION] for name, one in datasets.items()}
    return {
        "record": "exit",
        "name": config.name,
        "description": config.description,
        "measure": MEASURE,
        "token_rule": TOKEN_RULE,
        "answer_rule": ANSWER_RULE,
        "parts": list(PARTS),
        "config": config.model_dump(mode="json"),
        "config_hash": config_hash(config),
        "settings": asdict(SETTINGS),
        "policy": {one.name: asdict(config.policy(one)) for one in config.variants},
        "datasets": datasets,
        "proposal": propose(validation, config),
        "skipped": skipped,
        **provenance(command, load_before),
    }


def _judged(
    section: ExitDatasetConfig,
    found: Found,
    config: ExitConfig,
    skipped: list[str],
    progress: Progress,
) -> dict[str, Any]:
    grid = grid_of(found.points, found.queries)
    parts = found.queries["part"].to_pylist()
    literal = found.queries["literal"].to_pylist()
    scopes = found.queries["scope_id"].to_pylist()
    numbers = {
        part: {
            "questions": sum(part in (ALL, own) for own in parts),
            "literal": sum(part in (ALL, o) and is_ for o, is_ in zip(parts, literal, strict=True)),
            "scopes": len({s for s, o in zip(scopes, parts, strict=True) if part in (ALL, o)}),
        }
        for part in (ALL, *PARTS)
    }
    reader = None
    if config.reader.endpoint:
        try:
            reader = read_answers(
                config.reader,
                found.dataset,
                found.texts,
                config.seed,
                lambda done, total: progress(f"read {section.name}", done, total),
            )
        except ReaderError as error:
            skipped.append(f"reader, {section.name}: {error}")
    return {
        "data_hash": dataset_hash(found.dataset),
        "notes": found.dataset.notes,
        "numbers": numbers,
        "candidate_milliseconds": _median(found, "candidate_milliseconds"),
        "call_milliseconds": _median(found, "call_milliseconds"),
        "retrieval_only": {
            part: retrieval_only(found.queries, part, DEPTHS)
            for part in (ALL, *PARTS)
            if numbers[part]["questions"]
        },
        "means": {part: means(grid, part) for part in (ALL, VALIDATION)},
        "differences": [
            line
            for part in (ALL, VALIDATION)
            for measure in COMPARED
            for line in _compared(grid, part, measure, config)
        ],
        "reader": reader,
    }


def _median(found: Found, name: str) -> float:
    return round(median(found.queries[name].to_pylist()), 3)


def _compared(grid: Grid, part: str, measure: str, config: ExitConfig) -> list[dict[str, Any]]:
    """Compare the shipped variant with every baseline, at every count and budget, and the others
    with those of the same payload at the headline pair.
    """
    shipped = config.variants[0].name
    pairs: list[tuple[Point, Point]] = []
    for count in config.counts:
        for budget in config.budgets:
            own = (shipped, RECONSTRUCT, count, budget)
            pairs += [(own, (shipped, one, count, budget)) for one in COMPARED[measure]]
            pairs += [(own, (shipped, one, 0, budget)) for one in AT_BUDGET]
    at = (config.headline_count, config.headline_budget)
    for variant in config.variants[1:]:
        own = (variant.name, RECONSTRUCT, *at)
        pairs += [(own, (variant.name, one, *at)) for one in COMPARED[measure]]
    return differences(grid, part, measure, pairs, config.bootstrap, config.seed)
