"""Made-up talk: rows as long, as repetitive and as bilingual as those of an agent's memory.

Words follow Zipf's law: common ones of both languages, then made-up rare ones, so that a query's
grams find lists of every length. Rows belong to sessions of two speakers who take turns, some of
them ask, and all are dated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cpersona_jit import Record, Source
from harness.asv_benchmarks.words import ENGLISH, JAPANESE

AGENT = "benchmark"
NOW = "2026-11-30T12:00:00Z"
# Questions as they are asked, each with a time that the cue parser reads.
QUESTIONS = (
    "When did Mira say that the doctor moved her appointment to Thursday evening last week?",
    "What did we decide about the garden and the broken bicycle three weeks ago?",
    "How much was the train ticket that I bought last month?",
    "Which recipe did Ken mention two months ago?",
    "先週、美咲さんが病院の予約を木曜日に変更したのはなぜですか。",
    "三週間前に買った映画の切符はいくらでしたか？",
)

SPEAKERS = ("Mira", "Ken", "美咲", "Jonas")
_SESSION = 24  # rows of a session
_STEP = np.timedelta64(10, "m")  # between two rows: 100,000 rows reach back about two years
_RARE = 20_000  # made-up words per language
_DRAWN = 4096  # rows whose words are drawn at one time
_JAPANESE_EVERY = 4
_SEED = 20261130


class Shape(NamedTuple):
    """How long rows are: log-normal, in characters."""

    median: float
    deviation: float  # of the logarithm


CHAT, LONG = Shape(90.0, 1.0), Shape(1130.0, 0.08)


def records(count: int, shape: Shape) -> Iterator[Record]:
    """Yield `count` rows, the oldest first; the last one is as recent for any count."""
    start = np.datetime64(NOW[:-1]) - count * _STEP
    for number, text in enumerate(_texts(count, shape)):
        session = number // _SESSION
        name = SPEAKERS[(session + number % 2) % len(SPEAKERS)]
        yield Record(
            text,
            AGENT,
            session_id=f"session {session}",
            source=Source("user", name, name),
            timestamp=f"{start + number * _STEP}Z",
        )


def _texts(count: int, shape: Shape) -> Iterator[str]:
    rng = np.random.default_rng(_SEED)
    languages = _Language(rng, ENGLISH, " ", ". ", "?"), _Language(rng, JAPANESE, "", "。", "？")
    for first in range(0, count, _DRAWN):
        lengths = np.exp(rng.normal(np.log(shape.median), shape.deviation, _DRAWN))
        for number in range(first, min(first + _DRAWN, count)):
            language = languages[number % _JAPANESE_EVERY == 0]
            yield language.text(rng, int(lengths[number - first]))


class _Language:
    """Draws sentences of a vocabulary."""

    def __init__(
        self,
        rng: np.random.Generator,
        words: tuple[str, ...],
        space: str,
        stop: str,
        question: str,
    ) -> None:
        pieces = np.array([*words], object)
        rare = pieces[rng.integers(0, pieces.size, (3, _RARE))]
        cut = [a[:2] + b[-2:] + c[:2] for a, b, c in rare.T.tolist()]
        self._words = np.array([*words, *cut], object)
        frequency = 1.0 / np.arange(3, self._words.size + 3)
        self._upto = np.cumsum(frequency / frequency.sum())
        self._space, self._stop, self._question = space, stop, question
        drawn = self._draw(rng, _DRAWN)
        self._mean = sum(map(len, drawn)) / len(drawn) + len(space)

    def text(self, rng: np.random.Generator, characters: int) -> str:
        """Return sentences of about this many characters; every sixth text asks."""
        words = self._draw(rng, max(1, round(characters / self._mean)))
        sentences = [self._space.join(words[i : i + 9]) for i in range(0, len(words), 9)]
        end = self._question if rng.random() < 1 / 6 else self._stop.strip()
        return self._stop.join(sentences) + end

    def _draw(self, rng: np.random.Generator, count: int) -> list[str]:
        return self._words[np.searchsorted(self._upto[:-1], rng.random(count))].tolist()
