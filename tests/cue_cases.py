"""Run the examples that the tables of forms and guards carry beside each form."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from cpersona_jit.cues.form import Language
from cpersona_jit.cues.parse import parse_time_cue
from cpersona_jit.cues.time_cue import TimeCue

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ASKED = datetime(2024, 5, 15, 10, tzinfo=UTC)  # a Wednesday; the tables' examples are of this day


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


ASKED_US = microseconds(ASKED)


def day_of(us: int) -> date:
    return (EPOCH + timedelta(microseconds=us)).date()


def meaning(cue: TimeCue | None) -> str | None:
    """Write a cue as the tables do."""
    if cue is None:
        return None
    if cue.session is not None:
        to = "" if cue.session.to is None else f" {cue.session.to}"
        return f"session {cue.session.kind} {cue.session.n}{to}"
    start, end = day_of(cue.start_us), day_of(cue.end_us)
    return f"{start}" if start == end else f"{start}..{end}"


def read(question: str) -> str | None:
    return meaning(parse_time_cue(question, ASKED_US))


def examples(language: Language) -> list[tuple[str, str, str]]:
    return [(form.id, *example) for form in language.forms for example in form.examples]


def counter_examples(language: Language) -> list[tuple[str, str]]:
    return [(form.id, question) for form in language.forms for question in form.counter_examples]


def guarded(language: Language) -> list[tuple[str, str]]:
    return [(guard.id, question) for guard in language.guards for question in guard.examples]


def unguarded(language: Language) -> list[tuple[str, str]]:
    return [
        (guard.id, question) for guard in language.guards for question in guard.counter_examples
    ]
