"""The record of node reach as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.markdown import markdown_table
from harness.summary import SUMMARY_FILE

_PARTS = {"all": "all", "long_relevant": "with a relevant row longer than a node"}


def write_node_record(folder: Path, record: dict[str, Any]) -> Path:
    """Write summary.json and report.md; return the path of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (folder / SUMMARY_FILE).write_text(summary, encoding="utf-8")
    path = folder / "report.md"
    path.write_text(report_text(record), encoding="utf-8")
    return path


def report_text(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    rows = [
        [
            one["dataset"],
            words,
            f"{found['questions']:,}",
            *(f"{found[name]:.1f}" for name in ("blocks", "with_nodes")),
            "{:+.1f} [{:+.1f}, {:+.1f}]".format(found["difference"], *found["interval"]),
        ]
        for one in record["datasets"]
        for part, words in _PARTS.items()
        if (found := one[part])["questions"]
    ]
    long_rows = "; ".join(
        f"{one['dataset']}: {one['long_rows']:,} of {one['rows']:,} rows are longer than "
        f"{one['window']:,} characters"
        for one in record["datasets"]
    )
    heads = ("dataset", "questions", "number", "blocks", "blocks and nodes", "difference")
    return (
        "\n\n".join(
            [
                "# Should overflow nodes find rows?",
                f"`{record['command']}`",
                f"{record['measure']}. Regime: {record['regime']}.",
                f"A row longer than the embedder's window is a chain of nodes, each with its own "
                f"embedding. Here they compete with the row's blocks for its best passage. "
                f"{long_rows}.",
                markdown_table(heads, rows),
            ]
        )
        + "\n"
    )
