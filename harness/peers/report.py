"""The record of the peers as a report, and its goals as a table on the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.table import Table

from harness.markdown import markdown_table
from harness.peers.figures import ENGINE, TIMES_AS_FAST
from harness.peers.goals import CPERSONA, GRAMS, HAMMING, INT8, RECALL, REPLAY, TOP_K, TWO_PHASE
from harness.peers.plot import PICTURE, draw_ratios
from harness.summary import SUMMARY_FILE

_NOTES = {
    INT8: "Ten best rows of random unit vectors. The engine multiplies int8 rows by a 15-bit "
    "query. faiss and usearch turn the query into int8 too and so do half of its "
    "multiplications; sqlite-vec computes the cosine. *Reading* reads the same codes and does "
    "nothing else.",
    HAMMING: "Ten nearest rows by sign bits; all find the same distances. *Reading* reads the same "
    "bits and does nothing else: what a peer reaches of it is the most that the engine can gain.",
    TWO_PHASE: "A shortlist by sign bits and a 4-bit query, rescored by int8, beside the scan of "
    "all int8 codes. What it loses is measured on real vectors, against exact float32.",
    TOP_K: "The int8 scan with its top-k, beside the same scan that keeps no rows. Worst order: "
    "ascending scores, so that each row is better than all before it.",
    GRAMS: "Ten best rows of made-up talk, from the numbers of the question's grams on. bm25s "
    "scores the same grams by BM25; FTS5 is asked for any of the question's trigrams, best bm25 "
    "first.",
    REPLAY: "500 queries, 200 candidates, 4 arms; the ranks equal those of a stable sort.",
    RECALL: "Rows, vectors, blocks and questions are the same, and an embedder costs nothing. "
    "cpersona runs in a process of its own, at its defaults and before any calibration; its vector "
    "arm looks at the 10,000 newest rows, the engine at all. What the pipe takes is left out.",
}


def write_peers_record(folder: Path, record: dict[str, Any]) -> Path:
    """Write summary.json, the picture and report.md; return the path of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (folder / SUMMARY_FILE).write_text(summary, encoding="utf-8")
    drawn = draw_ratios(record, folder)
    path = folder / "report.md"
    path.write_text(report_text(record, drawn), encoding="utf-8")
    return path


def report_text(record: dict[str, Any], drawn: bool) -> str:
    """Return the record as Markdown."""
    machine = record["machine"]
    peers = ", ".join(f"{name} {version}" for name, version in record["peers"].items()) or "none"
    parts = [
        "# Side by side with peers",
        f"`{record['command']}`",
        f"{record['measure'][0].upper()}{record['measure'][1:]}.",
        f"{machine['cpu']}, {machine['cores']} cores, kernels for {record['tier']}; load average "
        f"{record['load_average']['before']} before, {record['load_average']['after']} after. "
        f"Peers: {peers}.",
        "## Goals",
        _verdict(record["goals"]),
    ]
    if record["goals"]:
        header = ["goal", "rows", "against", "figure", "wanted", ""]
        parts.append(markdown_table(header, [_goal_row(goal) for goal in record["goals"]]))
    if drawn:
        parts.append(f"![Times as fast as each peer]({PICTURE})")
    if record["skipped"]:
        lines = [f"- {one['peer']}: {one['reason']}" for one in record["skipped"]]
        parts += ["## Not compared", "\n".join(lines)]
    for name, note in _NOTES.items():
        of_name = [one for one in record["comparisons"] if one["comparison"] == name]
        if of_name:
            parts += [f"## {name[0].upper()}{name[1:]}", note]
            parts += [_times_table(of_name), *_facts(of_name)]
    return "\n\n".join(parts) + "\n"


def goals_table(record: dict[str, Any]) -> Table:
    """Say of each goal whether it is reached."""
    table = Table(title="the engine and its peers, one thread", title_justify="left")
    for name in ("goal", "rows", "against", "figure", "wanted", ""):
        table.add_column(name, justify="right" if name in ("rows", "figure") else "left")
    for goal in record["goals"]:
        table.add_row(*_goal_row(goal))
    return table


def _verdict(goals: list[dict]) -> str:
    missed = sum(not goal["reached"] for goal in goals)
    if not goals:
        return "None is set for what was measured."
    return f"{len(goals) - missed} of {len(goals)} reached, {missed} **missed**."


def _goal_row(goal: dict) -> list[str]:
    return [
        _case(goal),
        f"{goal['rows']:,}",
        goal["against"],
        _value(goal),
        goal["goal"],
        "reached" if goal["reached"] else "missed",
    ]


def _times_table(comparisons: list[dict]) -> str:
    header = ["case", "rows", "against", "engine, ms", "its, ms", "figure", "goal"]
    rows = []
    for one in comparisons:
        times = one.get("milliseconds", {})
        own = next((times[name] for name in (ENGINE, f"top {one.get('k')}") if name in times), None)
        for figure in one["figures"]:
            against = figure["against"]
            its = times.get(against, times.get(f"top {one.get('k')}, {against}"))
            wanted = figure.get("goal", "")
            if wanted:
                wanted += ", reached" if figure["reached"] else ", **missed**"
            shown = [_milliseconds(own), _milliseconds(its), _value(figure), wanted]
            rows.append([_case(one), f"{one['rows']:,}", against, *shown])
        if not one["figures"]:
            rows.append([_case(one), f"{one['rows']:,}", "-", _milliseconds(own), "", "", ""])
    return markdown_table(header, rows)


def _facts(comparisons: list[dict]) -> list[str]:
    """Say what tables do not hold, as one list."""
    found = []
    for one in comparisons:
        said = []
        if "gigabytes_per_second" in one:
            speeds = one["gigabytes_per_second"]
            said.append(f"the engine goes through {speeds['engine']:g} GB/s")
        for name, share in one.get("of_reading", {}).items():
            said.append(f"{name} reaches {share:g} of reading")
        if "touched" in one:
            said += _touched(one["touched"], one["split_ms"])
        for name, share in one.get("rows_in_common", {}).items():
            said.append(f"{name} finds {100 * share:g} % of its rows")
        if "recall" in one:
            shares = ", ".join(f"{name} {value:g}" for name, value in one["recall"].items())
            of = f"{one['queries']} queries over {', '.join(one.get('datasets', ()))}"
            said.append(f"recall@10 against exact float32, {of}: {shares}")
        if CPERSONA in one:
            facts = one[CPERSONA]
            said.append(
                f"cpersona {facts['version']} keeps {facts['stored']:,} rows, one of equal texts, "
                f"and blocks for {facts['divided']:,} of them"
            )
        if said:
            found.append(f"- {_case(one)}, {one['rows']:,} rows: {'; '.join(said)}")
    return ["\n".join(found)] if found else []


def _touched(reads: dict[str, float], split: dict[str, float]) -> list[str]:
    """Say what a question makes the engine and bm25s read, and where the engine's time goes."""
    own = (reads["list_bytes"] + reads["row_bytes"]) / 1e6
    times = ", ".join(f"{name} {value:g} ms" for name, value in split.items())
    return [
        f"a question reads {reads['bitmaps']:g} bitmaps and {reads['sparse_postings']:,.0f} sparse "
        f"postings, with sums and factors of all rows {own:.2f} MB",
        f"of bm25s {reads['postings']:,.0f} postings, {reads['bm25s_bytes'] / 1e6:.2f} MB",
        times,
    ]


def _case(one: dict) -> str:
    words = [one["comparison"]]
    words += [f"{one['dim']} dimensions"] if "dim" in one else []
    words += [f"k = {one['k']}"] if one["comparison"] == TOP_K else []
    words += [f"{one['gram_size']}-grams"] if "gram_size" in one else []
    words += [f"mix {one['mix']}"] if "mix" in one else []
    return ", ".join(words)


def _value(figure: dict) -> str:
    unit = "x" if figure["unit"] == TIMES_AS_FAST else f" {figure['unit']}"
    spread = figure.get("quartiles")
    return f"{figure['value']:g}{unit}" + (f" ({spread[0]:g}-{spread[1]:g})" if spread else "")


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
