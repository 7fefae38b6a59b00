"""Japanese, put together."""

from __future__ import annotations

from cpersona_jit.cues.form import Language
from cpersona_jit.cues.japanese.containers import CONTAINERS
from cpersona_jit.cues.japanese.filler import FILLER
from cpersona_jit.cues.japanese.frames import FRAMES
from cpersona_jit.cues.japanese.guards import GUARDS, TALK
from cpersona_jit.cues.japanese.pieces import GROUPS, PIECES
from cpersona_jit.cues.japanese.points import POINTS
from cpersona_jit.cues.japanese.ranges import RANGES
from cpersona_jit.cues.japanese.sessions import SESSIONS
from cpersona_jit.cues.japanese.spans import SPANS

JAPANESE = Language(
    name="Japanese",
    pieces=PIECES,
    groups=GROUPS,
    forms=(*POINTS, *SPANS, *CONTAINERS, *FRAMES, *RANGES, *SESSIONS),
    guards=GUARDS,
    left="",
    right="",
    talk=TALK,
    filler=FILLER,
)
