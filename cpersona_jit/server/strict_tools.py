"""Tools that refuse arguments they do not know, and say in one line what is wrong.

An unknown argument is refused rather than ignored because a misspelt ``project_id`` would
otherwise widen a search to every project without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ConfigDict, ValidationError

SHOWN_ERRORS = 5
SHOWN_VALUE_CHARS = 80


def strict_tool(
    function: Callable[..., Any], *, title: str, description: str, annotations: ToolAnnotations
) -> Tool:
    """Make a tool of `function` whose schema allows its parameters and nothing else."""
    tool = Tool.from_function(
        function, title=title, description=description, annotations=annotations
    )
    arguments = tool.fn_metadata.arg_model

    class StrictArguments(arguments):
        model_config = ConfigDict(extra="forbid", title=arguments.__name__)

    tool.fn_metadata.arg_model = StrictArguments
    tool.parameters = _without_titles(StrictArguments.model_json_schema(by_alias=True))
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = _without_titles(tool.fn_metadata.output_schema)
    return tool


def describe_errors(error: ValidationError, allowed: list[str]) -> str:
    """Say what is wrong with the arguments of a call, naming field, value and what is allowed.

    Parameters
    ----------
    error : pydantic.ValidationError
        Raised by the arguments' model.
    allowed : list of str
        The names of the tool's parameters.
    """
    shown = [_describe(one, allowed) for one in error.errors()[:SHOWN_ERRORS]]
    if error.error_count() > SHOWN_ERRORS:
        shown.append(f"and {error.error_count() - SHOWN_ERRORS} more")
    return "; ".join(shown)


def _describe(one: Any, allowed: list[str]) -> str:
    field = ".".join(str(part) for part in one["loc"])
    if one["type"] == "extra_forbidden":
        return f"{field}: unknown argument; allowed: {', '.join(allowed)}"
    if one["type"] == "missing":
        return f"{field}: required"
    value = repr(one["input"])
    if len(value) > SHOWN_VALUE_CHARS:
        value = value[:SHOWN_VALUE_CHARS] + "…"
    return f"{field}: {one['msg']} (got {value})"


def _without_titles(schema: Any) -> Any:
    """Drop the titles that pydantic makes from names: an agent pays for every character."""
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(part)
        for key, part in schema.items()
        if not (key == "title" and isinstance(part, str))
    }
