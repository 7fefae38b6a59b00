"""Chat-like rows without a conversation behind them: as long, as mixed and as repetitive as chat.

Speed depends on how long rows are and how often grams repeat, so words are drawn by Zipf's law and
times and sums of money give every store grams that hardly any other row has.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .words import ENGLISH, JAPANESE

CHARACTERS = 120
DIM = 512  # as the bundled default embedding
QUERIES = {
    "english": "When did the doctor move my appointment to Thursday evening, and what did it cost?",
    "japanese": "病院の予約を木曜日の夕方に変更したのはいつで、料金はいくらでしたか。",
}
_DRAWN = 4096  # rows whose words are drawn at one time
_JAPANESE_EVERY = 3
_SEED = 20261130


def chat_rows(count: int) -> Iterator[str]:
    """Yield `count` texts of about 120 characters; every third is Japanese.

    Fewer rows are the beginning of more rows.
    """
    rng = np.random.default_rng(_SEED)
    for start in range(0, count, _DRAWN):
        english = iter(_drawn(rng, ENGLISH, 40))
        japanese = iter(_drawn(rng, JAPANESE, 80))
        numbers = rng.integers(0, 86_400, _DRAWN).tolist()
        for at in range(start, min(start + _DRAWN, count)):
            number = numbers[at - start]
            hour, minute = divmod(number // 60, 60)
            if at % _JAPANESE_EVERY:
                text = f"{hour}:{minute:02d} ${number} {' '.join(next(english))}"
            else:
                text = f"{hour}時{minute}分 {number}円 {''.join(next(japanese))}"
            yield text[:CHARACTERS]


def chat_vectors(count: int) -> np.ndarray:
    """Return unit vectors, float32, shape (count, 512)."""
    vectors = np.random.default_rng(_SEED).standard_normal((count, DIM), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _drawn(rng: np.random.Generator, words: tuple[str, ...], length: int) -> list[list[str]]:
    frequency = 1.0 / np.arange(3, len(words) + 3)
    chosen = rng.choice(len(words), (_DRAWN, length), p=frequency / frequency.sum())
    return np.array(words, object)[chosen].tolist()
