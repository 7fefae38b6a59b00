"""The building blocks of a synthetic conversation, filled in per language."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple


class Telling(NamedTuple):
    """A way to tell a fact, and a question that shares words with it.

    ``{v}`` stands for the fact's value, ``{who}`` for the speaker's name.
    """

    text: str
    question: str


class Topic(NamedTuple):
    """A fact about a speaker that is told once.

    Attributes
    ----------
    thing : str
        What others call it, for replies and long advice.
    values : tuple of str
        The fact is one of these.
    tellings : tuple of Telling
    paraphrases : tuple of str
        Questions that avoid the tellings' words.
    compare : str
        A question about both speakers, ``{a}`` and ``{b}``.
    distractors : tuple of str
        Same word or same value, another matter.
    """

    thing: str
    values: tuple[str, ...]
    tellings: tuple[Telling, ...]
    paraphrases: tuple[str, ...]
    compare: str
    distractors: tuple[str, ...]


class ChangingTopic(NamedTuple):
    """A fact that is told and later replaced: the newest telling is the relevant one."""

    thing: str
    values: tuple[str, ...]
    tellings: tuple[str, ...]
    updates: tuple[str, ...]
    questions: tuple[str, ...]
    distractors: tuple[str, ...]


class Event(NamedTuple):
    """Something that happens on one day; several tellings are several occurrences.

    With one telling the question asks for the date; with more it names the ``{month}``.
    """

    tellings: tuple[str, ...]
    questions: tuple[str, ...]


class Relation(NamedTuple):
    """Two tellings that only together answer: who ``{n}`` is, and what happened to ``{n}``."""

    introduction: str
    news: str
    values: tuple[str, ...]
    question: str


class Language(NamedTuple):
    """Everything a language brings.

    ``small_talk``, ``advice_openings`` and the rest are patterns; ``{x}`` in small talk is one of
    ``odds``, ``{thing}`` a topic's thing.
    """

    code: str
    task_prefix: str
    speakers: tuple[tuple[str, str], ...]
    third_parties: tuple[str, ...]
    topics: tuple[Topic, ...]
    changing: tuple[ChangingTopic, ...]
    single_events: tuple[Event, ...]
    recurring_events: tuple[Event, ...]
    relations: tuple[Relation, ...]
    greetings: tuple[str, ...]
    farewells: tuple[str, ...]
    replies: tuple[str, ...]
    small_talk: tuple[str, ...]
    odds: tuple[str, ...]
    advice_openings: tuple[str, ...]
    advice: tuple[str, ...]
    sentence_space: str
    month: Callable[[datetime], str]
