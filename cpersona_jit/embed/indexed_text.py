"""The text of a memory that is embedded and indexed, as opposed to the text that is stored."""

from __future__ import annotations

from collections.abc import Sequence


def indexed_text(source_name: str, content: str, keywords: Sequence[str] = ()) -> str:
    """Return ``"source_name: content"``, or `content` alone when there is no name.

    Who speaks is part of what a turn means; measured on dialogue, every model and every
    lexical arm loses without it. The keywords of an episode follow on a line of their own.
    """
    text = f"{source_name}: {content}" if source_name else content
    return f"{text}\n{', '.join(keywords)}" if keywords else text
