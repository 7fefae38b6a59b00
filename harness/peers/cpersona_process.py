"""The process that holds cpersona: a request and an answer are a line of JSON each."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.peers.cpersona_env import PeerError

RUNNER = Path(__file__).parent / "cpersona_side" / "runner.py"
# It has vectors only when an embedding server is configured; the runner then puts given vectors in
# its place, and nobody listens there.
_SETTINGS = {
    "CPERSONA_EMBEDDING_MODE": "http",
    "CPERSONA_EMBEDDING_URL": "http://127.0.0.1:9/embed",
    "CPERSONA_UPDATE_CHECK": "false",
}
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class CpersonaProcess:
    """cpersona on a store of its own, at its defaults.

    Parameters
    ----------
    python : Path
        Interpreter that can import it.
    store : Path
        File of the store.
    """

    def __init__(self, python: Path, store: Path) -> None:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CPERSONA_", "EMBEDDING_", "PYTHON"))
        }
        kept |= dict.fromkeys(_ONE_THREAD, "1") | _SETTINGS | {"CPERSONA_DB_PATH": str(store)}
        self._log = store.with_suffix(".log").open("w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(
            [str(python), str(RUNNER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            env=kept,
        )

    def __enter__(self) -> CpersonaProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._process.kill()
        self._process.communicate()  # closes its input, which ends it
        self._log.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        self.send(**request)
        return self.answer()

    def send(self, **request: Any) -> None:
        """Send a request; its answer has to be read before the next one."""
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer that does not come says it

    def answer(self) -> dict[str, Any]:
        """Wait for the answer of the request sent last.

        Raises
        ------
        PeerError
            It failed, or the process ended.
        """
        line = self._process.stdout.readline()
        if not line:
            raise PeerError(f"its process ended: {self._last_words()}")
        found = json.loads(line)
        if "error" in found:
            raise PeerError(f"it failed: {found['error']}")
        return found

    def _last_words(self) -> str:
        """Return the last line of its log, which for an exception names it and no path."""
        self._process.wait()
        self._log.seek(0)
        lines = self._log.read().split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it said nothing")[:200]
