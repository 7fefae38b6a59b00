"""Decide what is said in one conversation and what is asked about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import NamedTuple

from harness.datasets.synthetic.draw import below, pick, some
from harness.datasets.synthetic.parts import Language

# How much of each kind one conversation holds.
_SHARED, _PLAIN, _CHANGING, _SINGLE, _RECURRING, _RELATIONS = 4, 6, 4, 2, 2, 2
_DIRECT = 6
_COMPARISONS = 2
_ADVICE = 8
# Share of greetings and replies that go on to something else: bare ones would be alike.
_CHATTY = 0.8


class Line(NamedTuple):
    """One turn: who speaks (0 or 1), the text, and the key that questions refer to."""

    speaker: int
    text: str
    key: str = ""


class Question(NamedTuple):
    """One question with the keys of the turns that answer it."""

    task: str
    text: str
    keys: tuple[str, ...]
    answer: str


class Scope(NamedTuple):
    """A planned conversation: per session the exchanges (lines that stay together), questions."""

    sessions: list[list[list[Line]]]
    questions: list[Question]


class Planner:
    """Fills the sessions of one conversation; one method per kind of memory."""

    def __init__(
        self, language: Language, names: tuple[str, str], dates: Sequence[datetime], rng: Random
    ) -> None:
        self.language = language
        self.names = names
        self.dates = dates
        self.rng = rng
        self.sessions: list[list[list[Line]]] = [[] for _ in dates]
        self.questions: list[Question] = []
        self.third_parties = some(rng, language.third_parties, len(language.third_parties))

    def plan(self) -> Scope:
        """Plan every kind of memory in turn."""
        self.facts()
        self.changes()
        self.single_events()
        self.recurring_events()
        self.relations()
        self.advice()
        return Scope(self.sessions, self.questions)

    def facts(self) -> None:
        """Facts told once; the first few by both speakers, with different values."""
        topics = some(self.rng, self.language.topics, _SHARED + _PLAIN)
        told = []
        for number, topic in enumerate(topics):
            shared = number < _SHARED
            values = some(self.rng, topic.values, 2)
            speakers = (0, 1) if shared else (below(self.rng, 2),)
            for speaker, value in zip(speakers, values, strict=False):
                key = f"fact-{number}-{speaker}"
                telling = pick(self.rng, topic.tellings)
                self.say(speaker, telling.text.format(v=value), key, topic.thing)
                told.append((topic, telling, speaker, value, key))
            if shared and number < _COMPARISONS:
                a, b = self.names
                keys = (f"fact-{number}-0", f"fact-{number}-1")
                self.ask("multi_hop", topic.compare.format(a=a, b=b), keys, " / ".join(values))
            for text in topic.distractors if shared else (pick(self.rng, topic.distractors),):
                self.distract(text.format(v=values[0]))
        for number, (topic, telling, speaker, value, key) in enumerate(
            some(self.rng, told, len(told))
        ):
            direct = number < _DIRECT
            text = telling.question if direct else pick(self.rng, topic.paraphrases)
            task = "single_hop" if direct else "paraphrase"
            self.ask(task, text.format(who=self.names[speaker]), (key,), value)

    def changes(self) -> None:
        """Facts that are replaced, the first one twice; only the newest telling is relevant."""
        for number, topic in enumerate(some(self.rng, self.language.changing, _CHANGING)):
            speaker = below(self.rng, 2)
            versions = 3 if number == 0 else 2
            values = some(self.rng, topic.values, versions)
            updates = some(self.rng, topic.updates, versions - 1)
            texts = [pick(self.rng, topic.tellings), *updates]
            for session, text, value in zip(self.spread(versions), texts, values, strict=True):
                key = f"change-{number}-{value}"
                self.say(speaker, text.format(v=value), key, topic.thing, session)
            question = pick(self.rng, topic.questions).format(who=self.names[speaker])
            self.ask("knowledge_update", question, (f"change-{number}-{values[-1]}",), values[-1])
            self.distract(pick(self.rng, topic.distractors).format(v=values[-1]))

    def single_events(self) -> None:
        """Something that happened once; the answer is the turn's date."""
        for number, event in enumerate(some(self.rng, self.language.single_events, _SINGLE)):
            speaker, session = below(self.rng, 2), below(self.rng, len(self.dates))
            key = f"event-{number}"
            self.say(speaker, event.tellings[0], key, "", session)
            question = pick(self.rng, event.questions).format(who=self.names[speaker])
            self.ask("temporal", question, (key,), f"{self.dates[session]:%Y-%m-%d}")

    def recurring_events(self) -> None:
        """The same kind of event in several months; only the date tells them apart."""
        for number, event in enumerate(some(self.rng, self.language.recurring_events, _RECURRING)):
            speaker = below(self.rng, 2)
            texts = some(self.rng, event.tellings, len(event.tellings))
            sessions = self.spread(len(texts))
            for session, text in zip(sessions, texts, strict=True):
                self.say(speaker, text, f"again-{number}-{session}", "", session)
            asked = below(self.rng, len(texts))
            session = sessions[asked]
            question = pick(self.rng, event.questions).format(
                who=self.names[speaker], month=self.language.month(self.dates[session])
            )
            self.ask("temporal", question, (f"again-{number}-{session}",), texts[asked])

    def relations(self) -> None:
        """Two turns in two sessions that answer only together."""
        for number, relation in enumerate(some(self.rng, self.language.relations, _RELATIONS)):
            speaker = below(self.rng, 2)
            person, value = self.third_parties[number], pick(self.rng, relation.values)
            keys = (f"who-{number}", f"news-{number}")
            texts = (relation.introduction, relation.news)
            for session, text, key in zip(self.spread(2), texts, keys, strict=True):
                self.say(speaker, text.format(n=person, v=value), key, "", session)
            question = relation.question.format(who=self.names[speaker])
            self.ask("multi_hop", question, keys, value)

    def advice(self) -> None:
        """Long turns that circle around a thing without answering anything."""
        things = [topic.thing for topic in (*self.language.topics, *self.language.changing)]
        space = self.language.sentence_space
        for thing in some(self.rng, things, _ADVICE):
            opening = pick(self.rng, self.language.advice_openings)
            body = some(self.rng, self.language.advice, 4 + below(self.rng, 4))
            text = space.join([opening, *body]).format(thing=thing)
            self.place([Line(below(self.rng, 2), text)])

    def say(
        self, speaker: int, text: str, key: str, thing: str, session: int | None = None
    ) -> None:
        """Tell something that is asked about later; every second time the other one replies."""
        exchange = [Line(speaker, text, key)]
        if self.rng.random() < 0.5:
            replies = [reply for reply in self.language.replies if thing or "{thing}" not in reply]
            reply = pick(self.rng, replies).format(thing=thing)
            if self.rng.random() < _CHATTY:
                reply += self.language.sentence_space + remark(self.language, self.rng)
            exchange.append(Line(1 - speaker, reply))
        self.place(exchange, session)

    def distract(self, text: str) -> None:
        """Say something that shares words with a fact and is about another matter."""
        self.place([Line(below(self.rng, 2), text)])

    def place(self, exchange: list[Line], session: int | None = None) -> None:
        """Put an exchange at a random place of a session, by default of a random one."""
        lines = self.sessions[below(self.rng, len(self.dates)) if session is None else session]
        lines.insert(below(self.rng, len(lines) + 1), exchange)

    def spread(self, count: int) -> list[int]:
        """``count`` different sessions in order of time."""
        return sorted(some(self.rng, range(len(self.dates)), count))

    def ask(self, task: str, text: str, keys: tuple[str, ...], answer: str) -> None:
        """Add a question."""
        self.questions.append(Question(self.language.task_prefix + task, text, keys, answer))


def small_talk(language: Language, rng: Random, count: int) -> list[Line]:
    """``count`` turns about nothing, each text at most once."""
    pairs = [(text, odd) for text in language.small_talk for odd in language.odds]
    return [Line(below(rng, 2), text.format(x=odd)) for text, odd in some(rng, pairs, count)]


def remark(language: Language, rng: Random) -> str:
    """One sentence of small talk."""
    return pick(rng, language.small_talk).format(x=pick(rng, language.odds))


def frame(language: Language, names: tuple[str, str], rng: Random, patterns: Sequence[str]) -> Line:
    """A greeting or a farewell from one of the two, mostly with a remark."""
    speaker = below(rng, 2)
    text = pick(rng, patterns).format(other=names[1 - speaker], x=pick(rng, language.odds))
    if rng.random() < _CHATTY:
        text += language.sentence_space + remark(language, rng)
    return Line(speaker, text)
