"""Questions whose answers are known, since they were put among the rows on purpose.

A planted row has a fixed cosine to its question and a few of its words; everything else about it
is as random as the rows around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cpersona_jit import Record
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from harness.asv_benchmarks.words import ENGLISH, JAPANESE
from harness.peers.cpersona_side.text_vectors import DIM, text_vector
from harness.scale.config import PlantedConfig
from harness.speed.talk import QUESTIONS

_JAPANESE_EVERY = 3
_ASKED, _SAID = 8, 12  # words of a question and of a row


class Plant(NamedTuple):
    """One row that answers a question."""

    question: int
    content: str
    cosine: float


class Planted(NamedTuple):
    """Questions, and the row that stands at each planted place of a store."""

    questions: tuple[str, ...]
    rows: dict[int, Plant]  # by place in the store, from 0


def plant(rows: int, config: PlantedConfig, seed: int) -> Planted:
    """Choose questions, rows and their places; the questions are the same for every size."""
    rng = np.random.default_rng(seed)
    questions, plants = [], []
    for number in range(config.questions):
        words, space, ends = _language(number)
        asked = rng.choice(words, _ASKED, replace=False).tolist()
        questions.append(space.join(asked) + ends[0])
        for cosine in config.cosines:
            said = rng.choice(words, _SAID - config.shared_words).tolist()
            said += rng.choice(asked, config.shared_words, replace=False).tolist()
            content = space.join(rng.permutation(said).tolist()) + ends[1]
            plants.append(Plant(number, content, cosine))
    places = np.random.default_rng(seed + rows).choice(rows, len(plants), replace=False)
    return Planted(tuple(questions), dict(zip(places.tolist(), plants, strict=True)))


def without_plants() -> Planted:
    """Return nothing planted."""
    return Planted((), {})


def planted_records(records: Iterator[Record], planted: Planted) -> Iterator[Record]:
    """Yield records with the planted contents in their places."""
    for place, record in enumerate(records):
        found = planted.rows.get(place)
        yield record if found is None else replace(record, content=found.content)


class PlantedVectors:
    """An embedder that costs next to nothing: a text's checksum seeds its vector.

    Parameters
    ----------
    planted : Planted
        Its rows get their cosine to their question.
    names : sequence of str
        Who may say them: a row is embedded together with its speaker's name.
    """

    info = ModelInfo("given", DIM, model_fingerprint(provider="scale", dim=DIM), None)

    def __init__(self, planted: Planted, names: Sequence[str] = ()) -> None:
        self._ready = {text: text_vector(text) for text in (*QUESTIONS, *planted.questions)}
        for found in planted.rows.values():
            question = self._ready[planted.questions[found.question]]
            vector = vector_at(question, text_vector(found.content), found.cosine)
            for name in names:
                self._ready[indexed_text(name, found.content)] = vector

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return a unit vector per text, float32, shape (len(texts), 512)."""
        ready = self._ready
        return np.stack([ready[t] if t in ready else text_vector(t) for t in texts])

    def close(self) -> None:
        """Do nothing."""


def vector_at(towards: np.ndarray, beside: np.ndarray, cosine: float) -> np.ndarray:
    """Return the unit vector at a cosine to ``towards``, on the side of ``beside``."""
    across = beside - (beside @ towards) * towards
    across /= np.linalg.norm(across)
    return (cosine * towards + np.sqrt(1.0 - cosine**2) * across).astype(np.float32)


def _language(number: int) -> tuple[tuple[str, ...], str, str]:
    """Words, what stands between them, and the ends of a question and of a statement."""
    if number % _JAPANESE_EVERY == 0:
        return JAPANESE, "", "？。"
    return ENGLISH, " ", "?."
