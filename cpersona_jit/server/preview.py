"""The preview tier: how much of a stored text a recall row carries."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Preview(TypedDict):
    """The content fields of a recall row; the last two exist only when the text was cut."""

    content: str
    content_truncated: NotRequired[bool]
    content_len: NotRequired[int]


def preview(content: str, max_chars: int) -> Preview:
    """Cut `content` to a pure prefix of at most `max_chars` characters.

    Parameters
    ----------
    content : str
        The stored text.
    max_chars : int
        Limit in code points; 0 never cuts.

    Returns
    -------
    Preview
        ``content`` alone when nothing was cut. Otherwise the prefix, with no marker inside it,
        ``content_truncated`` True, and ``content_len``: the whole text's length in code points.
    """
    if max_chars == 0 or len(content) <= max_chars:
        return {"content": content}
    return {
        "content": content[:max_chars],
        "content_truncated": True,
        "content_len": len(content),
    }
