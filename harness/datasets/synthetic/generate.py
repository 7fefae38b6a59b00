"""Lay planned conversations out as dated turns and questions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from harness.datasets.base import Dataset, DatasetQuery, DatasetRow
from harness.datasets.build import build_dataset
from harness.datasets.checks import Qrel
from harness.datasets.synthetic.draw import below
from harness.datasets.synthetic.english import ENGLISH
from harness.datasets.synthetic.japanese import JAPANESE
from harness.datasets.synthetic.parts import Language
from harness.datasets.synthetic.plan import Line, Planner, frame, small_talk

DEFAULT_SEED = 20261130
_TURNS = 120
_SESSIONS = 12
_FIRST_MONTH = datetime(2024, 9, 1)


def make_synthetic(seed: int = DEFAULT_SEED) -> Dataset:
    """Make the bilingual dialogue benchmark: same seed, same bytes.

    Eight conversations (four English, four Japanese) of two named speakers, each of 12 dated
    sessions and at least 120 turns: facts told once, facts that change, events that recur, people
    introduced in one session and met in another, turns that share words with a fact but not its
    matter, small talk and long advice. Texts carry no dates: a question about a month needs the
    turn's timestamp.

    Parameters
    ----------
    seed : int
        Any integer.

    Returns
    -------
    Dataset
        Tasks ``single_hop``, ``paraphrase``, ``knowledge_update`` (only the newest telling is
        relevant), ``temporal``, ``multi_hop`` (two turns are relevant), and the same with the
        prefix ``ja_``.
    """
    rows: list[DatasetRow] = []
    queries: list[DatasetQuery] = []
    qrels: list[Qrel] = []
    for language in (ENGLISH, JAPANESE):
        for number, names in enumerate(language.speakers):
            _add_scope(language, number, names, seed, rows, queries, qrels)
    return build_dataset("synthetic", rows, queries, qrels)


def _add_scope(
    language: Language,
    number: int,
    names: tuple[str, str],
    seed: int,
    rows: list[DatasetRow],
    queries: list[DatasetQuery],
    qrels: list[Qrel],
) -> None:
    scope_id = f"{language.code}-{number + 1}"
    rng = Random(f"{seed}/{scope_id}")
    dates = _session_dates(rng)
    scope = Planner(language, names, dates, rng).plan()
    doc_of: dict[str, str] = {}
    for session, lines in enumerate(_conversation(language, names, scope.sessions, rng)):
        stamp = dates[session]
        for turn, line in enumerate(lines):
            doc_id = f"{scope_id}/s{session:02d}/t{turn:02d}"
            if line.key:
                doc_of[line.key] = doc_id
            session_id = f"{scope_id}/s{session:02d}"
            speaker = names[line.speaker]
            rows.append(
                DatasetRow(doc_id, line.text, stamp.isoformat(), session_id, speaker, scope_id)
            )
            stamp += timedelta(seconds=15 + below(rng, 150))
    asked_at = (dates[-1] + timedelta(days=3 + below(rng, 20))).isoformat()
    for index, question in enumerate(scope.questions):
        query_id = f"{scope_id}/q{index:02d}"
        queries.append(
            DatasetQuery(
                query_id, question.text, asked_at, scope_id, question.task, question.answer
            )
        )
        qrels.extend((query_id, doc_of[key], 1) for key in question.keys)


def _session_dates(rng: Random) -> list[datetime]:
    """One evening a month, so that a month names one session."""
    start = _FIRST_MONTH.month - 1 + below(rng, 4)
    dates = []
    for offset in range(_SESSIONS):
        year, month = divmod(start + offset, 12)
        day, minutes = 1 + below(rng, 28), below(rng, 16 * 60)
        date = datetime(_FIRST_MONTH.year + year, month + 1, day)
        dates.append(date + timedelta(hours=6, minutes=minutes))
    return dates


def _conversation(
    language: Language,
    names: tuple[str, str],
    sessions: Sequence[list[list[Line]]],
    rng: Random,
) -> list[list[Line]]:
    """Add greetings, farewells, and small talk up to the conversation's length."""
    planned = sum(len(exchange) for session in sessions for exchange in session)
    missing = max(0, _TURNS - planned - 2 * len(sessions))
    for line in small_talk(language, rng, missing):
        # Short sessions first, so that none is empty and the lengths still differ.
        session = min(sessions, key=lambda session: len(session) + 4 * rng.random())
        session.insert(below(rng, len(session) + 1), [line])
    return [
        [
            frame(language, names, rng, language.greetings),
            *(line for exchange in session for line in exchange),
            frame(language, names, rng, language.farewells),
        ]
        for session in sessions
    ]
