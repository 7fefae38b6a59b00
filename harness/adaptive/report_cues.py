"""The report of a cue study: how often a cue fires, what each arm returns, and the rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from harness.adaptive.cue_arms import NO_CUE, PARSED, PARTLY, SHIFTED
from harness.adaptive.cue_study import ARMS, CUED, EVERY_QUERY, MORE_ROWS, PAIRS
from harness.adaptive.returned import EVIDENCE, ROWS
from harness.markdown import markdown_table, percent
from harness.plot_style import Picture, legend_below, style_axes, write_title
from harness.splits import VALIDATION
from harness.summary import find_record, judged_on

COLOURS = {
    NO_CUE: "#999999",
    MORE_ROWS: "#56B4E9",
    PARSED: "#009E73",
    PARTLY: "#E69F00",
    SHIFTED: "#D55E00",
}


def cue_section(summary: dict) -> str:
    """Return the section of a report, empty without a study."""
    study = summary.get("cue_study")
    if not study:
        return ""
    opening = (
        f"Setting **{study['setting']}**, window {study['limit']}. *{MORE_ROWS}* returns without a "
        "cue as many rows as the parsed one does; *partly* is right in one third of its period; "
        "*shifted* is a period of the same width, with rows in it, that the right one does not "
        "touch."
    )
    measure = summary["config"]["select"]["measure"]
    opening += _kept(study, summary, measure)
    tables = [_firing(study), *(_arms(study, judged_on(summary), m) for m in (EVIDENCE, measure))]
    return "\n\n".join(["## Time cues", opening, *tables, _rule(study, summary)])


def _kept(study: dict, summary: dict, measure: str) -> str:
    """Say what a setting had to keep under a wrong cue to be chosen, and what this one keeps."""
    wanted = summary["config"]["wrong_cue"]
    kept = summary["settings"][study["setting"]].get("kept_under_a_wrong_cue")
    if kept is None:
        return ""
    parsed = [row for row in summary["settings"].values() if "kept_under_a_wrong_cue" in row]
    enough = sum(row["kept_under_a_wrong_cue"] >= wanted["keeps"] for row in parsed)
    return (
        f" With a wrong cue, a setting must keep {100 * wanted['keeps']:g} % of its {measure} "
        f"without one, on the cued validation questions of {', '.join(wanted['datasets'])}: "
        f"{enough} of {len(parsed)} do, and this one keeps {100 * kept:.1f} %."
    )


def cue_picture(summary: dict) -> Picture | None:
    """Draw the arms as bars, per dataset: evidence over all returned rows, on cued queries."""
    study = summary.get("cue_study")
    if not study:
        return None
    part = judged_on(summary)
    found = _cells(study["values"], part, CUED, EVIDENCE)
    datasets = [name for name in summary["roles"] if (name, NO_CUE) in found]
    if not datasets:
        return None
    figure = Figure(figsize=(max(6.0, 1.2 + 1.7 * len(datasets)), 4.2), layout="constrained")
    axes = figure.subplots()
    style_axes(axes)
    width = 0.82 / len(ARMS)
    for number, arm in enumerate(ARMS):
        held = [found[name, arm] for name in datasets]
        x = np.arange(len(datasets)) + (number - (len(ARMS) - 1) / 2) * width
        value, low, high = (
            100 * np.array([r[key] for r in held]) for key in ("value", "ci_low", "ci_high")
        )
        axes.bar(x, value, 0.92 * width, color=COLOURS[arm], label=arm)
        errors = np.maximum([value - low, high - value], 0.0)
        axes.errorbar(x, value, errors, fmt="none", ecolor="#222222", elinewidth=1.0)
    counts = [found[name, NO_CUE]["n"] for name in datasets]
    names = [f"{name}\n{count} cued" for name, count in zip(datasets, counts, strict=True)]
    axes.set_xticks(range(len(datasets)), names, fontsize=9)
    axes.set_ylabel(f"{EVIDENCE} × 100")
    axes.grid(axis="x", visible=False)
    write_title(figure, f"Time cues: {EVIDENCE} over all returned rows, {part} queries with a cue")
    legend_below(figure, axes)
    caption = (
        f"Five arms on the {part} queries in which the parser found a cue that opens a period."
    )
    return figure, "cues.png", caption


def _cells(records: Sequence[dict], part: str, queries: str, measure: str) -> dict:
    wanted = {"part": part, "queries": queries, "measure": measure}
    return {
        (record["dataset"], record["arm"]): record
        for record in records
        if all(record[key] == value for key, value in wanted.items())
    }


def _firing(study: dict) -> str:
    header = ["dataset", "part", "queries", "fired", "opened", "relevant inside", "none inside"]
    rows = [
        [
            *(row[key] for key in ("dataset", "part", "queries", "fired", "opened")),
            "-" if row["relevant_inside"] is None else f"{100 * row['relevant_inside']:.1f}",
            row["none_inside"],
        ]
        for row in study["firing"]
    ]
    note = (
        "*Relevant inside* is the share of relevant rows that lie in the period, over questions "
        "whose cue opened one; *none inside* counts the questions for which none does."
    )
    return f"{markdown_table(header, rows)}\n\n{note}"


def _arms(study: dict, part: str, measure: str) -> str:
    rows = []
    for queries in (CUED, EVERY_QUERY):
        found = _cells(study["values"], part, queries, measure)
        many = _cells(study["values"], part, queries, ROWS)
        for dataset in dict.fromkeys(dataset for dataset, _ in found):
            count = found[dataset, NO_CUE]["n"]
            shown = [percent(found[dataset, arm]) for arm in ARMS]
            rows.append([dataset, queries, count, *shown, f"{many[dataset, PARSED]['value']:.1f}"])
    header = ["dataset", "queries", "n", *ARMS, "rows"]
    return f"### {measure}, {part} queries\n\n{markdown_table(header, rows)}"


def _rule(study: dict, summary: dict) -> str:
    """Hold the study against the rule that was written before it."""
    rows = []
    for part in (judged_on(summary), VALIDATION):
        for dataset in dict.fromkeys(row["dataset"] for row in study["differences"]):
            place = {"dataset": dataset, "part": part, "queries": CUED, "measure": EVIDENCE}
            held = {
                pair: find_record(study["differences"], arm=pair[0], against=pair[1], **place)
                for pair in PAIRS
            }
            if None not in held.values():
                rows.append([dataset, part, *(percent(r, signed=True) for r in held.values())])
                rows[-1].append(_verdict(held, dataset, study["identical"]))
    header = ["dataset", "part", *(f"{arm} - {other}" for arm, other in PAIRS), "rule"]
    note = (
        "The rule, written before the measurement: the right cue beats both arms without one, the "
        "half right one gains less, the wrong one loses, and no two arms are the same on every "
        f"question. It is judged by {EVIDENCE} over all returned rows."
    )
    return f"### The rule\n\n{note}\n\n{markdown_table(header, rows)}"


def _verdict(held: dict[tuple[str, str], dict], dataset: str, identical: Sequence[dict]) -> str:
    broken = []
    if min(held[PARSED, NO_CUE]["ci_low"], held[PARSED, MORE_ROWS]["ci_low"]) <= 0.0:
        broken.append("the right cue is not shown to beat both")
    if held[PARTLY, NO_CUE]["value"] > held[PARSED, NO_CUE]["value"]:
        broken.append("the half right one gains more")
    if held[SHIFTED, NO_CUE]["value"] > 0.0:
        broken.append("the wrong one gains")
    broken += [
        f"{' and '.join(pair['arms'])} are the same"
        for pair in identical
        if pair["dataset"] == dataset
    ]
    return "; ".join(broken) or "holds"
