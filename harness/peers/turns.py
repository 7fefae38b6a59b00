"""Calls timed turn about: what another process takes of the machine hits all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

MOST_ROUNDS, LEAST_ROUNDS = 25, 5
# A sample repeats a call until it lasts this long: clocks and calls have a cost of their own.
_SAMPLE_SECONDS, _MOST_REPEATS = 2e-3, 200
# A shorter call is made twice untimed at the beginning of its turn.
_WARMED_SECONDS, _WARMING = 0.1, 2

Seconds = dict[str, np.ndarray]
"""For each call its seconds in each round, float64 (rounds,)."""


class Ratio(NamedTuple):
    """Median and quartiles of the ratios of paired rounds."""

    value: float
    low: float
    high: float


def take_turns(
    calls: dict[str, Callable[[], object]],
    budget: float,
    clock: Callable[[], float] = time.process_time,
) -> Seconds:
    """Time calls in rounds, each beginning with another one.

    Parameters
    ----------
    calls : dict of str to callable
        What is timed, by name. Each is called before, which loads what is loaded once, and one that
        is short also at the beginning of its turn.
    budget : float
        Wall seconds after which no further round begins, once there are ``LEAST_ROUNDS``.
    clock : callable
        By default CPU seconds of the whole process: what other processes take is not in them, and
        threads that a library starts are.

    Returns
    -------
    dict of str to ndarray
        Seconds of one call, per round.
    """
    repeats, warmed = {}, {}
    for name, call in calls.items():
        once = _seconds_once(call, clock)
        repeats[name] = int(min(max(np.ceil(_SAMPLE_SECONDS / once), 1), _MOST_REPEATS))
        warmed[name] = _WARMING if once < _WARMED_SECONDS else 0

    def sample(name: str) -> float:
        call = calls[name]
        for _ in range(warmed[name]):
            call()  # what the one before left in the caches is not what is timed
        start = clock()
        for _ in range(repeats[name]):
            call()
        return (clock() - start) / repeats[name]

    return rounds_of({name: partial(sample, name) for name in calls}, budget)


def rounds_of(samples: dict[str, Callable[[], float]], budget: float) -> Seconds:
    """Take one sample of each in every round; see `take_turns`.

    Parameters
    ----------
    samples : dict of str to callable
        Each returns the seconds that it took.
    budget : float
        As there.

    Returns
    -------
    dict of str to ndarray
    """
    names, rounds = list(samples), []
    end = time.perf_counter() + budget
    while len(rounds) < LEAST_ROUNDS or (len(rounds) < MOST_ROUNDS and time.perf_counter() < end):
        turn = len(rounds) % len(names)
        order = names[turn:] + names[:turn]
        if len(rounds) % 2:  # or each would always follow the same other one
            order.reverse()
        rounds.append({name: samples[name]() for name in order})
    return {name: np.array([spent[name] for spent in rounds]) for name in names}


def ratio(of: np.ndarray, to: np.ndarray) -> Ratio:
    """Return the ratio of paired rounds."""
    low, middle, high = np.percentile(of / to, [25, 50, 75])
    return Ratio(float(middle), float(low), float(high))


def _seconds_once(call: Callable[[], object], clock: Callable[[], float]) -> float:
    call()
    start = clock()
    call()
    return max(clock() - start, 1e-6)
