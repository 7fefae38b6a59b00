"""The parameters of the tools, as an agent reads them in the tools' schemas.

Limits of a memory are not repeated as schema limits: the store checks them, and answers with one
documented reason whichever way the record came in.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

MAX_LIMIT = 100
MAX_REFS = 20
MAX_EXCLUDED = 1000


def _text_or_none(value: Any, check_text: ValidatorFunctionWrapHandler) -> Any:
    return None if value is None else check_text(value)


# Annotated as `str`, not `str | None`: of every other type the SDK decodes a string as JSON first,
# and the project "null" would become "no filter".
OptionalText = Annotated[
    str,
    WrapValidator(_text_or_none),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
]

AgentId = Annotated[
    str,
    Field(
        min_length=1,
        description="Whose memory this is. Exact match; no call ever sees another agent's rows. "
        "Keep it the same across sessions.",
    ),
]

StoreProject = Annotated[
    OptionalText,
    Field(
        description="Project the memory belongs to. Leave out for the global pool, which every "
        "project of this agent sees."
    ),
]

StoreChannel = Annotated[
    OptionalText,
    Field(
        description="Conversation channel the memory belongs to (a room, a thread, an app). Leave "
        "out when it belongs to none; such rows are seen from every channel."
    ),
]

ReadProject = Annotated[
    OptionalText,
    Field(
        description="A project name: that project and the global pool. Empty string: the global "
        "pool only. Left out: all projects."
    ),
]

ReadChannel = Annotated[
    OptionalText,
    Field(
        description="A channel name: that channel and rows without a channel. Left out or empty: "
        "all channels."
    ),
]

Content = Annotated[
    str,
    Field(
        description="The text to remember, 1 to 16,000 characters, kept word for word. It must "
        "make sense on its own, months later."
    ),
]

CallerId = Annotated[
    OptionalText,
    Field(
        description="Your own id for this memory, for example a message id, at most 256 "
        "characters. A second memory with the same id in the same project and channel is skipped."
    ),
]

SourceFields = Annotated[
    dict[str, Any] | None,
    Field(
        description="Who or what said it. `name` is searched together with the content, so give "
        "the speaker's name."
    ),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "description": "user, agent, system, document"},
                        "id": {"type": "string"},
                        "name": {"type": "string", "description": "Name of the speaker"},
                    },
                    "additionalProperties": False,
                },
                {"type": "null"},
            ]
        }
    ),
]

SessionId = Annotated[
    OptionalText,
    Field(description="The session or conversation it was said in, at most 256 characters."),
]

Timestamp = Annotated[
    OptionalText,
    Field(
        description="When it was said or happened, ISO 8601, for example 2026-03-14T09:30:00+09:00 "
        "or 2026-03-14 (no offset means UTC). Kept word for word. Left out: undated."
    ),
]

Metadata = Annotated[
    dict[str, Any] | None,
    Field(description="A JSON object of your own, at most 8,000 characters. It is not searched."),
]

Query = Annotated[
    str,
    Field(
        description="What you want to know, in plain words and in the language of the memories. "
        "Names, numbers, codes and dates help."
    ),
]


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return value


Limit = Annotated[
    int,
    BeforeValidator(_no_truth_value),  # to Python true is 1, to an agent it is a mistake
    Field(
        ge=0,
        le=MAX_LIMIT,
        description="How many rows to return at most. It never changes how widely is searched.",
    ),
]

FullContent = Annotated[
    bool,
    Field(
        description="Whole texts instead of the starts of long ones, most relevant rows first, "
        "while they fit the budget of one response."
    ),
]

ExcludeContents = Annotated[
    list[str] | None,
    Field(
        max_length=MAX_EXCLUDED,
        description="Texts you have already, whole or as previews: memories that equal one, or "
        "begin with one, or with which one begins, are left out. A text of under 32 characters "
        "leaves out only a memory that equals it.",
    ),
]


class ConversationEntry(BaseModel):
    """One message of a conversation that the caller passes in."""

    model_config = ConfigDict(extra="forbid")

    role: Annotated[str, Field(min_length=1, description="user, assistant, system, ...")]
    content: Annotated[str, Field(description="What was said.")]
    name: Annotated[OptionalText, Field(description="Name of the speaker.")] = None
    timestamp: Annotated[
        OptionalText, Field(description="When, ISO 8601. Left out: right after the entry before.")
    ] = None


Conversation = Annotated[
    list[ConversationEntry],
    Field(
        max_length=MAX_EXCLUDED,
        description="The conversation so far, oldest first. Memories that say the same as one of "
        "its entries are left out; its entries come back, cut, between the memories.",
    ),
]

_ISO_TIME = {"type": "string", "description": "ISO 8601 date or time; no offset means UTC"}
_CERTAINTY = {"enum": ["sure", "likely", "vague"], "description": "How sure that time is"}


def _cue_schema(required: list[str], **fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**fields, "certainty": _CERTAINTY},
        "additionalProperties": False,
    } | ({"required": required} if required else {"minProperties": 1})


# Any value passes: the library reads cues, and names the field that is wrong.
TimeCue = Annotated[
    Any,
    Field(
        description="When the thing was said, if you know: a period, a distance from now, or a "
        "session counted back. Rows of that time come first; it never hides a row. Leave it out "
        "when the query says when, or when you do not know."
    ),
    WithJsonSchema(
        {
            "anyOf": [
                _cue_schema([], after=_ISO_TIME, before=_ISO_TIME),
                _cue_schema(
                    ["ago"],
                    ago={
                        "type": "object",
                        "properties": {
                            "unit": {"enum": ["days", "weeks", "months", "years"]},
                            "value": {"type": "integer", "minimum": 0},
                        },
                        "required": ["unit", "value"],
                        "additionalProperties": False,
                    },
                ),
                _cue_schema(["named"], named={"enum": ["long_ago", "recently"]}),
                _cue_schema(
                    ["sessions_ago"],
                    sessions_ago={
                        "type": "integer",
                        "minimum": 1,
                        "description": "1 is the newest stored session",
                    },
                ),
                {"type": "null"},
            ]
        }
    ),
]

Refs = Annotated[
    list[Any],
    Field(
        max_length=MAX_REFS,
        description='Refs from recall, for example ["mem:12", "mem:40"]. To read a part of a long '
        'memory, give {"ref": "mem:12", "span": [start, end]} in characters, end excluded, or '
        '{"ref": "mem:12", "node": n}: the n-th part of a very long one, from 0.',
    ),
    WithJsonSchema(
        {
            "type": "array",
            "maxItems": MAX_REFS,
            "items": {
                "anyOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "properties": {
                            "ref": {"type": "string"},
                            "span": {
                                "type": "array",
                                "items": {"type": "integer", "minimum": 0},
                                "minItems": 2,
                                "maxItems": 2,
                            },
                            "node": {"type": "integer", "minimum": 0},
                        },
                        "required": ["ref"],
                        "additionalProperties": False,
                    },
                ]
            },
        }
    ),
]

History = Annotated[
    bool,
    Field(
        description="Also give each memory its earlier texts, newest first; each has a ref of its "
        "own."
    ),
]
