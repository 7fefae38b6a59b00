"""A damaged or removed file behind the server: one line that names it, nothing of other agents."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from test_mcp_server import connect

import cpersona_jit


def test_a_damaged_row_of_another_agent_is_not_shown(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with cpersona_jit.open(db, "none") as memory:
        memory.store("green tea", agent_id="a")
        memory.store("合言葉は hunter2", agent_id="b")
    conn = sqlite3.connect(db)
    conn.execute(
        "UPDATE memories SET content = CAST(CAST(content AS BLOB) || x'ff' AS TEXT) WHERE id = 2"
    )
    conn.commit()
    conn.close()
    with connect(db) as agent:
        said = agent.refusal("recall", query="tea", agent_id="a")
        assert "mem:2: its content" in said
        said += str(agent.call("get_contents", refs=["mem:1", "mem:2"], agent_id="a"))
        said += agent.refusal("get_contents", refs=["mem:2"], agent_id="b")
    said += (tmp_path / "stderr.txt").read_text(encoding="utf-8")
    assert "hunter2" not in said
    assert "合言葉" not in said


@pytest.mark.skipif(os.name != "posix", reason="an open file cannot be removed there")
def test_a_store_into_a_file_that_was_removed_is_refused(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with connect(db) as agent:
        agent.call("store", content="green tea", agent_id="a")
        for file in tmp_path.glob("memory.db*"):
            file.unlink()
        said = agent.refusal("store", content="new", agent_id="a")
        assert "moved, removed or replaced" in said
        assert "\n" not in said
