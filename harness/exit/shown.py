"""What a reader would be shown: by an exit, or by the baselines it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cpersona_jit.exits.quoter import Quoter
from cpersona_jit.exits.reconstruct.settings import ReconstructSettings
from cpersona_jit.records import Row, parse_ref


class Piece(NamedTuple):
    """Text of one stored row."""

    row_id: int
    text: str


class Shown(NamedTuple):
    """All the text of a response, and how many claims each of its items has.

    A baseline's rows are items of one claim.
    """

    pieces: tuple[Piece, ...]
    claims: tuple[int, ...]

    @property
    def chars(self) -> int:
        """Characters of text."""
        return sum(len(piece.text) for piece in self.pieces)


def of_response(response: dict[str, Any]) -> Shown:
    """Read what a response of ``reconstruct`` shows."""
    pieces = []
    for item in response["items"]:
        pieces.append(Piece(parse_ref(item["head_ref"]) or 0, item["content"]))
        pieces += [
            Piece(parse_ref(one["ref"]) or 0, one["content"]) for one in item.get("excerpts", ())
        ]
    return Shown(tuple(pieces), tuple(len(item["claims"]) for item in response["items"]))


def flat(rows: Sequence[Row], budget: int) -> Shown:
    """Show whole rows, best first, until the next one would not fit."""
    taken = []
    for row in rows:
        budget -= len(row.content)
        if budget < 0:
            break
        taken.append(row)
    return _whole(taken)


def flat_fitting(rows: Sequence[Row], budget: int) -> Shown:
    """Show whole rows, best first, leaving out those that do not fit any more."""
    taken = []
    for row in rows:
        if len(row.content) <= budget:
            budget -= len(row.content)
            taken.append(row)
    return _whole(taken)


def previews(shown: Shown, content: dict[int, str], chars: int) -> Shown:
    """Show the beginning of each row of another response, each row once."""
    ids = dict.fromkeys(piece.row_id for piece in shown.pieces)
    return _rows(Piece(row_id, content[row_id][:chars]) for row_id in ids)


def prefixes(shown: Shown, content: dict[int, str]) -> Shown:
    """Show the beginning of each row of another response, as long as its quote there."""
    return _rows(Piece(one.row_id, content[one.row_id][: len(one.text)]) for one in shown.pieces)


def quoted_rows(
    rows: Sequence[Row], quoter: Quoter, count: int, budget: int, policy: ReconstructSettings
) -> Shown:
    """Show quotes of the best rows without bundling them: what selecting evidence does alone."""
    pieces = []
    for place, row in enumerate(rows[:count]):
        piece = Piece(row.id, quoter.quote(row, policy.head_chars(place)).content)
        budget -= len(piece.text)
        if budget < 0:
            break
        pieces.append(piece)
    return _rows(pieces)


def _whole(rows: Sequence[Row]) -> Shown:
    return _rows(Piece(row.id, row.content) for row in rows)


def _rows(pieces: Any) -> Shown:
    kept = tuple(pieces)
    return Shown(kept, (1,) * len(kept))
