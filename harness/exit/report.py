"""The record of an exit run as a report, and its headline as a table on the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from harness.exit.ask import (
    EQUAL_FITTING,
    EQUAL_FLAT,
    FLAT,
    PREFIXES,
    PREVIEWS,
    RECONSTRUCT,
)
from harness.exit.figures import best_flat, difference_at, mean_at, shipped
from harness.exit.judge import ALL, CONTAINED, RECALL
from harness.exit.plot import draw_exit
from harness.exit.report_ablations import ablation_parts
from harness.markdown import markdown_table
from harness.splits import VALIDATION
from harness.summary import SUMMARY_FILE

_INNERMOST, _BREAK = re.compile(r"\{\n[^{}]*\}"), re.compile(r"\n\s*")
_EQUAL = (EQUAL_FLAT, EQUAL_FITTING)
_CLAIM = (
    "count",
    "budget",
    "characters",
    "evidence",
    "minus flat",
    "contained",
    "minus flat",
    "over previews",
    "minus previews",
    "minus prefixes",
)


def write_exit_record(folder: Path, record: dict[str, Any]) -> Path:
    """Write summary.json, the pictures and report.md; return the path of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    # Thousands of points: each on a line of its own.
    summary = _INNERMOST.sub(lambda found: _BREAK.sub(" ", found[0]), summary)
    (folder / SUMMARY_FILE).write_text(summary, encoding="utf-8")
    pictures = draw_exit(record, folder)
    path = folder / "report.md"
    path.write_text(report_text(record, pictures), encoding="utf-8")
    return path


def report_text(record: dict[str, Any], pictures: Sequence[tuple[str, str]]) -> str:
    """Return the record as Markdown."""
    machine, load = record["machine"], record["load_average"]
    parts = [
        "# Exits",
        f"`{record['command']}`",
        f"{record['measure']} Tokens are estimated: {record['token_rule']}. An answer: "
        f"{record['answer_rule']}.",
        f"{machine['cpu']}, {machine['cores']} cores; load average {load['before']} before, "
        f"{load['after']} after. Revision {record['revision']}. Parts: "
        f"{', '.join(record['parts'])}; the holdout is not asked.",
        _numbers(record),
        _latency(record),
        *[f"![{caption}]({name})" for name, caption in pictures],
        "## At equal payload",
        "Differences x 100, reconstruct minus a baseline, with their intervals. *Flat*: whole "
        "rows, best first, of at most as many characters as reconstruct quoted for the same "
        "question; the harder of two ways to fill it: until the first row that does not fit, or "
        "leaving such rows out. *Prefixes*: of the rows that reconstruct quotes, each as long as "
        "its quote.",
        _claims(record),
        "## Variants",
        "At the headline count and budget; what each of them changes is in the config.",
        _variants(record),
        *_sweeps(record),
        *ablation_parts(record),
        "## Proposal",
        _proposal(record),
    ]
    if record["skipped"]:
        parts += ["## Skipped", "\n".join(f"- {one}" for one in record["skipped"])]
    return "\n\n".join(parts) + "\n"


def headline_table(record: dict[str, Any]) -> Table:
    """Say what the headline pair gives on each dataset."""
    config = record["config"]
    count, budget = config["headline_count"], config["headline_budget"]
    table = Table(title=f"exits: count {count}, budget {budget:,}, x 100", title_justify="left")
    for name in ("dataset", "evidence", "minus flat", "contained", "characters"):
        table.add_column(name, justify="left" if name == "dataset" else "right", no_wrap=True)
    for name, of in record["datasets"].items():
        line = mean_at(of, shipped(record), RECONSTRUCT, count, budget)
        gain = best_flat(of, RECALL, _EQUAL, shipped(record), count, budget, ALL)
        table.add_row(
            name, _share(line[RECALL]), _gain(gain), _share(line[CONTAINED]), _whole(line)
        )
    return table


def _latency(record: dict[str, Any]) -> str:
    told = ", ".join(
        f"{name} {of['call_milliseconds']:.1f} ms ({of['candidate_milliseconds']:.1f} of them to "
        "find the candidates)"
        for name, of in record["datasets"].items()
    )
    return (
        "A whole call of `reconstruct` at the headline count and budget, the query's embedding "
        f"kept, median over questions: {told}."
    )


def _numbers(record: dict[str, Any]) -> str:
    rows = []
    for name, of in record["datasets"].items():
        for part, own in of["numbers"].items():
            literal = str(own["literal"]) if own["literal"] else "-"
            rows.append([name, part, str(own["scopes"]), str(own["questions"]), literal])
    header = ["dataset", "part", "scopes", "questions", "with a literal answer"]
    return markdown_table(header, rows)


def _claims(record: dict[str, Any]) -> str:
    config = record["config"]
    counts = [c for c in config["counts"] if c in (1, config["headline_count"])]
    counts = list(dict.fromkeys([*counts, config["counts"][-1]]))
    header = ["dataset", "part", *_CLAIM]
    rows = []
    for name, of in record["datasets"].items():
        for part in (ALL, VALIDATION):
            for count in counts:
                rows += [
                    [name, part, *_claim(of, shipped(record), part, count, budget)]
                    for budget in config["variant_budgets"] or config["budgets"]
                ]
    return markdown_table(header, rows)


def _variants(record: dict[str, Any]) -> str:
    config = record["config"]
    at = (config["headline_count"], config["headline_budget"])
    rows = [
        [name, part, one["name"], *_claim(of, one["name"], part, *at)]
        for name, of in record["datasets"].items()
        for part in (ALL, VALIDATION)
        for one in config["variants"]
    ]
    return markdown_table(["dataset", "part", "variant", *_CLAIM], rows)


def _claim(of: dict[str, Any], variant: str, part: str, count: int, budget: int) -> list[str]:
    line = mean_at(of, variant, RECONSTRUCT, count, budget, part)
    at = (variant, count, budget, part)
    over = difference_at(of, CONTAINED, PREVIEWS, *at)
    ratio = f"{over['ratio']:.2f}" if over and over["ratio"] else "-"
    return [
        str(count),
        f"{budget:,}",
        _whole(line),
        _share(line[RECALL]),
        _gain(best_flat(of, RECALL, _EQUAL, *at)),
        _share(line[CONTAINED]),
        _gain(best_flat(of, CONTAINED, _EQUAL, *at)),
        ratio,
        _gain(over),
        _gain(difference_at(of, CONTAINED, PREFIXES, *at)),
    ]


def _sweeps(record: dict[str, Any]) -> list[str]:
    config, variant = record["config"], shipped(record)
    parts = []
    for name, of in record["datasets"].items():
        rows = []
        for count in config["counts"]:
            lines = [mean_at(of, variant, RECONSTRUCT, count, b) for b in config["budgets"]]
            last = lines[-1]
            rows.append(
                [
                    str(count),
                    *(_share(line[RECALL]) for line in lines),
                    _share(last["evidence_precision"]),
                    _share(last[CONTAINED]),
                    _whole(last),
                    f"{last['tokens']:,.0f}",
                    _share(last["bundled_share"]),
                    f"{last['milliseconds']:.1f}",
                ]
            )
        flat = [mean_at(of, variant, FLAT, 0, b) for b in config["budgets"]]
        rows.append(["flat", *(_share(line[RECALL]) for line in flat), *[""] * 6])
        header = ["count", *(f"{budget:,}" for budget in config["budgets"])]
        header += ["precision", "contained", "characters", "tokens", "two or more claims", "ms"]
        parts += [
            f"## Sweep: {name}",
            "Evidence recall x 100 by budget (*flat*: whole rows within the budget itself); the "
            "other columns at the largest budget.",
            markdown_table(header, rows),
        ]
    return parts


def _proposal(record: dict[str, Any]) -> str:
    found = record["proposal"]
    lines = [
        f"From the validation questions alone. {found['rule']}.",
        f"- `max_count` {found['max_count']}, `max_budget` {found['max_budget']:,}, "
        f"`default_budget` {found['default_budget']:,}, variant `{found['variant']}`",
        "- scores of the variants x 100: "
        + ", ".join(f"`{k}` {100 * v:.1f}" for k, v in found["variant_scores"].items()),
    ]
    for name, one in found["hard_to_beat"].items():
        lines.append(
            f"- {name}: least is lost to flat recall at equal payload, or most gained, with "
            f"`{one['variant']}` (top_k {one['top_k']}), count {one['count']}, budget "
            f"{one['budget']:,}: {100 * one['difference']:+.1f}"
        )
    return "\n".join(lines)


def _gain(line: dict[str, Any] | None) -> str:
    if line is None:
        return "-"
    value, low, high = (100 * line[key] for key in ("difference", "ci_low", "ci_high"))
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}]"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _whole(line: dict[str, Any]) -> str:
    return f"{line['characters']:,.0f}"
