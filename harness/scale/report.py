"""The record of scale as a report, and its stores as a table on the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from harness.markdown import markdown_table
from harness.scale.plot import draw_scale
from harness.scale.report_scan import scan_parts
from harness.summary import SUMMARY_FILE

_LATENCY = ("rows", "text", "recall", "fastest", "from file", "process")
_TERMINAL = ("rows", "text", "recall", "from file", "process", "MB", "from file")
_VARIANTS = {"built": "made", "opened": "from file"}


def write_scale_record(folder: Path, record: dict[str, Any]) -> Path:
    """Write summary.json, the pictures and report.md; return the path of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (folder / SUMMARY_FILE).write_text(summary, encoding="utf-8")
    pictures = draw_scale(record, folder)
    path = folder / "report.md"
    path.write_text(report_text(record, pictures), encoding="utf-8")
    return path


def report_text(record: dict[str, Any], pictures: Sequence[tuple[str, str]]) -> str:
    """Return the record as Markdown."""
    machine, load = record["machine"], record["load_average"]
    parts = [
        "# Scale",
        f"`{record['command']}`",
        f"{record['measure'][0].upper()}{record['measure'][1:]}. Made-up talk with random unit "
        "vectors: chat rows have about 1.1 blocks, long ones about 4.",
        f"{machine['cpu']}, {machine['cores']} cores, kernels for {record['tier']}; load average "
        f"{load['before']} before, {load['after']} after.",
        *[f"![{caption}]({name})" for name, caption in pictures],
    ]
    if record["goals"]:
        header = ["goal", "columns", "rows", "figure", "wanted", ""]
        parts += ["## Goals", markdown_table(header, [_goal_row(one) for one in record["goals"]])]
    parts += [
        "## Latency",
        "*Recall*: milliseconds as a caller waits; *fastest*: mean over the questions of their "
        "fastest round; *from file*: the same over columns mapped from the file beside the store; "
        "*process*: the stages that the trace names, below.",
        markdown_table(_LATENCY, [_latency_row(store) for store in record["stores"]]),
        _stages_table(record["stores"]),
        "## Memory",
        "*Made*: a fresh process that makes the columns from SQLite and answers the questions; "
        "*from file*: one that finds their file. MB beyond the interpreter and the kernels; of "
        "these, *mapped* are pages of files, which the system may take back. *First answer*: from "
        "opening the store on, in ms.",
        _memory_table(record["stores"]),
        *_touched_part(record["stores"]),
        "## Slopes",
        "The exponent b of `figure = a * rows^b`, by least squares over logarithms: 1 is linear, 0 "
        "is flat.",
        _slopes_table(record["slopes"]),
        *_quality_parts(record["stores"]),
        *scan_parts(record),
    ]
    if record["skipped"]:
        lines = [f"- {one['part']}: {one['reason']}" for one in record["skipped"]]
        parts += ["## Not measured", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def stores_table(record: dict[str, Any]) -> Table:
    """Say how long a recall takes and what a store needs, for each store."""
    table = Table(title="scale: milliseconds of one recall, one thread", title_justify="left")
    for name in _TERMINAL:
        table.add_column(name, justify="left" if name == "text" else "right", no_wrap=True)
    for store in record["stores"]:
        rows, text, recall, _, opened, process = _latency_row(store)
        held = [_whole(store["memory"].get(variant), "resident") for variant in _VARIANTS]
        table.add_row(rows, text, recall, opened, process, *held)
    return table


def _latency_row(store: dict[str, Any]) -> list[str]:
    built, opened = store["latency"]["built"], store["latency"].get("opened")
    return [
        f"{store['rows']:,}",
        store["text"],
        f"{built['recall_ms']:.2f}",
        f"{built['recall_fastest_ms']:.2f}",
        f"{opened['recall_ms']:.2f}" if opened else "-",
        f"{built['process_ms']:.2f}",
    ]


def _stages_table(stores: Sequence[dict]) -> str:
    stages = list(dict.fromkeys(name for s in stores for name in s["latency"]["built"]["stages"]))
    rows = [
        [
            f"{store['rows']:,}",
            store["text"],
            *(f"{store['latency']['built']['stages'].get(stage, 0):.2f}" for stage in stages),
        ]
        for store in stores
    ]
    return markdown_table(["rows", "text", *(f"{stage}, ms" for stage in stages)], rows)


def _memory_table(stores: Sequence[dict]) -> str:
    header = ["rows", "text", "columns", "resident", "anonymous", "mapped", "peak", "first answer"]
    header += ["SQLite, B/row", "columns file, B/row"]
    names = ("resident", "anonymous", "mapped", "peak", "first_answer_ms")
    rows = []
    for store in stores:
        on_disk = [
            f"{size / store['rows']:.0f}" if (size := store["disk"][file]) else "-"
            for file in ("sqlite", "columns")
        ]
        for variant, of in store["memory"].items():
            told = [f"{store['rows']:,}", store["text"], _VARIANTS[variant]]
            rows.append([*told, *(_whole(of, name) for name in names), *on_disk])
    return markdown_table(header, rows)


def _touched_part(stores: Sequence[dict]) -> list[str]:
    """Say what of `mapped` is the system's way to map: what touching a byte a megabyte adds."""
    found = [
        f"{store['rows']:,} {store['text']} rows: {of['grew']:.0f} of {of['file']:.0f} MB"
        for store in stores
        if (of := store.get("touched"))
    ]
    said = "Control: one byte of each megabyte of the columns' file is touched, and so much of it"
    return [f"{said} becomes resident. {'; '.join(found)}."] if found else []


def _slopes_table(found: Sequence[dict]) -> str:
    steps = list(
        dict.fromkeys((step["from"], step["to"]) for one in found for step in one["between"])
    )
    steps.sort()
    header = ["figure", "text", "overall", *(f"{low:,} to {high:,}" for low, high in steps)]
    rows = []
    for one in found:
        own = {(step["from"], step["to"]): f"{step['slope']:.2f}" for step in one["between"]}
        rows.append([one["figure"], one["text"], f"{one['overall']:.2f}"])
        rows[-1] += [own.get(step, "") for step in steps]
    return markdown_table(header, rows)


def _quality_parts(stores: Sequence[dict]) -> list[str]:
    rows = []
    for store in stores:
        for scan, of in store.get("quality", {}).items():
            names = ("ndcg", "recall", "same_rows", "same_list", "dense_list")
            rows.append([f"{store['rows']:,}", scan, *(_percent(of.get(name)) for name in names)])
    if not rows:
        return []
    header = ["rows", "scan", "NDCG@10", "recall@10", "same rows", "same list", "dense list"]
    return [
        "## Quality",
        "x 100. Relevant are planted rows, of a fixed cosine to their question and with a few of "
        "its words; the rest of the store is what hides them. *Same rows*: share of the exact "
        "scan's ten best; *same list*: share of questions with the same ten in the same order; "
        "*dense list*: share of the rows of its dense list.",
        markdown_table(header, rows),
    ]


def _goal_row(goal: dict) -> list[str]:
    told = [goal["figure"], _VARIANTS[goal["variant"]], f"{goal['rows']:,}"]
    reached = "reached" if goal["reached"] else "**missed**"
    return [*told, f"{goal['value']:g}", f"<= {goal['goal']:g}", reached]


def _whole(of: dict[str, float] | None, name: str) -> str:
    return f"{of[name]:.0f}" if of else "-"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"
