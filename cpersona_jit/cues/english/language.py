"""English, put together."""

from __future__ import annotations

from cpersona_jit.cues.english.containers import CONTAINERS
from cpersona_jit.cues.english.filler import FILLER
from cpersona_jit.cues.english.frames import FRAMES
from cpersona_jit.cues.english.guards import GUARDS
from cpersona_jit.cues.english.name_guards import NAME_GUARDS
from cpersona_jit.cues.english.pieces import GROUPS, PIECES
from cpersona_jit.cues.english.points import POINTS
from cpersona_jit.cues.english.ranges import RANGES
from cpersona_jit.cues.english.sessions import SESSIONS
from cpersona_jit.cues.english.spans import SPANS
from cpersona_jit.cues.english.words import TALK
from cpersona_jit.cues.form import Language

ENGLISH = Language(
    name="English",
    pieces=PIECES,
    groups=GROUPS,
    forms=(*POINTS, *SPANS, *CONTAINERS, *FRAMES, *RANGES, *SESSIONS),
    guards=(*GUARDS, *NAME_GUARDS),
    left=r"(?<!\w)",
    right=r"(?!\w)",
    talk=TALK,
    filler=FILLER,
)
