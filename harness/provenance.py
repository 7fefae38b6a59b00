"""Where a record comes from: the machine and its load, the code, the command."""

from __future__ import annotations

from typing import Any

from harness.hashes import code_hash, git_revision
from harness.machine import describe_machine, load_average


def provenance(command: str, load_before: list[float] | None) -> dict[str, Any]:
    """Return the fields that stand at the end of a record of a measurement just made.

    Parameters
    ----------
    command : str
        What reproduces it.
    load_before : list of float or None
        From `load_average`, before it was made.
    """
    return {
        "load_average": {"before": load_before, "after": load_average()},
        "machine": describe_machine(),
        "revision": git_revision(),
        "code": code_hash(),
        "command": command,
    }
