"""A conversation that the caller passes in, and recalled rows merged into it by time."""

from __future__ import annotations

from collections.abc import Sequence

from cpersona_jit.server.parameters import ConversationEntry
from cpersona_jit.server.preview import preview
from cpersona_jit.server.responses import EchoedEntry, RecalledRow
from cpersona_jit.store.timestamps import parse_timestamp

_BEFORE_ALL = float("-inf")
_AFTER_ALL = float("inf")


def merged(
    rows: Sequence[RecalledRow], conversation: Sequence[ConversationEntry], preview_chars: int
) -> list[RecalledRow | EchoedEntry]:
    """Merge rows and a conversation, oldest first.

    Undated rows come first. An entry without a time that can be read stands where it stood: behind
    the entry before it, or before the first one that has a time; a conversation without any time
    is the present and comes last. At the same time rows come before entries, and among each other
    both keep their order.

    Parameters
    ----------
    rows : sequence of RecalledRow
        Rows as they are shown.
    conversation : sequence of ConversationEntry
        In the order it was said; each entry is cut like a preview.
    preview_chars : int
        Longest content of an entry; 0 never cuts.
    """
    placed: list[tuple[float, RecalledRow | EchoedEntry]] = []
    for row in rows:
        time = parse_timestamp(row["timestamp"])
        placed.append((_BEFORE_ALL if time is None else time, row))
    times = entry_times(conversation)
    echoes = [echoed(entry, preview_chars) for entry in conversation]
    placed.extend(zip(times, echoes, strict=True))
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


def entry_times(conversation: Sequence[ConversationEntry]) -> list[float]:
    """Return the time at which each entry is placed."""
    known = [parse_timestamp(entry.timestamp or "") for entry in conversation]
    last: float = next((time for time in known if time is not None), _AFTER_ALL)
    times = []
    for time in known:
        last = last if time is None else time
        times.append(last)
    return times


def echoed(entry: ConversationEntry, preview_chars: int) -> EchoedEntry:
    """Shape an entry: it has no ref, and the caller has its whole text."""
    shaped: EchoedEntry = {"role": entry.role, **preview(entry.content, preview_chars)}
    if entry.name:
        shaped["name"] = entry.name
    if entry.timestamp:
        shaped["timestamp"] = entry.timestamp
    return shaped
