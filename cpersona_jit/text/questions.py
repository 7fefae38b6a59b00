"""Whether a text ends by asking something."""

from __future__ import annotations

from cpersona_jit.text.blocks import CLOSING_MARKS

_QUESTION_MARKS = ("?", "？")
_MAY_FOLLOW = CLOSING_MARKS + "".join(c for c in map(chr, range(0x3001)) if c.isspace())


def is_question(text: str) -> bool:
    """Whether the last mark of `text` is a question mark.

    White space, closing quotes and closing brackets after it do not count.
    """
    return text.rstrip(_MAY_FOLLOW).endswith(_QUESTION_MARKS)
