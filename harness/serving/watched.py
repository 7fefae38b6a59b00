"""A server whose event loop is watched: how late a task comes that is due every millisecond.

``python -m harness.serving.watched FILE serve ...`` runs ``cpersona-jit serve ...`` and appends to
FILE, line by line, the time of each look (seconds since 1970) and how late it was (seconds). A loop
that something blocks is late by as long as it is blocked.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TextIO

_EVERY = 0.001
_FLUSHED = 0.2  # seconds that may be lost when the server is ended


def lateness(file: Path, start: float, end: float) -> list[float]:
    """Return how late the loop was, seconds, at each look between two times."""
    looks = [line.split() for line in file.read_text().splitlines()]
    return [float(look[1]) for look in looks if len(look) == 2 and start <= float(look[0]) <= end]


def main() -> None:
    """Run the command line, watched."""
    from cpersona_jit.cli.app import main as serve

    run_forever = asyncio.BaseEventLoop.run_forever
    with open(sys.argv.pop(1), "a") as out:

        def watched(loop: asyncio.BaseEventLoop) -> None:
            _look(loop, out, loop.time(), loop.time())
            run_forever(loop)

        asyncio.BaseEventLoop.run_forever = watched
        serve()


def _look(loop: asyncio.AbstractEventLoop, out: TextIO, due: float, flushed: float) -> None:
    now = loop.time()
    out.write(f"{time.time():.6f} {now - due:.6f}\n")
    if now - flushed > _FLUSHED:
        out.flush()
        flushed = now
    loop.call_later(_EVERY, _look, loop, out, now + _EVERY, flushed)


if __name__ == "__main__":
    main()
