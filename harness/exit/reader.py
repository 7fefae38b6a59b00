"""The two ablations that need a reading model: its answers from the best evidence, and from raw.

The oracle is shown the relevant rows, so its misses are the reader's own; raw evidence is flat
recall, so that what lies between is what recall and its exits can still gain.
"""

from __future__ import annotations

import hashlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from harness.datasets.base import Dataset
from harness.exit.config import ReaderConfig
from harness.exit.texts import normalised, says

ABLATIONS = ("oracle", "raw")
SKIPPED = (
    "reader with oracle evidence and reader with raw evidence: the config's [reader] names no "
    "endpoint; give one that is OpenAI-compatible to run them"
)
_PROMPT = (
    "Answer the question from these memories of earlier conversations, as briefly as you can.\n\n"
    "{memories}\n\nQuestion ({when}): {question}\nAnswer:"
)

Told = Callable[[int, int], None]


class ReaderError(Exception):
    """The endpoint does not answer as an OpenAI-compatible one does."""


def read_answers(
    config: ReaderConfig,
    dataset: Dataset,
    texts: Mapping[str, Mapping[str, str]],
    seed: int,
    told: Told,
) -> dict[str, Any]:
    """Ask the model each question with each kind of evidence.

    Parameters
    ----------
    config : ReaderConfig
        With an endpoint.
    dataset : Dataset
        The questions and their answers.
    texts : mapping
        By query id, what each ablation shows.
    seed : int
        Draws the questions, together with their ids.
    told : callable
        Called as ``told(done, total)``.

    Returns
    -------
    dict
        The share of replies that say the answer, for each ablation, and the number of questions.
    """
    drawn = sorted(texts, key=lambda one: hashlib.sha256(f"{seed}\n{one}".encode()).digest())
    asked = {query.query_id: query for query in dataset.queries}
    right = dict.fromkeys(ABLATIONS, 0)
    chosen = drawn[: config.questions]
    for number, query_id in enumerate(chosen):
        told(number, len(chosen))
        query = asked[query_id]
        for ablation in ABLATIONS:
            prompt = _PROMPT.format(
                memories=texts[query_id][ablation],
                when=query.timestamp or "undated",
                question=query.text,
            )
            reply = normalised(complete(config, prompt))
            right[ablation] += says(reply, normalised(query.answer or ""))
    told(len(chosen), len(chosen))
    shares = {ablation: right[ablation] / len(chosen) if chosen else None for ablation in ABLATIONS}
    return {"questions": len(chosen), "model": config.model, "answered": shares}


def complete(config: ReaderConfig, prompt: str) -> str:
    """Return what the model says to a prompt.

    Raises
    ------
    ReaderError
        The endpoint cannot be reached, or answers something else.
    """
    message = {"role": "user", "content": prompt}
    body = {"model": config.model, "messages": [message], "temperature": 0}
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(config.key_variable):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(
        f"{config.endpoint.rstrip('/')}/chat/completions",
        json.dumps(body).encode("utf-8"),
        headers,
    )
    try:
        with urllib.request.urlopen(request, timeout=config.timeout) as answered:
            found = json.load(answered)["choices"][0]["message"]["content"]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ReaderError(f"{config.endpoint}: {type(error).__name__}: {error}") from error
    if not isinstance(found, str):
        raise ReaderError(f"{config.endpoint}: the answer holds no text")
    return found
