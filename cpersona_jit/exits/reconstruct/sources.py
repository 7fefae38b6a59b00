"""Where reconstruct gets stored rows from: callables under the caller's isolation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cpersona_jit.records import Node, Point, Row, Version


class Related(NamedTuple):
    """Readers of what belongs to rows; none returns what the caller may not see."""

    rows: Callable[[Sequence[int]], dict[int, Row]]
    episodes: Callable[[Sequence[Point], int], list[Row]]  # that contain a point, at most so many
    versions: Callable[[Sequence[int]], dict[int, list[Version]]]  # old texts, newest first
    old_texts: Callable[[Sequence[int]], dict[int, Version]]  # by their own ids
    nodes: Callable[[Sequence[int]], dict[int, list[Node]]]
    model_id: Callable[[], int | None]  # of the active model; None when it has no vectors here
