"""Every reason an outcome can carry, in one table."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Reason(NamedTuple):
    """One line of the table."""

    status: Literal["stored", "skipped", "rejected"]
    meaning: str


REASONS: dict[str, Reason] = {
    "duplicate_msg_id": Reason(
        "skipped", "msg_id exists already in the same agent, project and channel"
    ),
    "duplicate_content": Reason(
        "skipped",
        "same agent, project, channel, source.id, session_id, event time and content exist already",
    ),
    "kind_invalid": Reason(
        "rejected", "kind is neither memory nor episode, or a memory has an end or keywords"
    ),
    "episode_time_invalid": Reason(
        "rejected", "an episode's start or end is missing or no ISO 8601"
    ),
    "episode_ends_before_start": Reason("rejected", "an episode's end is before its start"),
    "keywords_invalid": Reason(
        "rejected",
        "an episode's keywords are no list of texts, more than 50, or one is empty or longer than "
        "100 characters",
    ),
    "history_invalid": Reason(
        "rejected", "history is no list of old texts, each with the times it began and ended"
    ),
    "unchanged": Reason("skipped", "update: the row holds this content already"),
    "not_found": Reason(
        "rejected", "update: no such row within the caller's axes, or the ref of an old text"
    ),
    "agent_id_required": Reason("rejected", "agent_id is missing or empty"),
    "empty_content": Reason("rejected", "content is empty or only white space"),
    "wrong_type": Reason("rejected", "a field is not of its type (text, mapping)"),
    "lone_surrogate": Reason(
        "rejected", "a text holds half of a surrogate pair, which UTF-8 cannot express"
    ),
    "nul_character": Reason("rejected", "a text holds U+0000"),
    "content_too_long": Reason("rejected", "content exceeds 16,000 characters"),
    "agent_id_too_long": Reason("rejected", "agent_id exceeds 256 characters"),
    "project_id_too_long": Reason("rejected", "project_id exceeds 256 characters"),
    "channel_too_long": Reason("rejected", "channel exceeds 256 characters"),
    "msg_id_too_long": Reason("rejected", "msg_id exceeds 256 characters"),
    "session_id_too_long": Reason("rejected", "session_id exceeds 256 characters"),
    "timestamp_too_long": Reason("rejected", "timestamp exceeds 64 characters"),
    "source_too_long": Reason("rejected", "source.type, .id or .name exceeds 256 characters"),
    "source_unknown_key": Reason("rejected", "source has a key other than type, id, name"),
    "metadata_too_long": Reason("rejected", "metadata exceeds 8,000 characters as JSON"),
    "metadata_invalid": Reason(
        "rejected",
        "metadata is no JSON object: NaN or infinity, a key that is no text, another type, "
        "or more than 64 levels",
    ),
    "timestamp_in_future": Reason("rejected", "timestamp is more than 24 hours ahead of now"),
    "not_embedded": Reason(
        "stored", "warning: the embedder failed; found by its words until it is embedded again"
    ),
    "blocks_not_embedded": Reason(
        "stored",
        "warning: the vector that was given is of the whole row; its blocks and nodes wait for "
        "reembed",
    ),
    "timestamp_unparsable": Reason(
        "stored", "warning: timestamp is not ISO 8601; kept verbatim, the row counts as undated"
    ),
}
