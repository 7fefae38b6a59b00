"""The record of what exits take: it is there for every store, and its report says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.speed import exits
from harness.speed.report import write_speed_record


def test_every_exit_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exits, "_ROUNDS", 1)
    told = []
    record = exits.measure_exit_speed(
        [300], ["chat", "long"], "the command", lambda *p: told.append(p)
    )
    assert [(store["rows"], store["text"]) for store in record["stores"]] == [
        (300, "chat"),
        (300, "long"),
    ]
    for store in record["stores"]:
        assert min(store["milliseconds"].values()) > 0
    assert record["stores"][1]["excerpts"] >= exits.LIMIT  # every row of a long store is cut
    report = write_speed_record(tmp_path, record, exits.exit_speed_report).read_text("utf-8")
    assert "`the command`" in report and "| 300 | long |" in report
    assert told[0] == ("exits, chat, 300 rows", 0, 1) and told[-1][1] == 1
