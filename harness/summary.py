"""The record of a run: summary.json for people and tests, records.parquet for everything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cpersona_jit.errors import CPersonaError, UsageError
from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.pool import SignalPool
from harness.adaptive.replay import ranked_adaptive
from harness.adaptive.returned import EVIDENCE, ROWS, returned_values
from harness.config import RunConfig
from harness.evaluate import MEAN_OF_DATASETS, Evaluated, Means, part_means
from harness.grid import Setting
from harness.measures import LIST_LENGTH, MEASURES, from_ranked_lists
from harness.replay import ranked_lists
from harness.selection import BASELINE_ROLES, CONTENDER_ROLES, Choice, role_columns
from harness.splits import HOLDOUT, UNSEEN
from harness.summary_shape import summary_mistake

SUMMARY_FILE = "summary.json"
RECORDS_FILE = "records.parquet"
REGIME = "full ranking"
REQUIRED_KEYS = ("config", "hashes", "records", "differences", "settings", "roles", "proposal")
RECORD_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("dataset", "task", "part", "model", "setting")),
        ("measure", pa.string()),
        *((name, pa.float64()) for name in ("value", "ci_low", "ci_high")),
        ("n", pa.int64()),
        ("chosen", pa.bool_()),
    ]
)


class ReportError(UsageError):
    """A folder does not hold the record of a run."""


class DamagedRecordError(CPersonaError):
    """A file of a run's record is missing, truncated or not what a run writes."""


def sweep_records(
    evaluated: Sequence[Evaluated],
    settings: Sequence[Setting],
    config: RunConfig,
    chosen: int | None,
) -> list[dict]:
    """Record the selecting measure of every setting: each dataset, task and part.

    The holdout is left out: it shows the settings that have a role, and no others.
    """
    columns = [one.values for one in evaluated]
    return [
        record
        for part in _parts_with_queries(evaluated)
        if part != HOLDOUT
        for record in _as_records(
            part_means(evaluated, columns, part, config),
            part,
            config.select.measure,
            _models(evaluated),
            [setting.name for setting in settings],
            [number == chosen for number in range(len(settings))],
        )
    ]


def headline_records(
    evaluated: Sequence[Evaluated],
    settings: Sequence[Setting],
    choice: Choice,
    config: RunConfig,
    chosen: int | None,
) -> list[dict]:
    """Record all measures, by ir-measures, of every setting that has a role."""
    numbers = sorted({number for roles in choice.roles for number in roles.values()})
    named = [settings[number] for number in numbers]
    by_measure = [_all_measures(one, named, config) for one in evaluated]
    measures = MEASURES
    if isinstance(config, AdaptiveConfig):
        measures = (*MEASURES, EVIDENCE, ROWS)
    records = []
    for part in _parts_with_queries(evaluated):
        for row, measure in enumerate(measures):
            records += _as_records(
                part_means(evaluated, [values[row] for values in by_measure], part, config),
                part,
                measure,
                _models(evaluated),
                [settings[number].name for number in numbers],
                [number == chosen for number in numbers],
            )
    return records


def difference_records(
    evaluated: Sequence[Evaluated], choice: Choice, config: RunConfig
) -> list[dict]:
    """Record contender minus baseline, paired by query, for each dataset, task and part."""
    pairs, columns = _role_differences(evaluated, choice)
    if not pairs:
        return []
    records = []
    for part in _parts_with_queries(evaluated):
        means = part_means(evaluated, columns, part, config)
        for (row, column), place in _cells(means):
            contender, baseline = pairs[column]
            records.append(
                {**place, "part": part, "role": contender, "against": baseline}
                | {"measure": config.select.measure}
                | _numbers(means, row, column)
            )
    return records


def write_summary(out_dir: Path, summary: dict[str, Any], records: Sequence[dict]) -> None:
    """Write both files; each replaces its older version in one step.

    Parameters
    ----------
    out_dir : Path
        An existing folder.
    summary : dict
        JSON-ready; its ``records`` are those of the headline settings.
    records : sequence of dict
        All records, for the Parquet file.
    """
    table = pa.Table.from_pylist(list(records), schema=RECORD_SCHEMA)
    temporary = out_dir / (RECORDS_FILE + ".tmp")
    pq.write_table(table, temporary)
    temporary.replace(out_dir / RECORDS_FILE)
    temporary = out_dir / (SUMMARY_FILE + ".tmp")
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.replace(out_dir / SUMMARY_FILE)


def read_summary(out_dir: Path) -> tuple[dict[str, Any], list[dict]]:
    """Read a run's folder back.

    Parameters
    ----------
    out_dir : Path
        Folder that a run wrote.

    Returns
    -------
    summary : dict
    records : list of dict
        All records, of the Parquet file.

    Raises
    ------
    ReportError
        It is not such a folder.
    DamagedRecordError
        A file in it is damaged.
    """
    out_dir = Path(out_dir)
    path = out_dir / SUMMARY_FILE
    if not out_dir.is_dir():
        raise ReportError(f"{out_dir}: no such folder; allowed: the --out folder of a run")
    if not path.is_file():
        raise ReportError(f"{out_dir}: holds no {SUMMARY_FILE}; allowed: the --out folder of a run")
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(summary, ensure_ascii=False).encode("utf-8")  # as the report will have to
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedRecordError(f"{path}: truncated or damaged ({error}); run again") from error
    absent = [key for key in REQUIRED_KEYS if not isinstance(summary, dict) or key not in summary]
    if absent:
        raise DamagedRecordError(
            f"{path}: not the summary of a run: {absent[0]!r} is missing; run again"
        )
    if mistake := summary_mistake(summary):
        raise DamagedRecordError(f"{path}: not the summary of a run: {mistake}; run again")
    return summary, _read_records(out_dir / RECORDS_FILE)


def _read_records(path: Path) -> list[dict]:
    try:
        with path.open("rb") as handle:
            table = pq.ParquetFile(handle).read(columns=RECORD_SCHEMA.names)
        table.validate(full=True)
    except FileNotFoundError as error:
        raise DamagedRecordError(f"{path}: is missing; run again") from error
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DamagedRecordError(f"{path}: truncated or damaged ({reason}); run again") from error
    if table.schema != RECORD_SCHEMA:
        raise DamagedRecordError(f"{path}: its columns are not those of records; run again")
    holed = [name for name in table.schema.names if table[name].null_count]
    if holed:
        raise DamagedRecordError(f"{path}: column {holed[0]!r} has empty cells; run again")
    return table.to_pylist()


def _parts_with_queries(evaluated: Sequence[Evaluated]) -> list[str]:
    parts = dict.fromkeys(part for one in evaluated for part in one.parts)
    return [part for part in parts if any(one.part(part).size for one in evaluated)]


def _models(evaluated: Sequence[Evaluated]) -> dict[str, str]:
    """Return the embedding model behind each dataset, and behind their mean."""
    models = {one.dataset: str(one.pool.meta.get("model", "")) for one in evaluated}
    return {MEAN_OF_DATASETS: ", ".join(dict.fromkeys(models.values())), **models}


def _as_records(
    means: Means,
    part: str,
    measure: str,
    models: dict[str, str],
    names: list[str],
    chosen: list[bool],
) -> Iterator[dict]:
    for (row, column), place in _cells(means):
        yield {
            **place,
            "part": part,
            "model": models[place["dataset"]],
            "setting": names[column],
            "measure": measure,
            **_numbers(means, row, column),
            "chosen": chosen[column],
        }


def _cells(means: Means) -> Iterator[tuple[tuple[int, int], dict]]:
    for row, (dataset, task) in enumerate(means.labels):
        for column in range(means.intervals.value.shape[1]):
            yield (row, column), {"dataset": dataset, "task": task}


def _numbers(means: Means, row: int, column: int) -> dict:
    return {
        "value": float(means.intervals.value[row, column]),
        "ci_low": float(means.intervals.low[row, column]),
        "ci_high": float(means.intervals.high[row, column]),
        "n": int(means.counts[row]),
    }


def _all_measures(
    one: Evaluated, settings: Sequence[Setting], config: RunConfig | AdaptiveConfig
) -> np.ndarray:
    """Measure settings over all judged queries: float64 (measures, len(settings), Qr)."""
    ranked = ranked_adaptive if isinstance(one.pool, SignalPool) else ranked_lists
    per_setting = [
        from_ranked_lists(one.pool, ranked(one.pool, setting, top=LIST_LENGTH))
        for setting in settings
    ]
    ranking = np.stack(per_setting, axis=1)
    if not isinstance(config, AdaptiveConfig):
        return ranking
    return np.concatenate([ranking, returned_values(one.pool, settings, config.limit)])


def _role_differences(
    evaluated: Sequence[Evaluated], choice: Choice
) -> tuple[list[tuple[str, str]], list[np.ndarray]]:
    pairs, differences = [], []
    for contender in CONTENDER_ROLES:
        for baseline in BASELINE_ROLES:
            ours = role_columns(evaluated, choice, contender)
            theirs = role_columns(evaluated, choice, baseline)
            if ours is not None and theirs is not None:
                pairs.append((contender, baseline))
                differences.append([a - b for a, b in zip(ours, theirs, strict=True)])
    return pairs, [np.concatenate(parts) for parts in zip(*differences, strict=True)]


def judged_on(summary: dict) -> str:
    """Return the name of the part of the queries that a run's choice is judged on."""
    return summary.get("judged_on", UNSEEN)


def find_record(records: Sequence[dict], **wanted: Any) -> dict | None:
    """Return the first record whose fields have the wanted values."""
    for record in records:
        if all(record[key] == value for key, value in wanted.items()):
            return record
    return None
