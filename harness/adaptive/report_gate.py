"""The report of a gate study."""

from __future__ import annotations

from harness.markdown import markdown_table


def gate_section(summary: dict) -> str:
    """Return the section of a report, empty without a study."""
    study = summary.get("gate_study")
    if not study:
        return ""
    rows = [
        [
            row["dataset"],
            f"{row['gate']:g}",
            row["relevant_shown"],
            _share(row["kept"]),
            _share(row["own_empty"]),
            f"{row['own_left']:.1f}",
            row["foreign"] or "-",
            _share(row["foreign_empty"]),
        ]
        for row in study["rows"]
    ]
    header = ["dataset", "gate", f"relevant in the top {study['shown']}", "kept", "own empty"]
    header += ["rows left", "foreign questions", "foreign empty"]
    note = (
        f"Setting **{study['setting']}** with each gate, on the validation part. *Kept* is the "
        f"share of relevant rows in the ungated top {study['shown']} that the gate spares; *own "
        "empty* the share of questions that it answers with nothing, *rows left* the mean number "
        "of candidates; *foreign* are questions of other conversations, which nothing answers."
    )
    return f"## Gate\n\n{note}\n\n{markdown_table(header, rows)}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
