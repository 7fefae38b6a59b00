"""Score the time-cue parser on a folder of written questions, without showing any of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from cpersona_jit.cues.parse import parse_time_cue
from cpersona_jit.cues.time_cue import SessionReference, TimeCue

LANGUAGES = ("en", "ja")
TOLERANCE_DAYS = 1
TOLERANCE_WIDTH = 0.1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_US_PER_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many.

    Parameters
    ----------
    count, of : int
        Part and whole.
    """

    count: int = 0
    of: int = 0

    @property
    def percent(self) -> float:
        """Share in percent; 0 of nothing."""
        return 100.0 * self.count / self.of if self.of else 0.0

    def plus(self, hit: bool) -> Share:
        """One more case."""
        return Share(self.count + hit, self.of + 1)


@dataclass(slots=True)
class CueScore:
    """Result of `score_folder`.

    Parameters
    ----------
    right : dict of str to Share
        Right cues per language, and ``all``.
    right_by_kind : dict of (str, str) to Share
        Right cues per language and kind of form.
    missed : dict of str to int
        Questions with a cue for which none was found, per language; the other wrong ones got a
        wrong cue.
    false_alarms : dict of str to Share
        Traps with a cue, per language, and ``all``.
    false_alarms_by_kind : dict of (str, str) to Share
        The same per language and kind of trap.
    """

    right: dict[str, Share] = field(default_factory=dict)
    right_by_kind: dict[tuple[str, str], Share] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)
    false_alarms: dict[str, Share] = field(default_factory=dict)
    false_alarms_by_kind: dict[tuple[str, str], Share] = field(default_factory=dict)


def score_folder(folder: Path) -> CueScore:
    """Parse every question of a folder and count.

    Parameters
    ----------
    folder : Path
        Holds ``paraphrases_en.jsonl``, ``paraphrases_ja.jsonl`` and ``traps.jsonl``.

    Returns
    -------
    CueScore
        A period is right when each of its ends is within the larger of one day and a tenth of its
        width; a session reference when it is equal.
    """
    score = CueScore()
    for language in LANGUAGES:
        for case in _cases(folder / f"paraphrases_{language}.jsonl"):
            cue = _parse(case)
            hit = is_right(case, cue)
            _count(score.right, ("all", language), hit)
            _count(score.right_by_kind, [(language, case["kind"])], hit)
            score.missed[language] = score.missed.get(language, 0) + (cue is None)
    for case in _cases(folder / "traps.jsonl"):
        language = "ja" if max(case["question"]) >= "\u3040" else "en"
        alarm = _parse(case) is not None
        _count(score.false_alarms, ("all", language), alarm)
        _count(score.false_alarms_by_kind, [(language, case["kind"])], alarm)
    return score


def is_right(case: Mapping[str, Any], cue: TimeCue | None) -> bool:
    """Whether a cue is what a question of the set means."""
    if cue is None:
        return False
    if case["session"] is not None:
        return cue.session == _session(case["session"])
    if cue.session is not None or cue.start_us is None or cue.end_us is None:
        return False
    start, end = (date.fromisoformat(day) for day in case["period"])
    allowed = max(TOLERANCE_DAYS, TOLERANCE_WIDTH * ((end - start).days + 1))
    ends = ((start, cue.start_us), (end, cue.end_us))
    return all(abs((_day(us) - wanted).days) <= allowed for wanted, us in ends)


def main_lines(score: CueScore) -> list[str]:
    """Aggregates as lines of text."""
    lines = [
        f"right {name}: {share.count}/{share.of} = {share.percent:.1f} %"
        for name, share in score.right.items()
    ]
    lines += [f"no cue found {name}: {count}" for name, count in score.missed.items()]
    lines += [
        f"wrong {language} {kind}: {share.of - share.count} of {share.of}"
        for (language, kind), share in sorted(score.right_by_kind.items())
        if share.count < share.of
    ]
    lines += [
        f"false alarms {name}: {share.count}/{share.of} = {share.percent:.1f} %"
        for name, share in score.false_alarms.items()
    ]
    lines += [
        f"false alarms {language} {kind}: {share.count} of {share.of}"
        for (language, kind), share in sorted(score.false_alarms_by_kind.items())
        if share.count
    ]
    return lines


def _cases(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _parse(case: Mapping[str, Any]) -> TimeCue | None:
    asked = datetime.fromisoformat(case["now"]).replace(tzinfo=UTC)
    return parse_time_cue(case["question"], (asked - _EPOCH) // timedelta(microseconds=1))


def _session(wanted: Mapping[str, int]) -> SessionReference:
    if "to" in wanted:
        return SessionReference("range", wanted["ordinal"], wanted["to"])
    ((kind, n),) = wanted.items()
    return SessionReference(kind, n)


def _day(us: int) -> date:
    return (_EPOCH + timedelta(days=us // _US_PER_DAY)).date()


def _count(shares: dict, names: Iterable, hit: bool) -> None:
    for name in names:
        shares[name] = shares.get(name, Share()).plus(hit)
