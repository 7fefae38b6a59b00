"""English, put together."""

from __future__ import annotations

from cpersona_jit.cues.english.frames import FRAMES
from cpersona_jit.cues.english.guards import GUARDS, TALK
from cpersona_jit.cues.english.pieces import GROUPS, PIECES
from cpersona_jit.cues.english.points import POINTS
from cpersona_jit.cues.english.ranges import RANGES
from cpersona_jit.cues.english.sessions import SESSIONS
from cpersona_jit.cues.english.spans import SPANS
from cpersona_jit.cues.form import Language

ENGLISH = Language(
    name="English",
    pieces=PIECES,
    groups=GROUPS,
    forms=(*POINTS, *SPANS, *FRAMES, *RANGES, *SESSIONS),
    guards=GUARDS,
    left=r"(?<!\w)",
    right=r"(?!\w)",
    talk=TALK,
)
