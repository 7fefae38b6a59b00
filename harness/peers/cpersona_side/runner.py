"""Drive cpersona through its own library calls; told what to do by JSON lines on standard input.

Each line is a request, each answer one line of JSON on standard output:

- ``{"do": "fill", "rows": FILE}`` stores the rows of a JSON lines file, with their vectors and
  blocks as its server would build them in the background, and answers with counts;
- ``{"do": "recall", "query": TEXT}`` answers with milliseconds, CPU milliseconds and rows;
- ``{"do": "stop"}`` ends.

The store lies where the environment variable CPERSONA_DB_PATH says.
"""

import asyncio
import json
import sys
import time
from itertools import islice
from pathlib import Path

from cpersona import __version__, block_index, blocks, config, database, memory_handlers, vector
from cpersona._vendored_mcp_common.embedding_client import EmbedOutcome
from text_vectors import text_vector

_BATCH = 1024
_INSERT = (
    "INSERT OR IGNORE INTO memories (agent_id, content, source, timestamp, created_at, embedding) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)


class GivenVectors:
    """Stands where cpersona has its embedding client, and answers at once."""

    mode = "given"
    _client = _http_url = None

    def __init__(self):
        self._known = {}

    async def embed(self, texts):
        """Return a list of floats per text."""
        return [self._remembered(text) for text in texts]

    async def embed_with_outcome(self, texts):
        """Return the same, and that it went well."""
        return await self.embed(texts), EmbedOutcome(attempted=True, ok=True)

    def _remembered(self, text):
        if text not in self._known:
            if len(self._known) >= _BATCH:
                self._known.clear()
            self._known[text] = text_vector(text).tolist()
        return self._known[text]


async def fill(path):
    """Store the rows in batches, build the blocks of those that have several, index the blocks."""
    started = time.perf_counter()
    with Path(path).open(encoding="utf-8") as lines:
        while batch := [json.loads(line) for line in islice(lines, _BATCH)]:
            async with database.transaction() as db:
                await db.executemany(_INSERT, [_row(row) for row in batch])
    divided, stored = 0, 0
    db = await database.get_db()
    last = 0
    while batch := list(
        await db.execute_fetchall(
            "SELECT id, content FROM memories WHERE id > ? ORDER BY id LIMIT ?", (last, _BATCH)
        )
    ):
        prepared = [await blocks.prepare_blocks("mem", number, text, ()) for number, text in batch]
        prepared = [one for one in prepared if one is not None]
        async with database.transaction() as db:
            for one in prepared:
                await blocks.write_blocks(db, one)
        last, divided, stored = batch[-1][0], divided + len(prepared), stored + len(batch)
    index = await block_index.build_block_index()
    return {
        "stored": stored,
        "divided": divided,
        "block_index": index["built"],
        "seconds": round(time.perf_counter() - started, 1),
    }


def _row(row):
    vector_bytes = text_vector(row["content"]).astype("<f4").tobytes()
    source, stamp = json.dumps(row["source"], ensure_ascii=False), row["timestamp"]
    created = stamp[:19].replace("T", " ")  # as if it had been stored when it was said
    return row["agent_id"], row["content"], source, stamp, created, vector_bytes


async def recall(agent, query, limit):
    """Recall with every argument at its default."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = await memory_handlers.do_recall(agent, query, limit)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if "error" in found:
        raise RuntimeError(found["error"])
    return {"ms": wall * 1e3, "cpu_ms": cpu * 1e3, "rows": len(found["messages"])}


async def answer(request):
    """Do what one line asks for."""
    if request["do"] == "fill":
        return await fill(request["rows"])
    if request["do"] == "recall":
        return await recall(request["agent"], request["query"], request["limit"])
    return {"version": __version__, "window": config.MAX_MEMORIES, "mode": config.RECALL_MODE}


async def serve():
    """Answer requests until there are no more."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever is printed is no answer
    vector._embedding_client = GivenVectors()
    await database.init_db()
    try:
        for line in sys.stdin:
            try:
                found = await answer(json.loads(line))
            except Exception as error:
                found = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(found), file=answers, flush=True)
    finally:
        await database.close_db()


if __name__ == "__main__":
    asyncio.run(serve())
