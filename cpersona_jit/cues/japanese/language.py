"""Japanese, put together."""
from cpersona_jit.cues.form import Language

JAPANESE = Language("Japanese", {}, {}, (), (), "", "", r"話")
