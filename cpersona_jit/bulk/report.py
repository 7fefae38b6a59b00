"""What an import did, record by record counted, with examples of what was not stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from cpersona_jit.bulk.fields import READ_REASONS
from cpersona_jit.store.reasons import REASONS

EXAMPLES = 3
_STATUSES = ("stored", "skipped", "rejected", "warning")


class Told(NamedTuple):
    """What became of one record: of the line or row `number`."""

    number: int
    status: str
    reason: str = ""
    detail: str = ""


class Line(NamedTuple):
    """One line of a report.

    Attributes
    ----------
    status : {"skipped", "rejected", "warning"}
        A record with a warning is stored.
    reason : str
        A key of ``store.reasons.REASONS`` or of ``bulk.fields.READ_REASONS``.
    count : int
        Records.
    meaning : str
        Of the reason.
    examples : tuple of Told
        The first few, of this run.
    """

    status: str
    reason: str
    count: int
    meaning: str
    examples: tuple[Told, ...]


@dataclass(frozen=True)
class ImportReport:
    """What became of the records of a file, over all runs that it took.

    Parameters
    ----------
    unit : {"line", "row"}
        What the numbers of records count.
    counts : Counter
        Records by (status, reason); ``warning`` counts within ``stored``.
    blank : int
        Blank lines; they are no records.
    resumed : int
        Number of the line or row behind which this run went on; 0 when it began the file.
    already : bool
        The file had been imported before: this run did nothing.
    finished : bool
        The file was read to its end.
    examples : dict of str to tuple of Told
        A few of each reason, of this run.
    """

    unit: str = "line"
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    blank: int = 0
    resumed: int = 0
    already: bool = False
    finished: bool = False
    examples: dict[str, tuple[Told, ...]] = field(default_factory=dict)

    def of(self, status: str) -> int:
        """Return the number of records with a status."""
        return sum(count for (of, _), count in self.counts.items() if of == status)

    @property
    def records(self) -> int:
        """Records read."""
        return sum(self.of(status) for status in ("stored", "skipped", "rejected"))

    def lines(self) -> list[Line]:
        """Return a line per reason, the most frequent first within its status."""
        found = [
            Line(status, reason, count, _meaning(reason), self.examples.get(reason, ()))
            for (status, reason), count in self.counts.items()
            if reason
        ]
        return sorted(found, key=lambda line: (_STATUSES.index(line.status), -line.count, line))

    def adding(self, told: Iterable[Told], number: int) -> ImportReport:
        """Return the report with the records of one more batch, which ends with this number."""
        counts, examples = self.counts.copy(), dict(self.examples)
        for one in told:
            counts[one.status, one.reason] += 1
            if one.reason and len(examples.get(one.reason, ())) < EXAMPLES:
                examples[one.reason] = (*examples.get(one.reason, ()), one)
        added = replace(self, counts=counts, examples=examples)
        return replace(added, blank=number - added.records)  # what is no record is blank

    def state(self) -> dict[str, Any]:
        """Return the counts as JSON values; examples quote records and are not kept."""
        return {
            "counts": [[*key, count] for key, count in self.counts.items()],
            "blank": self.blank,
        }


def report_of(state: dict[str, Any], unit: str) -> ImportReport:
    """Return the report that `ImportReport.state` was taken of."""
    counts = Counter({(status, reason): count for status, reason, count in state["counts"]})
    return ImportReport(unit, counts, state["blank"])


def _meaning(reason: str) -> str:
    return READ_REASONS[reason] if reason in READ_REASONS else REASONS[reason].meaning
