"""Rows of a recall as an agent gets them: how much of each text, and where it matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cpersona_jit.server.preview import preview
from cpersona_jit.server.responses import RecalledRow, source_fields
from cpersona_jit.server.settings import ServerSettings

if TYPE_CHECKING:
    from cpersona_jit.exits.quoter import Quoter
    from cpersona_jit.results import RecallRow


class ShownRows(NamedTuple):
    """Rows, and whether some of them were cut though whole ones were asked for."""

    rows: list[RecalledRow]
    over_budget: bool


def shown_rows(
    rows: Sequence[RecallRow], quoter: Quoter, settings: ServerSettings, full_content: bool
) -> ShownRows:
    """Shape rows.

    Parameters
    ----------
    rows : sequence of RecallRow
        Most relevant first.
    quoter : Quoter
        Quotes them where they match the query.
    settings : ServerSettings
        The sizes of previews and excerpts, and the budget for whole rows.
    full_content : bool
        Whether rows are whole as long as the budget lasts. The first row that it does not hold and
        all behind it are previews.
    """
    left = settings.full_content_chars if full_content else -1
    shaped, over_budget = [], False
    for row in rows:
        left = left - len(row.content) if len(row.content) <= left else -1
        shown = _row(row, quoter, 0 if left >= 0 else settings.preview_chars, settings)
        over_budget |= full_content and "content_truncated" in shown
        shaped.append(shown)
    return ShownRows(shaped, over_budget)


def _row(
    row: RecallRow, quoter: Quoter, preview_chars: int, settings: ServerSettings
) -> RecalledRow:
    shaped: RecalledRow = {
        "ref": row.ref,
        **preview(row.content, preview_chars),
        "source": source_fields(row.source),
        "timestamp": row.timestamp,
        "id": row.id,
        "confidence": confidence(row.score),
    }
    if row.session_id:
        shaped["session_id"] = row.session_id
    if row.admission:
        shaped["admission"] = row.admission
    if "content_truncated" in shaped:
        quote = quoter.excerpt(row, settings.excerpt_chars)
        shaped["excerpt"] = quote.content
        shaped["excerpt_basis"] = quote.basis
    return shaped


def confidence(score: float) -> float:
    """Map a fused score to a number between 0 and 1 that never reverses an order.

    ``(1 + s / (1 + |s|)) / 2``, to six decimals: 0.5 for a score of 0. No probability: it compares
    the rows of one response only, as the score does.
    """
    return round((1.0 + score / (1.0 + abs(score))) / 2.0, 6)
