"""A form: one way to say a time, as data, and the regular expressions made from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cpersona_jit.cues.time_cue import Certainty

# A vocabulary goes from small regular expressions to values; a function makes one of the text.
Vocabulary = Mapping[str, Any]
# A piece is a regular expression (captured as text), a vocabulary, or both: then the first one
# finds the words, and may look around them, and the vocabulary only gives their value.
Piece = str | Vocabulary | tuple[str, Vocabulary]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to say a time.

    Parameters
    ----------
    id : str
        Name, shown with the cue.
    pattern : str
        Text with ``{piece}`` or ``{name:piece}`` for what is captured, and up to two slots such
        as ``<month|season>`` for times that other forms found (``<any>``: of any unit).
    resolver : str
        Name of the function in ``resolve.RESOLVERS`` that turns the captures into a value.
    gives : str
        Unit of the value, which says into which slots it fits: small letters for what comes again
        (``month``), capitals for periods (``MONTH``). ``"{unit}"`` takes it from the capture
        of that name, ``"{first}"`` and ``"{second}"`` from that slot, as a period.
    examples : tuple of (str, str)
        Questions of Wednesday 2024-05-15, 10:00, and what they mean: ``"2024-05-06..2024-05-12"``,
        ``"2024-05-14"`` or ``"session ago 2"``.
    counter_examples : tuple of str
        Questions that look similar and hold no cue at all.
    certainty : {"sure", "likely", "vague"}, optional
        None: that of the least certain slot.
    alone : bool
        Whether it is a cue without words around it ("last May" is, "May" is not).
    open_end : bool
        Letters may follow, such as the ending of a plural; the pattern says which.
    """

    id: str
    pattern: str
    resolver: str
    gives: str
    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[str, ...]
    certainty: Certainty | None = None
    alone: bool = True
    open_end: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """What one language contributes to the parser.

    Parameters
    ----------
    pieces : mapping
        Pieces the patterns may name.
    groups : mapping
        Names for sets of units in slots, such as ``any``.
    forms : tuple of Form
        The forms.
    guards : tuple of Guard
        The guards.
    left, right : str
        Regular expressions that hold at the two ends of a form (word boundaries).
    talk : str
        Regular expression of the words that speak of what was said.
    filler : str
        Regular expression of the words that ask for nothing in particular.
    """

    name: str
    pieces: Mapping[str, Piece]
    groups: Mapping[str, tuple[str, ...]]
    forms: tuple[Form, ...]
    guards: tuple[Any, ...]
    left: str
    right: str
    talk: str
    filler: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """A form's regular expressions: around and between its slots."""

    form: Form
    segments: tuple[re.Pattern[str], ...]
    slots: tuple[frozenset[str], ...]
    convert: Mapping[str, Callable[[str], Any]]

    def captures(self, *matches: re.Match[str] | None) -> dict[str, Any]:
        """Values of the named captures; absent ones are left out.

        Names may end in a digit (``n``, ``n2``) where a pattern has alternatives: the values are
        those of the name without it.
        """
        return {
            name.rstrip("123456789"): self.convert[name](text)
            for match in matches
            if match is not None
            for name, text in match.groupdict().items()
            if text is not None
        }


_PARTS = re.compile(r"<([a-zA-Z][^<>=!]*)>|\{([a-z]\w*)(?::(\w+))?\}")
_FLAGS = re.IGNORECASE


def compile_form(form: Form, language: Language) -> Compiled:
    """Compile a form.

    Returns
    -------
    Compiled
        One more segment than slots. The segment before a slot is searched over the whole text,
        those after it are matched where the slot ends.
    """
    segments, slots, convert = [""], [], {}
    position = 0
    for part in _PARTS.finditer(form.pattern):
        segments[-1] += form.pattern[position : part.start()]
        position = part.end()
        slot, name, piece = part.groups()
        if slot:
            slots.append(_units(slot, language))
            segments.append("")
        else:
            source, convert[name] = _piece(language, piece or name)
            segments[-1] += f"(?P<{name}>{source})"
    segments[-1] += form.pattern[position:]
    segments[0] = f"{language.left}(?:{segments[0]})" if segments[0] else ""
    segments[-1] = f"(?:{segments[-1]}){'' if form.open_end else language.right}"
    patterns = tuple(re.compile(segment, _FLAGS) for segment in segments)
    return Compiled(form, patterns, tuple(slots), convert)


def _units(slot: str, language: Language) -> frozenset[str]:
    names = slot.split("|")
    return frozenset(unit for name in names for unit in language.groups.get(name, (name,)))


def _piece(language: Language, name: str) -> tuple[str, Callable[[str], Any]]:
    piece = language.pieces[name]
    if isinstance(piece, str):
        return piece, str
    if isinstance(piece, tuple):
        return piece[0], _look_up(piece[1])
    # Longest first, so that "christmas eve" is not read as "christmas".
    return "|".join(sorted(piece, key=len, reverse=True)), _look_up(piece)


def _look_up(vocabulary: Vocabulary) -> Callable[[str], Any]:
    words = [(re.compile(word, _FLAGS), value) for word, value in vocabulary.items()]

    @lru_cache(maxsize=1024)
    def value_of(text: str) -> Any:
        for word, value in words:
            if word.fullmatch(text):
                return value(text) if callable(value) else value
        raise ValueError(text)

    return value_of
