"""A process that has nothing but a store: when it answers first, and what the store takes of it.

Run as ``python -m harness.asv_benchmarks.fresh_process STORE`` by the benchmarks of `process`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cpersona_jit
from cpersona_jit.recall.kernel_set import warm_kernels
from harness.asv_benchmarks.chat_rows import QUERIES
from harness.asv_benchmarks.stores import AGENT, HashedVectors
from harness.scale.resident import held_megabytes


def main(store: Path) -> None:
    """Say a line once the first question is answered, and then what more is held by then."""
    warm_kernels()
    before = held_megabytes()
    memory = cpersona_jit.open(store, HashedVectors(), create=False)
    found = memory.recall(QUERIES["english"], agent_id=AGENT)
    print(len(found.rows), flush=True)
    after = held_megabytes()
    print(after.get("VmRSS", 0.0) - before.get("VmRSS", 0.0), flush=True)
    memory.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
