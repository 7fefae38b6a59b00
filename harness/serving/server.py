"""A server as a client sees it: how soon it answers, and whether it does while others wait."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from harness.serving.recalls import AT_ONCE
from harness.serving.watched import lateness, watch
from harness.speed.talk import AGENT, QUESTIONS

READY = "kernels are compiled"
_SERVE = ("-c", "from cpersona_jit.cli.app import main; main()", "serve", "--agent-id", AGENT)
_WATCHED = f"import sys; from {watch.__module__} import watch; watch(sys.argv.pop(1)); {_SERVE[1]}"
_PATIENCE_SECONDS = 300.0
# A control: as many processes as threads of the server work at most, with none of its work.
_BUSY, _BUSY_PROCESSES = "while True: pass", 2
_CLIENT = {"name": "harness", "version": "1"}
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}


def measure_start(path: Path, cache: Path) -> dict[str, Any]:
    """Start a server with a folder of compiled kernels, and time its first answers.

    Returns
    -------
    dict
        Seconds from the start of the process to the answer of ``initialize``, of the first recall,
        and of the first recall by compiled kernels; and whether both recalls gave the same, None
        when the time limit of a recall cut one short.
    """
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *_SERVE, "--db", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    ) as process:
        try:
            client = _Client(process)
            client.ask("initialize", _HELLO)
            initialized = time.perf_counter() - start
            client.tell("notifications/initialized")
            first = client.recall()
            answered = time.perf_counter() - start
            client.wait_until_ready()
            compiled = client.recall()
            fast = time.perf_counter() - start
            client.wait_until_idle()
        finally:
            process.stdin.close()
    return {
        "initialize_s": round(initialized, 2),
        "first_recall_s": round(answered, 2),
        "fast_recall_s": round(fast, 2),
        "same_answer": None if _cut_short(first) or _cut_short(compiled) else first == compiled,
    }


def _cut_short(answer: dict[str, Any]) -> bool:
    return any(note.startswith("cap_reached") for note in answer.get("degraded", ()))


class _Client:
    """Lines in, lines out."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process, self._asked = process, 0
        self._said: list[str] = []
        self._ready = threading.Event()
        threading.Thread(target=self._read_log, daemon=True).start()

    def tell(self, method: str, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", "method": method, **message})
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._asked += 1
        self.tell(method, id=self._asked, params=parameters)
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._asked:
                return answer["result"]
        raise RuntimeError("the server ended: " + " ".join(self._said[-5:]))

    def recall(self) -> dict[str, Any]:
        call = {"name": "recall", "arguments": {"query": QUESTIONS[0]}}
        return self.ask("tools/call", call)["structuredContent"]

    def wait_until_ready(self) -> None:
        if not self._ready.wait(_PATIENCE_SECONDS):
            raise RuntimeError("kernels were not compiled: " + " ".join(self._said[-5:]))

    def wait_until_idle(self) -> None:
        """Let the server compile what recalls seldom call, so that the next start finds it."""
        clock, spent = os.sysconf("SC_CLK_TCK"), -1
        while (now := _ticks_of(self._process.pid)) - spent >= clock // 20:
            spent = now
            time.sleep(0.5)

    def _read_log(self) -> None:
        for line in self._process.stderr:
            self._said.append(line.strip())
            if READY in line:
                self._ready.set()


def _ticks_of(pid: int) -> int:
    """CPU time of a process and of the children that compile for it, in clock ticks."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if pid in (int(stat.parent.name), int(fields[1])):
            ticks += int(fields[11]) + int(fields[12])
    return ticks


def measure_pings(path: Path, cache: Path, seconds: float) -> dict[str, Any]:
    """Ping a server without a pause while it answers `AT_ONCE` recalls at a time.

    Returns
    -------
    dict
        Milliseconds that pings took, in the median, of 99 in 100, and at most; recalls answered.
        ``loop``: how late the server's event loop was meanwhile, by its own clock. ``controls``:
        pings of the same server without recalls, the machine ``idle``, and ``busy`` with two
        processes that do nothing but count.
    """
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(_ping, path, cache, seconds, Path(folder) / "loop")


async def _ping(path: Path, cache: Path, seconds: float, seen: Path) -> dict[str, Any]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", _WATCHED, str(seen), *_SERVE[2:], "--db", str(path)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    with open(os.devnull, "w") as nowhere:
        async with (
            stdio_client(parameters, errlog=nowhere) as streams,
            ClientSession(*streams) as session,
        ):
            await session.initialize()
            await _recalls(session, 2)  # waits for the columns and the model
            await anyio.sleep(3.0)  # kernels are in the folder, and are loaded by now
            start = time.time()
            found = await _pings_while_recalling(session, seconds)
            end = time.time()
            controls = {"idle": await _pings_alone(session, seconds / 2)}
            busy = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(_BUSY_PROCESSES)]
            try:
                controls["busy"] = await _pings_alone(session, seconds / 2)
            finally:
                for process in busy:
                    process.kill()
                    process.wait()
    late = np.array(lateness(seen, start, end)) * 1e3
    loop = {
        "looks": late.size,
        "of_99_in_100_ms": round(float(np.quantile(late, 0.99)), 2),
        "longest_ms": round(float(late.max()), 2),
    }
    return {**found, "loop": loop, "controls": controls}


async def _pings_alone(session: ClientSession, seconds: float) -> dict[str, Any]:
    """Ping a server that has nothing else to do: what is slow then is the machine."""
    took: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        await session.send_ping()
        took.append(time.perf_counter() - start)
        await anyio.sleep(0.002)
    return _of_pings(took)


async def _pings_while_recalling(session: ClientSession, seconds: float) -> dict[str, Any]:
    took: list[float] = []
    answered = 0

    async def ping() -> None:
        while True:
            start = time.perf_counter()
            await session.send_ping()
            took.append(time.perf_counter() - start)
            await anyio.sleep(0.002)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ping)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            await _recalls(session, AT_ONCE)
            answered += AT_ONCE
        tasks.cancel_scope.cancel()
    recalls = {"recalls": answered, "recalls_per_second": round(answered / seconds, 1)}
    return {**_of_pings(took), **recalls}


def _of_pings(took: list[float]) -> dict[str, Any]:
    milliseconds = np.array(took) * 1e3
    return {
        "pings": len(took),
        "median_ms": round(float(np.median(milliseconds)), 2),
        "of_99_in_100_ms": round(float(np.quantile(milliseconds, 0.99)), 2),
        "longest_ms": round(float(milliseconds.max()), 2),
    }


async def _recalls(session: ClientSession, count: int) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(count):
            arguments = {"query": QUESTIONS[number % len(QUESTIONS)]}
            tasks.start_soon(session.call_tool, "recall", arguments)
