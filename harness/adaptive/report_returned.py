"""The report of what a caller gets: evidence among all returned rows, and how many those are."""

from __future__ import annotations

from harness.adaptive.returned import EVIDENCE, ROWS
from harness.markdown import markdown_table, percent
from harness.measures import MACRO
from harness.plot_roles import shown_roles
from harness.splits import VALIDATION
from harness.summary import find_record, judged_on


def returned_section(summary: dict, records: list[dict]) -> str:
    """Return the section of a report; empty for runs that do not measure it."""
    if summary["config"].get("kind") != "adaptive":
        return ""
    rows, parts = [], (judged_on(summary), VALIDATION)
    for dataset, roles in summary["roles"].items():
        for role in shown_roles(summary):
            place = {"dataset": dataset, "setting": roles.get(role), "task": MACRO}
            shares = [find_record(records, part=p, measure=EVIDENCE, **place) for p in parts]
            many = find_record(records, part=parts[0], measure=ROWS, **place)
            if many is not None:
                rows.append([dataset, role, *map(percent, shares), f"{many['value']:.1f}"])
    note = (
        f"A caller asks for {summary['config']['limit']} rows; seats of a setting come on top, and "
        "its gate takes away."
    )
    table = markdown_table(["dataset", "", *parts, "rows"], rows)
    return f"## {EVIDENCE.capitalize()} over all returned rows\n\n{note}\n\n{table}"
