"""Derive a time cue from a question: English and Japanese, by tables of forms and guards."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache

from cpersona_jit.cues.chart import Found, find_times
from cpersona_jit.cues.english.language import ENGLISH
from cpersona_jit.cues.form import Compiled, Language, compile_form
from cpersona_jit.cues.guard import CompiledGuard, compile_guard
from cpersona_jit.cues.japanese.language import JAPANESE
from cpersona_jit.cues.normalise import MASK, normalise
from cpersona_jit.cues.periods import Period
from cpersona_jit.cues.readings import earlier_periods, other_readings
from cpersona_jit.cues.resolve import Context, NoReferenceError, period_of
from cpersona_jit.cues.sieve import Sieve, members
from cpersona_jit.cues.time_cue import US_PER_DAY, SessionReference, TimeCue

# A longer text is a pasted passage: its dates are its own, not those of a question.
LONGEST_QUESTION = 2000

# "Two thousand years ago" is history, not memory; a diary or a novel may reach far back.
EARLIEST_YEAR = 1500

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = _EPOCH.date()
_JAPANESE_LETTER = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_LATIN_LETTER = re.compile(r"[A-Za-z0-9]")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Parser:
    """Forms and guards of one language, compiled."""

    language: Language
    forms: tuple[Compiled, ...]
    guards: tuple[CompiledGuard, ...]
    sieve: Sieve
    talk: re.Pattern[str]
    filler: re.Pattern[str]


def parse_time_cue(text: str, reference_us: int | None) -> TimeCue | None:
    """Derive the time cue of a question.

    Parameters
    ----------
    text : str
        The question; any string. Texts of more than ``LONGEST_QUESTION`` characters hold no cue.
    reference_us : int or None
        When it was asked, UTC microseconds since 1970. None: only times that do not depend on it
        are read.

    Returns
    -------
    TimeCue or None
        The cue with the most words; of equally long ones the first. It ends no later than the day
        of the question, and has an open end when that day is unknown.
    """
    if len(text) > LONGEST_QUESTION:
        return None
    normal = normalise(text)
    context = Context(_moment(reference_us))
    found = _find(normal.text, context)
    if found is None:
        return None
    words = normal.words(found.start, found.end)
    bare = _says_nothing(normal.text[: found.start] + " " + normal.text[found.end :])
    about = (found.certainty, words, found.forms[0])
    if isinstance(found.value, SessionReference):
        return TimeCue(None, None, found.value, *about, False, bare)
    start_us, end_us = _microseconds(found.value)
    event = not any(parser.talk.search(normal.text) for parser in _parsers(normal.text))
    readings = other_readings(found, context)
    earlier = earlier_periods(found)
    return TimeCue(start_us, end_us, None, *about, event, bare, readings, earlier)


def names_nothing(text: str) -> bool:
    """Whether a question asks for nothing in particular, beside a time that is told elsewhere."""
    return len(text) <= LONGEST_QUESTION and _says_nothing(normalise(text).text)


def _says_nothing(text: str) -> bool:
    """Whether no word is left of a normalised text without those that any question may have."""
    if MASK in text:
        return False
    for parser in _parsers(text):
        text = parser.filler.sub(" ", text)
    return not _WORD.search(text)


def find_cue(text: str, reference_us: int | None) -> Found | None:
    """Return the time behind the cue of a question, with all the forms it is made of."""
    return _find(normalise(text).text, Context(_moment(reference_us)))


def _find(text: str, context: Context) -> Found | None:
    found = [_best(parser, text, context) for parser in _parsers(text)]
    return max((one for one in found if one), key=_length, default=None)


_ENGLISH, _JAPANESE = "english", "japanese"


def _parsers(text: str) -> list[_Parser]:
    parsers = []
    if _LATIN_LETTER.search(text):
        parsers.append(_parser(_ENGLISH))
    if _JAPANESE_LETTER.search(text):
        parsers.append(_parser(_JAPANESE))
    return parsers


@cache
def _parser(name: str) -> _Parser:
    language = {_ENGLISH: ENGLISH, _JAPANESE: JAPANESE}[name]
    forms = tuple(compile_form(form, language) for form in language.forms)
    guards = tuple(compile_guard(guard) for guard in language.guards)
    words = (re.compile(words, re.IGNORECASE) for words in (language.talk, language.filler))
    sieve = Sieve([*(form.segments for form in forms), *((guard.pattern,) for guard in guards)])
    return _Parser(language, forms, guards, sieve, *words)


def _best(parser: _Parser, text: str, context: Context) -> Found | None:
    """Return the longest time that no guard and no calendar speaks against.

    A refused time takes the shorter ones inside it along: no cue "January 5" is left of "how many
    days since January 5".
    """
    refused: list[Found] = []
    passing, count = parser.sieve.passing(text), len(parser.forms)
    forms = [parser.forms[number] for number in members(passing & ((1 << count) - 1))]
    times = [found for found in find_times(text, forms, context) if found.alone]
    if not times:
        return None
    guards = [parser.guards[number] for number in members(passing >> count)]
    for found in sorted(times, key=lambda found: (-_length(found), found.start)):
        if any(one.start <= found.start and found.end <= one.end for one in refused):
            continue
        value = _value(found, context)
        if value is None or any(_speaks_against(guard, text, found, value) for guard in guards):
            refused.append(found)
        else:
            return replace(found, value=value)
    return None


def _speaks_against(
    compiled: CompiledGuard, text: str, found: Found, value: Period | SessionReference
) -> bool:
    units = compiled.guard.units
    if units and found.unit not in units and set(units).isdisjoint(found.forms):
        return False
    if compiled.guard.ahead and not (isinstance(value, Period) and value.guessed):
        return False
    return compiled.holds(text, found.start, found.end)


def _value(found: Found, context: Context) -> Period | SessionReference | None:
    """Return the period up to the day of the question; None when it lies ahead."""
    if isinstance(found.value, SessionReference):
        return found.value
    try:
        period = period_of(context, found.value)
    except NoReferenceError:
        return None
    if period is None or (period.end or period.start).year < EARLIEST_YEAR:
        return None
    if context.asked is None:
        return period
    today = context.today
    if period.start is not None and period.start > today:
        return None
    end = today if period.end is None else min(period.end, today)
    return None if end < period.start else replace(period, end=end)


def _length(found: Found) -> int:
    return found.end - found.start


def _moment(reference_us: int | None) -> datetime | None:
    if reference_us is None:
        return None
    try:
        return _EPOCH + timedelta(microseconds=reference_us)
    except OverflowError:
        return None  # outside the years 1 to 9999 there is no calendar to count in


def _microseconds(period: Period) -> tuple[int | None, int | None]:
    start = None if period.start is None else _day_us(period.start)
    end = None if period.end is None else _day_us(period.end) + US_PER_DAY - 1
    return start, end


def _day_us(day: date) -> int:
    return (day - _EPOCH_DAY).days * US_PER_DAY
