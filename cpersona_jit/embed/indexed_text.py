"""The text of a memory that is embedded and indexed, as opposed to the text that is stored."""

from __future__ import annotations


def indexed_text(source_name: str, content: str) -> str:
    """Return ``"source_name: content"``, or `content` alone when there is no name.

    Who speaks is part of what a turn means; measured on dialogue, every model and every
    lexical arm loses without it.
    """
    return f"{source_name}: {content}" if source_name else content
