"""A run's record can be read back, reported and drawn; a damaged one is refused clearly."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from harness_pools import write_pool

from harness.config import RunConfig
from harness.evaluate import MEAN_OF_DATASETS, evaluate
from harness.grid import build_settings
from harness.measures import MACRO, MEASURES
from harness.pool import load_pool
from harness.report import write_report
from harness.run import summarise
from harness.selection import SHIPPED_ROLE
from harness.splits import PARTS, UNSEEN
from harness.summary import (
    RECORDS_FILE,
    SUMMARY_FILE,
    DamagedRecordError,
    ReportError,
    find_record,
    read_summary,
    write_summary,
)

CONFIG = RunConfig.model_validate(
    {
        "name": "made",
        "description": "会話の記憶",
        "datasets": [{"name": "one"}, {"name": "two"}],
        "arms": [
            {"name": "dense", "kind": "dense"},
            {"name": "gram3", "kind": "gram"},
            {"name": "gram4", "kind": "gram", "size": 4},
        ],
        "freeze": {"depth": 40},
        "sweep": {
            "fusion": ["rrf", "score"],
            "depth": [5, 40],
            "weight_grid": {"dense": [1.0], "gram3": [0.0, 1.0], "gram4": [0.0, 1.0]},
        },
        "bootstrap": {"resamples": 100},
    }
)
SHIPPED = 5


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, dict, list[dict]]:
    folder = tmp_path_factory.mktemp("run")
    settings = build_settings(CONFIG)
    arms = tuple(arm.name for arm in CONFIG.arms)
    evaluated = [
        evaluate(
            load_pool(
                write_pool(
                    folder / name, seed=seed, queries=40, arms=arms, dataset=name, tasks=seed
                )
            ),
            settings,
            CONFIG,
        )
        for name, seed in (("one", 2), ("two", 1))
    ]
    summary, records = summarise(CONFIG, evaluated, settings, {SHIPPED_ROLE: SHIPPED})
    summary |= {"command": "python -m harness run made.toml", "degraded": ["a | note"]}
    write_summary(folder, summary, records)
    write_report(folder)
    return folder, summary, records


def copy_of(made, tmp_path: Path) -> Path:
    for name in (SUMMARY_FILE, RECORDS_FILE):
        (tmp_path / name).write_bytes((made[0] / name).read_bytes())
    return tmp_path


def test_records_carry_what_the_summary_promises(made):
    folder, summary, records = made
    written = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(summary))
    assert pq.read_table(folder / RECORDS_FILE).to_pylist() == records
    keys = [(r["dataset"], r["task"], r["part"], r["setting"], r["measure"]) for r in records]
    assert len(set(keys)) == len(keys)
    for record in records:
        assert record["ci_low"] <= record["value"] + 1e-12
        assert record["value"] <= record["ci_high"] + 1e-12
    assert {r["dataset"] for r in records} == {"one", "two", MEAN_OF_DATASETS}
    assert {r["part"] for r in records} == set(PARTS)
    assert {r["measure"] for r in written["records"]} == set(MEASURES)
    assert set(written["settings"]) == {r["setting"] for r in records}


def test_the_shipped_default_is_marked_and_nothing_else(made):
    _, summary, records = made
    name = list(summary["settings"])[SHIPPED]
    assert all(record["chosen"] == (record["setting"] == name) for record in records)


def test_macro_is_the_unweighted_mean_over_tasks(made):
    _, _, records = made
    for setting in {r["setting"] for r in records}:
        held = [
            r
            for r in records
            if (r["setting"], r["dataset"], r["part"], r["measure"])
            == (setting, "one", UNSEEN, "nDCG@10")
        ]
        tasks = [r["value"] for r in held if r["task"] != MACRO]
        macro = next(r["value"] for r in held if r["task"] == MACRO)
        assert macro == pytest.approx(sum(tasks) / len(tasks), rel=1e-12)


def test_the_proposal_names_its_evidence(made):
    _, summary, _ = made
    proposal = summary["proposal"]
    assert proposal["setting"] in summary["settings"]
    assert {(v["dataset"], v["part"]) for v in proposal["values"]} == {
        (dataset, part)
        for dataset in ("one", "two", MEAN_OF_DATASETS)
        for part in ("validation", "unseen")
    }
    both = {(d["against"], d["dataset"], d["part"]) for d in proposal["against"]}
    assert {
        ("RRF", MEAN_OF_DATASETS, UNSEEN),
        ("best single arm", MEAN_OF_DATASETS, UNSEEN),
    } <= both
    verdict = [
        find_record(proposal["against"], against=against, dataset=MEAN_OF_DATASETS, part=UNSEEN)
        for against in ("RRF", "best single arm")
    ]
    assert proposal["beats_both"] == all(record["ci_low"] > 0 for record in verdict)


def test_a_difference_is_the_difference_of_its_sides(made):
    _, summary, records = made
    for difference in summary["differences"]:
        if difference["dataset"] == MEAN_OF_DATASETS:
            continue
        sides = [
            find_record(
                records,
                setting=summary["roles"][difference["dataset"]][role],
                **{key: difference[key] for key in ("dataset", "task", "part", "measure")},
            )
            for role in (difference["role"], difference["against"])
        ]
        assert difference["value"] == pytest.approx(
            sides[0]["value"] - sides[1]["value"], abs=1e-12
        )


def test_the_report_and_its_pictures_are_there(made):
    folder, summary, _ = made
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "会話の記憶" in text
    assert summary["proposal"]["setting"] in text
    assert "What got better and what got worse" in text
    assert "a | note" in text
    for name in ("quality.png", "tasks-one.png", "depth.png", "weights-two.png"):
        assert name in text
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    # One task: a picture by task would say nothing.
    assert not (folder / "tasks-two.png").exists()


def test_a_report_written_again_is_the_same(made, tmp_path):
    again = copy_of(made, tmp_path)
    write_report(again)
    assert (again / "report.md").read_text() == (made[0] / "report.md").read_text()


def test_a_wrong_folder_is_named(tmp_path):
    with pytest.raises(ReportError, match="no such folder"):
        read_summary(tmp_path / "absent")
    with pytest.raises(ReportError, match=r"holds no summary\.json"):
        read_summary(tmp_path)


@pytest.mark.parametrize("name", [SUMMARY_FILE, RECORDS_FILE])
def test_a_truncated_file_is_named(made, tmp_path, name):
    folder = copy_of(made, tmp_path)
    path = folder / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DamagedRecordError, match=name):
        write_report(folder)


def test_a_foreign_or_incomplete_summary_is_refused(made, tmp_path):
    folder = copy_of(made, tmp_path)
    for foreign in ("[1, 2]", '{"config": {}}'):
        (folder / SUMMARY_FILE).write_text(foreign)
        with pytest.raises(DamagedRecordError, match="is missing"):
            read_summary(folder)
    copy_of(made, tmp_path)
    (folder / RECORDS_FILE).unlink()
    with pytest.raises(DamagedRecordError, match=RECORDS_FILE):
        read_summary(folder)


def at(path: str, value: object):
    """Return a change of a summary: the field at this path gets the value, or is dropped."""

    def change(summary: dict) -> None:
        *steps, last = (int(step) if step.isdecimal() else step for step in path.split("/"))
        place = summary
        for step in steps:
            place = place[step]
        if value is ABSENT:
            del place[last]
        else:
            place[last] = value

    return change


ABSENT = object()
CHANGES = [
    *(("records", value) for value in (5, None, {}, [1], [{}])),
    *(("roles", value) for value in ([], {}, {"one": {}}, {"one": 3}, {"one": {"proposal": 1}})),
    *(("config", value) for value in ({}, None, 7, {"kind": "adaptive"})),
    *(("proposal", value) for value in ({}, [], None)),
    *(("settings", value) for value in (1, {}, [], {"a": {}}, {"a": {"kind": "adaptive"}})),
    *(("hashes", value) for value in (None, {}, {"config": "a", "code": "b", "data": 1})),
    *(("differences", value) for value in ([{}], None, "x")),
    *(("records/0/value", value) for value in ("x", ABSENT, None, True, 10**400, float("nan"))),
    ("records/3/n", 1.5),
    ("differences/0/ci_low", ABSENT),
    ("config/bootstrap/confidence", "0.95"),
    ("config/arms", []),
    ("config/arms/1/idf_power", ABSENT),
    ("config/sweep/depth", []),
    ("proposal/not_told_apart", 3),
    ("proposal/weights", {"dense": 0.0}),
    ("proposal/rrf_k", "sixty"),
    ("regime", ABSENT),
    ("degraded", [3]),
    ("machine", None),
]


@pytest.mark.parametrize(("path", "value"), CHANGES)
def test_a_changed_summary_is_refused_by_the_field(made, tmp_path, path, value):
    folder = copy_of(made, tmp_path)
    summary = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
    at(path, value)(summary)
    (folder / SUMMARY_FILE).write_text(json.dumps(summary), encoding="utf-8")
    with pytest.raises(
        DamagedRecordError, match=rf"summary\.json: .*{path.split('/')[0]}"
    ) as caught:
        write_report(folder)
    assert "\n" not in str(caught.value)
    assert not (folder / "report.md").exists()


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"config": "\\ud800"}'])
def test_a_summary_too_deep_or_with_half_a_character_is_refused(made, tmp_path, text):
    folder = copy_of(made, tmp_path)
    (folder / SUMMARY_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(DamagedRecordError, match=r"summary\.json: truncated or damaged"):
        write_report(folder)


def test_a_summary_without_records_is_reported(made, tmp_path):
    folder = copy_of(made, tmp_path)
    summary = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
    summary |= {"records": [], "differences": []}
    (folder / SUMMARY_FILE).write_text(json.dumps(summary), encoding="utf-8")
    assert write_report(folder).is_file()


def test_records_with_empty_cells_or_other_types_are_refused(made, tmp_path):
    folder = copy_of(made, tmp_path)
    table = pq.read_table(folder / RECORDS_FILE)
    place = table.schema.get_field_index("value")
    for column in (pa.nulls(table.num_rows, pa.float64()), table["value"].cast(pa.string())):
        pq.write_table(table.set_column(place, "value", column), folder / RECORDS_FILE)
        with pytest.raises(DamagedRecordError, match=r"records\.parquet: .*column"):
            write_report(folder)
