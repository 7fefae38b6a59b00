"""report.md: what was run, what it says, what got worse, and how to run it again."""

from __future__ import annotations

from pathlib import Path

from harness.adaptive.report_cues import cue_section
from harness.adaptive.report_gate import gate_section
from harness.adaptive.report_resort import resort_section
from harness.adaptive.report_returned import returned_section
from harness.describe import describe_setting
from harness.markdown import markdown_table
from harness.measures import MACRO
from harness.plots import draw_plots
from harness.report_tables import (
    all_measures,
    best_settings,
    by_task,
    changes,
    paired_differences,
    quality,
)
from harness.splits import ALL, VALIDATION
from harness.summary import find_record, judged_on, read_summary

REPORT_FILE = "report.md"


def write_report(out_dir: Path) -> Path:
    """Draw the pictures and write report.md from the files of a run.

    Parameters
    ----------
    out_dir : Path
        Folder that a run wrote.

    Returns
    -------
    Path
        The report.

    Raises
    ------
    harness.summary.ReportError
        The folder does not hold the record of a run.
    """
    out_dir = Path(out_dir)
    summary, records = read_summary(out_dir)
    headline = summary["records"]
    pictures = draw_plots(summary, records, out_dir)
    sections = [
        _opening(summary, headline),
        _proposal(summary),
        quality(summary, headline),
        paired_differences(summary),
        by_task(summary, headline),
        changes(summary),
        returned_section(summary, headline),
        cue_section(summary),
        gate_section(summary),
        resort_section(summary),
        all_measures(summary, headline),
        best_settings(summary, records),
        "## Pictures\n\n" + "\n\n".join(f"![{text}]({name})\n\n{text}" for name, text in pictures),
        _notes(summary),
        _provenance(summary),
    ]
    path = out_dir / REPORT_FILE
    path.write_text("\n\n".join(section for section in sections if section) + "\n", "utf-8")
    return path


def _opening(summary: dict, records: list[dict]) -> str:
    config = summary["config"]
    confidence = f"{100 * config['bootstrap']['confidence']:g} %"
    parts = (ALL, VALIDATION, judged_on(summary))
    sizes = []
    for dataset in summary["roles"]:
        counts = {
            part: found["n"]
            for part in parts
            if (found := find_record(records, dataset=dataset, part=part, task=MACRO))
        }
        tasks = {r["task"] for r in records if r["dataset"] == dataset and r["task"] != MACRO}
        sizes.append([dataset, len(tasks), *(counts.get(part, 0) for part in parts)])
    return "\n\n".join(
        [
            f"# {config['name']}",
            *([config["description"]] if config["description"] else []),
            f"{len(summary['settings'])} settings were replayed over pools frozen at depth "
            f"{config['freeze']['depth']} with the embedding model `{_model(records)}` and "
            f"{_frozen(config)}. Regime: {summary['regime']}. Every figure is x 100; brackets hold "
            f"{confidence} bootstrap intervals ({config['bootstrap']['resamples']} resamples of "
            "queries inside each task). A dataset's value is the unweighted mean over its tasks.",
            markdown_table(["dataset", "tasks", "judged queries", *parts[1:]], sizes),
        ]
    )


def _proposal(summary: dict) -> str:
    proposal = summary["proposal"]
    part = judged_on(summary)
    tied = proposal["not_told_apart"]["count"] - 1
    shipped = {
        True: " The shipped default, asked without cues, is among them.",
        False: " The shipped default, asked without cues, is told apart from it.",
    }.get(proposal["not_told_apart"].get("shipped"), "")
    objective = f"the mean {proposal['measure']}"
    if proposal.get("objective") == "worst_margin":
        objective = f"the smallest lead in {proposal['measure']} over a dataset's best single arm"
    verdict = (
        f"On {part} queries it lies above both RRF and the best single arm, intervals included."
        if proposal["beats_both"]
        else f"On {part} queries it is **not** shown to lie above both RRF and the best single arm."
    )
    return "\n\n".join(
        [
            "## Proposal",
            f"**{proposal['setting']}**: {describe_setting(proposal)}. "
            f"Chosen on the validation part by {objective} among {proposal['among']} "
            f"settings; {tied} others cannot be told apart from it there.{shipped} {verdict} "
            "A default changes by a person's commit, not by this run.",
        ]
    )


def _frozen(config: dict) -> str:
    if config.get("kind") == "adaptive":
        grams = [
            _arm({"name": f"gram{size}", "kind": "gram", "size": size} | config["signals"][name])
            for size, name in ((3, "gram3"), (4, "gram4"))
        ]
        return f"the signals of rows and blocks: the embedding, {' and '.join(grams)}"
    return f"the arms {', '.join(_arm(arm) for arm in config['arms'])}"


def _notes(summary: dict) -> str:
    notes = summary.get("degraded") or ["Nothing was dropped, cut or degraded."]
    return "## Notes and degradation\n\n" + "\n".join(f"- {note}" for note in notes)


def _provenance(summary: dict) -> str:
    machine = summary.get("machine", {})
    packages = ", ".join(f"{name} {v}" for name, v in machine.get("packages", {}).items())
    rows = [
        ["command", f"`{summary.get('command', '')}`"],
        ["revision", summary.get("revision") or "unknown"],
        ["machine", f"{machine.get('cpu')}, {machine.get('cores')} cores, {machine.get('system')}"],
        ["versions", f"Python {machine.get('python')}, {packages}"],
        ["config hash", summary["hashes"]["config"]],
        ["code hash", summary["hashes"]["code"]],
        *([f"data hash, {name}", value] for name, value in summary["hashes"]["data"].items()),
        *([f"pool hash, {name}", value] for name, value in summary["hashes"]["pool"].items()),
    ]
    return "## Provenance\n\n" + markdown_table(["", ""], rows)


def _arm(arm: dict) -> str:
    if arm["kind"] == "dense":
        return f"`{arm['name']}`"
    return (
        f"`{arm['name']}` ({arm['size']}-grams, {arm['term_frequency']} term frequency, "
        f"length exponent {arm['length_exponent']:g}, idf power {arm['idf_power']:g})"
    )


def _model(records: list[dict]) -> str:
    return records[0]["model"] if records else "unknown"
