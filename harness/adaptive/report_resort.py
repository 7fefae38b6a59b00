"""The report of a study of second sorts."""

from __future__ import annotations

from harness.adaptive.resort import FUSED
from harness.adaptive.resort_study import FULL, MEASURES, PRODUCTION, REGIMES, SHALLOW, SHOWN
from harness.markdown import markdown_table, percent
from harness.splits import ALL, VALIDATION
from harness.summary import find_record, judged_on


def resort_section(summary: dict) -> str:
    """Return the section of a report, empty without a study."""
    study = summary.get("resort_study")
    if not study:
        return ""
    seconds = [order for order in study["orders"] if order != FUSED]
    opening = (
        f"Setting **{study['setting']}**. *{FUSED}* is the order that fusion gives; the other "
        "columns are what a stable sort of the same rows by another score gains or loses. Ages "
        "count from the question's date, or from the newest row where a question has none."
    )
    parts = [ALL, judged_on(summary), VALIDATION]
    tables = [_regime(study, regime, seconds, parts) for regime in REGIMES]
    return "\n\n".join(["## The order of the answer", opening, _exact(study), *tables])


def _exact(study: dict) -> str:
    told = "; ".join(
        f"{row['confidence']}: {row['changed']} of {row['sorted']}" for row in study["monotone"]
    )
    return (
        "Answers whose order changed, to the byte, when they were sorted by a monotone map of the "
        f"fused score: {told}."
    )


def _regime(study: dict, regime: str, seconds: list[str], parts: list[str]) -> str:
    gate = "no gate" if study["gate"] is None else f"gate {study['gate']:g}"
    what = {
        FULL: "Every candidate is sorted again; no gate, no seats.",
        PRODUCTION: f"Sorted again are the rows that a caller gets: a window of {study['limit']}, "
        f"{study['seats']} reserved seats, {gate}.",
        SHALLOW: f"Each list hands over {study['limit']} rows, all of them are sorted again and "
        f"the first {study['limit']} count, as in the older line; {gate}.",
    }[regime]
    rows = []
    for dataset in dict.fromkeys(row["dataset"] for row in study["values"]):
        for part in parts:
            for measure in MEASURES:
                place = {"dataset": dataset, "part": part, "regime": regime, "measure": measure}
                fused = find_record(study["values"], order=FUSED, **place)
                if fused is not None:
                    others = (find_record(study["differences"], order=o, **place) for o in seconds)
                    shown = [percent(record, signed=True) for record in others]
                    rows.append([dataset, part, measure, percent(fused), *shown])
    rows += _moved(study, regime, seconds)
    header = ["dataset", "part", "", FUSED, *seconds]
    return f"### {regime.capitalize()}\n\n{what}\n\n{markdown_table(header, rows)}"


def _moved(study: dict, regime: str, seconds: list[str]) -> list[list[str]]:
    rows = []
    for dataset in dict.fromkeys(row["dataset"] for row in study["moved"]):
        place = {"dataset": dataset, "regime": regime}
        found = [find_record(study["moved"], order=order, **place) for order in seconds]
        shares = ["-" if row is None else f"{100 * row['share']:.1f}" for row in found]
        rows.append([dataset, "all", f"% of questions with another top {SHOWN}", "", *shares])
    return rows
