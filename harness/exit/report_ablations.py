"""The seven ablations of the exits, one table."""

from __future__ import annotations

from typing import Any

from harness.exit.ask import EQUAL_FITTING, EQUAL_FLAT, QUOTED_ROWS, RECONSTRUCT
from harness.exit.figures import mean_at, shipped
from harness.exit.judge import ALL, CONTAINED, RECALL
from harness.markdown import markdown_table

_SKIPPED = "skipped: no endpoint"


def ablation_parts(record: dict[str, Any]) -> list[str]:
    """Return the section of the ablations: what each of them shows on each dataset."""
    config = record["config"]
    count, budget = config["headline_count"], config["headline_budget"]
    parts = [
        "## Ablations",
        f"At count {count} and budget {budget:,}, unless it says otherwise; x 100. The flat rows "
        "take as many characters as reconstruct did for the same question.",
    ]
    header = ["dataset", "ablation", "evidence", "precision", "contained", "characters"]
    rows = []
    for name, of in record["datasets"].items():
        rows += [[name, *line] for line in _lines(record, of, count, budget)]
    parts.append(markdown_table(header, rows))
    depths = list(next(iter(record["datasets"].values()))["retrieval_only"][ALL])
    rows = [
        [name, *(f"{100 * of['retrieval_only'][ALL][depth]:.1f}" for depth in depths)]
        for name, of in record["datasets"].items()
    ]
    parts += [
        "Retrieval only, without any payload: how far up the relevant rows stand among the "
        "candidates.",
        markdown_table(["dataset", *depths], rows),
    ]
    return parts


def _lines(record: dict[str, Any], of: dict[str, Any], count: int, budget: int) -> list[list[str]]:
    variant, counts = shipped(record), record["config"]["counts"]
    named = [
        ("1 flat recall, until a row does not fit", EQUAL_FLAT, count),
        ("1 flat recall, rows that fit", EQUAL_FITTING, count),
        ("3 quotes of rows, not bundled", QUOTED_ROWS, count),
        (f"4 reconstruct, count {counts[0]}", RECONSTRUCT, counts[0]),
        (f"5 reconstruct, count {count}", RECONSTRUCT, count),
        (f"5 reconstruct, count {counts[-1]}", RECONSTRUCT, counts[-1]),
    ]
    lines = [
        [label, *_cells(mean_at(of, variant, method, asked, budget))]
        for label, method, asked in named
    ]
    found = of["retrieval_only"][ALL]
    ranked = ", ".join(f"{key} {100 * found[key]:.1f}" for key in ("recall@5", "recall@20"))
    lines.insert(2, [f"2 retrieval only: {ranked}", "", "", "", ""])
    reader = of["reader"]
    for number, name in ((6, "oracle"), (7, "raw")):
        told = _SKIPPED
        if reader is not None:
            share = reader["answered"][name]
            told = f"{_share(share)} of {reader['questions']} answered"
        lines.append([f"{number} reader with {name} evidence: {told}", "", "", "", ""])
    return lines


def _cells(line: dict[str, Any]) -> list[str]:
    shares = [_share(line[name]) for name in (RECALL, "evidence_precision", CONTAINED)]
    return [*shares, f"{line['characters']:,.0f}"]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
