"""The part of the report about how a large scope is scanned, and what the default rests on."""

from __future__ import annotations

from typing import Any

from harness.markdown import markdown_table

_QUALITY = ("ndcg", "recall", "same_rows", "same_list", "dense_list")
_HEADER = ("scan", "NDCG@10", "recall@10", "same rows", "same list", "dense list", "ms", "fastest")


def scan_parts(record: dict[str, Any]) -> list[str]:
    """Return sweep, threshold and choice as Markdown."""
    parts = [
        "## How a large scope is scanned",
        "Two phases beside the exact scan: sign bits choose a shortlist, int8 codes score it, and "
        "moments come from a sample. Milliseconds of the process, turn about.",
    ]
    for place in record["swept"]:
        parts += [f"### {place['place']}", _sweep_table(place["scans"])]
    real = record["real"]
    if real is not None:
        parts += [
            f"### {real['dataset']}, {real['rows']:,} rows in one scope",
            f"{real['scopes']} scopes of {' and '.join(real['parts'])}, {real['questions']} "
            f"questions, {real['blocks']:,} blocks, vectors of {real['model']}.",
            _sweep_table(real["scans"]),
        ]
    return [*parts, *_threshold_parts(record), *_choice_parts(record["choice"])]


def _sweep_table(scans: list[dict]) -> str:
    rows = [
        [
            one["scan"],
            *(f"{100 * one[name]:.1f}" for name in _QUALITY),
            f"{one['process_ms']:.2f}",
            f"{one['process_fastest_ms']:.2f}",
        ]
        for one in scans
    ]
    return markdown_table(_HEADER, rows)


def _threshold_parts(record: dict[str, Any]) -> list[str]:
    sooner, exact = record["crossing"], record["settings"]["shipped"]["scan"]["exact_rows"]
    said = "at none of these sizes" if sooner is None else f"from {sooner:,} rows on"
    rows = [
        [
            f"{one['rows']:,}",
            *(f"{one[name]:.2f}" for name in ("exact_ms", "exact_fastest_ms")),
            *(f"{one[name]:.2f}" for name in ("two_phase_ms", "two_phase_fastest_ms", "ratio")),
        ]
        for one in record["threshold"]
    ]
    header = ["rows", "exact, ms", "fastest", "two phases, ms", "fastest", "two phases / exact"]
    return [
        "### From how many rows on",
        f"Two phases are sooner {said} (ratio: median of paired rounds). The default reads every "
        f"code up to {exact:,} rows.",
        markdown_table(header, rows),
    ]


def _choice_parts(choice: dict[str, Any] | None) -> list[str]:
    if choice is None:
        return []
    shipped = choice["shipped"]
    stands = "is not among the pairs"
    if shipped is not None:
        worst = 100 * choice["loss"][shipped]
        stands = f"({shipped}) loses at most {worst:.2f} points"
        stands += " and is among them" if shipped in choice["allowed"] else " and is **not**"
    return [
        "### Choice",
        f"Pairs that lose at most {100 * choice['tolerance']:g} points of recall@10 against the "
        f"exact scan on {', '.join(choice['places'])}: {'; '.join(choice['allowed']) or 'none'}. "
        f"The soonest of them: {choice['soonest'] or 'none'}. The default {stands}. Random vectors "
        "are harder to tell apart by their signs than those of a model: they decide only where "
        "there are no others.",
    ]
