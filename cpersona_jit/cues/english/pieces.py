"""Pieces of English patterns: numbers, units, names."""

from __future__ import annotations

from cpersona_jit.cues.english.vocabulary import (
    MONTH_WORDS,
    MONTHS,
    NAMED_DAYS,
    SEASONS,
    WEEKDAYS,
)
from cpersona_jit.cues.form import Piece

PIECES: dict[str, Piece] = {
    # Numbers; number words are digits by now.
    "n": {r"\d{1,4}": int, "an?": 1},
    "number": {r"\d{1,4}": int},
    "day": {r"\d{1,2}": int},
    "two_digits": {r"\d\d": int},
    "year": {r"(?:1[5-9]|20)\d\d": int},
    "short_year": {r"\d\d": lambda text: 2000 + int(text)},
    "any_year": {r"\d{4}|\d\d": int},
    "ordinal": {r"\d{1,3}(?:st|nd|rd|th)": lambda text: int(text[:-2])},
    # Nothing, as a number.
    "zero": {"": 0},
    "one": {"": 1},
    "two": {"": 2},
    "three": {"": 3},
    # Units.
    "unit": {
        r"minutes?|mins?": "minute",
        r"hours?|hrs?": "hour",
        r"days?": "day",
        r"weeks?|wks?": "week",
        r"fortnights?": "fortnight",
        r"months?|mos?": "month",
        r"quarters?": "quarter",
        r"half[ -]years?": "half year",
        r"years?|yrs?": "year",
        r"decades?": "decade",
    },
    "letter_unit": {r"d": "day", r"w|wk": "week", r"mo": "month", r"y|yr": "year", "h|hr": "hour"},
    "calendar_unit": {
        "week": "week",
        "month": "month",
        "quarter": "quarter",
        "year": "year",
        "decade": "decade",
    },
    "long_unit": {
        r"days?": "day",
        r"weeks?": "week",
        r"fortnights?": "fortnight",
        r"months?": "month",
        r"years?": "year",
        r"decades?": "decade",
    },
    "half_unit": {r"years?": "year", r"months?": "month", r"weeks?": "week", r"decades?": "decade"},
    "span_unit": {
        r"hours?": "hour",
        r"days?": "day",
        r"weeks?": "week",
        r"fortnight": "fortnight",
        r"months?": "month",
        r"quarter": "quarter",
        r"half[ -]year|half (?:an? )?year": "half year",
        r"years?": "year",
        r"decade": "decade",
    },
    "half_year": {r"half (?:an? )?year": "half year"},
    "year_unit": {r"years?|yrs?": "year"},
    "and_half": {r"and (?:a|1) half": 1},
    "about": (
        r"about|around|roughly|approximately|approx\.?|almost|nearly|some|maybe|perhaps|like|circa"
        r"|~|something like"
    ),
    "about_after": r"or so|ish|-ish|or thereabouts",
    # Names.
    "month": (MONTH_WORDS, MONTHS),
    "weekday": WEEKDAYS,
    "weekend": {r"weekend": "weekend"},
    "season": SEASONS,
    "name": NAMED_DAYS,
    "part": {
        r"early(?:[ -]on)?(?: in)?|(?:beginning|start|top|first part) of": "early",
        r"mid(?:dle)?|middle of|halfway through": "mid",
        r"late(?: in)?|(?:end|tail end|last part) of": "late",
        r"1st half of": "first half",
        r"(?:2nd|last|latter) half of": "second half",
        r"1st week (?:of|in)": "week 1",
        r"2nd week (?:of|in)": "week 2",
        r"3rd week (?:of|in)": "week 3",
        r"4th week (?:of|in)": "week 4",
        r"(?:last|final) week (?:of|in)": "last week",
        r"(?:very )?1st day of": "first day",
        r"(?:very )?last day of": "last day",
    },
    "ordinal_quarter": {r"1st": 1, r"2nd": 2, r"3rd": 3, r"4th|last|final": 4},
    "sign": {r"before|prior to|preceding|leading up to": -1, r"after|following": 1},
    "which": {r"1st": 1, r"2nd": 2, r"3rd": 3, r"4th": 4, r"5th": 5, r"last|final": -1},
    "day_word": {
        r"day before yesterday|night before last": 2,
        r"yesterday|last (?:night|evening)|yday": 1,
        r"this (?:very )?(?:morning|afternoon|evening)": 0,
    },
    "earlier_word": {r"earlier (?:today|this (?:morning|afternoon|evening))": 0},
    "today_word": {r"today": 0},
    "back_last": {r"(?:this )?last|previous|prior|preceding": 1},
    "back_this": {r"earlier this|this|this very|current": 0},
    # Conversations.
    "talk": (
        r"sessions?|conversations?|convos?|chats?|discussions?|dialogues?|dialogs?|talks?"
        r"|exchanges?|chat sessions?"
    ),
    "spoke": (
        r"spoke|talked|chatted|conversed|(?:had|were having) a (?:chat|talk|conversation)|met"
        r"|were (?:talking|chatting)|discussed things"
    ),
    "nth_last": {r"2nd|next": 2, r"3rd": 3, r"4th": 4, r"5th": 5},
    "penultimate": {r"penultimate": 2, r"antepenultimate": 3},
    "week_unit": {r"week": "week", r"week-?end": "weekend"},
}

DAYPART = r"(?:,? (?:in the |at )?(?:morning|afternoon|evening|night|noon|midday))?"
CYCLES = (
    *("weekday", "weekend", "date", "nth", "month", "season", "quarter", "named", "part"),
    *("day", "week", "span"),
)
PERIODS = (
    *(unit.upper() for unit in CYCLES),
    *("YEAR", "DECADE"),
)
GROUPS = {
    "cycle": CYCLES,
    "yearly": ("date", "month", "season", "quarter", "named", "part", "day"),
    "period": PERIODS,
    "any": CYCLES + PERIODS,
}
