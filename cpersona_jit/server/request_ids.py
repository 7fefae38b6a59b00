"""The ids of requests: which are allowed, and how to find one in a line that cannot be read."""

from __future__ import annotations

import json
import re
from typing import Any

# A string to its end (or that of the line), a bracket, a sign, or anything else up to one of them.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.?)*+(?:"|\Z)|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.DOTALL)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})")


def is_request_id(value: Any) -> bool:
    """Whether JSON-RPC allows `value` as the id of a request: a string or an integer."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def readable_id(line: str) -> str | int | None:
    """Return the id of a message that no parser takes: too deep, a number too large, cut off.

    Parameters
    ----------
    line : str
        Anything. It is read in one pass and without recursion.

    Returns
    -------
    str or int or None
        The value of the outermost object's ``id``; None when it has none that can be sent back.
    """
    depth, key, previous, found = 0, "", "", None
    for match in _TOKEN.finditer(line):
        token = match[0]
        if depth == 1 and previous == ":" and key == '"id"':
            found = _id_of(token)
        elif depth == 1 and token == ":":
            key = previous
        depth += (token in "[{") - (token in "]}")
        previous = token
    return found


def _id_of(token: str) -> str | int | None:
    if _INTEGER.fullmatch(token):
        return int(token)
    try:
        value = json.loads(token)
        value.encode()
    except (ValueError, AttributeError):  # no string, or one with half a character
        return None
    return value
