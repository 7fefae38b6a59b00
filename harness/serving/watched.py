"""The event loop of a server, watched: how late a task comes that is due every millisecond.

A loop that something blocks is late by as long as it is blocked.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

_EVERY = 0.001
_WRITTEN = 0.2  # seconds between two times that what was seen is written down


def watch(file: str) -> None:
    """Let every event loop of this process append to a file how late it was, look by look.

    Each line is the time of a look (seconds since 1970) and how late it was (seconds).
    """
    run_forever = asyncio.BaseEventLoop.run_forever

    def watched(loop: asyncio.BaseEventLoop) -> None:
        _look(loop, Path(file), [], loop.time(), loop.time())
        run_forever(loop)

    asyncio.BaseEventLoop.run_forever = watched


def lateness(file: Path, start: float, end: float) -> list[float]:
    """Return how late the loop was, seconds, at each look between two times."""
    looks = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    return [float(look[1]) for look in looks if len(look) == 2 and start <= float(look[0]) <= end]


def _look(
    loop: asyncio.AbstractEventLoop, file: Path, seen: list[str], due: float, written: float
) -> None:
    now = loop.time()
    seen.append(f"{time.time():.6f} {now - due:.6f}\n")
    if now - written > _WRITTEN:
        with file.open("a", encoding="utf-8") as out:
            out.writelines(seen)
        seen.clear()
        written = now
    loop.call_later(_EVERY, _look, loop, file, seen, now + _EVERY, written)
