"""Find every time in a question: forms without slots first, then the forms around them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cpersona_jit.cues.form import Compiled, Form
from cpersona_jit.cues.periods import Cycle
from cpersona_jit.cues.resolve import RESOLVERS, Context, NoReferenceError, Value
from cpersona_jit.cues.time_cue import CERTAINTIES, Certainty

# "since | the end of | March | last year" needs three rounds; no question needs more than four.
ROUNDS = 4
# A question has a handful of times. The cap bounds the work on a wall of dates.
MOST_FOUND = 200


@dataclass(frozen=True, slots=True)
class Found:
    """A time in a question.

    Parameters
    ----------
    start, end : int
        Span in the normalised text.
    unit : str
        Unit that decides into which slots it fits.
    value : Period, Cycle or SessionReference
        What it means.
    certainty : {"sure", "likely", "vague"}
        How far it can be trusted.
    forms : tuple of str
        Ids of the forms it is made of, the outermost first.
    alone : bool
        Whether it is a cue by itself.
    resolver : str
        Name of the function that made the value, of `captures` and the values of `slots`.
    captures : dict
        What the outermost form captured.
    slots : tuple of Found
        The times that the outermost form frames.
    """

    start: int
    end: int
    unit: str
    value: Value
    certainty: Certainty
    forms: tuple[str, ...]
    alone: bool
    resolver: str
    captures: dict[str, Any]
    slots: tuple[Found, ...]


@dataclass(slots=True)
class _Chart:
    text: str
    context: Context
    found: dict[tuple[int, int, str], Found] = field(default_factory=dict)
    by_start: dict[int, list[Found]] = field(default_factory=lambda: defaultdict(list))
    leads: dict[str, dict[int, re.Match[str]]] = field(default_factory=dict)

    def add(
        self, compiled: Compiled, span: tuple[int, int], slots: Sequence[Found], *matches: re.Match
    ) -> Found | None:
        form = compiled.form
        if len(self.found) >= MOST_FOUND or span[0] == span[1]:
            return None
        captures = compiled.captures(*matches)
        value = self._resolve(form, captures, [slot.value for slot in slots])
        if value is None:
            return None
        unit = _unit(form, captures, slots)
        # Small letters come again, capitals are periods: a range may be either.
        unit = unit.lower() if isinstance(value, Cycle) else unit.upper()
        if (*span, unit) in self.found:
            return None
        levels = [CERTAINTIES.index(slot.certainty) for slot in slots]
        certainty = form.certainty or CERTAINTIES[max(levels, default=0)]
        names = (form.id, *(name for slot in slots for name in slot.forms))
        made_by = (form.resolver, captures, tuple(slots))
        found = Found(*span, unit, value, certainty, names, form.alone, *made_by)
        self.found[(*span, unit)] = found
        self.by_start[span[0]].append(found)
        return found

    def _resolve(self, form: Form, captures: dict[str, Any], values: list[Value]) -> Value | None:
        try:
            return RESOLVERS[form.resolver](self.context, captures, *values)
        except (NoReferenceError, ValueError, OverflowError):
            return None  # nobody said when, or the calendar has no such day

    def lead(self, compiled: Compiled) -> dict[int, re.Match[str]]:
        """Matches of the words before a first slot, by where they end."""
        if compiled.form.id not in self.leads:
            ends: dict[int, re.Match[str]] = {}
            for match in compiled.segments[0].finditer(self.text):
                ends.setdefault(match.end(), match)  # the longer one of two with one end is first
            self.leads[compiled.form.id] = ends
        return self.leads[compiled.form.id]


def _unit(form: Form, captures: dict[str, Any], slots: Sequence[Found]) -> str:
    """Unit of the value: the form's own, or that of a capture or a slot."""
    if not form.gives.startswith("{"):
        return form.gives
    name = form.gives[1:-1]
    if name in _OF_SLOT:
        return slots[_OF_SLOT[name]].unit
    value = captures[name]
    return value[0] if isinstance(value, tuple) else value


_OF_SLOT = {"first": 0, "second": 1}


def find_times(text: str, forms: Sequence[Compiled], context: Context) -> list[Found]:
    """Every time that the forms see in a normalised text, also overlapping ones.

    Returns
    -------
    list of Found
        At most ``MOST_FOUND``, in the order in which they were found.
    """
    chart = _Chart(text, context)
    for compiled in forms:
        if not compiled.slots:
            for match in compiled.segments[0].finditer(text):
                chart.add(compiled, match.span(), (), match)
    framing = [compiled for compiled in forms if compiled.slots]
    fresh = list(chart.found.values())
    for _ in range(ROUNDS):
        if not fresh:
            break
        fresh = _frame(chart, framing, fresh)
    return list(chart.found.values())


def _frame(chart: _Chart, framing: Sequence[Compiled], fresh: list[Found]) -> list[Found]:
    """One round: frames around times of which at least one is new."""
    new, is_new = [], {id(found) for found in fresh}
    known = list(chart.found.values())
    for compiled in framing:
        for first in known:
            if first.unit not in compiled.slots[0]:
                continue
            if len(compiled.slots) == 1:
                if id(first) in is_new:
                    new.append(_close(chart, compiled, (first,)))
                continue
            between = compiled.segments[1].match(chart.text, first.end)
            if between is None:
                continue
            for second in tuple(chart.by_start.get(between.end(), ())):
                fits = second.unit in compiled.slots[1]
                if fits and (id(first) in is_new or id(second) in is_new):
                    new.append(_close(chart, compiled, (first, second), between))
    return [found for found in new if found]


def _close(
    chart: _Chart, compiled: Compiled, slots: tuple[Found, ...], *between: re.Match[str]
) -> Found | None:
    """Check the words before the first slot and behind the last, and resolve."""
    start, matches = slots[0].start, list(between)
    if compiled.segments[0].pattern:
        lead = chart.lead(compiled).get(start)
        if lead is None:
            return None
        start = lead.start()
        matches.append(lead)
    tail = compiled.segments[-1].match(chart.text, slots[-1].end)
    if tail is None:
        return None
    return chart.add(compiled, (start, tail.end()), slots, *matches, tail)
