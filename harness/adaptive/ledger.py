"""The ledger of the holdout: each time it was opened, for what, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cpersona_jit.errors import UsageError
from harness.hashes import git_revision

LEDGER_FILE = Path(__file__).resolve().parents[2] / "results" / "holdout_ledger.jsonl"


def open_holdout(
    name: str, config_hash: str, datasets: Sequence[str], reason: str, path: Path | None = None
) -> None:
    """Write down that the holdout is opened; called before anything of it is measured.

    Parameters
    ----------
    name, config_hash : str
        Of the config.
    datasets : sequence of str
        Whose holdout.
    reason : str
        Why, in a person's words.
    path : Path, optional
        The ledger; the one under ``results/`` unless given.

    Raises
    ------
    UsageError
        The reason says nothing.
    """
    if not reason.strip():
        raise UsageError("--holdout is empty; allowed: the reason why the holdout is opened")
    line = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": name,
        "config_hash": config_hash,
        "revision": git_revision(),
        "datasets": list(datasets),
        "reason": reason.strip(),
    }
    path = path or LEDGER_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as ledger:
        ledger.write(json.dumps(line, ensure_ascii=False) + "\n")
