"""The tables of a report: values, paired differences, tasks, gains beside losses."""

from __future__ import annotations

from collections.abc import Sequence

from harness.evaluate import MEAN_OF_DATASETS
from harness.markdown import markdown_table, percent
from harness.measures import MACRO, MEASURES
from harness.plot_roles import shown_roles
from harness.selection import BEST_ARM, PROPOSAL, ROW_FUSION_ROLE, RRF, SHIPPED_ROLE
from harness.splits import ALL, VALIDATION
from harness.summary import find_record, judged_on

BEST_SHOWN = 10


def quality(summary: dict, records: list[dict]) -> str:
    measure = summary["config"]["select"]["measure"]
    rows, parts = [], (judged_on(summary), VALIDATION, ALL)
    for dataset, roles in summary["roles"].items():
        for role in shown_roles(summary):
            if role in roles:
                found = {
                    part: find_record(
                        records,
                        dataset=dataset,
                        setting=roles[role],
                        part=part,
                        task=MACRO,
                        measure=measure,
                    )
                    for part in parts
                }
                rows.append([dataset, role, roles[role], *map(percent, found.values())])
    note = (
        f"*Best single arm* is the best on the {parts[0]} part, in hindsight, which favours it. "
        "*Best fused* is each dataset's own choice on its validation part."
    )
    header = ["dataset", "", "setting", *parts[:2], "all queries"]
    return f"## {measure}\n\n{markdown_table(header, rows)}\n\n{note}"


def paired_differences(summary: dict) -> str:
    rows, judging = [], judged_on(summary)
    for record in _macro(summary["differences"], judging):
        both = [
            find_record(
                summary["differences"],
                part=part,
                task=MACRO,
                **{key: record[key] for key in ("dataset", "role", "against")},
            )
            for part in (judging, VALIDATION)
        ]
        if record["role"] in shown_roles(summary):
            rows.append(
                [record["dataset"], record["role"], record["against"]]
                + [percent(one, signed=True) for one in both]
                + [_verdict(record)]
            )
    if not rows:
        return ""
    header = ["dataset", "", "minus", judging, "validation", f"on {judging}"]
    return "## Paired differences\n\n" + markdown_table(header, rows)


def by_task(summary: dict, records: list[dict]) -> str:
    measure, parts = summary["config"]["select"]["measure"], []
    judging = judged_on(summary)
    roles = shown_roles(summary)
    for dataset, settings in summary["roles"].items():
        held = [
            r
            for r in records
            if r["dataset"] == dataset and r["part"] == judging and r["measure"] == measure
        ]
        counts = {r["task"]: r["n"] for r in held}
        tasks = [*sorted(task for task in counts if task != MACRO), MACRO]
        rows = [
            [task, counts.get(task, 0)]
            + [percent(find_record(held, task=task, setting=settings.get(role))) for role in roles]
            for task in tasks
        ]
        table = markdown_table(["task", "n", *roles], rows)
        parts.append(f"### {dataset}\n\n{table}")
    return f"## By task, {judging} queries\n\n" + "\n\n".join(parts)


def changes(summary: dict) -> str:
    """Show gains and losses of each task in one table: neither goes without the other."""
    judging = judged_on(summary)
    contenders = (PROPOSAL, ROW_FUSION_ROLE, SHIPPED_ROLE)
    roles = [role for role in contenders if role in shown_roles(summary)]
    held = [r for r in summary["differences"] if r["part"] == judging and r["role"] in roles]
    pairs = [(role, baseline) for role in roles for baseline in (RRF, BEST_ARM)]
    pairs = [pair for pair in pairs if any((r["role"], r["against"]) == pair for r in held)]
    places = {(r["dataset"], r["task"]): r["n"] for r in held}
    rows = [
        [dataset, task, n]
        + [
            _marked(find_record(held, dataset=dataset, task=task, role=role, against=baseline))
            for role, baseline in pairs
        ]
        for (dataset, task), n in places.items()
    ]
    if not pairs:
        return ""
    header = ["dataset", "task", "n", *(f"{role} - {baseline}" for role, baseline in pairs)]
    worse = sum(r["ci_high"] < 0 and r["against"] in (RRF, BEST_ARM) for r in held)
    better = sum(r["ci_low"] > 0 and r["against"] in (RRF, BEST_ARM) for r in held)
    return (
        f"## What got better and what got worse, {judging} queries\n\n"
        f"Intervals that exclude 0 are marked: gains ▲ ({better}), losses ▼ ({worse}).\n\n"
        + markdown_table(header, rows)
    )


def _marked(record: dict | None) -> str:
    mark = {"better": " ▲", "worse": " ▼"}.get(_verdict(record), "") if record else ""
    return percent(record, signed=True) + mark


def all_measures(summary: dict, records: list[dict]) -> str:
    rows, judging = [], judged_on(summary)
    for dataset, roles in summary["roles"].items():
        for role in shown_roles(summary):
            values = [
                find_record(
                    records,
                    dataset=dataset,
                    setting=roles.get(role),
                    part=judging,
                    task=MACRO,
                    measure=measure,
                )
                for measure in MEASURES
            ]
            if any(values):
                rows.append([dataset, role, *map(percent, values)])
    header = ["dataset", "", *MEASURES]
    return f"## All measures, {judging} queries\n\n" + markdown_table(header, rows)


def best_settings(summary: dict, records: list[dict]) -> str:
    """Show the best of the sweep as the validation part ranks them, the judging part beside it."""
    scope = MEAN_OF_DATASETS if len(summary["roles"]) > 1 else next(iter(summary["roles"]))
    held = [
        record
        for record in records
        if record["dataset"] == scope
        and record["task"] == MACRO
        and record["measure"] == summary["config"]["select"]["measure"]
    ]
    ranked = sorted(
        (record for record in held if record["part"] == VALIDATION),
        key=lambda record: -record["value"],
    )
    judging = judged_on(summary)
    unseen = {record["setting"]: record for record in held if record["part"] == judging}
    rows = [
        [r["setting"], percent(r), percent(unseen.get(r["setting"]))] for r in ranked[:BEST_SHOWN]
    ]
    title = f"## The {len(rows)} best settings on validation: {scope}"
    return f"{title}\n\n{markdown_table(['setting', 'validation', judging], rows)}"


def _macro(records: Sequence[dict], part: str) -> list[dict]:
    return [record for record in records if record["part"] == part and record["task"] == MACRO]


def _verdict(record: dict) -> str:
    if record["ci_low"] > 0:
        return "better"
    return "worse" if record["ci_high"] < 0 else "not told apart"
