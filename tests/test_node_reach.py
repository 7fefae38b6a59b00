"""Nodes as further blocks: which rows get some, and what a record says of the difference."""

from __future__ import annotations

from pathlib import Path

import cpersona_jit
from cpersona_jit.store.block_reads import rows_to_split
from cpersona_jit.store.database import open_database
from harness.node_reach.measure import Judged, _compared, add_nodes
from harness.node_reach.report import report_text

WINDOW = 700
LONG = {
    "en": " ".join(f"Sentence number {n} tells of the garden and of the gate." for n in range(40)),
    "ja": "".join(f"第{n}文は庭と門の話をしています。" for n in range(120)),
}


def test_nodes_join_the_blocks_of_long_rows_alone(tmp_path: Path) -> None:
    path = tmp_path / "nodes.db"
    with cpersona_jit.open(path, "none") as memory:
        for text in ("short", *LONG.values()):
            assert memory.store(text, agent_id="a").status == "stored"
    conn = open_database(path, create=False)
    before = {row.id: row for row in rows_to_split(conn, 0, 10)}
    added = add_nodes(path, WINDOW)
    after = {row.id: row for row in rows_to_split(conn, 0, 10)}
    conn.close()
    assert before[1].ranges == after[1].ranges == ()
    found = 0
    for row in (2, 3):
        blocks, both = before[row].ranges, after[row].ranges
        nodes = both[len(blocks) :]
        found += len(nodes)
        assert both[: len(blocks)] == blocks and len(nodes) > 1
        assert nodes[0][0] == 0 and nodes[-1][1] == len(before[row].content)
        assert all(end - start <= WINDOW for start, end in nodes)
    assert added == found
    with cpersona_jit.open(path, "none") as memory:  # recall takes them
        assert memory.recall("庭と門", agent_id="a").rows[0].ref == "mem:3"


def test_the_record_compares_pairs(tmp_path: Path) -> None:
    judged = [Judged(n % 2 == 0, 0.5, 0.5 + 0.1 * (n % 3 == 0)) for n in range(30)]
    found = _compared(judged)
    assert found["questions"] == 30 and found["blocks"] == 50.0
    assert found["difference"] == round(found["with_nodes"] - found["blocks"], 2) > 0
    assert found["interval"][0] <= found["difference"] <= found["interval"][1]
    one = {"dataset": "made", "window": WINDOW, "rows": 3, "long_rows": 2}
    record = {"command": "c", "measure": "m", "regime": "r"}
    record["datasets"] = [{**one, "all": found, "long_relevant": _compared([])}]
    text = report_text(record)
    assert "made: 2 of 3 rows are longer than 700 characters" in text and "| all " in text
